"""What the model or a limit ended is recorded at its step, and ended there again when the run is repeated."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from bot.errors import ModelFailed, OverBudget, TimedOut
from bot.llm.budget import Limits, Meter
from bot.llm.port import Completion, Request
from bot.llm.recorded import answer
from bot.records import RECORD, Stopped
from bot.service.effects import RunEffects, Seconds
from bot.service.stops import Repeated
from bot.transcript import Kept
from repo_tools.tree import Tree
from sandbox.port import Environment, Recipe
from tests.bot.service.parts_program import MADE, Looking
from tests.fakes.memory_base import MemoryBase

Step = Callable[[str, Callable[[], Any]], Any]
ADDRESS = "http://models.corp.example/v1"


class Failing:
    """Answers once."""

    def complete(self, request: Request) -> Completion:
        if request.index:
            raise ModelFailed(f"{ADDRESS} is away", public="The model is away.")
        return answer("first")


def at_once(name: str, work: Callable[[], Any]) -> Any:
    return work()


def effects(kept: Kept, steps: Step, *, calls: int | None, minutes: float | None, clock: list[float]) -> RunEffects:
    index: Any = None
    return RunEffects(
        steps=steps,
        model=Failing(),
        sandbox=Looking(MADE),
        environment=Environment("none", Recipe("none", (), "none", "none"), built=False, log="", seconds=0.0),
        transcript=kept,
        meter=Meter(Limits(calls=calls, minutes=minutes), clock=lambda: clock[0]),
        index=index,
        request_tokens=lambda role: 1000,
        seconds=Seconds(60, 60),
        cancel=threading.Event(),
    )


def perform(it: RunEffects, clock: list[float], until: float) -> None:
    """Two agents at work: a command, a question, a command after some time, and a second question."""
    tree = Tree(MemoryBase({"a.py": b""}))
    it.run("coder-1", tree, "true")
    it.complete(Request("coder", (), (), "coder-1", 0))
    clock[0] = until
    it.run("coder-2", tree, "true")
    it.run("coder-1", tree, "true")
    it.complete(Request("coder", (), (), "coder-1", 1))


@pytest.mark.parametrize(
    ("limits", "until", "error", "step"),
    [
        ({"calls": None, "minutes": None}, 0, ModelFailed, "complete coder-1 1"),
        ({"calls": 1, "minutes": None}, 0, OverBudget, "complete coder-1 1"),
        ({"calls": None, "minutes": 1}, 60, TimedOut, "run coder-2 1"),
    ],
)
def test_it_ends_at_the_same_step(limits: dict[str, Any], until: float, error: type[Exception], step: str) -> None:
    first, clock = Kept(), [0.0]
    with pytest.raises(error):
        perform(effects(first, at_once, clock=clock, **limits), clock, until)
    stopped = first.records[-1]
    assert isinstance(stopped, Stopped)
    assert (stopped.step, stopped.error) == (step, error.__name__)
    assert ADDRESS not in stopped.text
    again = Kept()
    records = [RECORD.validate_python(one.model_dump(mode="json")) for one in first.records]
    steps = Repeated(at_once, records)
    with pytest.raises(error, match=stopped.text.split(":")[0]):
        perform(effects(again, steps, calls=None, minutes=None, clock=[0.0]), clock, until)
    assert again.records == first.records
