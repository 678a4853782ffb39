"""Markdown cut into what is code and what is not, so that each can be treated as what it is."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

RUN = re.compile(r"`+")


class Kind(enum.Enum):
    """What a piece of Markdown is to the reader."""

    BLOCK = "code block"
    SPAN = "code span"
    TEXT = "text"


@dataclass(frozen=True)
class Segment:
    """A piece of the source, markup included."""

    kind: Kind
    source: str


def blocks(text: str) -> list[Token]:
    """The block tokens of GitHub's dialect; what is inside of paragraphs is not parsed."""
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.disable("inline")
    return parser.parse(text)


def split(text: str) -> list[Segment]:
    """The segments of `text` (its lines ended by newlines alone); together they are `text` again.

    Where parsers do not agree whether something is code, as with what is only indented, it is taken for text.
    """
    lines = text.split("\n")
    owner: list[tuple[Kind, int]] = [(Kind.TEXT, -number - 1) for number in range(len(lines))]
    for number, token in enumerate(blocks(text)):
        if token.map is None or token.type not in ("fence", "inline", "table_open"):
            continue
        if token.type == "fence" and not _is_certain(token, lines):
            continue
        kind = Kind.BLOCK if token.type == "fence" else Kind.SPAN
        first, last = token.map
        for line in range(first, min(last, len(lines))):
            if token.type == "table_open":
                owner[line] = (Kind.TEXT, number)
            elif owner[line][1] < 0:
                owner[line] = (kind, number)
    return list(_merged(_grouped(lines, owner)))


def _is_certain(fence: Token, lines: list[str]) -> bool:
    """Whether any parser would see this fence: it stands by itself, or is indented in a list and closed there."""
    if fence.level == 0 or fence.map is None:
        return True
    first, last = fence.map
    ends = re.compile(rf" *{re.escape(fence.markup)}")
    inside = lines[first:last]
    return len(inside) > 1 and all(ends.match(line) for line in (inside[0], inside[-1]))


def _grouped(lines: list[str], owner: list[tuple[Kind, int]]) -> Iterator[Segment]:
    start = 0
    for end in range(1, len(lines) + 1):
        if end < len(lines) and owner[end] == owner[start]:
            continue
        source = "\n".join(lines[start:end]) + ("\n" if end < len(lines) else "")
        if owner[start][0] is Kind.SPAN:
            yield from _spans(source)
        else:
            yield Segment(owner[start][0], source)
        start = end


def _spans(source: str) -> list[Segment]:
    """The code spans of one paragraph: a run of backticks up to the next run of the same length.

    If a run finds no partner, parsers do not agree on what follows, and the whole paragraph is text.
    """
    found: list[Segment] = []
    done = at = 0
    while opening := RUN.search(source, at):
        first = opening.start()
        if (first - len(source[:first].rstrip("\\"))) % 2:
            at = first + 1
            continue
        closing = next((run for run in RUN.finditer(source, opening.end()) if len(run[0]) == len(opening[0])), None)
        if closing is None:
            return [Segment(Kind.TEXT, source)]
        at = closing.end()
        found += [Segment(Kind.TEXT, source[done:first]), Segment(Kind.SPAN, source[first:at])]
        done = at
    return [*found, Segment(Kind.TEXT, source[done:])]


def _merged(segments: Iterator[Segment]) -> Iterator[Segment]:
    last: Segment | None = None
    for segment in segments:
        if last is not None and last.kind is Kind.TEXT is segment.kind:
            last = Segment(Kind.TEXT, last.source + segment.source)
            continue
        if last is not None and last.source:
            yield last
        last = segment
    if last is not None and last.source:
        yield last
