"""What an agent owns: a definition, some lines or a whole file; where it stands in a tree, and its text."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from repo_tools.languages import Unparsed, language_of
from repo_tools.regions import tokens
from repo_tools.symbols import Definition, definitions
from repo_tools.text_file import decode
from repo_tools.tree import Tree

LINES = re.compile(r"^(?P<path>.+?):(?P<first>[1-9]\d*)(?:-(?P<last>[1-9]\d*))?$")
CONTAINERS = frozenset({"class", "interface", "struct", "enum", "trait", "namespace"})
"""What has members that are added at its end."""


@dataclass(frozen=True, order=True)
class Span:
    """`path::Owner.name` (a definition, there or to be made), `path:first-last` (lines of the base) or `path`."""

    path: str
    name: str = ""
    first: int = 0
    last: int = 0

    def __str__(self) -> str:
        if self.name:
            return f"{self.path}::{self.name}"
        return f"{self.path}:{self.first}-{self.last}" if self.first else self.path

    @property
    def last_name(self) -> str:
        """The name without its owners."""
        return self.name.rpartition(".")[2]


def parse(text: str) -> Span:
    """A span as a role wrote it. `::` between the parts of a name stands for a dot."""
    plain = text.strip().strip("`").removeprefix("./")
    path, marks, name = plain.partition("::")
    if marks:
        return Span(path, name.replace("::", ".").removesuffix("()").strip("."))
    lines = LINES.match(plain)
    if lines is None:
        return Span(plain)
    first = int(lines["first"])
    return Span(lines["path"], "", first, max(first, int(lines["last"] or first)))


def outline(tree: Tree, path: str) -> tuple[Definition, ...]:
    """What a file defines; nothing if it is not there or its language is unknown."""
    return _outline(path, tree.read(path)) if tree.exists(path) else ()


@functools.lru_cache(maxsize=64)
def _outline(path: str, data: bytes) -> tuple[Definition, ...]:
    language = language_of(path)
    try:
        return definitions(language, data) if language is not None else ()
    except Unparsed:
        return ()


def lines_of(tree: Tree, path: str) -> list[str] | None:
    """The lines of a text file, without their ends; None if there is none."""
    file = decode(tree.read(path)) if tree.exists(path) else None
    return None if file is None else file.plain.split("\n")


def located(tree: Tree, span: Span) -> tuple[int, int] | None:
    """First and last line of a span, from 1; None if there is nothing yet. One name may stand for a pair side by side.

    A property's getter and setter are such a pair; of two that stand apart the last one counts, as it does when run.
    """
    lines = lines_of(tree, span.path)
    if lines is None:
        return None
    count = len(lines) - (lines[-1] == "")
    if not span.name:
        if not span.first:
            return 1, max(1, count)
        return (span.first, min(span.last, count)) if span.first <= count else None
    found = [one for one in outline(tree, span.path) if one.name == span.name]
    if not found:
        return None
    first, last = found[-1].first_line, found[-1].last_line
    for one in reversed(found[:-1]):
        if "".join(lines[one.last_line : first - 1]).strip():
            break
        first = one.first_line
    return first, last


def text_of(tree: Tree, span: Span) -> str:
    """The lines of a span; empty if there is nothing yet."""
    place = located(tree, span)
    lines = lines_of(tree, span.path)
    return "\n".join(lines[place[0] - 1 : place[1]]) if place and lines else ""


def size(tree: Tree, *spans: Span) -> int:
    """Tokens of the code that these spans hold now, estimated."""
    return sum(tokens(text_of(tree, span)) for span in spans)


def overlapping(tree: Tree, one: Span, other: Span) -> bool:
    """Whether two spans have something in common: the same name, the same lines, or one within the other."""
    if one.path != other.path:
        return False
    if one == other or not (one.name or one.first) or not (other.name or other.first):
        return True
    if one.name and other.name and (f"{one.name}.".startswith(f"{other.name}.")):
        return True
    if one.name and other.name and (f"{other.name}.".startswith(f"{one.name}.")):
        return True
    places = located(tree, one), located(tree, other)
    if places[0] is None or places[1] is None:
        return False
    return places[0][0] <= places[1][1] and places[1][0] <= places[0][1]


def within(tree: Tree, one: Span, other: Span) -> bool:
    """Whether all of `one` is part of `other`. Of what is not there yet, a whole file alone has parts."""
    if one.path != other.path:
        return False
    if not (other.name or other.first):
        return True
    inner, outer = located(tree, one), located(tree, other)
    return bool(inner and outer and outer[0] <= inner[0] and inner[1] <= outer[1])


def owner_of(tree: Tree, span: Span) -> Definition | None:
    """The class or the like in which a definition stands, or is to stand."""
    owner = span.name.rpartition(".")[0]
    return next((one for one in outline(tree, span.path) if owner and one.name == owner), None)


def indentation(tree: Tree, span: Span) -> str:
    """What each line of a definition begins with."""
    lines = lines_of(tree, span.path) or [""]
    place = located(tree, span)
    if place is not None:
        return leading(lines[place[0] - 1])
    owner = owner_of(tree, span)
    if owner is None:
        return ""
    outer = leading(lines[owner.first_line - 1])
    inner = next((line for line in lines[owner.line : owner.last_line] if leading(line) > outer and line.strip()), "")
    return leading(inner) or outer + "    "


def leading(line: str) -> str:
    """The blanks at the beginning of a line."""
    return line[: len(line) - len(line.lstrip())]


def shifted(text: str, indent: str) -> str:
    """`text` with its first line at `indent`, and the others moved along as far as they were set in with it."""
    lines = text.strip("\n").rstrip().split("\n")
    given = leading(lines[0])
    if given == indent:
        return "\n".join(lines)
    if not all(line.startswith(given) or not line.strip() for line in lines):
        return "\n".join(lines)
    return "\n".join(indent + line[len(given) :] if line.strip() else "" for line in lines)
