"""What one file's bytes say, whatever its path, kept as rows of bytes: its words, and what parsing finds in it."""

from __future__ import annotations

import functools
import struct
from array import array

from repo_tools.languages import Unparsed, language_named
from repo_tools.symbols import Definition, definitions
from repo_tools.words import words

LARGEST = 8 << 20
"""Bytes beyond which a file is kept as unknown: data, whatever its name says."""

_WORDS = struct.Struct("<I")
_DEFINITIONS = struct.Struct("<4I")
_COUNT_LIMIT = 0xFFFF


def is_text(data: bytes) -> bool:
    """Whether bytes are taken for text, as git does: no zero byte near their start."""
    return b"\0" not in data[:8000]


def words_row(data: bytes) -> bytes:
    """The words of a file, packed; none if it is no text or too large."""
    if len(data) > LARGEST or not is_text(data):
        return b""
    counted = words(data)
    values = counted.values()
    if values and max(values) > _COUNT_LIMIT:
        values = [min(value, _COUNT_LIMIT) for value in values]  # type: ignore[assignment]
    texts = b" ".join(counted)
    return b"".join((_WORDS.pack(len(texts)), texts, array("H", values).tobytes()))


def unpack_words(row: bytes | memoryview) -> tuple[list[bytes], array[int]]:
    """Of a row of words: each word of the text once, and how often it stands there."""
    if not row:
        return [], array("H")
    end = _WORDS.size + _WORDS.unpack_from(row)[0]
    return bytes(row[_WORDS.size : end]).split(b" ") if end > _WORDS.size else [], array("H", bytes(row[end:]))


def definitions_row(language: str, data: bytes) -> bytes:
    """What a file in the language of this name (empty: unknown) defines, packed; nothing if it cannot be parsed."""
    known = language_named(language)
    if known is None or len(data) > LARGEST or not is_text(data):
        return b""
    try:
        found = definitions(known, data)
    except Unparsed:
        return b""
    if not found:
        return b""
    columns = list(zip(*found, strict=True))
    texts = ["\n".join(column).encode("utf-8", "surrogateescape") for column in columns[:3]]
    numbers = array("I", [number for column in columns[3:] for number in column]).tobytes()
    return b"".join((_DEFINITIONS.pack(*map(len, texts), len(numbers)), *texts, numbers))


@functools.lru_cache(maxsize=256)
def unpack_definitions(row: bytes | memoryview) -> tuple[Definition, ...]:
    """The definitions of a row."""
    if not row:
        return ()
    texts, numbers = _parts(row)
    kinds, names, signatures = (bytes(text).decode("utf-8", "surrogateescape").split("\n") for text in texts)
    each = len(Definition._fields) - 3
    many = len(numbers) // each
    columns = [numbers[many * place : many * (place + 1)] for place in range(each)]
    return tuple(map(Definition._make, zip(kinds, names, signatures, *columns, strict=True)))


def defines(row: bytes | memoryview, last_name: str) -> bool:
    """Whether something of this last name is among the definitions of a row."""
    if not row:
        return False
    names = b"\n%s\n" % bytes(_parts(row)[0][1])
    wanted = last_name.encode("utf-8", "surrogateescape") + b"\n"
    return b"\n" + wanted in names or b"." + wanted in names


def _parts(row: bytes | memoryview) -> tuple[list[memoryview], array[int]]:
    parts, place = [], _DEFINITIONS.size
    for size in _DEFINITIONS.unpack_from(row):
        parts.append(memoryview(row)[place : place + size])
        place += size
    return parts[:3], array("I", bytes(parts[3]))
