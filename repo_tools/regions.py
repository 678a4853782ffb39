"""A file cut into regions of a size that an agent can hold: they tile it, without gap and without overlap."""

from __future__ import annotations

import bisect
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import tree_sitter

from repo_tools.facts import LARGEST, is_text
from repo_tools.languages import Unparsed, language_of, parse
from repo_tools.symbols import Definition, definitions_in

DEEPEST = 200
"""Levels of syntax that are looked at. What is nested deeper is cut by its lines."""
WIDE = 512
"""Children beyond which a node's places are noted, so that they are gone through once and not for each region."""

_MARKS = (b"#", b"//", b"/*", b"*", b"--", b"@", b";;", b"[")
"""How lines begin that belong to the definition below them: comments, decorators, attributes."""


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
    """The regions of a file in order, each of at most `budget_tokens`; none for an empty file.

    They end where definitions end, or statements, or lines; only a line that is longer than a region is cut within.
    Raises `ValueError` if the budget is below one token.
    """
    if budget_tokens < 1:
        raise ValueError(f"a region cannot have {budget_tokens} tokens: give 1 or more")
    root = _root(path, data)
    found = definitions_in(language, data, root) if root is not None and (language := language_of(path)) else ()
    ends = list(_ends(data, root, 4 * budget_tokens))
    return tuple(_described(path, data, ends, found))


def _root(path: str, data: bytes) -> tree_sitter.Node | None:
    language = language_of(path)
    if language is None or len(data) > LARGEST or not is_text(data):
        return None
    try:
        return parse(language, data).root_node
    except Unparsed:
        return None


def _ends(data: bytes, root: tree_sitter.Node | None, limit: int) -> Iterator[int]:
    syntax = _Syntax(data, root)
    start = 0
    while len(data) - start > limit:
        # Not before `low`: a region that is nearly empty costs a request and says nothing.
        low, high = start + max(1, limit // 8), start + limit
        start = syntax.cut(low, high) or _cut_at_a_line(data, low, high) or _cut_in_a_line(data, start, high)
        yield start
    if len(data) > start:
        yield len(data)


class _Syntax:
    """Where the outermost piece of syntax begins that does not fit any more."""

    def __init__(self, data: bytes, root: tree_sitter.Node | None) -> None:
        self._data = data
        self._root = root
        self._wide: dict[int, array[int]] = {}

    def cut(self, low: int, high: int) -> int | None:
        """The best place from `low` to `high` at which the file can be cut."""
        node = self._root
        in_one_line = self._data.find(b"\n", low - 1, high) < 0
        for _ in range(DEEPEST):
            child = self._last_begun(node, high) if node is not None else None
            if child is None:
                return None
            begin = min(child.start_byte, high)
            line_start = self._data.rfind(b"\n", 0, begin) + 1
            if line_start >= low and not self._data[line_start:begin].strip():
                return self._above(line_start, low)
            if in_one_line and begin >= low and _is_whole(self._data, begin):
                return begin
            if begin == high:
                return None
            node = child
        return None

    def _last_begun(self, node: tree_sitter.Node, high: int) -> tree_sitter.Node | None:
        """The first child that ends beyond `high`."""
        if node.named_child_count <= WIDE:
            return next((child for child in node.named_children if child.end_byte > high), None)
        if node.id not in self._wide:
            self._wide[node.id] = array("Q", _ends_of_children(node))
        number = bisect.bisect_right(self._wide[node.id], high)
        return node.named_child(number) if number < node.named_child_count else None

    def _above(self, place: int, low: int) -> int:
        """The start of the comments and decorators that stand right above a place."""
        line_start = place
        while line_start > low:
            above = self._data.rfind(b"\n", 0, line_start - 1) + 1
            if above < low or not self._data[above:line_start].lstrip().startswith(_MARKS):
                break
            line_start = above
        return line_start


def _ends_of_children(node: tree_sitter.Node) -> Iterator[int]:
    """Of the named children, one after another: a list of a million nodes would take a hundred megabytes."""
    cursor = node.walk()
    more = cursor.goto_first_child()
    while more:
        child = cursor.node
        if child is not None and child.is_named:
            yield child.end_byte
        more = cursor.goto_next_sibling()


def _cut_at_a_line(data: bytes, low: int, high: int) -> int | None:
    for mark in (b"\n\n", b"\n\r\n", b"\n"):
        found = data.rfind(mark, max(0, low - len(mark)), high)
        if found >= 0:
            return found + len(mark)
    return None


def _cut_in_a_line(data: bytes, start: int, high: int) -> int:
    line_start = data.rfind(b"\n", start, high) + 1
    if line_start > start:
        return line_start
    places = range(high, max(start, high - 4), -1)
    return next((place for place in places if _is_whole(data, place)), high)


def _is_whole(data: bytes, place: int) -> bool:
    """Whether a cut here is neither within a character of UTF-8 nor between the two bytes of a line's end."""
    return data[place] & 0xC0 != 0x80 and data[place - 1 : place + 1] != b"\r\n"


def _described(path: str, data: bytes, ends: Sequence[int], found: Sequence[Definition]) -> Iterator[Region]:
    start, line, next_one = 0, 1, 0
    around: list[Definition] = []
    for end in ends:
        while next_one < len(found) and found[next_one].start < end:
            around.append(found[next_one])
            next_one += 1
        around = [one for one in around if one.end > start]
        last_line = line + data.count(b"\n", start, end - 1)
        symbols = tuple(Symbol(one.kind, one.name) for one in around)
        yield Region(path, start, end, line, last_line, symbols, tokens(data[start:end]))
        start, line = end, last_line + (data[end - 1] == 10)
