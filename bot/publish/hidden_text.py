"""What a reader of an issue on GitHub does not see, taken out of its text before a model reads it, and told.

Comments, invisible characters, attributes, titles and long image descriptions can carry orders that no maintainer
saw when the label was set. What stands in code is visible and stays, but for characters that cannot be seen.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bot.publish.rendered import Page
from bot.publish.sanitize import INVISIBLE, NEWLINES, clip, code, line, visible
from bot.publish.segments import Kind, split

EXCERPT = 160
FEW_WORDS = 5
"""A description of no more words is a caption and stays; it is too short to tell anybody anything."""
TAGS_BLOCK = 0xE0000
"""Where Unicode has a second, invisible ASCII."""

COMMENTS = tuple(
    (re.compile(opening), closing)
    for opening, closing in (("<!--", "-->"), (r"<\?", "?>"), (r"<!\[CDATA\[", "]]>"), ("<![A-Za-z]", ">"))
)
"""What opens a comment of HTML, or what GitHub takes for one, and what ends it."""
BLOCK_COMMENT = re.compile(r"^[ >\-*+\d.)\t]*\Z", re.MULTILINE)
ATTRIBUTE = r"\s+[A-Za-z_:@][\w.:-]*(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'=<>`]+))?"
TAG = re.compile(rf"<(?P<name>[A-Za-z][A-Za-z0-9-]*)(?P<attributes>(?:{ATTRIBUTE})+)(?P<end>\s*/?)>")
ONE_ATTRIBUTE = re.compile(r"(?P<name>[A-Za-z_:@][\w.:-]*)(?:\s*=\s*(?P<value>\"[^\"]*\"|'[^']*'|[^\s\"'=<>`]+))?")
UNSEEN_ELEMENT = re.compile(r"<(?P<name>[A-Za-z][A-Za-z0-9-]*)\b[^<>]*(?:\shidden\b|display\s*:\s*none)[^<>]*>")
DESCRIBED = re.compile(r"\](?=[(\[])")
LABEL = re.compile(r"\[([^\[\]\n]+)\]")
TITLED = re.compile(r"(?P<link>\]\(\s*<?[^\s()<>]*>?)\s+(?P<title>\"[^\"]*\"|'[^']*'|\([^()]*\))\s*(?=\))")
DEFINITION = re.compile(
    r"^ {0,3}\[(?P<label>[^\]\n]+)\]:[ \t]*\n?[ \t]*(?P<to><[^<>\n]*>|\S+)"
    r"(?P<title>[ \t]*\n?[ \t]+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?[ \t]*$",
    re.MULTILINE,
)
ENTITY = re.compile(r"&(?:#\d+|#[xX][0-9a-fA-F]+|[A-Za-z]\w*);")


@dataclass(frozen=True)
class Removed:
    """One thing that was taken out."""

    kind: str
    """`HTML comment`, `invisible characters`, `attribute`, `image description`, `link title`, `unused link`,
    `hidden element`."""
    excerpt: str
    """What it said, on one line."""


@dataclass(frozen=True)
class Cleaned:
    """A text as a reader sees it, and what was taken out to make it so."""

    text: str
    removed: tuple[Removed, ...] = ()


Treatment = Callable[[str, list[Removed]], str]
"""Takes a text and a list; gives the text without something, and adds to the list what that was."""


def clean(text: str) -> Cleaned:
    """Take out of an issue's or a comment's Markdown what its readers do not see."""
    removed: list[Removed] = []
    text = _without_invisible(NEWLINES.sub("\n", text), removed)
    text = _outside_code(text, (_comments,), removed)  # first, since what is code depends on them
    if _hides_something(text):
        text = _comments(text, removed)
    text = _outside_code(text, (_elements, _definitions, _attributes, _images_and_titles), removed)
    return Cleaned(text, tuple(Removed(one.kind, clip(line(one.excerpt), EXCERPT)) for one in removed))


def told(removed: Iterable[Removed], shown: int = 10) -> list[str]:
    """What was taken out, for the maintainer: Markdown list items, one a kind, the first of each quoted."""
    ones = list(removed)
    lines = []
    for kind, number in sorted(Counter(one.kind for one in ones).items()):
        quotes = [code(one.excerpt) for one in ones if one.excerpt and one.kind == kind][:shown]
        counted = kind if number == 1 and quotes else f"{kind} ({number:,})"
        lines.append(f"{counted}: {', '.join(quotes)}" if quotes else counted)
    return lines


def _outside_code(text: str, treatments: Iterable[Treatment], removed: list[Removed]) -> str:
    """`text` with what is no code treated; code is out of sight meanwhile, and back in its place afterwards.

    A comment may hold what looks like code: what a comment hides is hidden, whatever it is.
    """
    away: list[str] = []

    def put_away(source: str) -> str:
        away.append(source)
        return f"\0{len(away) - 1}\0"

    def put_back(part: str) -> str:
        return re.sub("\0(\\d+)\0", lambda found: away[int(found[1])], part)

    part = "".join(each.source if each.kind is Kind.TEXT else put_away(each.source) for each in split(text))
    taken: list[Removed] = []
    for treat in treatments:
        part = treat(part, taken)
    removed += [Removed(one.kind, put_back(one.excerpt)) for one in taken]
    return put_back(part)


def _without_invisible(text: str, removed: list[Removed]) -> str:
    """Also those that are written as character references."""
    text = ENTITY.sub(lambda found: _unseen_entity(found[0]), text)
    unseen = INVISIBLE.findall(text)
    if unseen:
        spelled = "".join(chr(ord(one) - TAGS_BLOCK) for one in unseen if 0x20 <= ord(one) - TAGS_BLOCK < 0x7F)
        names = ", ".join(f"U+{ord(one):04X}" for one in dict.fromkeys(unseen))
        removed.append(Removed("invisible characters", f"{len(unseen):,}: {line(spelled) or names}"))
    return visible(text)


def _unseen_entity(entity: str) -> str:
    meant = html.unescape(entity)
    return meant if INVISIBLE.fullmatch(meant) else entity


def _comments(text: str, removed: list[Removed]) -> str:
    for opening, closing in COMMENTS:
        text = _without_comments(text, opening, closing, removed)
    return text


def _without_comments(text: str, opening: re.Pattern[str], closing: str, removed: list[Removed]) -> str:
    kept, done = [], 0
    while found := opening.search(text, done):
        start = found.start()
        end = text.find(closing, start + 2)
        # One that is never closed hides the rest if it begins a line, and nothing otherwise.
        if end < 0 and not BLOCK_COMMENT.search(text, max(0, text.rfind("\n", 0, start)), start):
            kept.append(text[done : found.end()])
            done = found.end()
            continue
        end = len(text) if end < 0 else end + len(closing)
        kept.append(text[done:start])
        removed.append(Removed("HTML comment", text[start:end].removeprefix("<!--").removesuffix("-->")))
        done = end
    return "".join([*kept, text[done:]])


def _hides_something(text: str) -> bool:
    """Whether GitHub's parser sees a comment where none was found: rather code without it than it unseen."""
    try:
        return Page(text).hidden != ""
    except AssertionError:
        return True


