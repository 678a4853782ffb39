"""The agents' texts put into real files: each span in its place, new definitions beside it, imports at the top."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bot.team.organization.spans import (
    Span,
    indentation,
    leading,
    lines_of,
    located,
    outline,
    owner_of,
    shifted,
)
from repo_tools import python_code
from repo_tools.text_file import TextFile, decode
from repo_tools.tree import Tree

IMPORT = re.compile(r"^(?:import|from|use|using|#\s*include|require|(?:const|var) \w+ = require)\b")
MAIN = re.compile(r"^if\s+__name__\s*==")


@dataclass(frozen=True)
class Piece:
    """The text of one span as an agent wrote it, and the import statements that it needs in its file.

    Without a text the span goes: a definition, some lines, or the whole file.
    """

    span: Span
    text: str
    imports: tuple[str, ...] = ()
    after: str = ""
    """For a new definition: the name of the one that it is put behind; empty for the end of its class or file."""


@dataclass(frozen=True)
class Assembled:
    """A tree with all pieces in it, and where each one stands there."""

    tree: Tree
    places: Mapping[Span, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Cut:
    """Lines `first` up to but without `end` (from 0) are replaced by `lines`."""

    first: int
    end: int
    order: int
    span: Span
    lines: tuple[str, ...]
    gap: int = 0
    """Empty lines between it and what comes before, if it is new."""


def assemble(base: Tree, pieces: Sequence[Piece]) -> Assembled:
    """`base` with the pieces in it. The spans of `pieces` do not overlap; their order decides the order of new ones."""
    tree, places = base, dict[Span, tuple[int, int]]()
    for path in sorted({piece.span.path for piece in pieces}):
        own = [piece for piece in pieces if piece.span.path == path]
        tree, found = _file(base, tree, path, own)
        places |= found
    return Assembled(tree, places)


def _file(base: Tree, tree: Tree, path: str, pieces: Sequence[Piece]) -> tuple[Tree, dict[Span, tuple[int, int]]]:
    before = lines_of(base, path)
    if any(not (one.span.name or one.span.first or one.text.strip()) for one in pieces):
        return (tree.without_file(path) if tree.exists(path) else tree), {}
    if before is None and base.exists(path):
        return tree, {}
    lines = before or []
    cuts = sorted(
        (_cut(base, lines, piece, order) for order, piece in enumerate(pieces)), key=lambda cut: (cut.first, cut.order)
    )
    made, places, at = list[str](), dict[Span, tuple[int, int]](), 0
    for cut in cuts:
        made += lines[at : cut.first]
        blank = next((n for n, line in enumerate(reversed(made)) if line.strip()), len(made))
        made += [""] * (cut.gap - blank if any(made) else 0)
        places[cut.span] = (len(made) + 1, len(made) + len(cut.lines))
        made += cut.lines
        at = max(at, cut.end)
    made += lines[at:] if at < len(lines) else ([] if before is not None else [""])
    wanted = list(dict.fromkeys(line.strip() for piece in pieces for line in piece.imports if line.strip()))
    row, new = missing_imports(path, made, wanted)
    made[row:row] = new
    places = {
        span: (first + len(new) * (first > row), last + len(new) * (last > row))
        for span, (first, last) in places.items()
    }
    return tree.with_file(path, _encoded(base, path, made)), places


def _cut(base: Tree, lines: Sequence[str], piece: Piece, order: int) -> _Cut:
    span, place = piece.span, located(base, piece.span)
    indent = indentation(base, span) if span.name else leading(piece.text)
    text = tuple(shifted(piece.text.replace("\r\n", "\n"), indent).split("\n")) if piece.text.strip() else ()
    if place is not None:
        whole = not (span.name or span.first)
        # A whole file's last line keeps its end, which is the empty text behind it.
        return _Cut(place[0] - 1, len(lines) if whole else place[1], order, span, (*text, "") if whole else text)
    row, gap = _room(base, lines, piece)
    return _Cut(row, row, order, span, text, gap)


def _room(base: Tree, lines: Sequence[str], piece: Piece) -> tuple[int, int]:
    """The row (from 0) before which a new definition goes, and how many empty lines stand between it and others."""
    span = piece.span
    owner = owner_of(base, span)
    beside = next((one for one in outline(base, span.path) if piece.after and one.name == piece.after), None)
    if owner is not None:
        return (beside.last_line if beside is not None else owner.last_line), 1
    if beside is not None:
        top = next(one for one in outline(base, span.path) if one.name == beside.name.partition(".")[0])
        return top.last_line, 2
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    main = next((row for row, line in enumerate(lines) if MAIN.match(line)), None)
    if main is not None:
        while main and not lines[main - 1].strip():
            main -= 1
        return main, 2
    return end, 2


def missing_imports(path: str, lines: Sequence[str], wanted: Iterable[str]) -> tuple[int, list[str]]:
    """The row before which import statements go, and those of `wanted` that are not there yet."""
    there = {line.strip() for line in lines}
    new = [line for line in wanted if line not in there]
    if path.endswith((".py", ".pyi")):
        return _python_imports("\n".join(lines), new)
    row = max((row + 1 for row, line in enumerate(lines) if IMPORT.match(line)), default=0)
    return row, new


def _python_imports(text: str, wanted: Sequence[str]) -> tuple[int, list[str]]:
    try:
        body = python_code.module(text).body
    except (SyntaxError, ValueError):
        return 0, []
    known = {name for node in body for name in _imported(node)}
    new = []
    for line in wanted:
        try:
            names = {name for node in python_code.module(line).body for name in _imported(node)}
        except (SyntaxError, ValueError):
            continue
        if not names <= known:
            new.append(line)
            known |= names
    first_code = next((node.lineno for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)), None)
    rows = [node.end_lineno or 0 for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    rows = [row for row in rows if first_code is None or row < first_code]
    if rows:
        return max(rows), new
    if not new or not body:
        return 0, new
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        return body[0].end_lineno or 0, ["", *new]
    return 0, [*new, "", *([""] if first_code == body[0].lineno else [])]


def _imported(node: ast.stmt) -> list[tuple[str, str, str | None]]:
    if isinstance(node, ast.Import):
        return [("", alias.name, alias.asname) for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [("." * node.level + (node.module or ""), alias.name, alias.asname) for alias in node.names]
    return []


def _encoded(base: Tree, path: str, lines: Sequence[str]) -> bytes:
    """The lines in the encoding and with the line ends that the file has."""
    text = "\n".join(lines)
    file = decode(base.read(path)) if base.exists(path) else TextFile("", "utf-8")
    if file is None:
        return text.encode("utf-8", "replace")
    try:
        return file.replaced(0, len(file.plain), text).encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")
