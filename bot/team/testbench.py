"""AgentCoder's common state: who was asked how often, the designed tests, what was ruled about them."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from bot.prompts import block
from bot.publish.failures import FailureKind, read_failure
from bot.publish.verdict import BAD
from bot.team import briefs
from bot.team.delivery import Attempt
from bot.team.designs import code_of, objection, showing, without_test
from bot.team.disputes import VOTES, Finding, Ruling, settle
from bot.team.evidence import alone, test_files
from bot.team.feedback import feedback, history
from bot.team.selection import ranked
from bot.team.session import Session
from bot.team.steps import Answer, Ask, Step
from bot.team.testing_roles import PROGRAMMER, TEST_DESIGNER, Programme, TestDesign
from repo_tools.tree import Tree
from sandbox.port import TestReport

REDESIGNS = 2
"""How often tests are made anew at the most."""
DISPUTES = 3
"""Tests that may be in dispute at once."""


@dataclass
class Bench(Session):
    """The state of one run."""

    design_made: TestDesign | None = None
    tests: Tree = field(init=False)
    """The base with the designer's test files: never the programmer's code."""
    rulings: list[Ruling] = field(default_factory=list)
    redesigns: int = 0

    def __post_init__(self) -> None:
        self.tests = self.work.tree

    @property
    def taken_out(self) -> list[Ruling]:
        """What was decided against tests."""
        return [ruling for ruling in self.rulings if ruling.finding is not Finding.UPHELD]

    @property
    def ruled(self) -> set[str]:
        """The tests about which it was decided."""
        return {ruling.test for ruling in self.rulings}

    def candidate(self, agent: str) -> Ask:
        """For one program for the issue as it stands."""
        places = briefs.brief(PROGRAMMER, self.work, self.board, self.work.tree, history="", feedback="")
        tree = self.work.tree
        return Ask(PROGRAMMER, tree, places, agent, partial(_not_done, tree))

    def program(
        self, tree: Tree, number: int, last: Attempt | None = None
    ) -> Generator[Step, Any, tuple[Programme | None, Tree]]:
        """The four steps: for the first program, or for the next one after what the `last` attempt showed."""
        if last is None:
            answer = yield from self.heard(self.candidate(self.name(PROGRAMMER)))
        else:
            told = feedback(last, self.design_made, self.rulings)
            own = {"hints": "", "history": history(self.attempts), "feedback": told}
            places = briefs.brief(PROGRAMMER, self.work, self.board, self.work.tree, **own)
            agent = self.name(PROGRAMMER)
            answer = yield from self.heard(Ask(PROGRAMMER, tree, places, agent, partial(_not_done, tree)))
        programme = answer.submitted if isinstance(answer.submitted, Programme) else None
        yield from self.reasoned(programme, answer.tree, number)
        return programme, answer.tree

    def reasoned(self, programme: Programme | None, tree: Tree, number: int) -> Generator[Step, Any, None]:
        """Put the programmer's steps on the board, and its code apart from them."""
        if programme is not None:
            steps = {"clarify": programme.clarify, "method": programme.method, "pseudocode": programme.pseudocode}
            yield from self.put("reasoning", steps, number)
            if programme.decision != "change" or number == 1:
                yield from self.put("plan", programme.plan, number)
        yield from self.put("change", briefs.diff(code_of(tree)), number)

    def design(self, rejected: str = "") -> Generator[Step, Any, None]:
        """Let tests be designed on the base (with the tests that are left, if some were rejected) and accept them."""
        yield from self.accept((yield from self.heard(self.designed(self.name(TEST_DESIGNER), rejected))))

    def designed(self, agent: str, rejected: str = "") -> Ask:
        """For the designer's work. It is given the base and its own tests alone: no tree with the code is there."""
        places = briefs.brief(TEST_DESIGNER, self.work, self.board, self.work.tree, rejected=rejected)
        return Ask(TEST_DESIGNER, self.tests, places, agent, partial(objection, self.issue))

    def accept(self, answer: Answer) -> Generator[Step, Any, None]:
        """Take the tests, run them on the unchanged code, and have those made anew that cannot even run there."""
        self.tests = answer.tree.only(test_files(answer.tree))
        self.design_made = answer.submitted if isinstance(answer.submitted, TestDesign) else self.design_made
        yield from self.put("tests", self.design_made, 1 + self.redesigns)
        report = yield from alone(self.tests, self.without)
        if report is None:
            return
        bad = _invalid(report, self.work.known_bad)
        if bad and self.redesigns < REDESIGNS:
            self.redesigns += 1
            yield from self.design(block("tests that cannot run, to be mended or replaced", "\n".join(bad.values())))
        elif bad:
            for test, why in bad.items():
                yield from self._take_out(Ruling(test, Finding.UNSETTLED, "", "", f"it cannot run: {why}"))

    def dispute(self, tests: Sequence[str], number: int) -> Generator[Step, Any, bool]:
        """Have the tests judged; the wrong ones and those that the issue does not settle are taken out."""
        before = len(self.taken_out)
        for test in [one for one in tests if one not in self.ruled][:DISPUTES]:
            entry = self.design_made.of(test) if self.design_made else None
            if entry is None:
                continue
            first = self.calls.get("arbiter", 0) + 1
            ruling = replace((yield from settle(self.work.task, self.work.tree, entry, first)), test=test)
            self.calls["arbiter"] = first + VOTES - 1
            yield from self.put("ruling", ruling, number)
            yield from self._take_out(ruling)
        taken = self.taken_out[before:]
        if taken and not test_files(self.tests) and self.redesigns < REDESIGNS:
            self.redesigns += 1
            yield from self.design(block("tests that were taken out", "\n".join(one.doubt for one in taken)))
        return bool(taken)

    def _take_out(self, ruling: Ruling) -> Generator[Step, Any, None]:
        self.rulings.append(ruling)
        if ruling.finding is Finding.UPHELD:
            return
        self.tests = without_test(self.tests, ruling.test)
        if self.design_made is not None:
            left = self.design_made.without(ruling.test)
            self.design_made = left or self.design_made
        yield from self.put("tests", self.design_made, 1 + self.redesigns)

    def executed(self, attempt: Attempt) -> Generator[Step, Any, None]:
        """Put on the board what execution showed."""
        self.attempts.append(attempt)
        yield from self.put("verification", feedback(attempt, self.design_made, []), attempt.round)

    def rank(self, reports: list[TestReport]) -> Generator[Step, Any, list[int]]:
        """The candidates' positions, the best first."""
        showings = [showing(self.design_made, self.work.baseline.report, report, reports) for report in reports]
        order = ranked(showings)
        yield from self.put("ranking", {"order": order, "scores": [list(one.score) for one in showings]}, 1)
        return order

    @property
    def issue(self) -> str:
        """All that was said in the issue."""
        task = self.work.task
        return "\n".join([task.title, task.body, *(comment.body for comment in task.comments)])


def _invalid(report: TestReport, known_bad: frozenset[str]) -> dict[str, str]:
    """New tests that fail because of themselves, with what they say."""
    found = {}
    for test in sorted(report.having(*BAD) - known_bad):
        failure = read_failure(report.messages.get(test, ""), collected="::" in test)
        if failure.kind in (FailureKind.FIXTURE, FailureKind.COLLECTION):
            found[test] = f"{test}: {failure.gist}"
    return found


def _not_done(asked_on: Tree, submitted: Programme, tree: Tree) -> str:
    """Why a programmer's submission cannot be taken."""
    changed = bool(code_of(tree).patch)
    if changed != (submitted.decision == "change"):
        return f"the code is {'' if changed else 'not '}changed, but your decision is {submitted.decision}."
    if code_of(asked_on).patch == code_of(tree).patch and changed and not submitted.disputed:
        return "the code is as it was, and it fails: change it, or name in disputed the tests that are wrong and why."
    return ""
