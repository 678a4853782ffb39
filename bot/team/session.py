"""The state of one run that every strategy has: the board, who was asked how often, what was proved."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from bot.errors import ModelFailed, OverBudget, TimedOut
from bot.publish.verdict import Level
from bot.team.board import Board
from bot.team.briefs import brief
from bot.team.delivery import STOPS, Attempt, Delivery, best_of
from bot.team.evidence import Assignment, for_a_person
from bot.team.roles import Plan, Role, Writes
from bot.team.steps import Answer, Ask, Note, Step, Strategy, no_objection
from repo_tools.tree import Tree
from sandbox.errors import SandboxDied
from sandbox.port import TestReport

NO_FURTHER: Mapping[str, str] = {
    "steps": "its replies were used up",
    "prose": "it did not use its tools",
    "circles": "it made the same calls again and again, which told it nothing new",
    "context": "what it had done no longer fits into a request",
    "share": "its share of the money was spent",
}
"""How a role's work ended without a submission -> what is said of it."""


@dataclass
class Session:
    """One run. Strategies that know more of it have a session of their own kind."""

    work: Assignment
    board: Board = field(default_factory=Board)
    attempts: list[Attempt] = field(default_factory=list)
    calls: dict[str, int] = field(default_factory=dict)
    """Role -> how often it was asked."""
    without: dict[str, TestReport] = field(default_factory=dict)
    """The runs of new tests without the change, so that none is made twice."""
    unfinished: list[str] = field(default_factory=list)
    """Which roles got no further, and why, each a sentence."""
    prove_rest: Callable[[], Generator[Step, Any, object]] | None = None
    """Proves, as one more attempt, the code that is written and not proved yet; None if there is none."""

    def name(self, role: Role) -> str:
        """The name under which a role is asked next: one for each time, as records need it."""
        self.calls[role.name] = self.calls.get(role.name, 0) + 1
        return f"{role.name}-{self.calls[role.name]}"

    def ask(
        self, role: Role, tree: Tree, objection: Callable[[Any, Tree], str] = no_objection
    ) -> Generator[Step, Any, Answer]:
        """Let a role work on `tree` with what it may read of the board."""
        places = brief(role, self.work, self.board, tree)
        return (yield from self.heard(Ask(role, tree, places, self.name(role), objection)))

    def heard(self, ask: Ask) -> Generator[Step, Any, Answer]:
        """What a role left. One that got no further has handed over what it wrote, without words."""
        answer: Answer = yield ask
        self.unfinished += unfinished(ask, answer)
        return answer

    def put(self, slot: str, value: Any, round_: int) -> Generator[Step, Any, None]:
        """Write on the board, and let it be recorded."""
        self.board = self.board.put(slot, value, round_)
        yield Note(slot, value, round_)

    def delivery(self, ended: str = "done", stop: Exception | None = None) -> Delivery:
        """The best of what was proved, with the plan by which it was made."""
        best = best_of(self.attempts)
        plan = plan_of(self.board, best) or in_the_words_of(best)
        said = tuple(dict.fromkeys(self.unfinished))
        return Delivery(best, plan, self.board, tuple(self.attempts), ended, stop, unfinished=said)


def beside(ask: Ask) -> Strategy[Answer]:
    """A single role at work, as a part beside others."""
    answer: Answer = yield ask
    return answer


def unfinished(ask: Ask, answer: Answer) -> tuple[str, ...]:
    """A sentence on a role that got no further; none on one that handed over."""
    if answer.submitted is not None:
        return ()
    left = "it has no word in this" if ask.role.writes is Writes.NOTHING else "what it had written was taken as it was"
    return (f"The {ask.role.name} got no further, since {NO_FURTHER[answer.ended]}: {left}.",)


def settled(work: Assignment, attempt: Attempt) -> bool:
    """Whether another round could make nothing better: it is sound, or only a person can say more of it."""
    return attempt.sound or (attempt.agreed and for_a_person(work, attempt.tree, attempt.verdict))


def plan_of(board: Board, best: Attempt | None) -> Plan | None:
    """What was decided when the best state was made: a later decision is about other code, or against any."""
    if best is not None and best.verdict.level is not Level.NONE:
        for entry in reversed(board.all("plan")):
            if entry.round <= best.round:
                plan: Plan | None = entry.value
                return plan
    last: Plan | None = board.last("plan")
    return last


def in_the_words_of(best: Attempt | None) -> Plan | None:
    """What was wrong as its coder says it, where nobody had to plan."""
    if best is None or best.change is None:
        return None
    # A coder may be brief where an analyst may not.
    return Plan.model_construct(decision="change", diagnosis=best.change.cause or best.change.summary)


def keeping(body: Generator[Step, Any, Delivery], session: Session) -> Generator[Step, Any, Delivery]:
    """Carry out `body`; if something stops it, deliver the best of what it had proved.

    If that is money or time, what is not proved yet is proved first: it costs no tokens, and time may be left for it.
    Raises `ModelFailed` and `SandboxDied`, which say nothing about the issue, where nothing was proved before.
    """
    try:
        return (yield from body)
    except STOPS as stop:
        if session.prove_rest is not None and isinstance(stop, OverBudget | TimedOut):
            with suppress(*STOPS):
                yield from session.prove_rest()
        delivery = session.delivery("stopped", stop)
        if delivery.best is None and isinstance(stop, ModelFailed | SandboxDied):
            raise
        return delivery
