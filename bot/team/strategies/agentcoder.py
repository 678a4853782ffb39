"""AgentCoder (arXiv 2312.13010) on a repository: a programmer, a test designer who sees no code, a plain executor.

The designer works on the base tree alone. The executor is code: it proves each state of the code with the designer's
tests in it; what fails goes back to the programmer with its values. A test that the programmer disputes, or that two
different programs fail, is judged by deriving its expected value again; a wrong one is taken out, and said so.
"""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from typing import Any

from bot.errors import OverBudget
from bot.team.delivery import Attempt, Delivery
from bot.team.designs import code_of, merged
from bot.team.evidence import Assignment, prove
from bot.team.feedback import failing_own
from bot.team.session import beside, keeping, settled, unfinished
from bot.team.steps import Answer, Ask, Check, Step, Strategy, Together
from bot.team.testbench import Bench
from bot.team.testing_roles import Programme
from repo_tools.tree import Tree
from sandbox.port import TestReport

ROUNDS = 5
CANDIDATES = 5

Work = Generator[Step, Any, Delivery]


def agentcoder(work: Assignment, rounds: int = ROUNDS) -> Work:
    """Programmer, then designer, then up to `rounds` states of the code proved; the best of them is delivered."""
    bench = Bench(work)
    return (yield from keeping(_one(bench, rounds), bench))


def sampling(work: Assignment, rounds: int = ROUNDS, candidates: int = CANDIDATES) -> Work:
    """Several programs side by side, and the tests beside them; the best by rank goes on as the first of the rounds."""
    bench = Bench(work)
    return (yield from keeping(_many(bench, rounds, candidates), bench))


def _one(bench: Bench, rounds: int) -> Work:
    programme, tree = yield from bench.program(bench.work.tree, 1)
    if programme is not None and programme.decision != "change":
        return bench.delivery("declined")
    if code_of(tree).patch:
        bench.prove_rest = partial(_proved, bench, tree, 1, programme)
    yield from bench.design()
    return (yield from _rounds(bench, rounds, programme, tree))


def _many(bench: Bench, rounds: int, candidates: int) -> Work:
    names = [f"programmer-{number}" for number in range(1, candidates + 1)]
    asks = [*(bench.candidate(name) for name in names), bench.designed("test-designer-1")]
    *answers, design = answered = yield Together({ask.agent: partial(_candidate, ask) for ask in asks})
    for ask, answer in zip(asks, answered, strict=True):
        bench.unfinished += unfinished(ask, answer)
    programmes = [(it.submitted if isinstance(it.submitted, Programme) else None, it.tree) for it in answers]
    said = [programme for programme, _ in programmes if programme is not None]
    if said and not any(tree.patch for _, tree in programmes):
        yield from bench.put("plan", said[0].plan, 1)
        return bench.delivery("declined")
    bench.calls |= {"programmer": candidates, "test-designer": 1}
    yield from bench.accept(design)
    trees = list(
        {repr(sorted(tree.patch.files.items())): (each, tree) for each, tree in programmes if tree.patch}.values()
    )
    reports: list[TestReport] = []
    for position, (_, tree) in enumerate(trees):
        reports.append((yield Check(merged(tree, bench.tests), f"candidate {position + 1} of {len(trees)}")))
    order = yield from bench.rank(reports)
    best = trees[order[0]] if trees else (None, bench.work.tree)
    yield from bench.reasoned(best[0], best[1], 1)
    return (yield from _rounds(bench, rounds, best[0], best[1]))


def _candidate(ask: Ask) -> Strategy[Answer]:
    """One of those at work beside each other. That its share of the money ends is no end for the others."""
    try:
        return (yield from beside(ask))
    except OverBudget:
        return Answer(None, ask.on, "share")


def _rounds(bench: Bench, rounds: int, programme: Programme | None, tree: Tree) -> Work:
    """Prove the first program, then let it be refined by what fails."""
    ended = "done"
    for number in range(1, rounds + 1):
        before = code_of(tree)
        if number > 1:
            programme, tree = yield from bench.program(merged(tree, bench.tests), number, bench.attempts[-1])
            if programme is not None and programme.disputed:
                bench.prove_rest = partial(_proved, bench, tree, number, programme)
                yield from bench.dispute([one.test for one in programme.disputed], number)
        yield from _proved(bench, tree, number, programme)
        if not settled(bench.work, bench.attempts[-1]):
            stubborn = _stubborn(bench)
            if stubborn and (yield from bench.dispute(stubborn, number)):
                yield from _proved(bench, tree, number, programme)
        if settled(bench.work, bench.attempts[-1]):
            break
        if number > 1 and code_of(tree).patch == before.patch and not (programme and programme.disputed):
            ended = "stuck"
            break
    return bench.delivery(ended)


def _proved(bench: Bench, tree: Tree, number: int, programme: Programme | None) -> Generator[Step, Any, None]:
    state = merged(tree, bench.tests)
    stated = bench.design_made.fails_without if bench.design_made else ""
    verdict, after = yield from prove(bench.work, state, stated, bench.without)
    change = programme.change([ruling.doubt for ruling in bench.taken_out]) if programme else None
    bench.prove_rest = None
    yield from bench.executed(Attempt(number, state, verdict, after, change))


def _stubborn(bench: Bench) -> list[str]:
    """Generated tests that two different programs have failed, where nothing else fails: they may be wrong."""
    if len(bench.attempts) < 2:
        return []
    before, last = bench.attempts[-2:]
    if last.verdict.lost or last.verdict.new_failures:
        return []
    if code_of(last.tree).patch == code_of(before.tree).patch:
        return []
    both = set(failing_own(last)) & set(failing_own(before))
    return sorted(test for test in both if test not in bench.ruled)
