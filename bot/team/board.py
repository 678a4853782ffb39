"""The blackboard: what the roles have handed over, append-only. Each role reads its declared slots only.

Slots: executed (the issue's own code, once); reproduction, plan, change, review, verification,
challenge, dispute (at most one a round); reasoning (a programmer's steps), tests (a design of them), ruling (on a
test in dispute), ranking (of candidates); skeleton (interfaces before bodies), agent (what one of an organization did);
architecture (of new files); measured (of what is delivered).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SLOTS = frozenset(
    {"executed", "reproduction", "plan", "change", "review", "verification", "challenge", "dispute"}
    | {"reasoning", "tests", "ruling", "ranking", "skeleton", "agent", "architecture", "measured"}
)


@dataclass(frozen=True)
class Entry:
    """One thing written on the board."""

    slot: str
    value: Any
    round: int


@dataclass(frozen=True)
class Board:
    """All entries, oldest first. Writing gives another board."""

    entries: tuple[Entry, ...] = ()

    def put(self, slot: str, value: Any, round_: int) -> Board:
        """This board with one entry more. Raises `KeyError` on an unknown slot."""
        if slot not in SLOTS:
            raise KeyError(f"the board has no slot {slot}")
        return Board((*self.entries, Entry(slot, value, round_)))

    def last(self, slot: str) -> Any:
        """The newest value of a slot, or None."""
        return next((entry.value for entry in reversed(self.entries) if entry.slot == slot), None)

    def all(self, slot: str) -> list[Entry]:
        """Every entry of a slot, oldest first."""
        return [entry for entry in self.entries if entry.slot == slot]
