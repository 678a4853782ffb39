"""What parsing found, kept between runs: by the id of a file's bytes, so that only what is new is parsed."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from repo_tools.answers import Answers
from repo_tools.store import Store
from repo_tools.tree import Tree
from repo_tools.view import View

_DECIDING = (
    *("facts", "languages", "symbols", "words", "postings", "covering", "documents", "history", "store"),
    *("bodies", "literals", "file_kinds"),
)
"""The modules that decide what the index holds, and how."""


class Index:
    """The index in one folder. Threads may share one, processes a folder."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @classmethod
    def open(cls, folder: Path) -> Index:
        """The index in `folder`, which is made if there is none. Raises `IndexUnusable`."""
        return cls(Store(folder, _version()))

    def close(self) -> None:
        """Let go of the file; views of this index answer no more."""
        self._store.close()

    def view(self, tree: Tree) -> View:
        """Answers for `tree`; what is new in it is parsed first. Raises `IndexUnusable`."""
        return View(tree, Answers(self._store, tree))


@functools.cache
def _version() -> str:
    """Another whenever the same bytes could give other facts: for other code, other queries, other grammars."""
    here = Path(__file__).parent
    code = [here / f"{name}.py" for name in _DECIDING]
    return hashlib.sha256(
        b"".join(file.read_bytes() for file in [*code, *sorted(here.glob("queries/*.scm"))])
    ).hexdigest()
