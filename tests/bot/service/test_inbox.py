"""Events that wait together are stored together."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from bot.service.inbox import Inbox
from bot.service.requests import Occurrence

FIRST, *OTHERS = [Occurrence(guid=f"g{number}", kind="Labelled", event={}) for number in range(8)]


class Store:
    """Stands for the database: holds the first batch up until the others wait."""

    def __init__(self, fails: bool = False) -> None:
        self.batches: list[list[str]] = []
        self.at_it, self.go_on = threading.Event(), threading.Event()
        self.fails = fails

    def __call__(self, many: Sequence[Occurrence]) -> list[str]:
        self.batches.append([it.guid for it in many])
        self.at_it.set()
        self.go_on.wait(10)
        if self.fails and len(self.batches) > 1:
            raise OSError("full")
        return [f"key of {it.guid}" for it in many]


def test_those_who_wait_share_one_write_and_each_gets_its_own_key() -> None:
    store = Store()
    inbox = Inbox(store)
    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(inbox, FIRST)
        assert store.at_it.wait(10)
        others = [pool.submit(inbox, it) for it in OTHERS]
        while len(inbox._waiting) < len(OTHERS):
            threading.Event().wait(0.001)
        store.go_on.set()
        assert first.result(10) == "key of g0"
        assert [one.result(10) for one in others] == [f"key of {it.guid}" for it in OTHERS]
    assert [sorted(batch) for batch in store.batches] == [["g0"], [it.guid for it in OTHERS]]


def test_a_write_that_fails_fails_for_all_who_waited_and_for_nobody_else() -> None:
    store = Store(fails=True)
    inbox = Inbox(store)
    store.go_on.set()
    assert inbox(FIRST) == "key of g0"
    for it in OTHERS[:2]:
        with pytest.raises(OSError, match="full"):
            inbox(it)
    store.fails = False
    assert inbox(OTHERS[2]) == "key of g3"
