"""One agent with tools and an executor: the baseline that every claim for a team is measured against."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from bot.team.board import Board
from bot.team.briefs import brief, diff
from bot.team.delivery import Attempt, Delivery, best_of, keeping, told
from bot.team.evidence import Assignment, prove
from bot.team.roles import SINGLE, Solution
from bot.team.steps import Answer, Ask, Note, Step
from sandbox.port import TestReport

ROUNDS = 2


def single(work: Assignment, rounds: int = ROUNDS) -> Generator[Step, Any, Delivery]:
    """The agent works, the executor proves what it left; what that shows is given back once."""
    attempts: list[Attempt] = []
    return (yield from keeping(_rounds(work, attempts, rounds), attempts, Board))


def _rounds(work: Assignment, attempts: list[Attempt], rounds: int) -> Generator[Step, Any, Delivery]:
    board, tree = Board(), work.tree
    without: dict[str, TestReport] = {}
    for number in range(1, rounds + 1):
        answer: Answer = yield Ask(SINGLE, tree, brief(SINGLE, work, board, tree), f"single-{number}")
        solution = answer.submitted if isinstance(answer.submitted, Solution) else None
        if solution is not None:
            board = board.put("plan", solution.plan, number)
            yield Note("plan", solution.plan, number)
        if solution is not None and solution.decision != "change":
            return Delivery(best_of(attempts), solution.plan, board, tuple(attempts), "declined")
        if answer.tree.patch == tree.patch:
            break
        tree = answer.tree
        verdict, after = yield from prove(work, tree, "", without)
        attempts.append(Attempt(number, tree, verdict, after, solution.change if solution else None))
        if attempts[-1].sound:
            break
        for slot, value in (("change", diff(tree)), ("verification", told(verdict, after))):
            board = board.put(slot, value, number)
            yield Note(slot, value, number)
    return Delivery(best_of(attempts), board.last("plan"), board, tuple(attempts))
