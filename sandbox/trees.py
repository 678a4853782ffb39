"""Trees as values: their entries, how two of them differ, which paths they may have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

Entries = Mapping[str, tuple[int, str]]
"""Path -> (git file mode, content id), as `Snapshot.entries` gives it."""

NAMES = ("utf-8", "surrogateescape")
"""How git's names, which are bytes, are text in this project: encoding and error handler."""
SYMLINK = 0o120000
SUBMODULE = 0o160000


@dataclass(frozen=True)
class Difference:
    """What turns one tree into another."""

    put: frozenset[str]
    delete: frozenset[str]

    @property
    def paths(self) -> frozenset[str]:
        """Every path that is touched."""
        return self.put | self.delete

    @property
    def listed(self) -> bytes:
        """What to delete, each name ended by a zero byte."""
        return b"".join(path.encode(*NAMES) + b"\0" for path in sorted(self.delete))


NOTHING = Difference(frozenset(), frozenset())


def difference(before: Entries, after: Entries) -> Difference:
    """What to put and what to delete so that `before` becomes `after`."""
    put = frozenset(path for path, entry in after.items() if before.get(path) != entry)
    folders = {parent for path in put for parent in parents(path)}
    # A path whose parent became a file or a link went with the parent; to follow it now could lead elsewhere.
    delete = frozenset(
        path
        for path in before.keys() - after.keys()
        if path not in folders and not any(parent in after for parent in parents(path))
    )
    return Difference(put, delete)


def parents(path: str) -> list[str]:
    """The folders above a path, outermost first."""
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts))]


def checked(path: str) -> str:
    """`path` itself. Raises `ValueError` unless it names a file below the repository and outside `.git`."""
    parts = path.split("/")
    if "\0" in path or not all(parts) or any(part in (".", "..") or part.lower() == ".git" for part in parts):
        raise ValueError(f"{path!r} is not a path inside a repository")
    return path


def entries_to_json(entries: Entries) -> bytes:
    """For `entries_from_json`."""
    return json.dumps({path: list(entry) for path, entry in entries.items()}).encode()


def entries_from_json(data: bytes) -> dict[str, tuple[int, str]]:
    """Raises `ValueError` if `data` is not what `entries_to_json` gives."""
    return {path: (int(mode), str(identity)) for path, (mode, identity) in json.loads(data).items()}
