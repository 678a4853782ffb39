"""What parsing finds in one file: its definitions, and where a name is used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import tree_sitter

from repo_tools.languages import Language, definitions_query, matches, parse, references_query

SIGNATURE_CHARACTERS = 240
"""Longer signatures are cut: they are for reading, not for parsing."""

_CONTAINERS = frozenset({"class", "interface", "struct", "enum", "trait", "scope"})
_BEFORE, _AFTER = rb"(?<![\w\x80-\xff])", rb"(?![\w\x80-\xff])"
_SPACE = re.compile(rb"\s+")


@dataclass(frozen=True, slots=True)
class Definition:
    """Something that a file defines. Offsets are bytes, ends are exclusive; lines count from 1, both included."""

    kind: str
    """class, function, method, interface, struct, enum, trait, type, variable, constant, macro, namespace …"""
    name: str
    """Full within the file, dotted whatever the language: `QuerySet.filter`."""
    line: int
    """Where the name stands."""
    first_line: int
    """Of the whole, with what wraps it: decorators, `export`, templates."""
    last_line: int
    start: int
    end: int
    name_start: int
    name_end: int
    signature: str
    """All before the body, on one line."""

    @property
    def last_name(self) -> str:
        """The name without its owners."""
        return self.name.rpartition(".")[2]


def definitions(language: Language, data: bytes) -> tuple[Definition, ...]:
    """The definitions of a file in order. Raises `Unparsed`."""
    return definitions_in(language, data, parse(language, data).root_node)


def definitions_in(language: Language, data: bytes, root: tree_sitter.Node) -> tuple[Definition, ...]:
    """The definitions below `root`, the root of the tree of `data`."""
    found = []
    extents: dict[tuple[int, int], tree_sitter.Node] = {}
    for _, captured in matches(definitions_query(language), root, depth=language.depth):
        if "inner" in captured:
            extents[captured["inner"][0].byte_range] = captured["extent"][0]
        else:
            found.append(_Found.of(captured))
    found.sort(key=lambda one: (one.start, -one.end))
    return tuple(_named(data, found, extents))


@dataclass(slots=True)
class _Found:
    """One match of the query, before it is named for what stands around it."""

    kind: str
    node: tree_sitter.Node
    name: tree_sitter.Node
    body: tree_sitter.Node | None
    owner: tree_sitter.Node | None
    start: int
    end: int

    @classmethod
    def of(cls, captured: dict[str, list[tree_sitter.Node]]) -> _Found:
        name = captured.pop("name")[0]
        body = captured.pop("body", [None])[0]
        owner = captured.pop("owner", [None])[0]
        kind, (node, *_) = captured.popitem()
        start, end = node.byte_range
        return cls(kind, node, name, body, owner, start, end)


def _named(data: bytes, found: list[_Found], extents: dict[tuple[int, int], tree_sitter.Node]) -> Iterator[Definition]:
    around: list[tuple[int, str, str]] = []  # (end, full name, kind) of the definitions that are open here
    variables: set[str] = set()
    for one in found:
        while around and around[-1][0] <= one.start:
            around.pop()
        name = _text(data, one.name)
        if one.owner is not None:
            name = f"{_text(data, one.owner)}.{name}"
        kind = one.kind
        if around:
            name = f"{around[-1][1]}.{name}"
            if kind == "function" and around[-1][2] in _CONTAINERS:
                kind = "method"
        if kind == "variable":
            if name in variables:
                continue
            variables.add(name)
        around.append((one.end, name, kind))
        if kind != "scope":
            yield _definition(data, one, name, kind, extents.get((one.start, one.end), one.node))


def _definition(data: bytes, one: _Found, name: str, kind: str, whole: tree_sitter.Node) -> Definition:
    name_start, name_end = one.name.byte_range
    until = one.end if one.body is None else one.body.start_byte
    signature = _SPACE.sub(b" ", data[one.start : min(until, one.start + SIGNATURE_CHARACTERS)]).strip()
    return Definition(
        kind=kind,
        name=name,
        line=one.name.start_point[0] + 1,
        first_line=whole.start_point[0] + 1,
        last_line=whole.end_point[0] + 1,
        start=whole.start_byte,
        end=whole.end_byte,
        name_start=name_start,
        name_end=name_end,
        signature=signature.decode("utf-8", "replace"),
    )


def _text(data: bytes, node: tree_sitter.Node) -> str:
    return data[node.start_byte : node.end_byte].decode("utf-8", "replace")


def reference_lines(language: Language, data: bytes, name: str) -> Iterator[tuple[int, str]]:
    """Number (from 1) and text of the lines that use `name` in code: not in comments or strings, nor its definition.

    Raises `Unparsed`.
    """
    root = parse(language, data).root_node
    defined = {one.name_start for one in definitions_in(language, data, root)}
    lines = data.split(b"\n")
    done = 0
    for match in re.finditer(_BEFORE + re.escape(name.encode()) + _AFTER, data):
        row = data.count(b"\n", 0, match.start()) + 1 if match.start() not in defined else done
        if row > done and _is_reference(language, root, match.span()):
            done = row
            yield row, lines[row - 1].decode("utf-8", "replace").strip("\r")


def _is_reference(language: Language, root: tree_sitter.Node, span: tuple[int, int]) -> bool:
    found = matches(references_query(language), root, within=span)
    return any(captured["reference"][0].byte_range == span for _, captured in found)
