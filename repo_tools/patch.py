"""A change to a repository as whole new contents of the files that differ. Nothing is ever fuzzily applied."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field

REGULAR = 0o100644
EXECUTABLE = 0o100755
SYMLINK = 0o120000


@dataclass(frozen=True)
class FileState:
    """One file: its bytes (of a symbolic link, the target) and its git mode."""

    data: bytes
    mode: int = REGULAR


@dataclass(frozen=True)
class Patch:
    """Path (POSIX, relative) -> new state; `None` deletes. Empty means nothing changed."""

    files: Mapping[str, FileState | None] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.files)

    def to_json(self) -> dict[str, dict[str, str] | None]:
        """A JSON-able form; `from_json` reads it back, byte for byte."""
        return {
            path: None if state is None else {"mode": f"{state.mode:o}", "data": base64.b64encode(state.data).decode()}
            for path, state in sorted(self.files.items())
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Mapping[str, str] | None]) -> Patch:
        """Raises `KeyError` or `ValueError` if `value` is not of the form that `to_json` gives."""
        return cls(
            {
                path: None if state is None else FileState(base64.b64decode(state["data"]), int(state["mode"], 8))
                for path, state in value.items()
            }
        )
