"""What the index answers for one tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from repo_tools.languages import language_of
from repo_tools.regions import Region, regions
from repo_tools.search import Found, Line, search
from repo_tools.symbols import Definition, reference_lines
from repo_tools.tree import Tree
from repo_tools.words import terms


@dataclass(frozen=True, slots=True)
class Facts:
    """What one file's bytes say, whatever its path."""

    definitions: tuple[Definition, ...]
    words: Mapping[str, int]
    """Every word of the text as written -> how often; empty for what is not text and for what is too large."""


class Source(Protocol):
    """Where a view has the facts of its files from."""

    def facts(self, path: str) -> Facts:
        """The facts of one file. Raises `KeyError` if the tree has no such file."""


class View:
    """Answers for exactly one tree. Files are numbered: a number is a place in `files()`.

    A path that the tree does not have raises `KeyError` everywhere.
    """

    def __init__(self, tree: Tree, files: tuple[str, ...], source: Source) -> None:
        self.tree = tree
        self._files = files
        self._source = source

    def files(self) -> tuple[str, ...]:
        """The paths of all regular files, sorted; neither symbolic links nor submodules."""
        return self._files

    def read(self, path: str) -> bytes:
        """The bytes of one file."""
        return self.tree.read(path)

    def outline(self, path: str) -> tuple[Definition, ...]:
        """What a file defines, in order; nothing if its language is unknown or it could not be parsed."""
        return self._source.facts(path).definitions

    def find_definition(self, name: str) -> tuple[tuple[str, Definition], ...]:
        """Path and definition of all that is called `name`: a last name, or with its owners before it.

        `filter`, `QuerySet.filter`, `Foo::bar` and `django.db.models.query.QuerySet.filter` all find theirs.
        """
        wanted = name_parts(name)
        return tuple(
            (path, definition)
            for number in self.defining(wanted[-1])
            for path in (self._files[number],)
            for definition in self.outline(path)
            if definition.last_name == wanted[-1] and _answers_to(path, definition, wanted)
        )

    def find_references(self, name: str, limit: int = 200) -> Found:
        """The lines that use the last part of `name` in code: not in comments or strings, nor its definition."""
        last = name_parts(name)[-1]
        lines: list[Line] = []
        for number in sorted(self.with_word(last)):
            path = self._files[number]
            language = language_of(path)
            if language is not None:
                data = self.read(path)
                lines += (Line(path, line, text) for line, text in reference_lines(language, data, last))
            if len(lines) > limit:
                break
        return Found(tuple(lines[:limit]), complete=len(lines) <= limit)

    def search(self, pattern: str, glob: str = "**", limit: int = 100, seconds: float = 5.0) -> Found:
        """The lines that match a regular expression, in the files whose path matches `glob` (`*.py`, `docs/**`).

        Raises `BadPattern` with the reason if either is malformed.
        """
        return search(self._files, self.read, pattern, glob, limit=limit, seconds=seconds)

    def regions(self, path: str, budget_tokens: int) -> tuple[Region, ...]:
        """The regions of one file."""
        return regions(path, self.read(path), budget_tokens)

    # What ranking counts with.

    def lengths(self) -> tuple[int, ...]:
        """How many words each file has, by number."""
        return tuple(sum(self._source.facts(path).words.values()) for path in self._files)

    def with_word(self, word: str) -> Mapping[int, int]:
        """Number -> count of the files in which a word stands just so, in code, comments or strings."""
        return {
            number: count
            for number, path in enumerate(self._files)
            if (count := self._source.facts(path).words.get(word))
        }

    def with_term(self, term: str) -> Mapping[int, int]:
        """Number -> count of the files in which a word is found by `term` (see `repo_tools.words.terms`)."""
        counts: dict[int, int] = {}
        for number, path in enumerate(self._files):
            count = sum(count for word, count in self._source.facts(path).words.items() if term in terms(word))
            if count:
                counts[number] = count
        return counts

    def names(self) -> tuple[str, ...]:
        """The last names of all definitions, sorted, each once."""
        return tuple(sorted({one.last_name for path in self._files for one in self.outline(path)}))

    def defining(self, last_name: str) -> tuple[int, ...]:
        """The numbers of the files that define something of this last name."""
        return tuple(
            number
            for number, path in enumerate(self._files)
            if any(one.last_name == last_name for one in self.outline(path))
        )


def name_parts(name: str) -> list[str]:
    """The parts of a name however it is written: `a.b`, `a::b`, `a#b`, `a->b`, `a\\b`, with or without `()`."""
    text = name.strip().removesuffix("()")
    for mark in ("::", "->", "#", "\\", "/"):
        text = text.replace(mark, ".")
    return [part for part in text.split(".") if part] or [""]


def _answers_to(path: str, definition: Definition, wanted: list[str]) -> bool:
    full = [*path.rpartition(".")[0].split("/"), *definition.name.split(".")]
    if full[-len(wanted) :] == wanted:
        return True
    # `package.Name` where the package's own file re-exports it from a module: all owners stand before it in order.
    places = iter(full)
    return all(part in places for part in wanted)
