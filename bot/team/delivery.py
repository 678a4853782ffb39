"""What a strategy hands over: the states it proved, and the best of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.errors import ModelFailed, OverBudget, TimedOut
from bot.publish.verdict import Level, Verdict, score
from bot.team import trim
from bot.team.board import Board
from bot.team.designs import code_of
from bot.team.examples import Ran
from bot.team.roles import Challenge, Change, Plan, Review
from repo_tools.tree import Tree
from sandbox.errors import SandboxDied
from sandbox.port import TestReport

STOPS = (OverBudget, TimedOut, ModelFailed, SandboxDied)
"""Money or time ran out, the model failed for good, or a container was lost."""


@dataclass(frozen=True)
class Mark:
    """Lines of the change that a reader should look at, and why."""

    path: str
    first: int
    last: int
    text: str


@dataclass(frozen=True)
class Attempt:
    """One proved state: what a round left, and what its execution showed."""

    round: int
    tree: Tree
    verdict: Verdict
    after: TestReport
    change: Change | None = None
    review: Review | None = None
    challenge: Challenge | None = None
    measured: tuple[str, ...] = ()
    """More that was measured on it, each a sentence."""
    marks: tuple[Mark, ...] = ()
    tests_alone: bool = False
    """Whether tests alone would be the change, as the plan says or who handed them over."""

    @property
    def sound(self) -> bool:
        """Whether it is ready, and the tester, if asked, agrees. A tester's word alone never makes it sound."""
        return self.verdict.level is Level.READY and self.agreed

    @property
    def agreed(self) -> bool:
        """Whether no tester and no reader speaks against it."""
        return (self.review is None or self.review.verdict == "passed") and not self.refuted

    @property
    def refuted(self) -> bool:
        """Whether a fresh reader gave a counterexample."""
        return self.challenge is not None and self.challenge.verdict == "refuted"


@dataclass(frozen=True)
class Delivery:
    """The end of a strategy's work. `best` is None if nothing was changed; `plan.decision` then says why."""

    best: Attempt | None
    plan: Plan | None
    board: Board
    attempts: tuple[Attempt, ...] = ()
    ended: str = "done"
    """`done`, `declined` (a role decided against a change), `stuck` (nothing moved any more) or `stopped`."""
    stop: Exception | None = None
    """What stopped it, one of `STOPS`."""
    before: tuple[Ran, ...] = ()
    """What the issue's own code gives on the unchanged project, if it was run."""
    unfinished: tuple[str, ...] = ()
    """Which roles got no further, and what became of what they wrote, each a sentence."""


def best_of(attempts: Sequence[Attempt]) -> Attempt | None:
    """The attempt with the best verdict; of equal ones the first, since what came later made nothing better.

    New tests are no change, unless they are what was asked for.
    """
    changed = [one for one in attempts if (one.tree if one.tests_alone else code_of(one.tree)).patch]
    return max(changed, key=lambda one: (one.sound, score(one.verdict)), default=None)


def told(verdict: Verdict, after: TestReport) -> str:
    """What a run showed, as text for the next try: the reasons, then each failure with what it said."""
    lines = list(verdict.reasons)
    own = [test.id for test in verdict.own if not test.passes]
    fresh = [test for test in (*verdict.broken, *verdict.new_failures, *own) if test in after.messages]
    shown: set[str] = set()
    for test in fresh[: trim.SHOWN_FAILURES]:
        lines.append(trim.failure(test, after, brief=trim.name_of(test) in shown))
        shown.add(trim.name_of(test))
    return "\n".join(lines) or "everything that was run passed"
