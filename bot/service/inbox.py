"""Deliveries that arrive at once are stored at once: one transaction for all that wait, not one for each."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future

from bot.service.requests import Occurrence

Waiting = tuple[Occurrence, "Future[str]"]


class Inbox:
    """Stores events for many threads; whoever's turn it is writes for all who wait.

    `store` keeps some events in one transaction and gives their keys in the same order.
    """

    def __init__(self, store: Callable[[Sequence[Occurrence]], Sequence[str]]) -> None:
        self._store = store
        self._waiting: list[Waiting] = []
        self._changing = threading.Lock()
        self._writing = threading.Lock()

    def __call__(self, it: Occurrence) -> str:
        """Keep an event; gives its key when it is safe. Raises what `store` raises."""
        mine: Future[str] = Future()
        with self._changing:
            self._waiting.append((it, mine))
        with self._writing:
            if not mine.done():
                self._write()
        return mine.result()

    def _write(self) -> None:
        with self._changing:
            batch, self._waiting = self._waiting, []
        try:
            keys = self._store([it for it, _ in batch])
        except Exception as error:  # noqa: BLE001 - handed to each who waits for it
            for _, future in batch:
                future.set_exception(error)
            return
        for (_, future), key in zip(batch, keys, strict=True):
            future.set_result(key)
