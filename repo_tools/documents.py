"""The documents of one tree in the index: what is missing is read and parsed, what is damaged is made again."""

from __future__ import annotations

import contextlib
import functools
import itertools
import threading
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from repo_tools.bodies import bodies_row
from repo_tools.covering import covering
from repo_tools.errors import ObjectMissing
from repo_tools.facts import unpack_definitions, words_row
from repo_tools.history import MOST, history
from repo_tools.languages import LANGUAGES, language_of
from repo_tools.parse_pool import File, parsed
from repo_tools.patch import EXECUTABLE, REGULAR
from repo_tools.postings import Buffer, Postings
from repo_tools.store import Damaged, Facts, IndexUnusable, Store
from repo_tools.tree import Tree

T = TypeVar("T")

CHUNK = 512
"""Documents that are written at a time, so that no process waits long for another."""
FORGET = 4
"""How many times the documents of a tree the file may hold before those of other trees are forgotten."""

_LANGUAGE_NUMBERS = {"": 0} | {language.name: number for number, language in enumerate(LANGUAGES, 1)}


class Documents:
    """The files of a tree, and the document of each: its bytes read in its language.

    The words of all are there from the start; a file is parsed when it is first asked what it defines.
    """

    def __init__(self, store: Store, tree: Tree) -> None:
        self._store = store
        self._tree = tree
        self._lock = threading.RLock()
        self.files: tuple[str, ...] = ()
        self._postings: list[tuple[Postings, list[tuple[int, ...]]]] | None = None
        self._history: tuple[Postings, list[tuple[int, ...]]] | None = None
        blobs = {path: blob for path, (mode, blob) in tree.entries().items() if mode in (REGULAR, EXECUTABLE)}
        self.absent: frozenset[str] = frozenset()
        """Files that the tree names and the repository does not hold, as in a partial clone: they are left out."""
        self._lay_out(blobs)
        try:
            self.healed(self._complete)
        except ObjectMissing:
            self.absent = tree.absent(blobs)
            self._lay_out({path: blob for path, blob in blobs.items() if path not in self.absent})
            self.healed(self._complete)

    def healed(self, ask: Callable[[], T]) -> T:
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

    def postings(self) -> list[tuple[Postings, list[tuple[int, ...]]]]:
        """Sets of postings that together cover the tree, each with the files of its documents, by place.

        Raises `Damaged`, as all that reads them: ask within `healed`.
        """
        if self._postings is None:
            files: dict[int, tuple[int, ...]] = {}
            for number, document in enumerate(self._numbers):
                files[document] = (*files.get(document, ()), number)
            self._postings = [
                # A document that is in several sets counts in the first alone.
                (postings, [files.pop(document, ()) for document in postings.documents])
                for postings in covering(self._store, set(files))
            ]
        return self._postings

    def definitions(self, files: Sequence[int]) -> list[Buffer]:
        """For each of `files`, by number, the packed definitions; those that are not kept are parsed first.

        Raises `Damaged`.
        """
        return self._rows(Facts.DEFINITIONS, files, self._parsed)

    def bodies(self, files: Sequence[int]) -> list[Buffer]:
        """For each of `files`, by number, what the texts of its definitions say. Raises `Damaged`."""
        return self._rows(Facts.BODIES, files, self._said)

    def _rows(
        self, facts: Facts, files: Sequence[int], make: Callable[[Sequence[int]], Iterable[tuple[int, bytes]]]
    ) -> list[Buffer]:
        """The rows of `files`; `make` is asked for those that are not kept."""
        rows: dict[int, Buffer | None] = {}
        for file in files:
            rows[self._numbers[file]] = self._store.row(facts, self._numbers[file])
        new = {self._numbers[file]: file for file in files if rows[self._numbers[file]] is None}
        made = iter(make(list(new.values())) if new else ())
        while chunk := list(itertools.islice(made, CHUNK)):
            self._store.add(facts, chunk)
            rows.update(chunk)
        return [rows[self._numbers[file]] or b"" for file in files]

    def _parsed(self, files: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        return parsed(
            File(self._numbers[file], _language_name(path), data)
            for file, (path, data) in zip(files, self._contents(files), strict=True)
        )

    def _said(self, files: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        outlines = map(unpack_definitions, self.definitions(files))
        for file, outline, (_, data) in zip(files, outlines, self._contents(files), strict=True):
            yield self._numbers[file], bodies_row(data, outline)

    def _contents(self, files: Sequence[int]) -> Iterator[tuple[str, bytes]]:
        return self._tree.read_many(self.files[file] for file in files)

    def history(self) -> tuple[Postings, list[tuple[int, ...]]]:
        """The words of past commits' messages, and of the files of now, by number, those that each changed.

        Raises `Damaged`, as all that reads the words: ask within `healed`.
        """
        if self._history is None:
            base = self._tree.base
            postings, changed = history(self._store, base.id, lambda: base.history(MOST))
            numbers = {path: number for number, path in enumerate(self.files)} if changed else {}
            self._history = postings, [tuple(numbers[path] for path in paths if path in numbers) for paths in changed]
        return self._history

    def _lay_out(self, blobs: Mapping[str, str]) -> None:
        self.files = tuple(sorted(blobs))
        self._numbers = array("Q", (_number(path, blobs[path]) for path in self.files))
        self._postings = None

    def _again(self, ask: Callable[[], T]) -> T:
        self._postings = self._history = None
        self._complete()
        return ask()

    def _complete(self) -> None:
        """See that the words of each file are there; read the files whose are not."""
        known = self._store.numbers()
        new = {
            document: path for path, document in zip(self.files, self._numbers, strict=True) if document not in known
        }
        if new:
            contents = zip(new, self._tree.read_many(new.values()), strict=True)
            rows = ((document, words_row(data)) for document, (_, data) in contents)
            while chunk := list(itertools.islice(rows, CHUNK)):
                self._store.add(Facts.WORDS, chunk)
        if len(known) + len(new) > FORGET * (len(self.files) + CHUNK):
            self._store.keep_only(set(self._numbers))


def _number(path: str, blob: str) -> int:
    """The number of a file's bytes in its language: 56 bits of the id that git gives them, and 7 for the language."""
    return int(blob[:14], 16) << 7 | _language_number(path[path.rfind(".") :])


@functools.lru_cache(maxsize=1024)
def _language_number(suffix: str) -> int:
    return _LANGUAGE_NUMBERS[_language_name(suffix)]


def _language_name(path: str) -> str:
    language = language_of(path)
    return language.name if language else ""
