"""Text that a model or a stranger wrote, made harmless on GitHub: it notifies, closes, loads and hides nothing.

Code stays as it is. Outside it, what GitHub would act on gets a zero-width space at the place that GitHub looks at;
readers see the same words. The result is parsed again, and if anything is still live the whole text is shown as code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from urllib.parse import urlsplit

from bot.publish.rendered import Page
from bot.publish.segments import Kind, blocks, split

HOSTS = frozenset({"github.com"})
"""Where links may lead unless the caller knows of more."""

ZWSP = "\u200b"
NEWLINES = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U0001bca0-\U0001bca3\U000e0000-\U000e0fff]"
)
"""Controls, bidirectional marks, zero-width characters, fillers and the tag block: what a reader cannot see."""
BLANK = re.compile(r"^[ \t]+$", re.MULTILINE)
"""Parsers do not agree on whether spaces in an empty line keep a list open."""
SURROGATE = re.compile("[\ud800-\udfff]")

TAGS = "p ul ol li input blockquote pre code em strong del a table thead tbody tr th td hr br"
HARMLESS_TAGS = frozenset(TAGS.split())
"""What Markdown itself makes; no headings, which are the bot's own, and no images."""

MENTION = re.compile(r"@(?=[A-Za-z0-9])")
KEYWORD = r"\b(?:clos(?:e|es|ed)|fix(?:es|ed)?|resolv(?:e|es|ed))\b"
CLOSING = re.compile(rf"({KEYWORD}(?:[^\w#]|_|\d+[.)]){{0,30}}?(?:[\w.-]+/[\w.-]+)?(?:#|GH-))(?=\d)", re.IGNORECASE)
FOREIGN = re.compile(r"([\w.-]+/[\w.-]+#)(?=\d)")
TRACKED = re.compile(r"/(?:issues|pull|discussions|commit)/\w", re.IGNORECASE)
URL = re.compile(
    r"(?P<scheme>(?:https?|ftp):)(?=//)(?P<rest>[^\s<>)\]]*)|(?<![A-Za-z0-9])(?P<www>www)(?=\.)", re.IGNORECASE
)
ADDRESS = re.compile(r"(?:https?|ftp)://[^\s<>)\]\0]*", re.IGNORECASE)
UNCHECKED = re.compile(r"\[((?:skip|no)[ -](?:ci|actions|travis|circleci)|(?:ci|actions)[ -]skip)\]", re.IGNORECASE)
"""What in the message of a commit keeps its checks from running."""
TAG = re.compile(r"(?<!\\)((?:\\\\)*)<(?=[A-Za-z/!?])")
AUTOLINK = re.compile(r"<(https?://[^<>\s]*)>", re.IGNORECASE)
ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|nbsp|#39);)(?=#?\w+;)")
IMAGE = re.compile(r"!\[")
DESTINATION = re.compile(r"\](?=\(\s*<?(?P<to>[^\s>)]*))")
DEFINITION = re.compile(r"^([ >\-*+\d.)\t]*)\[(?=[^\]]{1,999}\]:)", re.MULTILINE)
FENCE = re.compile(r"^([ >\-*+\d.)\t]*)(?=`{3}|~{3})", re.MULTILINE)
"""In what was not taken for a code block: parsers differ on whether a table's row may open one."""
RELATIVE = re.compile(r"(?!//)[\w./#-]+$")
HEADING = re.compile(r"^(?P<before>[ >\-*+\d.)\t]*?)#{1,6}(?:[ \t]+(?P<title>.*?))?[ \t]*#*[ \t]*$")


def markdown(text: str, hosts: Collection[str] = HOSTS) -> str:
    """`text` as Markdown that is shown and does nothing else. Headings become bold lines; fences are closed."""
    plain = BLANK.sub("", visible(text))
    quiet = "".join(
        segment.source if segment.kind is not Kind.TEXT else _quiet(segment.source, hosts)
        for segment in split(_without_headings(plain))
    ).strip("\n")
    closed = _with_fences_closed(quiet)
    return fence(plain) if _is_live(closed, hosts) else closed


ITEM = [
    "bullet_list_open",
    "list_item_open",
    "paragraph_open",
    "inline",
    "paragraph_close",
    "list_item_close",
    "bullet_list_close",
]
"""What a list item of one paragraph parses to."""


def sentence(text: str, hosts: Collection[str] = HOSTS) -> str:
    """`text` as one paragraph on one line, for list items and the like."""
    flat = line(text)
    quiet = markdown(flat, hosts)
    # Seen as a list item: a text of dashes alone would make a rule of the item's own mark.
    types = [token.type for token in blocks(f"- {quiet}")]
    return quiet if types == ITEM else code(flat)


def line(text: str) -> str:
    """`text` without what cannot be seen, its white space made single spaces. No Markdown is treated."""
    return " ".join(visible(text).split())


def title(text: str) -> str:
    """`text` for a title, and so perhaps for a commit message: one line, without mention, reference or markup."""
    flat = re.sub(r"(?:[\w.-]+/[\w.-]+)?#(?=\d)|\bGH-(?=\d)", "issue ", line(text))
    quiet = URL.sub(lambda found: _unlinked(found, ()), re.sub(r"<(?=[A-Za-z/!?])[^<>]*>", "", flat))
    return MENTION.sub("@" + ZWSP, CLOSING.sub(rf"\1{ZWSP}", UNCHECKED.sub(r"(\1)", quiet))).strip()


