"""What the model or a limit put an end to: recorded where it happened, and repeated there by a replay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from bot.errors import AgentFixError, ModelFailed, OverBudget, TimedOut
from bot.records import Record, Stopped
from bot.transcript import Kept, Transcript

T = TypeVar("T")
STOPS: dict[str, type[AgentFixError]] = {kind.__name__: kind for kind in (ModelFailed, OverBudget, TimedOut)}


@contextmanager
def noted(transcript: Transcript | Kept, step: str, agent: str = "") -> Iterator[None]:
    """Record by what the model, or a limit, ends what is done here: the step of that name."""
    try:
        yield
    except tuple(STOPS.values()) as error:
        kind: Any = next(name for name, kind in STOPS.items() if isinstance(error, kind))
        transcript.add(Stopped(agent=agent, step=step, error=kind, text=error.public))
        raise


class Repeated:
    """`bot.service.effects.Steps` of a replay: others, but what was stopped then is stopped now, and before it begins.

    Neither a model's failure nor a spent limit would come again by itself where the answers are a recording.
    """

    def __init__(self, steps: Callable[[str, Callable[[], Any]], Any], records: Iterable[Record]) -> None:
        self._steps = steps
        self._stopped = {record.step: record for record in records if isinstance(record, Stopped)}

    def __call__(self, name: str, work: Callable[[], T]) -> T:
        """See `Steps`."""
        stopped = self._stopped.get(name)
        if stopped is not None:
            raise STOPS[stopped.error](stopped.text)
        done: T = self._steps(name, work)
        return done
