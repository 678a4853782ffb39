"""What a role reads and edits: a base commit and a patch on it, as one value."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from repo_tools.patch import FileState, Patch

_LONG_ID = 64
"""Digits of a commit id in a repository of the SHA-256 object format."""


class PastChange(NamedTuple):
    """A commit of the past: what it said and which files it changed, at least one."""

    message: str
    paths: tuple[str, ...]


class Base(Protocol):
    """The unchanged files that a tree starts from; `repo_tools.checkout.Commit` is one."""

    @property
    def id(self) -> str:
        """The commit id, or another name for these very contents."""

    def entries(self) -> Mapping[str, tuple[int, str]]:
        """Path -> (git mode, blob id)."""

    def read(self, path: str) -> bytes:
        """The bytes of one file. Raises `KeyError` if there is none."""

    def submodules(self) -> Mapping[str, str]:
        """Path at which another repository is mounted -> its commit: no entries, nothing below can be changed."""

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """(path, bytes) for each of `paths`, in order and in one pass; made for whole repositories."""

    def absent(self, paths: Iterable[str]) -> frozenset[str]:
        """Those of `paths` that are named and whose bytes are not at hand, as in a partial clone."""

    def history(self, most: int) -> Sequence[PastChange]:
        """The changes that led here, the latest first, of the last `most`; none if nobody knows."""


def blob_id(data: bytes, *, long: bool = False) -> str:
    """The id that git gives to a file of these bytes; `long` in repositories of the SHA-256 object format."""
    contents = b"blob %d\0" % len(data) + data
    return (hashlib.sha256(contents) if long else hashlib.sha1(contents, usedforsecurity=False)).hexdigest()


@dataclass(frozen=True)
class Tree:
    """A base and the changes to it. Immutable: every change gives another tree."""

    base: Base
    patch: Patch = field(default_factory=Patch)

    def entries(self) -> Mapping[str, tuple[int, str]]:
        """Path -> (git mode, blob id), the changes applied."""
        entries = dict(self.base.entries())
        for path, state in self.patch.files.items():
            if state is None:
                entries.pop(path, None)
            else:
                entries[path] = (state.mode, self._blob_id(state.data))
        return entries

    def exists(self, path: str) -> bool:
        """Whether there is a file of that path."""
        if path in self.patch.files:
            return self.patch.files[path] is not None
        return path in self.base.entries()

    def read(self, path: str) -> bytes:
        """The bytes of one file. Raises `KeyError` if there is none."""
        if path in self.patch.files:
            state = self.patch.files[path]
            if state is None:
                raise KeyError(path)
            return state.data
        return self.base.read(path)

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """(path, bytes) for each of `paths`, in order and in one pass. Raises `KeyError` if there is none."""
        chosen = tuple(paths)
        unchanged = self.base.read_many(path for path in chosen if path not in self.patch.files)
        return ((path, self.read(path)) if path in self.patch.files else next(unchanged) for path in chosen)

    def absent(self, paths: Iterable[str]) -> frozenset[str]:
        """Those of `paths` whose bytes are not at hand, as in a partial clone."""
        return self.base.absent(path for path in paths if path not in self.patch.files)

    def mode(self, path: str) -> int:
        """The git mode of one file. Raises `KeyError` if there is none."""
        state = self.patch.files.get(path)
        return state.mode if state is not None else self.base.entries()[path][0]

    def with_file(self, path: str, data: bytes, mode: int | None = None) -> Tree:
        """This tree with `path` holding `data`; the mode stays unless it is given."""
        kept = mode if mode is not None else (self.mode(path) if self.exists(path) else FileState(b"").mode)
        return self._changed(path, FileState(data, kept))

    def without_file(self, path: str) -> Tree:
        """This tree without `path`. Raises `KeyError` if there is none."""
        if not self.exists(path):
            raise KeyError(path)
        return self._changed(path, None)

    def only(self, keep: Mapping[str, object] | set[str] | frozenset[str]) -> Tree:
        """This tree with the changes to the paths in `keep` alone."""
        return Tree(self.base, Patch({path: state for path, state in self.patch.files.items() if path in keep}))

    def _blob_id(self, data: bytes) -> str:
        return blob_id(data, long=len(self.base.id) == _LONG_ID)

    def _changed(self, path: str, state: FileState | None) -> Tree:
        files = dict(self.patch.files)
        before = self.base.entries().get(path)
        after = None if state is None else (state.mode, self._blob_id(state.data))
        if before == after:
            files.pop(path, None)
        else:
            files[path] = state
        return Tree(self.base, Patch(files))
