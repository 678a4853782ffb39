"""A base made of given files, for tests that need no git."""

from __future__ import annotations

from collections.abc import Mapping

from repo_tools.patch import REGULAR
from repo_tools.tree import Tree, blob_id


class Files:
    """Path -> bytes as a `Base`. It counts what is read."""

    def __init__(self, files: Mapping[str, bytes], name: str = "base") -> None:
        self._files = dict(files)
        self._name = name
        self.read_paths: list[str] = []

    @property
    def id(self) -> str:
        return self._name

    def entries(self) -> Mapping[str, tuple[int, str]]:
        return {path: (REGULAR, blob_id(data)) for path, data in self._files.items()}

    def read(self, path: str) -> bytes:
        self.read_paths.append(path)
        return self._files[path]


def tree_of(files: Mapping[str, bytes]) -> Tree:
    """A tree of these files, unchanged."""
    return Tree(Files(files))
