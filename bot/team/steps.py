"""What a strategy can want. A strategy is a generator: it yields steps, is sent their answers, and does no I/O.

Ask       -> Answer        one role works on one tree until it submits
Check     -> TestReport    the project's tests run on one tree
Execute   -> Result        a shell command runs on one tree
Note      -> None          something is written on the board
Together  -> list          several strategies side by side; their results in the order given
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel

from bot.team.roles import Role
from repo_tools.tree import Tree


def no_objection(submitted: Any, tree: Tree) -> str:  # noqa: ARG001 - one signature for all objections
    """Nothing more is asked of a submission than its schema."""
    return ""


@dataclass(frozen=True)
class Ask:
    """Let `role` work on `on`. `brief` fills the places of the role's prompt; `agent` names who it is (`coder-2`)."""

    role: Role
    on: Tree
    brief: Mapping[str, str]
    agent: str
    objection: Callable[[Any, Tree], str] = no_objection
    """Why a submission, with the tree it comes with, cannot be taken, written for the role; empty if it can."""


@dataclass(frozen=True)
class Answer:
    """What a role left: its validated submission (None if it never made one) and the tree as it is now."""

    submitted: BaseModel | None
    tree: Tree
    ended: str
    """`submitted`, or why it got no further: `steps` (its limit was reached), `prose` (it would not call tools),
    `circles` (the same calls again and again), `context` (what it had done no longer fits into a request) or `share`
    (its share of the money is spent)."""


@dataclass(frozen=True)
class Check:
    """Run the tests of `on`: all, or only `selection` (test ids or files). `reason` is for people."""

    on: Tree
    reason: str
    selection: tuple[str, ...] = ()
    watch: tuple[str, ...] = ()
    """Files of which the report is to tell which lines ran."""


@dataclass(frozen=True)
class Execute:
    """Run a shell command on a copy of a tree."""

    on: Tree
    command: str


@dataclass(frozen=True)
class Note:
    """Put `value` into the board's slot `slot`."""

    slot: str
    value: Any
    round: int


@dataclass(frozen=True)
class Together:
    """Carry out several strategies side by side, each under its own name."""

    parts: Mapping[str, Callable[[], Strategy[Any]]]


Step = Ask | Check | Execute | Note | Together
Outcome = TypeVar("Outcome")
Strategy = Generator[Step, Any, Outcome]