def commit_message(text: str) -> str:
    """`text` for the message of a commit, which GitHub reads as well: it notifies nobody, closes no issue and lets all
    checks run. No Markdown is treated."""
    plain = UNCHECKED.sub(r"(\1)", visible(text))
    quiet = URL.sub(lambda found: _untracked(found[0]), plain)
    return MENTION.sub("@" + ZWSP, FOREIGN.sub(rf"\1{ZWSP}", CLOSING.sub(rf"\1{ZWSP}", quiet)))


def code(text: str) -> str:
    """`text` as a code span."""
    flat = line(text) or "(empty)"
    ticks = "`" * _longer_than_any(r"`+", flat, 0)
    pad = " " if "`" in (flat[0], flat[-1]) else ""
    return f"{ticks}{pad}{flat}{pad}{ticks}"


def fence(text: str, info: str = "") -> str:
    """`text` as a fenced code block."""
    shown = visible(text).strip("\n")
    ticks = "`" * _longer_than_any(r"`+", shown, 2)
    return f"{ticks}{info}\n{shown}\n{ticks}"


def visible(text: str) -> str:
    """`text` without the characters that cannot be seen; lines end in newlines."""
    return SURROGATE.sub("\ufffd", INVISIBLE.sub("", NEWLINES.sub("\n", text)))


def clip(text: str, limit: int, mark: str = "…") -> str:
    """`text`, or as much of its start as fits into `limit` characters together with `mark`, cut between words."""
    if len(text) <= limit:
        return text
    kept = text[: max(0, limit - len(mark))]
    space = max(kept.rfind(" "), kept.rfind("\n"))
    return (kept[:space].rstrip() if space > len(kept) // 2 else kept) + mark


def fitted(text: str, limit: int, treat: Callable[[str], str] = markdown) -> str:
    """`treat(text)`, the text clipped until the result has at most `limit` characters (a hundred or more)."""
    size = min(len(text), limit)
    while len(result := treat(clip(text, size))) > limit:
        size = min(size - 1, size * limit // len(result))
    return result


def _longer_than_any(pattern: str, text: str, least: int) -> int:
    return 1 + max([least, *(len(run) for run in re.findall(pattern, text))])


def _without_headings(text: str) -> str:
    """A heading of somebody else's would look like one of the bot's own sections."""
    lines: list[str | None] = list(text.split("\n"))
    for token in blocks(text):
        if token.type != "heading_open" or token.map is None:
            continue
        first, last = token.map
        if token.markup in ("=", "-"):
            lines[last - 1] = ""
        elif (found := HEADING.match(lines[first] or "")) is not None:
            lines[first] = found["before"] + (f"**{found['title']}**" if found["title"] else "")
    return "\n".join(each for each in lines if each is not None)


def _quiet(text: str, hosts: Collection[str]) -> str:
    text = ENTITY.sub("&amp;", AUTOLINK.sub(r"\1", text))
    text = TAG.sub(r"\1&lt;", text)
    text = FENCE.sub(rf"\1{ZWSP}", text)
    text = DEFINITION.sub(r"\1\\[", IMAGE.sub(r"!\\[", text))
    text = DESTINATION.sub(lambda found: "]" if _leads_to(found["to"], hosts) else "]\\", text)
    text = URL.sub(lambda found: _unlinked(found, hosts), text)
    text = FOREIGN.sub(rf"\1{ZWSP}", CLOSING.sub(rf"\1{ZWSP}", text))
    return MENTION.sub("@" + ZWSP, text)


def _unlinked(found: re.Match[str], hosts: Collection[str]) -> str:
    if found["www"]:
        return found["www"] + ZWSP
    dead = found["scheme"] + ZWSP + found["rest"]
    return found[0] if _leads_to(found[0], hosts) else dead


def _untracked(address: str) -> str:
    return address.replace("://", f":{ZWSP}//") if TRACKED.search(address) else address


def _leads_to(address: str, hosts: Collection[str]) -> bool:
    """Whether a link to `address` may stay one: to a known host, and to nothing there that would list the link."""
    if RELATIVE.match(address):
        return True
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    known = parts.scheme in ("http", "https") and parts.netloc.lower() in hosts
    return known and not TRACKED.search(parts.path)


def _with_fences_closed(text: str) -> str:
    tokens = blocks(text)
    if not tokens or tokens[-1].type != "fence" or tokens[-1].level or tokens[-1].map is None:
        return text
    last = text.split("\n")[tokens[-1].map[1] - 1].strip()
    mark = tokens[-1].markup
    alone = tokens[-1].map[1] - tokens[-1].map[0] == 1
    closed = last.startswith(mark) and not last.strip(mark[0]) and not alone
    return text if closed else f"{text}\n{mark}"


def _is_live(text: str, hosts: Collection[str]) -> bool:
    """Whether GitHub would act on anything in `text`, or `text` would swallow what follows it."""
    try:
        page = Page(f"{text}\n\nThe end.")
    except AssertionError:
        return True
    shown = page.text
    return (
        page.hidden != ""
        or page.inside != ("p",)
        or not shown.rstrip("\n\0").endswith("The end.")
        or not page.tags <= HARMLESS_TAGS
        or not all(_leads_to(link, hosts) for link in [*page.links, *(url[0] for url in ADDRESS.finditer(shown))])
        or any(pattern.search(shown) for pattern in (MENTION, CLOSING, FOREIGN))
    )
