"""The words of a text and the terms that they are found by."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator

_IN_WORDS = frozenset(b"_0123456789" + bytes(range(65, 91)) + bytes(range(97, 123)) + bytes(range(128, 256)))
_SPACED = bytes(byte if byte in _IN_WORDS else 32 for byte in range(256))
_PART = r"[A-Z]+(?![a-z])|[A-Z]?[a-z\x80-\U0010ffff]+|[0-9]+"
_PARTS = re.compile(_PART)
_PARTS_OF_LINES = re.compile(_PART + r"|\n")


def words(data: bytes) -> Counter[bytes]:
    """How often each word occurs; see `spelled`."""
    return Counter(spelled(data))


def spelled(data: bytes) -> list[bytes]:
    """The words in order: runs of letters, digits, `_` and bytes beyond ASCII, as written."""
    return data.translate(_SPACED).split()


@functools.lru_cache(maxsize=1 << 17)
def terms(word: str) -> tuple[str, ...]:
    """What a word is found by: itself and, if it is an identifier of several words, they too; all in lower case.

    `getHTTPResponse_2` -> `gethttpresponse_2`, `get`, `http`, `response`, `2`.
    """
    whole = word.lower()
    parts = [part.lower() for part in _PARTS.findall(word)]
    return (whole,) if len(parts) < 2 else (whole, *parts)


def other_terms(words: str) -> Iterator[Iterable[str]]:
    """For each of many words, one a line, its `terms` besides itself, each once: all in one pass, as they are many."""
    parts_of_lines = " ".join(_PARTS_OF_LINES.findall(words)).lower().split("\n")
    for word, whole, line in zip(words.split("\n"), words.lower().split("\n"), parts_of_lines, strict=True):
        parts = line.strip(" ").split(" ")
        if len(parts) > 1:
            found = dict.fromkeys(parts)
            if whole != word:
                found[whole] = None
            yield found
        else:
            yield () if whole == word else (whole,)
