"""One agent with tools and an executor: the baseline that every claim for a team is measured against."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from bot.team.briefs import diff
from bot.team.delivery import Attempt, Delivery, told
from bot.team.evidence import Assignment, prove
from bot.team.roles import SINGLE, Solution
from bot.team.session import Session, keeping, settled
from bot.team.steps import Step

ROUNDS = 2


def single(work: Assignment, rounds: int = ROUNDS) -> Generator[Step, Any, Delivery]:
    """The agent works, the executor proves what it left; what that shows is given back once."""
    session = Session(work)
    return (yield from keeping(_rounds(session, rounds), session))


def _rounds(session: Session, rounds: int) -> Generator[Step, Any, Delivery]:
    tree = session.work.tree
    for number in range(1, rounds + 1):
        answer = yield from session.ask(SINGLE, tree)
        solution = answer.submitted if isinstance(answer.submitted, Solution) else None
        if solution is not None:
            yield from session.put("plan", solution.plan, number)
        if solution is not None and solution.decision != "change":
            return session.delivery("declined")
        if answer.tree.patch == tree.patch:
            break
        tree = answer.tree
        verdict, after = yield from prove(session.work, tree, "", session.without)
        change = solution.change if solution else None
        session.attempts.append(Attempt(number, tree, verdict, after, change, tests_alone=solution is not None))
        if settled(session.work, session.attempts[-1]):
            break
        yield from session.put("change", diff(tree), number)
        yield from session.put("verification", told(verdict, after), number)
    return session.delivery()
