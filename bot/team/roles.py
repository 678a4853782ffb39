"""The roles: what each may see, which tools it has, what it may write and what it must submit."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Title = Annotated[
    str,
    Field(
        min_length=8,
        max_length=100,
        description="for the pull request: what the change does, imperative, at most 70 characters",
    ),
]
Doubts = Annotated[list[str], Field(max_length=5)]


class Writes(enum.Enum):
    """Which files a role may change. Enforced by the tools, not asked for in a prompt."""

    NOTHING = "nothing"
    CODE = "code"
    TESTS = "tests"
    ALL = "all"


class Submission(BaseModel):
    """What a role hands over; unknown fields are an error, so that a typing mistake is seen."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Subtask(Submission):
    """One part of the work."""

    title: str = Field(min_length=3, max_length=200)
    regions: list[str] = Field(
        min_length=1, max_length=12, description="what it touches, each as path:first-last, for example src/a.py:10-42"
    )
    change: str = Field(min_length=3, description="what has to change there, in words, without code")


class Plan(Submission):
    """The analyst's diagnosis and division of the work (Self-collaboration's plan, with localisation)."""

    decision: Literal["change", "no_change_needed", "cannot_reproduce"]
    diagnosis: str = Field(min_length=10, description="what is wrong and why, in at most three sentences")
    subtasks: list[Subtask] = Field(default=[], max_length=8, description="empty unless the decision is change")
    new_files: list[str] = Field(
        default=[], max_length=30, description="only if something new of several files is asked for: their likely paths"
    )
    must_hold: list[str] = Field(
        default=[], max_length=12, description="checkable statements that are true afterwards, edge cases included"
    )
    evidence: str = Field(default="", description="what you ran or read that shows the diagnosis")
    doubts: Doubts = []


class Change(Submission):
    """What the coder did."""

    title: Title
    cause: str = Field(default="", description="what was wrong and why, at most three sentences")
    summary: str = Field(min_length=3, description="what changed, for the pull request, at most three sentences")
    doubts: Doubts = []
    plan_fault: str = Field(default="", description="only if the plan points to the wrong place: why")
    wrong_tests: str = Field(
        default="", description="only if a new test asserts what the issue does not say: which one, and why"
    )


class Reproduction(Submission):
    """Tests written from the issue alone, before any change."""

    decision: Literal["reproduced", "no_change_needed", "cannot_reproduce"]
    reason: str = Field(min_length=10, description="how the tests fail now and why that is what the issue is about")
    changed_tests: str = Field(
        default="",
        description="only if you changed an existing test: which one, and the words of the issue that ask for it",
    )
    doubts: Doubts = []


class Challenge(Submission):
    """A fresh reader's attempt to refute the change."""

    verdict: Literal["holds", "refuted"]
    counterexample: str = Field(
        default="", description="if refuted: input, expected result and where the issue says so, result as executed"
    )
    unneeded: list[str] = Field(
        default=[],
        max_length=6,
        description="parts of the change that the issue does not need, each as path:first-last and why",
    )
    doubts: Doubts = []


class Solution(Submission):
    """What a lone agent hands over: diagnosis and change in one."""

    decision: Literal["change", "no_change_needed", "cannot_reproduce"]
    diagnosis: str = Field(min_length=10, description="what is wrong and why, in at most three sentences")
    title: Title
    summary: str = Field(min_length=3, description="what changed, or why nothing has to, at most three sentences")
    doubts: Doubts = []

    @property
    def plan(self) -> Plan:
        """The diagnosis in the form in which a team has it."""
        return Plan(decision=self.decision, diagnosis=self.diagnosis, evidence=self.summary, doubts=self.doubts)

    @property
    def change(self) -> Change:
        """The change in the form in which a team has it."""
        return Change(title=self.title, summary=self.summary, doubts=self.doubts)


class Review(Submission):
    """The tester's report. Its verdict never overrides what was executed."""

    verdict: Literal["passed", "failed"]
    fault: Literal["none", "code", "plan"] = Field(description="where the fault lies if the verdict is failed")
    functionality: str = Field(min_length=3, description="does the change do what the issue asks; what was executed")
    readability: str = Field(default="")
    maintainability: str = Field(default="")
    edge_cases: list[str] = Field(default=[], max_length=10)
    problems: list[str] = Field(default=[], max_length=8, description="each one actionable for the coder")
    changed_tests: str = Field(
        default="",
        description="only if you changed an existing test: which one, and the words of the issue that ask for it",
    )
    fails_without: str = Field(
        min_length=3, description="how the new tests fail without the change, and why that is right"
    )


@dataclass(frozen=True)
class Role:
    """One kind of worker. `reads` names the board's slots that fill its prompt, in the prompt's order."""

    name: str
    tools: tuple[str, ...]
    writes: Writes
    reads: tuple[str, ...]
    submits: type[Submission]
    replies: int
    """How many completions it may use."""
    opening: str = ""
    """The prompt with its places, if it is not `<name>_brief`."""
    red: bool = False
    """Whether its tests are to fail when it hands over: for it a failing run is what was to be shown."""
    request_tokens: int = 48_000
    """The largest request it may make; older tool results are trimmed to stay below."""


LOOK = ("read", "search", "outline", "find_definition", "find_references")
CHANGE = ("edit", "create", "rename", "delete")
TRY = ("run_tests", "run")
SEE = ("read", "search")
"""For whoever starts with the likely code in front: the fewer tools are described, the less each request costs."""
WRITE = ("edit", "create", "delete")

ANALYST = Role("analyst", (*LOOK, *TRY), Writes.NOTHING, ("issue", "hints", "baseline", "history"), Plan, 14)
CODER = Role(
    "coder",
    (*LOOK, *CHANGE, *TRY),
    Writes.CODE,
    ("issue", "plan", "code", "baseline", "conventions", "history"),
    Change,
    16,
)
TESTER = Role(
    "tester",
    (*LOOK, *CHANGE, *TRY),
    Writes.TESTS,
    ("issue", "plan", "diff", "tests", "baseline", "history"),
    Review,
    14,
)
SINGLE = Role(
    "single",
    (*SEE, *WRITE, *TRY),
    Writes.ALL,
    ("issue", "hints", "tests", "baseline", "conventions", "history"),
    Solution,
    30,
)

REPRODUCER = Role(
    "reproducer",
    (*SEE, *WRITE, *TRY),
    Writes.TESTS,
    ("issue", "executed", "hints", "tests", "baseline", "objections"),
    Reproduction,
    12,
    red=True,
)
FIXER = Role(
    "coder",
    (*SEE, "find_references", *WRITE, *TRY),
    Writes.CODE,
    ("issue", "executed", "hints", "baseline", "conventions", "reproduction", "plan", "code", "history"),
    Change,
    16,
    opening="fixer_brief",
)
CHALLENGER = Role("challenger", (*SEE, *TRY), Writes.NOTHING, ("issue", "diff", "evidence"), Challenge, 8)

ROLES = {role.name: role for role in (ANALYST, CODER, TESTER, SINGLE, REPRODUCER, CHALLENGER)}
