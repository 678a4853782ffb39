"""Which of many documents hold a word or a term: built once for a set of documents, then only read.

A document is what a number in the index stands for: one file's bytes read as one language. Within `Postings` a
document goes by its place in `documents`.
"""

from __future__ import annotations

import bisect
import functools
import itertools
from array import array
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from repo_tools.facts import unpack_words
from repo_tools.uncollected import uncollected
from repo_tools.words import other_terms

Buffer = bytes | memoryview

_COUNT_BITS = 16
"""A posting is one number of 32 bits: the document's place above these bits, the count (at most 65,535) in them."""
MOST = 1 << 14
"""Documents of one set: it bounds the memory that making it takes."""


@uncollected()
def build(rows: Iterable[tuple[int, Buffer]]) -> dict[str, bytes]:
    """The sections of the postings of documents, to be kept and given to `Postings`.

    `rows` are the documents' numbers and packed words, at most `MOST`.
    """
    numbers, lengths = array("Q"), array("I")
    found: defaultdict[bytes, list[int]] = defaultdict(list)
    for place, (number, row) in enumerate(rows):
        words, counts = unpack_words(row)
        numbers.append(number)
        lengths.append(sum(counts))
        shifted = place << _COUNT_BITS
        # The same as a loop over pairs with `found[word].append(…)`, in a third of its time.
        deque(map(list.append, map(found.__getitem__, words), [shifted | count for count in counts]), maxlen=0)
    return {
        "documents": numbers.tobytes(),
        "lengths": lengths.tobytes(),
        **_table("words", found),
    }


@uncollected()
def build_terms(words: Buffer) -> dict[str, bytes]:
    """The sections that tell which of `words` (one a line, by place) a term finds, besides the word that equals it."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for place, others in enumerate(other_terms(str(words, "utf-8", "surrogateescape"))):
        for term in others:
            found[term].append(place)
    return _table("terms", {term.encode("utf-8", "surrogateescape"): places for term, places in found.items()})


def _table(name: str, rows: Mapping[bytes, list[int]]) -> dict[str, bytes]:
    keys = sorted(rows)
    numbers = list(map(rows.__getitem__, keys))
    key_starts = itertools.accumulate((len(key) + 1 for key in keys), initial=0)
    starts = itertools.accumulate(map(len, numbers), initial=0)
    return {
        name: b"\n".join(keys),
        f"{name}.key starts": array("I", key_starts).tobytes(),
        f"{name}.starts": array("I", starts).tobytes(),
        f"{name}.numbers": array("I", itertools.chain.from_iterable(numbers)).tobytes(),
    }


class Table:
    """Key -> numbers, as `_table` laid them out: read where it is, as most questions are for a few of many keys."""

    def __init__(self, section: Callable[[str], Buffer], name: str) -> None:
        self._keys = section(name)
        self._key_starts = memoryview(section(f"{name}.key starts")).cast("I")
        self._starts = memoryview(section(f"{name}.starts")).cast("I")
        self._numbers = memoryview(section(f"{name}.numbers")).cast("I")
        self._found: dict[bytes, Sequence[int]] = {}

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, key: bytes) -> Sequence[int]:
        found = self._found.get(key)
        if found is None:
            place = bisect.bisect_left(range(len(self)), key, key=self.key)
            found = self._found[key] = self.at(place) if place < len(self) and self.key(place) == key else ()
        return found

    def key(self, place: int) -> bytes:
        """The key at a place; they are sorted."""
        return bytes(self._keys[self._key_starts[place] : self._key_starts[place + 1] - 1])

    def at(self, place: int) -> Sequence[int]:
        """The numbers of the key at a place."""
        return self._numbers[self._starts[place] : self._starts[place + 1]]

    @functools.cached_property
    def keys(self) -> Sequence[bytes]:
        """All keys, by place."""
        return bytes(self._keys).split(b"\n") if len(self) else []


class Postings:
    """The postings of a set of documents. Sections are loaded when they are first asked for."""

    def __init__(self, section: Callable[[str], Buffer], term_section: Callable[[str], Buffer]) -> None:
        self._section = section
        self._term_section = term_section

    @functools.cached_property
    def documents(self) -> Sequence[int]:
        """The number of each document, by place."""
        return memoryview(self._section("documents")).cast("Q")

    @functools.cached_property
    def lengths(self) -> Sequence[int]:
        """How many words each document has, by place."""
        return memoryview(self._section("lengths")).cast("I")

    @functools.cached_property
    def words(self) -> Table:
        """Word -> postings."""
        return Table(self._section, "words")

    @functools.cached_property
    def terms(self) -> Table:
        """Term -> places in `words.keys` of the words that it finds and that do not equal it."""
        return Table(self._term_section, "terms")

    def with_word(self, word: bytes) -> Iterator[tuple[int, int]]:
        """Place and count of each document that has the word."""
        return _places_and_counts(self.words[word])

    def with_term(self, term: bytes) -> Iterator[tuple[int, int]]:
        """Place and count for each word that the term finds: a place comes once for each such word in it."""
        others = map(self.words.at, self.terms[term])
        return _places_and_counts(itertools.chain(self.words[term], itertools.chain.from_iterable(others)))

    def words_of(self, term: bytes) -> Iterator[bytes]:
        """The words that the term finds."""
        itself = (term,) if len(self.words[term]) else ()
        return itertools.chain(itself, map(self.words.key, self.terms[term]))

    def with_part(self, part: bytes) -> Iterator[tuple[int, int]]:
        """Place and count for each word of which `part` is a part."""
        words = self.words
        places = (place for place, word in enumerate(words.keys) if part in word)
        return _places_and_counts(itertools.chain.from_iterable(map(words.at, places)))


def _places_and_counts(postings: Iterable[int]) -> Iterator[tuple[int, int]]:
    for posting in postings:
        yield posting >> _COUNT_BITS, posting & 0xFFFF
