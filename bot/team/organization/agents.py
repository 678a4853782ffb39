"""Agents as values: what each owns, wrote and was told; how many there may be; when a part is one agent's work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bot.team.organization.assembly import Piece
from bot.team.organization.spans import Span, parse, size
from bot.team.roles import Plan
from repo_tools.tree import Tree

ROOT = "0"


@dataclass(frozen=True)
class Bounds:
    """What keeps an organization finite. Tokens are estimates."""

    depth: int = 4
    """Levels of agents below the root."""
    breadth: int = 12
    """Children of one agent."""
    agents: int = 48
    """All of them together."""
    asks: int = 4
    """How often one agent may be asked."""
    held: int = 1_500
    """Tokens of code that one agent owns at most, before it has to multiply; also what it may write at once."""
    spans: int = 4
    """Places that one agent owns at most, before it has to multiply."""


@dataclass(frozen=True)
class Room:
    """What is left of the bounds for an agent's descendants: the same however its siblings get on."""

    levels: int
    agents: int

    def shared(self, children: int) -> Room:
        """The room of each of some children."""
        return Room(self.levels - 1, max(0, self.agents - children) // max(1, children))

    def fits(self, children: int) -> bool:
        """Whether so many children may be made."""
        return self.levels > 0 and children <= self.agents


@dataclass(frozen=True)
class Site:
    """Where agents work. A value, so that it can be sent to another process with a part of the work."""

    base: Tree
    """What all spans refer to: the project before any change."""
    bounds: Bounds
    room: Room
    round: int

    def shared(self, children: int) -> Site:
        """The site of each of some children."""
        return replace(self, room=self.room.shared(children))


@dataclass(frozen=True)
class Memory:
    """One thing that an agent did or was told."""

    round: int
    kind: str
    """`specification`, `wrote`, `told`, `checked`, `dropped`, `result` or `rolled back`."""
    value: Any


@dataclass(frozen=True)
class Agent:
    """One agent with all below it. Immutable: what it does gives another one, so that a state can be gone back to."""

    id: str
    specification: str
    spans: tuple[Span, ...]
    """What it and its descendants were given."""
    signatures: Mapping[Span, str] = field(default_factory=dict)
    """Agreed on with its mother. A span without one keeps the signature that it has."""
    after: Mapping[Span, str] = field(default_factory=dict)
    """New definition -> the name of the one that it is put behind."""
    children: tuple[Agent, ...] = ()
    code: Mapping[Span, str] = field(default_factory=dict)
    """What it wrote itself."""
    imports: Mapping[Span, tuple[str, ...]] = field(default_factory=dict)
    """Import statements that its code for a span needs in that file."""
    plea: str = ""
    """Why it holds what was agreed on to be unworkable."""
    disputed: str = ""
    """Which test it holds to be wrong, and why."""
    memory: tuple[Memory, ...] = ()
    asked: int = 0
    born: int = 0
    """How many children it ever had: no name is given twice."""
    unfinished: tuple[str, ...] = ()
    """When it got no further, and why, each a sentence."""
    stop: Exception | None = None
    """That money or time ended when it was asked."""

    def everyone(self) -> Iterator[Agent]:
        """This agent and its descendants, mothers before children."""
        yield self
        for child in self.children:
            yield from child.everyone()

    @property
    def disputes(self) -> str:
        """Which tests it and its descendants hold to be wrong, and why; one a line."""
        return "\n".join(one.disputed for one in self.everyone() if one.disputed)

    def undisputed(self) -> Agent:
        """It and its descendants, once what they disputed has been looked at."""
        return replace(self, disputed="", children=tuple(child.undisputed() for child in self.children))

    def pieces(self) -> list[Piece]:
        """What it and its descendants wrote, in an order that depends on the tree alone."""
        return [
            Piece(span, text, one.imports.get(span, ()), one.after.get(span, ""))
            for one in self.everyone()
            for span, text in one.code.items()
        ]

    def remembering(self, round_: int, kind: str, value: Any) -> Agent:
        """This agent with one more thing in its memory."""
        return replace(self, memory=(*self.memory, Memory(round_, kind, value)))

    def name(self, role: str) -> str:
        """The name under which it is asked next: one for each time, as records need it."""
        return f"{role}-{self.id}" + (f"~{self.asked + 1}" if self.asked else "")

    def next_child(self, number: int) -> str:
        """The id of its `number`th new child, from 1."""
        own = self.born + number
        return str(own) if self.id == ROOT else f"{self.id}.{own}"


def restored(best: Agent, now: Agent) -> Agent:
    """An earlier state of an agent and its descendants, with all that they remember since."""
    known = {child.id: child for child in now.children}
    children = tuple(restored(child, known.get(child.id, child)) for child in best.children)
    return replace(
        best, children=children, memory=now.memory, asked=now.asked, born=now.born, unfinished=now.unfinished
    )


def too_much(tree: Tree, spans: Sequence[Span], bounds: Bounds) -> bool:
    """Whether a part is more than one agent may own: by the size of its code and by its places.

    A single place may be twice as large: it is seldom better in pieces.
    """
    return len(spans) > bounds.spans or size(tree, *spans) > bounds.held * (2 if len(spans) == 1 else 1)


def too_large_for_one(plan: Plan, tree: Tree, bounds: Bounds | None = None) -> bool:
    """Whether what a plan touches is better divided among agents than held by one: many places in several files.

    By the size of the code that it names, and by the number of places and files.
    """
    limits = bounds or Bounds()
    spans = {parse(region) for task in plan.subtasks for region in task.regions}
    files = {span.path for span in spans}
    return size(tree, *spans) > 4 * limits.held or (len(spans) >= 2 * limits.spans and len(files) >= limits.spans)
