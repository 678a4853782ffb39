"""The default: what is needed by the evidence, and no ritual.

A reproducer writes tests from the issue alone, on the unchanged project: that it cannot see the change is a fact about
its tree. One coder makes them pass. Planning comes only after a first failure; if the plan shows more than one agent
can hold, an organization of agents goes on. What is proved is then challenged by a fresh reader.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from bot.publish.verdict import Level
from bot.team import examples
from bot.team.briefs import diff
from bot.team.delivery import Attempt, Delivery, best_of, told
from bot.team.evidence import Assignment, asks_for_tests, for_a_person, prove, test_files
from bot.team.organization.agents import too_large_for_one
from bot.team.roles import ANALYST, CHALLENGER, FIXER, REPRODUCER, Challenge, Change, Plan, Reproduction
from bot.team.session import Session, keeping, settled
from bot.team.steps import Execute, Step
from bot.team.strategies.self_organized import Begun, self_organized
from repo_tools.tree import Tree
from sandbox.port import Result

ROUNDS = 3


@dataclass
class Team(Session):
    """The state of one run of the team."""

    before: tuple[examples.Ran, ...] = ()


def team(work: Assignment) -> Generator[Step, Any, Delivery]:
    """The team's work on one issue."""
    session = Team(work)
    return (yield from keeping(_solve(session), session))


def _solve(session: Team) -> Generator[Step, Any, Delivery]:
    yield from _run_examples(session)
    answer = yield from session.ask(REPRODUCER, session.work.tree)
    found = answer.submitted if isinstance(answer.submitted, Reproduction) else None
    yield from session.put("reproduction", found, 1)
    if found is not None and found.decision != "reproduced":
        return Delivery(None, _declined(found), session.board, (), "declined")
    tree = answer.tree
    ended = "done"
    for number in range(1, ROUNDS + 1):
        if number > 1:
            plan = yield from _replan(session, number)
            if plan is not None and too_large_for_one(plan, session.work.tree):
                return (yield from _handed_on(session, tree))
        before = tree
        tree = yield from _attempt(session, tree, number)
        last = session.attempts[-1]
        if settled(session.work, last):
            break
        if tree.patch == before.patch and not (last.change and last.change.plan_fault):
            ended = "stuck"
            break
    return replace(session.delivery(ended), before=session.before)


def _run_examples(session: Team) -> Generator[Step, Any, None]:
    found = examples.blocks(session.work.task.body)
    if found and examples.is_python(session.work.tree):
        result: Result = yield Execute(session.work.tree, examples.command(found))
        session.before = examples.outcomes(result)
        if said := examples.shown(session.before):
            yield from session.put("executed", said, 1)


def _replan(session: Team, number: int) -> Generator[Step, Any, Plan | None]:
    """A plan after a failure; tests that the coder disputes are looked at anew by one who does not see the code."""
    change = session.attempts[-1].change if session.attempts else None
    if change is not None and change.wrong_tests:
        return None
    answer = yield from session.ask(ANALYST, session.work.tree)
    plan = answer.submitted if isinstance(answer.submitted, Plan) else None
    yield from session.put("plan", plan, number)
    return plan


def _handed_on(session: Team, tree: Tree) -> Generator[Step, Any, Delivery]:
    """More than one agent can hold: an organization of them goes on, with the tests that are there."""
    begun = Begun(session.board, tree.only(test_files(tree)), session.calls.get(REPRODUCER.name, 0))
    own = session.delivery()
    made = yield from self_organized(session.work, begun=begun)
    attempts = (*own.attempts, *made.attempts)
    best = best_of(attempts)
    plan = made.plan if best is made.best else own.plan
    said = tuple(dict.fromkeys((*own.unfinished, *made.unfinished)))
    return replace(made, best=best, plan=plan, attempts=attempts, before=session.before, unfinished=said)


def _attempt(session: Team, tree: Tree, number: int) -> Generator[Step, Any, Tree]:
    """One change, proved and challenged."""
    answer = yield from session.ask(FIXER, tree)
    change = answer.submitted if isinstance(answer.submitted, Change) else None
    tree = answer.tree
    yield from session.put("change", f"{change.summary if change else '(no summary)'}\n{diff(tree)}", number)
    if change is not None and change.wrong_tests:
        session.prove_rest = partial(_proved, session, tree, number, change)
        tree = yield from _reconsidered(session, tree, change, number)
    attempt = yield from _proved(session, tree, number, change)
    if attempt.verdict.level is Level.READY or for_a_person(session.work, tree, attempt.verdict):
        answer = yield from session.ask(CHALLENGER, tree)
        challenge = answer.submitted if isinstance(answer.submitted, Challenge) else None
        yield from session.put("challenge", challenge, number)
        session.attempts[-1] = replace(attempt, challenge=challenge)
        if session.attempts[-1].refuted and number < ROUNDS:
            tree = yield from _more_tests(session, tree, number)
    return tree


def _proved(session: Team, tree: Tree, number: int, change: Change | None) -> Generator[Step, Any, Attempt]:
    reproduction = session.board.last("reproduction")
    stated = reproduction.reason if reproduction else ""
    verdict, after = yield from prove(session.work, tree, stated, session.without)
    alone = asks_for_tests(session.board.last("plan"))
    attempt = Attempt(number, tree, verdict, after, change, tests_alone=alone)
    session.attempts.append(attempt)
    session.prove_rest = None
    blamed = f"\nthe coder finds the plan wrong: {change.plan_fault}" if change and change.plan_fault else ""
    yield from session.put("verification", told(verdict, after) + blamed, number)
    return attempt


def _reconsidered(session: Team, tree: Tree, change: Change, number: int) -> Generator[Step, Any, Tree]:
    """The disputed tests, seen again by the reproducer on the unchanged project; the code stays as it is."""
    yield from session.put("dispute", change.wrong_tests, number)
    return (yield from _more_tests(session, tree, number))


def _more_tests(session: Team, tree: Tree, number: int) -> Generator[Step, Any, Tree]:
    """The reproducer works on its tests once more, still without sight of the change."""
    answer = yield from session.ask(REPRODUCER, tree.only(test_files(tree)))
    if isinstance(answer.submitted, Reproduction):
        yield from session.put("reproduction", answer.submitted, number)
    merged = tree
    for path in test_files(tree) | test_files(answer.tree):
        if answer.tree.exists(path):
            merged = merged.with_file(path, answer.tree.read(path), answer.tree.mode(path))
        elif merged.exists(path):
            merged = merged.without_file(path)
    return merged


def _declined(found: Reproduction) -> Plan:
    needless = found.decision == "no_change_needed"
    return Plan(
        decision="no_change_needed" if needless else "cannot_reproduce", diagnosis=found.reason, doubts=found.doubts
    )
