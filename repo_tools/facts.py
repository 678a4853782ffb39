"""What one file's bytes say, whatever its path: made by parsing, kept as a row of bytes."""

from __future__ import annotations

import struct
from array import array
from collections import Counter

from repo_tools.languages import Unparsed, language_named
from repo_tools.symbols import Definition, definitions
from repo_tools.words import words

LARGEST = 8 << 20
"""Bytes beyond which a file is kept as unknown: data, whatever its name says."""

_HEAD = struct.Struct("<6I")
_COUNT_LIMIT = 0xFFFF


def is_text(data: bytes) -> bool:
    """Whether bytes are taken for text, as git does: no zero byte near their start."""
    return b"\0" not in data[:8000]


def facts_row(language: str, data: bytes) -> bytes:
    """The facts of a file in the language of this name (empty: unknown), packed."""
    if len(data) > LARGEST or not is_text(data):
        return _pack((), {})
    known = language_named(language)
    try:
        found = definitions(known, data) if known else ()
    except Unparsed:
        found = ()
    return _pack(found, words(data))


def text_row(data: bytes) -> bytes:
    """The facts of a file that must not be parsed, packed."""
    return facts_row("", data)


def _pack(found: tuple[Definition, ...], counted: Counter[bytes] | dict[bytes, int]) -> bytes:
    columns = list(zip(*found, strict=True)) or [()] * len(Definition._fields)
    texts = ["\n".join(column).encode("utf-8", "surrogateescape") for column in columns[:3]]
    numbers = array("I", [number for column in columns[3:] for number in column]).tobytes()
    parts = [*texts, numbers, b" ".join(counted), _counts(counted).tobytes()]
    return _HEAD.pack(*map(len, parts)) + b"".join(parts)


def _counts(counted: Counter[bytes] | dict[bytes, int]) -> array[int]:
    values = counted.values()
    if values and max(values) > _COUNT_LIMIT:
        return array("H", [min(value, _COUNT_LIMIT) for value in values])
    return array("H", values)


def unpack_definitions(row: bytes) -> tuple[Definition, ...]:
    """The definitions of a row."""
    return _definitions(_parts(row))


def unpack_words(row: bytes) -> tuple[list[bytes], array[int], set[bytes]]:
    """Of a row: each word of the text once, how often it stands there, and the last names of the definitions."""
    parts = _parts(row)
    names = {name.rpartition(b".")[2] for name in parts[1].split(b"\n")} if parts[3] else set()
    return parts[4].split(b" ") if parts[4] else [], array("H", parts[5]), names


def _parts(row: bytes) -> list[bytes]:
    parts = []
    place = _HEAD.size
    for size in _HEAD.unpack_from(row):
        parts.append(row[place : place + size])
        place += size
    return parts


def _definitions(parts: list[bytes]) -> tuple[Definition, ...]:
    kinds, names, signatures = (part.decode("utf-8", "surrogateescape").split("\n") for part in parts[:3])
    numbers = array("I", parts[3])
    each = len(Definition._fields) - 3
    many = len(numbers) // each
    columns = [numbers[many * place : many * (place + 1)] for place in range(each)]
    return tuple(map(Definition._make, zip(kinds, names, signatures, *columns, strict=False)))
