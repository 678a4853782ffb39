"""Self-collaboration (arXiv 2304.07590) on a repository: analyst, coder and tester share a board, in rounds.

The waterfall with a way back: what the tester's executed tests show goes to the coder, and to the analyst where the
plan was at fault. What is new and has several files is designed by an architect before it is coded. Every state that a
round leaves is proved by execution; the best proved state is what is delivered.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from bot.publish.verdict import Level
from bot.team import architect
from bot.team.architect import ARCHITECT, Architecture, is_new
from bot.team.briefs import diff
from bot.team.delivery import Attempt, Delivery, told
from bot.team.designs import code_of
from bot.team.evidence import Assignment, asks_for_tests, for_a_person, prove, test_files
from bot.team.roles import ANALYST, CODER, TESTER, Change, Plan, Review
from bot.team.session import Session, keeping, settled
from bot.team.steps import Step
from repo_tools.tree import Tree

ROUNDS = 4
ALL_ROLES = frozenset({"analyst", "coder", "tester"})


@dataclass
class Team(Session):
    """The state of one run of the team."""

    roles: frozenset[str] = ALL_ROLES


def self_collaboration(
    work: Assignment, roles: frozenset[str] = ALL_ROLES, rounds: int = ROUNDS
) -> Generator[Step, Any, Delivery]:
    """The team's work on one issue. `roles` leaves some out, for the ablations; the coder is always there."""
    session = Team(work, roles=roles)
    return (yield from keeping(_rounds(session, rounds), session))


def _rounds(session: Team, rounds: int) -> Generator[Step, Any, Delivery]:
    work, roles = session.work, session.roles
    tree, replan, ended = work.tree, "analyst" in roles, "done"
    for number in range(1, rounds + 1):
        if replan:
            plan = yield from _plan(session, number)
            if plan is not None and plan.decision != "change":
                return session.delivery("declined")
            tree = tree.only(test_files(tree))
            yield from _designed(session, plan, number)
        before = tree
        change, tree = yield from _code(session, tree, number)
        session.prove_rest = partial(_left, session, tree, number, change) if code_of(tree).patch else None
        replan = bool(change and change.plan_fault) and "analyst" in roles
        if replan and change and (number < rounds or not code_of(tree).patch):
            yield from session.put("verification", f"the coder finds the plan wrong: {change.plan_fault}", number)
            continue
        attempt = yield from _judged(session, tree, number, change)
        session.attempts.append(attempt)
        session.prove_rest = None
        if settled(work, attempt):
            break
        if attempt.tree.patch == before.patch:
            ended = "stuck"
            break
        tree = attempt.tree
        replan = attempt.review is not None and attempt.review.fault == "plan" and "analyst" in roles
    return session.delivery(ended)


def _plan(session: Team, number: int) -> Generator[Step, Any, Plan | None]:
    answer = yield from session.ask(ANALYST, session.work.tree)
    plan = answer.submitted if isinstance(answer.submitted, Plan) else None
    yield from session.put("plan", plan, number)
    return plan


def _designed(session: Team, plan: Plan | None, number: int) -> Generator[Step, Any, None]:
    """What is new and has several files is designed by an architect first."""
    if plan is None or not is_new(plan.new_files):
        return
    answer = yield from session.ask(ARCHITECT, session.work.tree, architect.objection)
    design = answer.submitted if isinstance(answer.submitted, Architecture) else None
    yield from session.put("architecture", design, number)


def _code(session: Team, tree: Tree, number: int) -> Generator[Step, Any, tuple[Change | None, Tree]]:
    answer = yield from session.ask(CODER, tree, partial(architect.unfinished, session.board.last("architecture")))
    change = answer.submitted if isinstance(answer.submitted, Change) else None
    yield from session.put("change", f"{change.summary if change else '(no summary)'}\n{diff(answer.tree)}", number)
    return change, answer.tree


def _judged(session: Team, tree: Tree, number: int, change: Change | None) -> Generator[Step, Any, Attempt]:
    """The round's state, proved. Tests that are there already run first; the tester is asked if they settle nothing."""
    attempt: Attempt | None = None
    if test_files(tree) or "tester" not in session.roles:
        attempt = yield from _proved(session, tree, number, change, session.board.last("review"))
        proved = attempt.verdict.level is Level.READY or for_a_person(session.work, tree, attempt.verdict)
        if proved or "tester" not in session.roles:
            attempt = replace(attempt, review=None)
            yield from session.put("verification", told(attempt.verdict, attempt.after), number)
            return attempt
        yield from session.put("verification", told(attempt.verdict, attempt.after), number)
    answer = yield from session.ask(TESTER, tree)
    review = answer.submitted if isinstance(answer.submitted, Review) else None
    yield from session.put("review", review, number)
    if attempt is not None and answer.tree.patch == tree.patch:
        return replace(attempt, review=review)
    attempt = yield from _proved(session, answer.tree, number, change, review)
    yield from session.put("verification", told(attempt.verdict, attempt.after), number)
    return attempt


def _left(session: Team, tree: Tree, number: int, change: Change | None) -> Generator[Step, Any, None]:
    """What a coder has handed over when the run has to end."""
    session.attempts.append((yield from _proved(session, tree, number, change, None)))


def _proved(
    session: Team, tree: Tree, number: int, change: Change | None, review: Review | None
) -> Generator[Step, Any, Attempt]:
    stated = review.fails_without if review else ""
    short = architect.shortfalls(session.board.last("architecture"), tree)
    verdict, after = yield from prove(session.work, tree, stated, session.without, short)
    alone = asks_for_tests(session.board.last("plan"))
    return Attempt(number, tree, verdict, after, change, review, tests_alone=alone)
