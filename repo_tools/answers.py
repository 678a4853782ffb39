"""What the index knows of the files of one tree."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

from repo_tools.bodies import Bodies
from repo_tools.documents import Documents
from repo_tools.facts import defines, unpack_definitions
from repo_tools.languages import language_of
from repo_tools.postings import Buffer, Postings
from repo_tools.store import Store
from repo_tools.symbols import Definition
from repo_tools.tree import Tree
from repo_tools.words import spelled

_UNREADABLE = "\ufffd"
"""What stands in a definition's name for bytes that are no UTF-8."""


AT_A_TIME = 4096
"""Files whose definitions are in memory together, at most."""


class Answers:
    """The facts of the files of one tree. A file's number is its place in `files`. Threads may share one."""

    def __init__(self, store: Store, tree: Tree) -> None:
        self._documents = Documents(store, tree)
        self.files = self._documents.files
        self._numbers = dict(zip(self.files, itertools.count()))
        self.absent = self._documents.absent

    def number(self, path: str) -> int:
        """The number of a file. Raises `KeyError` if there is none."""
        return self._numbers[path]

    def definitions(self, paths: Iterable[str]) -> Iterator[tuple[Definition, ...]]:
        """What each of some files defines, in order; files that were never asked for are parsed, on all cores."""
        numbers = [self.number(path) for path in paths]
        return (unpack_definitions(row) for _, row in self._rows(numbers))

    def bodies(self, numbers: Sequence[int]) -> list[Bodies]:
        """What the texts of the definitions of some files say."""
        return [Bodies(row) for row in self._documents.healed(lambda: self._documents.bodies(numbers))]

    def lengths(self) -> list[int]:
        """How many words each file has, by number."""

        def measure() -> list[int]:
            lengths = [0] * len(self.files)
            for postings, places in self._documents.postings():
                for numbers, length in zip(places, postings.lengths, strict=True):
                    for number in numbers:
                        lengths[number] = length
            return lengths

        return self._documents.healed(measure)

    def with_word(self, word: str) -> dict[int, int]:
        """Number -> count of the files that have a word."""
        key = word.encode("utf-8", "surrogateescape")
        return self._counted(lambda postings: postings.with_word(key))

    def with_term(self, term: str) -> dict[int, int]:
        """Number -> count of the files that have words which the term finds."""
        key = term.encode("utf-8", "surrogateescape")
        return self._counted(lambda postings: postings.with_term(key))

    def words_of(self, term: str) -> frozenset[bytes]:
        """The words that a term finds, as written."""
        key = term.encode("utf-8", "surrogateescape")
        return self._documents.healed(
            lambda: frozenset(word for postings, _ in self._documents.postings() for word in postings.words_of(key))
        )

    def with_text(self, part: str | None) -> list[int]:
        """The files that have text, in order: of them, those with a word of which `part` is a part, if it is given."""
        if part is None:
            return [number for number, length in enumerate(self.lengths()) if length]
        key = part.encode("utf-8", "surrogateescape")
        return sorted(self._counted(lambda postings: postings.with_part(key)))

    def defining(self, name: str) -> list[int]:
        """The files that define something of this last name, in order: those that have its words are looked at."""
        candidates = {number for number, path in enumerate(self.files) if language_of(path)}
        for word in spelled(name.replace(_UNREADABLE, " ").encode("utf-8", "surrogateescape")):
            candidates &= self.with_word(word.decode("utf-8", "surrogateescape")).keys()
        return [number for number, row in self._rows(sorted(candidates)) if defines(row, name)]

    def _rows(self, numbers: Sequence[int]) -> Iterator[tuple[int, Buffer]]:
        """Number and packed definitions of files."""
        for start in range(0, len(numbers), AT_A_TIME):
            some = numbers[start : start + AT_A_TIME]
            rows = self._documents.healed(functools.partial(self._documents.definitions, some))
            yield from zip(some, rows, strict=True)

    def changed(self) -> list[tuple[int, ...]]:
        """For each past commit that is looked back on, which of the files it changed."""
        return self._documents.healed(lambda: self._documents.history()[1])

    def commits_with_term(self, term: str) -> list[int]:
        """The commits, by their place in `changed`, whose messages have words that the term finds."""
        key = term.encode("utf-8", "surrogateescape")
        return self._documents.healed(lambda: [place for place, _ in self._documents.history()[0].with_term(key)])

    def _counted(self, ask: Callable[[Postings], Iterable[tuple[int, int]]]) -> dict[int, int]:
        def count() -> dict[int, int]:
            counts: dict[int, int] = {}
            for postings, places in self._documents.postings():
                for place, times in ask(postings):
                    for number in places[place]:
                        counts[number] = counts.get(number, 0) + times
            return counts

        return self._documents.healed(count)
