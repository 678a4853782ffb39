"""An issue's text cut into what is said and what is shown: its title, its prose, and its blocks of code or output."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from dataclasses import dataclass

from repo_tools.issue_form import FENCE, without_form


class Part(enum.StrEnum):
    """What a stretch of an issue is."""

    TITLE = "title"
    PROSE = "prose"
    INLINE = "inline code"
    CODE = "code block"


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of an issue."""

    part: Part
    text: str


_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_SHOWN = re.compile(r" {4}\s*\S|\t\s*\S|\s*(>>>|\.\.\.) |\s*In ?\[\d+\]:|\s*File \"[^\"]+\", line \d")
_INLINE = re.compile(r"(?<!`)`++([^`\n]+)`+")


def segments(text: str) -> list[Segment]:
    """The parts of an issue in order, the first line as its title; what is hidden in comments is left out,
    and what only the form of a bug report asks for.

    A code span counts for itself, and stands no longer in the prose around it.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    end = text.rfind("-->") + len("-->")
    clean = (_COMMENT.sub("", text[:end]) + text[end:]).lstrip()
    title, _, body = clean.partition("\n")
    found: list[Segment] = []
    for part, stretch in [(Part.TITLE, title), *_blocks(without_form(body))]:
        if part is Part.CODE:
            found.append(Segment(part, stretch))
            continue
        said = _INLINE.sub(" ", stretch)
        found.append(Segment(part, said))
        # What the title quotes matters as the title does: its spans are kept in it, too.
        spans = _INLINE.findall(stretch)
        if spans and part is Part.TITLE:
            found[-1] = Segment(part, stretch.replace("`", " "))
        found += [Segment(Part.INLINE, span) for span in spans]
    return found


def _blocks(body: str) -> Iterator[tuple[Part, str]]:
    """Prose and code by turns: fenced, indented, or with the prompt of a console."""
    lines: list[str] = []
    part, fence = Part.PROSE, ""
    for line in body.split("\n"):
        mark = FENCE.match(line)
        if fence:
            closes = mark is not None and mark[1].startswith(fence) and not mark[2].strip()
            if not closes:
                lines.append(line)
                continue
            fence, becomes = "", Part.PROSE
        elif mark is not None:
            fence, becomes = mark[1][:3], Part.CODE
        else:
            becomes = Part.CODE if _SHOWN.match(line) else Part.PROSE
        if becomes is not part:
            yield part, "\n".join(lines)
            lines, part = [], becomes
        if mark is None:
            lines.append(line)
    yield part, "\n".join(lines)
