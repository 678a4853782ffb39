"""What the index knows of the files of one tree. What it does not know yet is parsed, what is damaged made again."""

from __future__ import annotations

import contextlib
import itertools
import threading
from array import array
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from repo_tools.covering import covering
from repo_tools.derived import Derived
from repo_tools.facts import unpack_definitions
from repo_tools.languages import LANGUAGES, language_of
from repo_tools.parse_pool import File, parsed
from repo_tools.patch import EXECUTABLE, REGULAR
from repo_tools.postings import Postings
from repo_tools.store import Damaged, IndexUnusable, Store
from repo_tools.symbols import Definition
from repo_tools.tree import Tree

T = TypeVar("T")

CHUNK = 512
"""Documents that are written at a time, so that no process waits long for another."""
UNWRITTEN = 200
"""So few documents get postings in memory, anew for each tree; more are written down."""
MOST_POSTINGS = 6
"""Sets of postings in the file, before one takes their place."""
FORGET = 4
"""How many times the documents of a tree the file may hold before those of other trees are forgotten."""

_LANGUAGE_NUMBERS = {"": 0} | {language.name: number for number, language in enumerate(LANGUAGES, 1)}


class Answers:
    """The facts of the files of one tree. A file's number is its place in `files`. Threads may share one."""

    def __init__(self, store: Store, tree: Tree) -> None:
        self._store = store
        self._tree = tree
        self._lock = threading.RLock()
        blobs = {path: blob for path, (mode, blob) in tree.entries().items() if mode in (REGULAR, EXECUTABLE)}
        self.files = tuple(sorted(blobs))
        self._numbers = dict(zip(self.files, itertools.count()))
        self._documents = array("Q", (_document(path, blobs[path]) for path in self.files))
        self._postings: list[tuple[Postings, list[tuple[int, ...]]]] | None = None
        self._derived = Derived(store, self.files, self._documents)
        self._healed(self._complete)

    def number(self, path: str) -> int:
        """The number of a file. Raises `KeyError` if there is none."""
        return self._numbers[path]

    def definitions(self, path: str) -> tuple[Definition, ...]:
        """What a file defines, in order."""
        number = self.number(path)
        return self._healed(lambda: unpack_definitions(self._store.row(self._documents[number])))

    def lengths(self) -> list[int]:
        """How many words each file has, by number."""
        lengths = [0] * len(self.files)
        for postings, places in self._healed(self._all_postings):
            for numbers, length in zip(places, postings.lengths, strict=True):
                for number in numbers:
                    lengths[number] = length
        return lengths

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
        return self._healed(
            lambda: frozenset(
                postings.words.keys[place] for postings, _ in self._all_postings() for place in postings.terms[key]
            )
        )

    def with_text(self, part: str | None) -> list[int]:
        """The files that have text, in order: of them, those with a word of which `part` is a part, if it is given."""
        if part is None:
            return [number for number, length in enumerate(self.lengths()) if length]
        key = part.encode("utf-8", "surrogateescape")
        return sorted(self._counted(lambda postings: postings.with_part(key)))

    def defining(self, name: str) -> list[int]:
        """The files that define something of this last name, in order."""
        key = name.encode("utf-8", "surrogateescape")
        return self._healed(
            lambda: sorted(
                number
                for postings, places in self._all_postings()
                for place in postings.names[key]
                for number in places[place]
            )
        )

    def names(self) -> list[str]:
        """The last names of all definitions, sorted."""
        found: set[bytes] = set()
        for postings, places in self._healed(self._all_postings):
            names = postings.names
            found.update(
                key for at, key in enumerate(names.keys) if key not in found and any(places[p] for p in names.at(at))
            )
        return sorted(key.decode("utf-8", "surrogateescape") for key in found)

    def nearest(self, key: str) -> tuple[bytes, frozenset[str]] | None:
        """See `Derived.nearest`."""
        return self._healed(lambda: self._derived.nearest(key))

    def keep(self, key: str, value: bytes) -> None:
        """See `Derived.keep`."""
        self._healed(lambda: self._derived.keep(key, value))

    def _counted(self, ask: Callable[[Postings], Iterable[tuple[int, int]]]) -> dict[int, int]:
        def count() -> dict[int, int]:
            counts: dict[int, int] = {}
            for postings, places in self._all_postings():
                for place, times in ask(postings):
                    for number in places[place]:
                        counts[number] = counts.get(number, 0) + times
            return counts

        return self._healed(count)

    # How it comes to be known.

    def _healed(self, ask: Callable[[], T]) -> T:
        """What `ask` gives; if the index is damaged, after it has been made anew."""
        with self._lock:
            with contextlib.suppress(Damaged):
                return ask()
            # Perhaps another process has only forgotten what was asked for.
            with contextlib.suppress(Damaged):
                return self._again(ask)
            self._store.replace()
            try:
                return self._again(ask)
            except Damaged as error:
                raise IndexUnusable(
                    f"The index is damaged as soon as it is made ({error}): give another folder"
                ) from error

    def _again(self, ask: Callable[[], T]) -> T:
        self._postings = None
        self._complete()
        return ask()

    def _complete(self) -> None:
        """See that each file's document is there; parse those that are not."""
        known = self._store.numbers()
        new = {
            document: path for path, document in zip(self.files, self._documents, strict=True) if document not in known
        }
        if new:
            self._parse(new)
        if len(known) + len(new) > FORGET * (len(self.files) + CHUNK):
            self._store.keep_only(set(self._documents))

    def _parse(self, new: Mapping[int, str]) -> None:
        contents = zip(new, self._tree.read_many(new.values()), strict=True)
        rows = parsed(File(document, _language_name(path), data) for document, (path, data) in contents)
        while chunk := list(itertools.islice(rows, CHUNK)):
            self._store.add(chunk)

    def _all_postings(self) -> list[tuple[Postings, list[tuple[int, ...]]]]:
        """Sets of postings that together cover the tree, each with the files of its documents, by place."""
        if self._postings is None:
            files: dict[int, tuple[int, ...]] = {}
            for number, document in enumerate(self._documents):
                files[document] = (*files.get(document, ()), number)
            self._postings = [
                # A document that is in several sets counts in the first alone.
                (postings, [files.pop(document, ()) for document in postings.documents])
                for postings in covering(self._store, set(files))
            ]
        return self._postings


def _document(path: str, blob: str) -> int:
    """The number of a file's bytes in its language: 56 bits of the id that git gives them, and 7 for the language."""
    return int(blob[:14], 16) << 7 | _LANGUAGE_NUMBERS[_language_name(path)]


def _language_name(path: str) -> str:
    language = language_of(path)
    return language.name if language else ""
