"""AgentCoder's roles: a programmer, a test designer who sees no code, an arbiter who sees neither code nor values."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from bot.team.roles import CHANGE, LOOK, TRY, Change, Doubts, Plan, Role, Submission, Title, Writes

Kind = Literal["basic", "edge", "large-scale"]
KINDS: tuple[Kind, ...] = ("basic", "edge", "large-scale")


class Disputed(Submission):
    """A test that the programmer holds to be wrong."""

    test: str = Field(min_length=3, description="its id, as the report names it")
    why: str = Field(
        min_length=10, description="which sentence of the issue it contradicts, or what the issue leaves open"
    )


class Programme(Submission):
    """The programmer's four steps; the fourth, the code, is what was edited."""

    decision: Literal["change", "no_change_needed", "cannot_reproduce"]
    clarify: str = Field(
        min_length=10, description="what is asked, in your words: inputs, results, limits, what is left open"
    )
    method: str = Field(
        min_length=10, description="the method or the place of the change, and why this one; its cost for large input"
    )
    pseudocode: str = Field(min_length=10, description="the steps of the method in words, edge cases included")
    title: Title
    summary: str = Field(min_length=3, description="what changed, or why nothing has to, at most three sentences")
    doubts: Doubts = []
    disputed: list[Disputed] = Field(
        default=[], max_length=5, description="failing tests of the designer that are wrong"
    )

    @property
    def plan(self) -> Plan:
        """The reasoning in the form in which a team has it."""
        return Plan(decision=self.decision, diagnosis=self.clarify, evidence=self.method, doubts=self.doubts)

    def change(self, doubts: list[str]) -> Change:
        """What was done, in the form in which a team has it, with `doubts` before the programmer's own."""
        return Change(title=self.title, summary=self.summary, doubts=[*doubts, *self.doubts][:5])


class DesignedTest(Submission):
    """One new test: what it checks, and which sentence of the issue says so."""

    test: str = Field(min_length=3, description="its id, path::name or path::Class::name, without parameters")
    kind: Kind
    sentence: str = Field(
        min_length=8, description="the sentence or example of the issue that it checks, copied word for word"
    )
    reason: str = Field(
        min_length=5, description="why this input, and how the expected value follows from that sentence"
    )
    call: str = Field(
        min_length=3, description="what is called with which arguments; for a large input, how it is made"
    )
    expected: str = Field(min_length=1, description="the result as a literal, or `raises Name`; without explanation")
    seconds: float | None = Field(
        default=None, gt=0, le=60, description="large-scale alone: the bound that the test itself enforces"
    )


class TestDesign(Submission):
    """The designer's tests; each kind is there, or it is said why it does not apply."""

    __test__ = False

    tests: list[DesignedTest] = Field(min_length=1, max_length=24)
    not_applicable: dict[Kind, str] = Field(
        default={}, description="kind without a test -> why the issue gives no occasion for it"
    )
    fails_without: str = Field(
        min_length=3, description="how the tests fail on the unchanged code, and why that is right"
    )

    def of(self, test: str) -> DesignedTest | None:
        """The entry for a test as a report names it, with or without its parameters."""
        plain = test.partition("[")[0]
        return next((one for one in self.tests if one.test.partition("[")[0] == plain), None)

    def without(self, test: str) -> TestDesign | None:
        """This design without one test; None if no other is left."""
        kept = [one for one in self.tests if one is not self.of(test)]
        return self.model_copy(update={"tests": kept}) if kept else None


class Derivation(Submission):
    """An expected value, derived from the issue alone."""

    derivation: str = Field(min_length=5, description="how it follows from the issue, step by step")
    settled: bool = Field(description="false if the issue does not settle what must come out")
    expected: str = Field(
        default="", description="the result as a literal, or `raises Name`; empty if it is not settled"
    )


PROGRAMMER = Role(
    "programmer",
    (*LOOK, *CHANGE, *TRY),
    Writes.CODE,
    ("issue", "hints", "baseline", "history", "feedback"),
    Programme,
    20,
)
TEST_DESIGNER = Role(
    "test-designer",
    (*LOOK, *CHANGE, *TRY),
    Writes.TESTS,
    ("issue", "hints", "tests", "baseline", "rejected"),
    TestDesign,
    14,
)
ARBITER = Role("arbiter", (), Writes.NOTHING, ("issue", "call"), Derivation, 3)

ROLES = (PROGRAMMER, TEST_DESIGNER, ARBITER)
