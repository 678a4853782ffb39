"""What an issue's text mentions: names, paths, places in stack traces, lines of code and messages that it quotes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from repo_tools.issue_text import Part, Segment, segments
from repo_tools.traces import Frame, frames, is_trace_line, places

NAMED = {Part.TITLE: 4.0, Part.INLINE: 3.0, Part.PROSE: 2.0, Part.CODE: 1.0}
"""How much the mention of a name counts, by where it stands; of several mentions the strongest counts."""
WORD_IN_TITLE, WORD_IN_PROSE = 2.0, 0.15
"""How much a plain word counts as a name: most are none, but functions are called `apart`, `bell` and `refine`."""
SHORTEST_QUOTE = 12
"""Characters below which equal lines of code say nothing."""

_NAME = re.compile(r"[^\W\d]\w*")
_DOTTED = re.compile(r"(?<!\w)[^\W\d]\w*(?:(?:\.|::|#|->)[^\W\d]\w*)+")
_OWNERS = re.compile(r"\.|::|#|->")
_PATH = re.compile(r"(?<![\w.~+@/\\-])[\w.~+@/\\-]+")
_FILE = re.compile(r"[\w+-][\w.+-]*\.(?!\d)\w{1,6}")
_IDENTIFIER = re.compile(r"_|[a-z0-9][A-Z]|[A-Z]{2,}[a-z]")
_PROMPT = re.compile(r"^\s*(?:-*> ?)?\d+\s|^\s*[>+-]\s|^\s*(?:>>>|\.\.\.)\s|^\s*In ?\[\d+\]:")


@dataclass(frozen=True, slots=True)
class Mentions:
    """What was found in the text of an issue."""

    segments: tuple[Segment, ...]
    text: str
    """All of it, each run of white space as one blank."""
    titled: frozenset[str]
    """The words of the title, as written."""
    names: Mapping[str, float]
    """Word -> how strongly it is mentioned as a name (`NAMED`)."""
    dotted: Mapping[tuple[str, ...], float]
    """The parts of names with owners (`Session.send`, `std::vec`), whatever joined them -> how strongly."""
    paths: tuple[str, ...]
    """What looks like a path of a file, as written."""
    frames: tuple[Frame, ...]
    """Of all stack traces, in the order of the text."""
    places: tuple[Frame, ...]
    """Lines of files that are pointed at: links, `line 743 of latex.py`."""
    quotes: frozenset[str]
    """Lines of code, stripped."""


def mentions(text: str) -> Mentions:
    """What `text`, an issue with its title in the first line, mentions."""
    found = tuple(segments(text))
    whole = "\n".join(segment.text for segment in found)
    return Mentions(
        segments=found,
        text=" ".join(text.split()),
        titled=frozenset(_NAME.findall(found[0].text)),
        names=_names(found),
        dotted=_dotted(found),
        paths=tuple(dict.fromkeys(_paths(whole))),
        frames=tuple(frames(whole)),
        places=tuple(places(text)),
        quotes=frozenset(_quotes(found)),
    )


def _names(found: Iterable[Segment]) -> dict[str, float]:
    names: dict[str, float] = {}
    for segment in found:
        text = _without_traces(segment)
        for match in _NAME.finditer(text):
            weight = _weight(segment.part, match, text)
            if weight > names.get(match[0], 0.0):
                names[match[0]] = weight
    return names


def _weight(part: Part, match: re.Match[str], text: str) -> float:
    if part in (Part.CODE, Part.INLINE):
        return NAMED[part]
    used = text[match.end() : match.end() + 1] == "(" or text[max(0, match.start() - 1) : match.start()] == "."
    if used or _IDENTIFIER.search(match[0].strip("_")) or match[0].startswith("_"):
        return NAMED[part]
    return WORD_IN_TITLE if part is Part.TITLE else WORD_IN_PROSE


def _dotted(found: Iterable[Segment]) -> dict[tuple[str, ...], float]:
    dotted: dict[tuple[str, ...], float] = {}
    for segment in found:
        for name in _DOTTED.findall(_without_traces(segment)):
            parts = tuple(_OWNERS.split(name))
            dotted[parts] = max(dotted.get(parts, 0.0), NAMED[segment.part])
    return dotted


def _without_traces(segment: Segment) -> str:
    """Code without the lines of stack traces: they name everything on the way, and are read apart."""
    if segment.part is not Part.CODE:
        return segment.text
    return "\n".join(line for line in segment.text.split("\n") if not is_trace_line(line))


def _paths(text: str) -> Iterable[str]:
    for match in _PATH.finditer(text):
        # What a call or a further word follows is no file: `self.run(`.
        written = match[0].rstrip(".-")
        if text[match.end() : match.end() + 1] != "(" and _FILE.fullmatch(re.split(r"[/\\]", written)[-1]):
            yield written


def _quotes(found: Iterable[Segment]) -> Iterable[str]:
    for segment in found:
        if segment.part in (Part.CODE, Part.INLINE):
            for line in segment.text.split("\n"):
                quote = _PROMPT.sub("", line).strip()
                if len(quote) >= SHORTEST_QUOTE:
                    yield quote
