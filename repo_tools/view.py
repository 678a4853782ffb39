"""What the index answers for one tree."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

from repo_tools.answers import Answers
from repo_tools.bodies import Bodies
from repo_tools.languages import Unparsed, language_of
from repo_tools.regions import Region, regions
from repo_tools.search import LONGEST_LINE, Found, Line, chosen, compiled, search, word_part
from repo_tools.symbols import Definition, reference_lines
from repo_tools.tree import Tree


class View:
    """Answers for exactly one tree. Files are numbered: a number is a place in `files()`.

    A path that the tree does not have raises `KeyError` everywhere.
    """

    def __init__(self, tree: Tree, answers: Answers) -> None:
        self.tree = tree
        self._answers = answers
        self._files = answers.files

    def files(self) -> tuple[str, ...]:
        """The paths of all regular files, sorted; neither symbolic links nor submodules nor what is `absent`."""
        return self._files

    def absent(self) -> frozenset[str]:
        """Files of the tree whose contents the repository does not hold, as in a partial clone."""
        return self._answers.absent

    def read(self, path: str) -> bytes:
        """The bytes of one file."""
        return self.tree.read(path)

    def outline(self, path: str) -> tuple[Definition, ...]:
        """What a file defines, in order; nothing if its language is unknown or it could not be parsed."""
        return next(self.outlines([path]))

    def outlines(self, paths: Iterable[str]) -> Iterator[tuple[Definition, ...]]:
        """The `outline` of each of `paths`: together they take all cores, where some were never asked for."""
        return self._answers.definitions(paths)

    def find_definition(self, name: str) -> tuple[tuple[str, Definition], ...]:
        """Path and definition of all that is called `name`: a last name, or with its owners before it.

        `filter`, `QuerySet.filter`, `Foo::bar` and `django.db.models.query.QuerySet.filter` all find theirs.
        """
        wanted = name_parts(name)
        paths = [self._files[number] for number in self.defining(wanted[-1])]
        return tuple(
            (path, definition)
            for path, outline in zip(paths, self.outlines(paths), strict=True)
            for definition in outline
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
                with contextlib.suppress(Unparsed):
                    found = reference_lines(language, self.read(path), last)
                    lines += (Line(path, line, text[:LONGEST_LINE]) for line, text in found)
            if len(lines) > limit:
                break
        return Found(tuple(lines[:limit]), complete=len(lines) <= limit)

    def search(self, pattern: str, glob: str = "**", limit: int = 100, seconds: float = 5.0) -> Found:
        """The lines that match a regular expression, in the text files whose path matches `glob` (`*.py`, `docs/**`).

        A line is looked at by itself unless the expression has a `\\n`. Files above `repo_tools.facts.LARGEST` are left
        out. Raises `BadPattern` with the reason if the expression or the glob is malformed.
        """
        compiled(pattern)
        candidates = self._answers.with_text(word_part(pattern))
        paths = chosen((self._files[number] for number in candidates), glob)
        return search(self.tree.read_many(paths), pattern, limit=limit, seconds=seconds)

    def regions(self, path: str, budget_tokens: int) -> tuple[Region, ...]:
        """The regions of one file."""
        return regions(path, self.read(path), budget_tokens)

    # What ranking counts with.

    def number(self, path: str) -> int:
        """The number of a file."""
        return self._answers.number(path)

    def bodies(self, numbers: Sequence[int]) -> list[Bodies]:
        """What the texts of the definitions of some files say."""
        return self._answers.bodies(numbers)

    def lengths(self) -> Sequence[int]:
        """How many words each file has, by number; none if it is not text or is too large."""
        return self._answers.lengths()

    def with_word(self, word: str) -> Mapping[int, int]:
        """Number -> count of the files in which a word stands just so, in code, comments or strings."""
        return self._answers.with_word(word)

    def with_term(self, term: str) -> Mapping[int, int]:
        """Number -> count of the files that have words which `term` finds (see `repo_tools.words.terms`)."""
        return self._answers.with_term(term)

    def words_of(self, term: str) -> frozenset[bytes]:
        """The words that `term` finds, as they are written in this tree or in another one of the index."""
        return self._answers.words_of(term)

    def changed(self) -> Sequence[Sequence[int]]:
        """For each past commit that is looked back on, the latest first, which of the files it changed, by number."""
        return self._answers.changed()

    def commits_with_term(self, term: str) -> Sequence[int]:
        """The commits, by their place in `changed`, whose messages have words that `term` finds."""
        return self._answers.commits_with_term(term)

    def defining(self, last_name: str) -> Sequence[int]:
        """The numbers of the files that define something of this last name, in order."""
        return self._answers.defining(last_name)


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
