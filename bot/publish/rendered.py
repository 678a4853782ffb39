"""Markdown as GitHub's own parser renders it, taken apart: what it shows, where it leads, how it ends."""

from __future__ import annotations

from html.parser import HTMLParser

import cmarkgfm  # type: ignore[import-untyped]
from cmarkgfm.cmark import Options  # type: ignore[import-untyped]

NO_END = frozenset({"br", "hr", "img", "input"})
BREAKS = frozenset({"p", "li", "pre", "blockquote", "td", "th", "code", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6"})


class Page(HTMLParser):
    """A rendered page. Raises `AssertionError`, as its base does, on HTML that Markdown itself never makes."""

    def __init__(self, markdown: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        """What is shown and is no code, zero bytes at the edges of blocks and in the place of code."""
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.inside: tuple[str, ...] = ()
        """The elements around the last words of the page."""
        self.hidden = ""
        """What comments, declarations and the like say."""
        self._open: list[str] = []
        self.feed(cmarkgfm.github_flavored_markdown_to_html(markdown, options=Options.CMARK_OPT_UNSAFE))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Part of `HTMLParser`."""
        self.tags.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag not in NO_END:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Part of `HTMLParser`."""
        if tag in BREAKS:
            self.text += "\0"
        if tag in self._open:
            del self._open[len(self._open) - 1 - self._open[::-1].index(tag) :]

    def handle_data(self, data: str) -> None:
        """Part of `HTMLParser`."""
        if data.strip():
            self.inside = tuple(self._open)
        self.text += "\0" if "code" in self._open else data

    def handle_comment(self, data: str) -> None:
        """Part of `HTMLParser`."""
        self.hidden += f"<!--{data}-->"

    def handle_decl(self, decl: str) -> None:
        """Part of `HTMLParser`."""
        self.hidden += f"<!{decl}>"

    def handle_pi(self, data: str) -> None:
        """Part of `HTMLParser`."""
        self.hidden += f"<?{data}>"
