"""The roles of an organization of agents, what they hand over, and how much each may be shown."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, Self

from pydantic import Field, model_validator

from bot.team.roles import LOOK, REPRODUCER, Change, Doubts, Plan, Role, Submission, Title, Writes

SPANS = (
    "what it owns: `path::Owner.name` for a definition that is there or is to be made, `path:first-last` for other "
    "lines, `path` for a new or a short file"
)
SIGNATURES = (
    "span -> its signature as it has to be afterwards, such as `def load(path: str, *, encoding: str = 'utf-8') -> "
    "Config`; for each definition that is new or whose signature changes; `removed` for one, or a file, that goes"
)
SPECIFICATION = (
    "all that its owner will ever see of the task: what has to change or what the new definition does, its arguments, "
    "result and errors, an example with input and result, and how it calls what others write (names, signatures)"
)


class Part(Submission):
    """A part of the work for an agent of its own."""

    spans: list[str] = Field(min_length=1, max_length=40, description=SPANS)
    signatures: dict[str, str] = Field(default={}, description=SIGNATURES)
    specification: str = Field(min_length=20, max_length=3000, description=SPECIFICATION)


class Replacement(Submission):
    """One exact replacement within a span."""

    old: str = Field(min_length=1, description="exact text, found once in the span, with its indentation")
    new: str


class Code(Submission):
    """The code of one span: its whole new text, or exact replacements in what it holds."""

    span: str
    text: str = Field(default="", description="the whole new text, with decorators and documentation")
    edits: list[Replacement] = Field(default=[], max_length=30, description="instead of text, where little changes")
    imports: list[str] = Field(default=[], max_length=10, description="import statements that it needs in its file")


class Skeleton(Submission):
    """The root's decision, and the work as interfaces and specifications before any body."""

    decision: Literal["change", "no_change_needed", "cannot_reproduce"]
    diagnosis: str = Field(min_length=10, description="what is wrong or missing, in at most three sentences")
    title: Title
    summary: str = Field(min_length=3, description="what changes, or why nothing has to, at most three sentences")
    parts: list[Part] = Field(default=[], description="what other agents do; empty if you write it all yourself")
    code: list[Code] = Field(default=[], description="what you write yourself")
    doubts: Doubts = []

    @property
    def plan(self) -> Plan:
        """The diagnosis in the form in which a team has it."""
        return Plan(decision=self.decision, diagnosis=self.diagnosis, evidence=self.summary, doubts=self.doubts)

    @property
    def change(self) -> Change:
        """What is to be done in the form in which a team has it."""
        return Change(title=self.title, cause=self.diagnosis, summary=self.summary, doubts=self.doubts)


class Division(Submission):
    """A part that is too large for one agent, divided."""

    parts: list[Part] = Field(min_length=1, description="each owns some of the spans, or parts of one")


class Written(Submission):
    """What an agent wrote for the spans that it owns."""

    code: list[Code] = Field(default=[], description="an entry for each span that is new or changes")
    helpers: list[Part] = Field(
        default=[], description="new definitions that your code calls, each to be written by an agent of its own"
    )
    plea: str = Field(
        default="", description="only if the agreed interface cannot work: why, and what it should be; then no code"
    )


class Direction(Submission):
    """What one child is to do, or what becomes of it."""

    part: str = Field(description="the child's number; `new` for a part that is missing")
    action: Literal["change", "drop", "add"] = "change"
    direction: str = Field(min_length=10, max_length=1500, description="what is wrong there and what it has to become")
    spans: list[str] = Field(default=[], max_length=40, description="for a new part: " + SPANS)
    signatures: dict[str, str] = Field(default={}, description="only where an interface is agreed on anew: span -> it")
    check: str = Field(
        default="",
        description="a shell command that fails as long as this child is at fault and passes afterwards, such as "
        "python -c 'from calc import half; assert half(3) == 1.5'; needed for a child in no trace",
    )

    @model_validator(mode="after")
    def _has_places(self) -> Self:
        if self.action == "add" and not self.spans:
            raise ValueError("to add a part, name its `spans`")
        return self


class Steering(Submission):
    """A mother's feedback on what was executed: the cause, and the direction for each child at fault."""

    cause: str = Field(min_length=10, description="why it fails, in at most three sentences")
    directions: list[Direction] = Field(default=[], max_length=12)
    code: list[Code] = Field(default=[], description="changes of your own spans")
    wrong_tests: str = Field(
        default="", description="only if a new test asserts what the issue does not say: which one, and why"
    )

    @property
    def added(self) -> list[Part]:
        """The parts that she gives to new children."""
        return [
            Part(spans=one.spans, signatures=one.signatures, specification=one.direction.ljust(20, "."))
            for one in self.directions
            if one.action == "add"
        ]


MOTHER = Role(
    "mother",
    LOOK,
    Writes.NOTHING,
    ("issue", "hints", "bounds", "baseline", "observation"),
    Skeleton,
    14,
    request_tokens=24_000,
)
DIVIDER = Role(
    "mother",
    (),
    Writes.NOTHING,
    ("specification", "outline", "bounds", "observation"),
    Division,
    3,
    opening="division_brief",
    request_tokens=12_000,
)
STEERER = Role(
    "mother",
    (),
    Writes.NOTHING,
    ("specification", "code", "children", "executed", "tried"),
    Steering,
    3,
    opening="steering_brief",
    request_tokens=20_000,
)
CHILD = Role(
    "child",
    (),
    Writes.NOTHING,
    ("specification", "code", "children", "bounds", "observation"),
    Written,
    4,
    request_tokens=12_000,
)
TESTS = replace(REPRODUCER, request_tokens=24_000)
"""Who writes the tests that all are measured by, from the issue alone."""

ROLES = (MOTHER, CHILD)
