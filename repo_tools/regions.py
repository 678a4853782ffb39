"""A file cut into regions of a size that an agent can hold: they tile it, without gap and without overlap."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition of which a region holds at least a part."""

    kind: str
    name: str
    """Full within the file, as `Definition.name`."""


@dataclass(frozen=True, slots=True)
class Region:
    """A stretch of a file. Offsets are bytes, `end` is exclusive; lines count from 1, both included."""

    path: str
    start: int
    end: int
    first_line: int
    last_line: int
    symbols: tuple[Symbol, ...]
    tokens: int


def tokens(data: bytes | str) -> int:
    """An estimate of the size of a text in tokens: four bytes each, rounded up. Providers differ by a third."""
    size = len(data) if isinstance(data, bytes) else len(data.encode("utf-8", "surrogateescape"))
    return -(-size // 4)


def regions(path: str, data: bytes, budget_tokens: int) -> tuple[Region, ...]:
    """The regions of a file, each of at most `budget_tokens`, in order; none for an empty file."""
    lines = data.splitlines(keepends=True)
    found: list[Region] = []
    start = end = 0
    first = 1
    for number, line in enumerate(lines, 1):
        if end > start and -(-(end + len(line) - start) // 4) > budget_tokens:
            found.append(Region(path, start, end, first, number - 1, (), tokens(data[start:end])))
            start, first = end, number
        end += len(line)
    if end > start:
        found.append(Region(path, start, end, first, len(lines), (), tokens(data[start:end])))
    return tuple(found)
