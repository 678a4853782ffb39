"""What parsing finds in one file: its definitions, and where a name is used."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator
from typing import NamedTuple

import tree_sitter

from repo_tools.languages import Language, definitions_query, matches, parse, references_query

SIGNATURE_CHARACTERS = 240
"""Longer signatures are cut: they are for reading, not for parsing."""

_CONTAINERS = frozenset({"class", "interface", "struct", "enum", "trait", "scope"})
_BEFORE, _AFTER = rb"(?<![\w\x80-\xff])", rb"(?![\w\x80-\xff])"
_ROLES = frozenset({"name", "body", "owner"})
_place = operator.itemgetter(0, 1)


class Definition(NamedTuple):
    """Something that a file defines. Offsets are bytes, ends are exclusive; lines count from 1, both included."""

    kind: str
    """class, function, method, interface, struct, enum, trait, type, variable, constant, macro, namespace …"""
    name: str
    """Full within the file, dotted whatever the language: `QuerySet.filter`."""
    signature: str
    """All before the body, on one line."""
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
    found: list[_Found] = []
    extents: dict[tuple[int, int], tree_sitter.Node] = {}
    for _, captured in matches(definitions_query(language), root, depth=language.depth):
        if "inner" in captured:
            extents[captured["inner"][0].byte_range] = captured["extent"][0]
        else:
            (node,) = next(nodes for role, nodes in captured.items() if role not in _ROLES)
            found.append((node.start_byte, -node.end_byte, captured))
    found.sort(key=_place)
    return tuple(_named(data, found, extents))


_Found = tuple[int, int, dict[str, list[tree_sitter.Node]]]
"""Start, negated end (so that the outer sorts before the inner) and what was captured."""


def _named(data: bytes, found: list[_Found], extents: dict[tuple[int, int], tree_sitter.Node]) -> Iterator[Definition]:
    around: list[tuple[int, str, str]] = []  # (end, full name, kind) of the definitions that are open here
    variables: set[str] = set()
    for start, negated_end, captured in found:
        while around and around[-1][0] <= start:
            around.pop()
        name_node = captured.pop("name")[0]
        body = captured.pop("body", None)
        name = _text(data, name_node)
        if "owner" in captured:
            name = f"{_text(data, captured.pop('owner')[0])}.{name}"
        ((kind, (node,)),) = captured.items()
        if around:
            name = f"{around[-1][1]}.{name}"
            if kind == "function" and around[-1][2] in _CONTAINERS:
                kind = "method"
        if kind == "variable":
            if name in variables:
                continue
            variables.add(name)
        around.append((-negated_end, name, kind))
        if kind != "scope":
            whole = extents.get((start, -negated_end), node)
            until = min(body[0].start_byte if body else -negated_end, start + SIGNATURE_CHARACTERS)
            yield Definition(
                kind,
                name,
                " ".join(data[start:until].decode("utf-8", "replace").split()),
                name_node.start_point[0] + 1,
                whole.start_point[0] + 1,
                whole.end_point[0] + 1,
                *whole.byte_range,
                *name_node.byte_range,
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
