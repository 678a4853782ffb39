"""Values that somebody computed from a tree, kept for that tree and at hand for the trees near it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from repo_tools.store import Store

MOST = 8
"""Trees for which values are kept; the oldest go."""

_OWNER = "tree "
_FILES = "files"


class Derived:
    """The values of one tree, which is given by its files and the document of each."""

    def __init__(self, store: Store, files: Sequence[str], documents: Sequence[int]) -> None:
        self._store = store
        rows = [f"{document} {path}" for path, document in zip(files, documents, strict=True)]
        self._listing = "\0".join(rows).encode("utf-8", "surrogateescape")
        self._rows = frozenset(rows)
        self._owner = _OWNER + hashlib.sha256(self._listing).hexdigest()

    def nearest(self, key: str) -> tuple[bytes, frozenset[str]] | None:
        """The value kept under `key` for this tree, or else for the latest other one; None if there is none.

        With it come the paths in which the two trees differ: none if the value is this tree's own.
        """
        latest_first = [owner for owner in reversed(self._store.owners()) if owner.startswith(_OWNER)]
        for owner in sorted(latest_first, key=self._owner.__ne__):
            value = self._store.section(owner, key)
            if value is not None:
                return bytes(value), frozenset() if owner == self._owner else self._differences(owner)
        return None

    def keep(self, key: str, value: bytes) -> None:
        """Keep a value for this tree."""
        self._store.put(self._owner, {_FILES: self._listing, key: value})
        owners = [owner for owner in self._store.owners() if owner.startswith(_OWNER)]
        for owner in owners[:-MOST]:
            self._store.drop(owner)

    def _differences(self, owner: str) -> frozenset[str]:
        listing = self._store.section(owner, _FILES) or b""
        rows = frozenset(bytes(listing).decode("utf-8", "surrogateescape").split("\0"))
        return frozenset(row.partition(" ")[2] for row in self._rows ^ rows if row)
