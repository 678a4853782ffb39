"""A base without git: what `repo_tools.tree.Tree` stands on in tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from repo_tools.patch import REGULAR, FileState
from repo_tools.tree import PastChange, Tree, blob_id


@dataclass(frozen=True)
class MemoryBase:
    """Files held in memory: path -> bytes, or a `FileState` where the mode matters."""

    files: Mapping[str, bytes | FileState] = field(default_factory=dict)
    id: str = "0" * 40
    past: Sequence[PastChange] = ()
    mounted: Mapping[str, str] = field(default_factory=dict)

    def entries(self) -> Mapping[str, tuple[int, str]]:
        return {
            path: (one.mode, blob_id(one.data)) if isinstance(one, FileState) else (REGULAR, blob_id(one))
            for path, one in sorted(self.files.items())
        }

    def read(self, path: str) -> bytes:
        one = self.files[path]
        return one.data if isinstance(one, FileState) else one

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        return ((path, self.read(path)) for path in paths)

    def absent(self, paths: Iterable[str]) -> frozenset[str]:
        return frozenset(paths) - self.files.keys()

    def history(self, most: int) -> Sequence[PastChange]:
        return self.past[:most]

    def submodules(self) -> Mapping[str, str]:
        return self.mounted


def memory_tree(files: Mapping[str, bytes | FileState] | None = None) -> Tree:
    """A tree without changes on a base in memory."""
    return Tree(MemoryBase(dict(files or {})))
