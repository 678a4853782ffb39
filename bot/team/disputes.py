"""A test in dispute: its expected value is derived anew from the issue, by somebody who sees neither code nor value."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from bot.prompts import block
from bot.task import Task
from bot.team.briefs import issue
from bot.team.designs import same_value
from bot.team.steps import Answer, Ask, Step
from bot.team.testing_roles import ARBITER, Derivation, DesignedTest
from repo_tools.tree import Tree

VOTES = 3


class Finding(enum.StrEnum):
    """What a derivation says of a test's expected value."""

    UPHELD = "upheld"
    WRONG = "wrong"
    UNSETTLED = "unsettled"


@dataclass(frozen=True)
class Ruling:
    """How a dispute ended."""

    test: str
    finding: Finding
    stated: str
    derived: str
    why: str

    @property
    def doubt(self) -> str:
        """For the reviewer of a change from which the test was taken out."""
        end = f"derived again from the issue it is {self.derived}" if self.finding is Finding.WRONG else self.why
        return f"A generated test was taken out ({self.test}): it expected {self.stated}; {end}"[:600]

    @property
    def told(self) -> str:
        """For the programmer."""
        if self.finding is Finding.UPHELD:
            return f"{self.test} stands: derived again from the issue alone, its value is the same. {self.why}"
        return f"{self.test} was taken out: {self.why}"


def settle(task: Task, base: Tree, test: DesignedTest, first: int, votes: int = VOTES) -> Generator[Step, Any, Ruling]:
    """Ask arbiters until one finding has the majority of `votes`; `first` numbers them. None of them sees any code."""
    found: Counter[Finding] = Counter()
    told: dict[Finding, Derivation | None] = {}
    for number in range(votes):
        places = {"issue": issue(task), "call": block("the call", test.call)}
        answer: Answer = yield Ask(ARBITER, base, places, f"arbiter-{first + number}")
        derivation = answer.submitted if isinstance(answer.submitted, Derivation) else None
        finding = judged(test, derivation)
        found[finding] += 1
        told.setdefault(finding, derivation)
        if found[finding] > votes // 2:
            break
    finding = next((one for one, count in found.most_common() if count > votes // 2), Finding.UNSETTLED)
    said = told.get(finding)
    why = said.derivation if said else "those who derived it from the issue did not agree."
    return Ruling(test.test, finding, test.expected, said.expected if said else "", why)


def judged(test: DesignedTest, derivation: Derivation | None) -> Finding:
    """What one derivation says of a test. What cannot be compared is not settled."""
    if derivation is None or not derivation.settled or not derivation.expected.strip():
        return Finding.UNSETTLED
    same = same_value(test.expected, derivation.expected)
    return {True: Finding.UPHELD, False: Finding.WRONG, None: Finding.UNSETTLED}[same]
