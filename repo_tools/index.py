"""What parsing found, kept between runs."""

from __future__ import annotations

from pathlib import Path

from repo_tools.languages import Unparsed, language_of
from repo_tools.patch import EXECUTABLE, REGULAR
from repo_tools.symbols import definitions
from repo_tools.tree import Tree
from repo_tools.view import Facts, View
from repo_tools.words import words


class Index:
    """The facts of files by blob id."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._facts: dict[tuple[str, str], Facts] = {}

    @classmethod
    def open(cls, folder: Path) -> Index:
        """The index in `folder`, which is made if there is none."""
        return cls(folder)

    def view(self, tree: Tree) -> View:
        """Answers for `tree`; what is new in it is parsed first."""
        entries = {path: blob for path, (mode, blob) in tree.entries().items() if mode in (REGULAR, EXECUTABLE)}
        return View(tree, tuple(sorted(entries)), _Source(self._facts, tree, entries))


class _Source:
    def __init__(self, known: dict[tuple[str, str], Facts], tree: Tree, entries: dict[str, str]) -> None:
        self._known = known
        self._tree = tree
        self._entries = entries

    def facts(self, path: str) -> Facts:
        language = language_of(path)
        key = (self._entries[path], language.name if language else "")
        if key not in self._known:
            data = self._tree.read(path)
            try:
                found = definitions(language, data) if language else ()
            except Unparsed:
                found = ()
            text = {} if b"\0" in data[:8192] else words(data)
            self._known[key] = Facts(found, {word.decode("utf-8", "replace"): n for word, n in text.items()})
        return self._known[key]
