"""What the bot is asked to do and how a run can end."""

from __future__ import annotations

import enum
from dataclasses import dataclass


@dataclass(frozen=True)
class Comment:
    """A comment on the issue by someone whose words count."""

    author: str
    body: str


@dataclass(frozen=True)
class Task:
    """An issue as it stood when the bot was called, and the commit to start from."""

    repository: str
    """`owner/name`, or the name of a local folder."""
    title: str
    body: str
    base_commit: str
    number: int | None = None
    comments: tuple[Comment, ...] = ()
    strategy: str = "self-collaboration"


class Outcome(enum.StrEnum):
    """Every way in which a run can end; `bot/publish/outcomes.py` has the text for each."""

    FIXED = "fixed"
    DRAFT = "draft"
    GAVE_UP = "gave-up"
    NO_CHANGE_NEEDED = "no-change-needed"
    NOT_REPRODUCED = "could-not-reproduce"
    ENVIRONMENT_FAILED = "environment-failed"
    TESTS_UNRUNNABLE = "tests-unrunnable"
    OVER_BUDGET = "over-budget"
    TIMED_OUT = "timed-out"
    CANCELLED = "cancelled"
    REFUSED = "refused"
    ERROR = "error"