def _elements(text: str, removed: list[Removed]) -> str:
    """Elements that are not shown. Of one within another of the same name the first end counts."""
    kept, done = [], 0
    low = text.lower()
    while opening := UNSEEN_ELEMENT.search(text, done):
        closing = f"</{opening['name'].lower()}"
        at = low.find(closing, opening.end())
        end = low.find(">", at) + 1 if at >= 0 else 0
        kept.append(text[done : opening.start()])
        removed.append(Removed("hidden element", text[opening.start() : end or opening.end()]))
        done = end or opening.end()
    return "".join([*kept, text[done:]])


def _definitions(text: str, removed: list[Removed]) -> str:
    """Definitions of links that nothing uses are a well-known way to write comments."""
    uses = Counter(label.lower() for label in LABEL.findall(text))

    def kept(found: re.Match[str]) -> str:
        if uses[found["label"].lower()] < 2:
            removed.append(Removed("unused link", found[0]))
            return ""
        if found["title"]:
            removed.append(Removed("link title", found["title"]))
        return f"[{found['label']}]: {found['to']}"

    return DEFINITION.sub(kept, text)


def _attributes(text: str, removed: list[Removed]) -> str:
    def bare(tag: re.Match[str]) -> str:
        links = ""
        for one in ONE_ATTRIBUTE.finditer(tag["attributes"]):
            if one["name"].lower() in ("href", "src"):
                links += f" {one[0]}"
            elif _says_something(one["value"] or ""):
                removed.append(Removed("attribute", one[0]))
        return f"<{tag['name']}{links}{tag['end']}>"

    return TAG.sub(bare, text)


def _images_and_titles(text: str, removed: list[Removed]) -> str:
    kept, done = [], 0
    while (start := text.find("![", done)) >= 0 and (end := DESCRIBED.search(text, start)):
        description = text[start + 2 : end.start()]
        if _says_something(description):
            removed.append(Removed("image description", description))
            description = "image"
        kept.append(f"{text[done:start]}![{description}")
        done = end.start()

    def untitled(found: re.Match[str]) -> str:
        if _says_something(found["title"]):
            removed.append(Removed("link title", found["title"]))
        return found["link"]

    return TITLED.sub(untitled, "".join([*kept, text[done:]]))


def _says_something(text: str) -> bool:
    return len(text.split()) > FEW_WORDS
