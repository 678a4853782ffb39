"""A repository's pull request template, filled in: its sections stay, and what the bot can answer is answered."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.publish.sanitize import HOSTS, clip, markdown, sentence, visible
from bot.publish.segments import blocks

ASKS_FOR = {
    "evidence": re.compile(r"\btest|verif|evidence|validat|\bqa\b", re.IGNORECASE),
    "link": re.compile(r"\bissue|ticket|\bfix(?:es|ed)?\b|\bcloses?\b|related|reference|\blinks?\b", re.IGNORECASE),
    "why": re.compile(
        r"descri|summar|motivat|context|problem|background|\bwhy\b|purpose|overview|about", re.IGNORECASE
    ),
    "what": re.compile(r"\bchange|\bwhat\b|implement|solution|approach|\bhow\b", re.IGNORECASE),
    "doubts": re.compile(r"\brisk|concern|\bnotes?\b|question|limitation|caveat|reviewer|additional", re.IGNORECASE),
}
"""Key of a section -> the headings under which it belongs; the first that fits and is free takes it."""
LINK_LINE = re.compile(
    r"[ \t>*+-]*(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?|related(?: to)?|issues?|refs?|references)\b[ \t:]*"
    r"(?:issues?|bugs?)?[ \t:]*#[ \t]*(?:\(?<?[A-Za-z_? ]{0,20}>?\)?)[ \t.]*",
    re.IGNORECASE,
)
"""A line that wants an issue's number and has none."""
EMPTY_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d+[.)])[ \t]*")
PROMPT = re.compile(r"[^:]*\w[^:]*:[ \t*_]*")
"""A line that ends in a colon; with nothing but empty items below, it asks for something."""
CHECKBOX = re.compile(r"^\s*[-*+] \[[ xX]\]", re.MULTILINE)
HOST = re.compile(r"https?://([A-Za-z0-9.:-]+)", re.IGNORECASE)
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


@dataclass(frozen=True)
class Section:
    """A part of the body. Without a heading it stands alone, where no template asks for it."""

    key: str
    heading: str
    text: str

    def __str__(self) -> str:
        return f"## {self.heading}\n\n{self.text}" if self.heading else self.text


@dataclass(frozen=True)
class _Asked:
    """A place of the template. Without heading and prompt it is text; a `link` wants the issue's number."""

    heading: str
    text: str
    prompt: str = ""
    link: bool = False


def fill(template: str, sections: Sequence[Section], limit: int) -> str:
    """`sections` in the places that `template` has for them; one without a place follows those before it.

    Of the template its headings, checklists (unticked: they are a person's word) and the text of sections that the
    bot has nothing for are kept, in at most `limit` characters of its source; its comments are not.
    """
    asked = _read(clip(COMMENT.sub("", visible(template)), limit, "\n"))
    if not asked:
        first, *rest = sections
        return "\n\n".join([first.text, *map(str, rest)])
    waiting = {section.key: section for section in sections}
    answers = [waiting.pop(_wanted(place, waiting), None) for place in asked]
    # Where the repository's own form leads is the repository's own word.
    hosts = HOSTS | {host.lower() for host in HOST.findall(template)}
    parts = [[_shown(place, answer, hosts)] for place, answer in zip(asked, answers, strict=True)]
    at, before = 0, []
    for section in sections:
        if section in answers:
            at = max(at, answers.index(section))
        elif any(answers):
            parts[at].append(str(section))
        else:
            before.append(str(section))
    return "\n\n".join(text for text in [*before, *itertools.chain(*parts)] if text)


def _shown(place: _Asked, answer: Section | None, hosts: frozenset[str]) -> str:
    heading = f"## {sentence(place.heading)}" if place.heading else sentence(place.prompt) if place.prompt else ""
    text = answer.text if answer else markdown(_without_blanks(place.text), hosts)
    return "\n\n".join(part for part in (heading, text) if part)


def _wanted(place: _Asked, waiting: dict[str, Section]) -> str:
    if place.link:
        return "link" if "link" in waiting else ""
    asked = place.heading or place.prompt
    if CHECKBOX.search(place.text) or not asked:
        return ""
    return next((key for key, asks in ASKS_FOR.items() if key in waiting and asks.search(asked)), "")


def _without_blanks(text: str) -> str:
    """`text` without what is there to be filled in and is not."""
    return "\n".join(line for line in text.split("\n") if not _is_blank(line))


def _is_blank(line: str) -> bool:
    return LINK_LINE.fullmatch(line) is not None or EMPTY_ITEM.fullmatch(line) is not None


def _places(text: str) -> list[_Asked]:
    """What text without headings asks for, line by line, and the text between."""
    found, lines = [_Asked("", "")], text.split("\n")
    for number, line in enumerate(lines):
        below = next((one for one in lines[number + 1 :] if one.strip()), "")
        if LINK_LINE.fullmatch(line):
            found += [_Asked("", "", link=True), _Asked("", "")]
        elif PROMPT.fullmatch(line) and (not below or EMPTY_ITEM.fullmatch(below)):
            found += [_Asked("", "", prompt=line.strip(" \t")), _Asked("", "")]
        elif not EMPTY_ITEM.fullmatch(line):
            found[-1] = _Asked("", f"{found[-1].text}\n{line}".strip("\n"))
    return found


def _read(template: str) -> list[_Asked]:
    """The template's sections; what stands before the first heading is one without."""
    lines = template.split("\n")
    headings = []
    tokens = blocks(template)
    for token, content in itertools.pairwise(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            headings.append((token.map[0], token.map[1], content.content))
    edges = [(0, 0, ""), *headings, (len(lines), 0, "")]
    found = [
        _Asked(title, "\n".join(lines[start : following[0]]).strip("\n"))
        for (_, start, title), following in itertools.pairwise(edges)
    ]
    whole = [one for place in found for one in ([place] if place.heading else _places(place.text))]
    return [one for one in whole if one.heading or one.text.strip() or one.prompt or one.link]
