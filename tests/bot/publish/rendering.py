"""Markdown as GitHub's own parser renders it, and what GitHub would then act on."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urlsplit

import cmarkgfm
from cmarkgfm.cmark import Options

TAGS = "p h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong del a img table thead tbody tr th td hr br input"
MARKDOWN_TAGS = frozenset(TAGS.split())
MENTION = re.compile(r"(?<![A-Za-z0-9`])@[A-Za-z0-9]")
CLOSING = re.compile(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b:?\s+"
    r"(?:(?:[\w.-]+/[\w.-]+)?#\d+|GH-\d+|https?://\S+/(?:issues|pull)/\d+)",
    re.IGNORECASE,
)
ELSEWHERE = re.compile(r"[\w.-]+/[\w.-]+#\d+|https?://\S+/(?:issues|pull)/\d+")


@dataclass
class Page(HTMLParser):
    """What a rendered page shows: its text outside code, its links, images and tags."""

    text: str = ""
    links: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    last_path: tuple[str, ...] = ()
    """The open elements around the last piece of text."""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag not in ("br", "hr", "img", "input"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("p", "li", "pre", "blockquote", "td", "th"):
            self.text += "\0"
        if tag in self._open:
            del self._open[len(self._open) - 1 - self._open[::-1].index(tag) :]

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.last_path = tuple(self._open)
        self.text += "\0" if {"code", "pre"} & set(self._open) else data

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)


def html(markdown: str) -> str:
    """The page as cmark-gfm makes it, raw HTML left as it is."""
    return cmarkgfm.github_flavored_markdown_to_html(markdown, options=Options.CMARK_OPT_UNSAFE)


def read(markdown: str) -> Page:
    """The page, taken apart."""
    page = Page()
    page.feed(html(markdown))
    page.close()
    return page


def dangers(markdown: str, hosts: frozenset[str]) -> list[str]:
    """Everything in `markdown` that notifies, closes, lists, loads, leads elsewhere or hides something."""
    page = read(markdown)
    found = [f"<{tag}>" for tag in page.tags if tag not in MARKDOWN_TAGS or tag == "img"]
    found += page.comments
    for pattern in (MENTION, CLOSING, ELSEWHERE):
        found += pattern.findall(page.text)
    for link in page.links:
        parts = urlsplit(link)
        if (parts.scheme or parts.netloc) and parts.netloc not in hosts:
            found.append(link)
    return found
