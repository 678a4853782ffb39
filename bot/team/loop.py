"""The one loop that carries out every strategy: a step comes out, its effect happens, the answer goes in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

from bot.team.agent import converse
from bot.team.delivery import STOPS
from bot.team.desk import Effects
from bot.team.steps import Ask, Check, Execute, Note, Step, Strategy, Together


class Stage(Effects, Protocol):
    """The effects that a strategy's steps need beyond those of one agent."""

    def asked(self, ask: Ask) -> None:
        """A role begins to work; for the record."""

    def noted(self, note: Note) -> None:
        """Something was put on the board; for the record."""

    def together(self, parts: Mapping[str, Callable[[], Strategy[Any]]], known_bad: frozenset[str]) -> list[Any]:
        """Carry out strategies side by side; their results in the order of `parts`."""


def perform(strategy: Strategy[Any], stage: Stage, known_bad: frozenset[str] = frozenset()) -> Any:
    """Run `strategy` to its end and give what it returns.

    When money or time runs out, the model fails for good or a container is lost, the strategy is told and may
    hand over what it has; other errors pass.
    """
    move: Callable[[], Step] = partial(next, strategy)
    while True:
        try:
            step = move()
        except StopIteration as end:
            return end.value
        try:
            answer = carry_out(step, stage, known_bad)
        except STOPS as stop:
            move = partial(strategy.throw, stop)
        else:
            move = partial(strategy.send, answer)


def carry_out(step: Step, stage: Stage, known_bad: frozenset[str]) -> Any:
    """The effect of one step."""
    match step:
        case Ask():
            stage.asked(step)
            return converse(step, stage, known_bad)
        case Check():
            return stage.test("executor", step.on, step.selection, step.reason, step.watch)
        case Execute():
            return stage.run("executor", step.on, step.command)
        case Note():
            return stage.noted(step)
        case Together():
            return stage.together(step.parts, known_bad)
