"""What parsing finds in one file: its definitions, and where a name is used."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator
from typing import NamedTuple

import tree_sitter

from repo_tools.languages import Language, definitions_query, is_rubble, matches, parse, references_query

SIGNATURE_BYTES = 240
"""Longer signatures are cut: they are for reading, not for parsing."""

VALUES = frozenset({"variable", "constant", "field"})
"""Kinds of definitions that are single values."""

_CONTAINERS = frozenset({"class", "interface", "struct", "enum", "trait", "scope"})
_UNLISTED = frozenset({"scope", "package"})
_CODE = re.compile(rb"[^\w\s@]")
_COMMENT = re.compile(rb"\s*(#|//|/\*|\*)")
_IN_ANGLES = re.compile(r"<.*>")
_BEFORE, _AFTER = rb"(?<![\w\x80-\xff])", rb"(?![\w\x80-\xff])"


class Definition(NamedTuple):
    """Something that a file defines. Offsets are bytes, ends are exclusive; lines count from 1, both included."""

    kind: str
    """class, function, method, interface, struct, enum, trait, type, variable, constant, macro, namespace …"""
    name: str
    """Full within the file, dotted whatever the language: `QuerySet.filter`."""
    signature: str
    """All before the body, or the first line if there is none; on one line."""
    line: int
    """Where the name stands."""
    first_line: int
    """Of the whole, with what wraps it: decorators, `export`, templates."""
    last_line: int
    start: int
    end: int
    name_start: int
    name_end: int

    @property
    def last_name(self) -> str:
        """The name without its owners."""
        return self.name.rpartition(".")[2]


def definitions(language: Language, data: bytes) -> tuple[Definition, ...]:
    """The definitions of a file in order. Raises `Unparsed`."""
    return definitions_in(language, data, parse(language, data).root_node)


def definitions_in(language: Language, data: bytes, root: tree_sitter.Node) -> tuple[Definition, ...]:
    """The definitions below `root`, the root of the tree of `data`."""
    if is_rubble(root):
        return ()
    query = definitions_query(language)
    found: list[_Found] = []
    extents: dict[tuple[int, int], tree_sitter.Node] = {}
    for pattern, captured in matches(query.compiled, root, depth=language.depth):
        kind = query.kinds[pattern]
        if kind == "extent":
            span, node = captured["inner"][0].byte_range, captured["extent"][0]
            if span not in extents or extents[span].start_byte > node.start_byte:
                extents[span] = node
        else:
            node, name = captured[kind][0], captured["name"][0]
            end = len(data) if kind == "package" else node.end_byte
            found.append((node.start_byte, -end, name.start_byte, query.ranks[pattern], kind, captured))
    found.sort(key=_PLACE)
    return tuple(_named(data, found, extents))


_Captured = dict[str, list[tree_sitter.Node]]
_Found = tuple[int, int, int, int, str, _Captured]
"""Start, negated end (so that the outer sorts before the inner), start of the name, rank, kind, what was captured."""
_PLACE = operator.itemgetter(0, 1, 2, 3)


def _named(data: bytes, found: list[_Found], extents: dict[tuple[int, int], tree_sitter.Node]) -> Iterator[Definition]:
    around: list[tuple[int, int, str, str]] = []  # (end, start, full name, kind) of what is open here
    last_name = -1
    variables: set[str] = set()
    for start, negated_end, name_start, _, captured_kind, captured in found:
        if name_start == last_name:
            continue  # Two patterns found the same; the one that says more came first.
        last_name, end, kind = name_start, -negated_end, captured_kind
        while around and (around[-1][0] <= start or around[-1][:2] == (end, start) or kind == "package"):
            around.pop()
        name_node = captured["name"][0]
        name_end = name_node.end_byte
        name = _plain(str(data[name_start:name_end], "utf-8", "replace"))
        if "owner" in captured:
            name = f"{_plain(_text(data, captured['owner'][0]))}.{name}"
        # `typedef struct node {…} node` defines two things of one name, not one within the other.
        outer = around[-2:-1] if around and around[-1][3] == "type" and kind in _CONTAINERS else around[-1:]
        if outer:
            name = f"{outer[0][2]}.{name}"
            if kind == "function" and outer[0][3] in _CONTAINERS:
                kind = "method"
        around.append((end, start, name, kind))
        if kind in _UNLISTED or (kind == "variable" and name in variables):
            continue
        if kind == "variable":
            variables.add(name)
        whole = extents.get((start, end)) or captured[captured_kind][0]
        signature = _signature(data, start, end, captured["body"][0].start_byte if "body" in captured else None)
        last_row, last_column = whole.end_point
        rows = (name_node.start_point[0] + 1, whole.start_point[0] + 1, last_row + (last_column > 0))
        yield Definition(kind, name, signature, *rows, *whole.byte_range, name_start, name_end)


def _signature(data: bytes, start: int, end: int, body: int | None) -> str:
    line_start = data.rfind(b"\n", 0, start) + 1
    before = data[line_start:start]
    if before and not before.isspace() and not _CODE.search(before):
        start = line_start  # `export`, `type` and other keywords that stand before what the query captured.
    text = data[start : min(end, body or end, start + SIGNATURE_BYTES)]
    if b"\n" in text:
        first, *others = text.split(b"\n")
        # What is said on lines of its own between the head and the body is not the head.
        text = first if body is None else b" ".join([first, *(one for one in others if not _COMMENT.match(one))])
    return " ".join(str(text, "utf-8", "replace").split())


def _plain(name: str) -> str:
    """A name with dots between its parts, without quotes and what stands in angle brackets."""
    if name.isidentifier():
        return name
    text = name.strip("\"'`:").replace("::", ".").replace("\\", ".").replace("\n", " ")
    return text if "operator" in text else _IN_ANGLES.sub("", text).rpartition(" ")[2].strip("()")


def _text(data: bytes, node: tree_sitter.Node) -> str:
    return str(data[node.start_byte : node.end_byte], "utf-8", "replace")


def reference_lines(language: Language, data: bytes, name: str) -> Iterator[tuple[int, str]]:
    """Number (from 1) and text of the lines that use `name` in code: not in comments or strings, nor its definition.

    Raises `Unparsed`.
    """
    hits = [match.span() for match in re.finditer(_BEFORE + re.escape(name.encode()) + _AFTER, data)]
    if not hits:
        return
    root = parse(language, data).root_node
    defined = {one.name_start for one in definitions_in(language, data, root)}
    tokens = matches(references_query(language).compiled, root, within=(hits[0][0], hits[-1][1]))
    uses = {captured["reference"][0].byte_range for _, captured in tokens}
    line, counted, last = 1, 0, 0
    for start, end in hits:
        line += data.count(b"\n", counted, start)
        counted = start
        if line > last and start not in defined and (start, end) in uses:
            last = line
            line_start = data.rfind(b"\n", 0, start) + 1
            line_end = data.find(b"\n", start)
            text = data[line_start : line_end if line_end >= 0 else len(data)]
            yield line, text.decode("utf-8", "replace").strip("\r")
