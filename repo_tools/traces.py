"""Stack traces in any text: which line of which file, in which function."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Frame:
    """A place in a file as some text names it."""

    path: str
    """As written: absolute, relative, or a bare file name."""
    line: int
    """0 if the text does not say."""
    function: str
    """With its owners if they were written; empty if the text does not say."""


LONGEST_LINE = 1000

# Each pattern starts where a word does, or at its own first letters, so that no text takes time by its square.
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        # Python: File "path", line 3, in function
        r'File "(?P<path>[^"\n]+)", line (?P<line>\d+)(?:, in (?P<function>[\w.<>]+))?',
        # IPython: File path:3, in function(…); pytest: path:3: in function
        r"(?:^|\s)(?:File )?(?P<path>[^\s\"'()\[\]]+\.\w{1,4}):(?P<line>\d+)(?:,|:)? in (?P<function>[\w.<>]+)",
        # JavaScript: at function (path:3:5), or at path:3:5
        r"\bat (?:(?:new |async )*(?P<function>[\w.$<>]+) (?:\[as [^\]]{1,80}\] )?)?\(?(?:file://)?"
        r"(?P<path>[^\s():]+\.\w{1,4}):(?P<line>\d+):\d+\)?",
        # Java: at package.Class.function(File.java:3)
        r"\bat (?P<function>[\w.$<>]+)\((?P<path>[\w$]+\.\w{1,6}):(?P<line>\d+)\)",
        # C#: at Namespace.Class.Function() in path:line 3
        r"\bat (?P<function>[\w.]+)[^\n]{0,300}? in (?P<path>\S+\.\w{1,4}):line (?P<line>\d+)",
        # Rust: at path:3:5; Go: path:3 +0x1d; Ruby: path:3:in 'function'
        r"\bat (?P<path>[^\s:]+\.rs):(?P<line>\d+)(?::\d+)?(?P<function>)",
        r"^\s*(?P<path>[^\s:]+\.go):(?P<line>\d+)(?: \+0x[0-9a-f]+)?(?P<function>)",
        r"(?<!\S)(?P<path>[^\s:]+\.rb):(?P<line>\d+):in [`'](?:[^'\n]*[#.])?(?P<function>[\w?!]+)'",
        # PHP: #0 path(3): function()
        r"#\d+ (?P<path>[^\s()]+\.php)\((?P<line>\d+)\): (?P<function>[\w\\:>-]+)",
        # pytest and compilers: path:3: Error
        r"^\s*(?:E\s+)?(?P<path>[\w./\\~+-]+\.\w{1,4}):(?P<line>\d+):(?P<function>)",
    )
)
_HEAD = re.compile(r"^\s*\[?(?P<path>[^\s\"'()\[\]]+\.pyc?)(?:\]\([^)]*\))? in (?P<function>[\w.<>]+)\s*(?:\(.*)?$")
_ARROW = re.compile(r"^\s*-+> ?(\d+)\b")
_CODE = re.compile(r"^\s*(?:-+> )?\d+ |^\s*-+> ")

_PLACES = tuple(
    re.compile(pattern)
    for pattern in (
        r"/blob/[^/\s]+/(?P<path>[^\s#)>\]\"']+)(?:#L(?P<line>\d+))?",
        r"\b[Ll]ines? (?P<line>\d+)(?:\s*-\s*\d+)? (?:of|in|from) `{0,2}(?P<path>[\w./\\-]+\.\w{1,4})",
        r"(?<![\w./\\-])(?P<path>[\w./\\-]+\.\w{1,4})`{0,2},? (?:at |on )?(?:the )?[Ll]ines? (?P<line>\d+)",
    )
)


def frames(text: str) -> Iterator[Frame]:
    """The frames of all stack traces in a text, in its order; lines longer than any frame are passed over."""
    open_head: Frame | None = None  # one of old IPython, whose line number stands at an arrow below it
    for line in text.split("\n"):
        if len(line) > LONGEST_LINE:
            continue
        if open_head is not None and (arrow := _ARROW.match(line)):
            yield Frame(open_head.path, int(arrow[1]), open_head.function)
            open_head = None
            continue
        found = next((match for pattern in _PATTERNS if (match := pattern.search(line))), None)
        if found is not None:
            yield Frame(found["path"], int(found["line"]), found["function"] or "")
        elif head := _HEAD.match(line):
            if open_head is not None:
                yield open_head
            open_head = Frame(head["path"], 0, head["function"])
    if open_head is not None:
        yield open_head


def places(text: str) -> Iterator[Frame]:
    """Lines that a text points at in prose or by a link to a repository's page."""
    for pattern in _PLACES:
        for match in pattern.finditer(text):
            yield Frame(match["path"], int(match["line"] or 0), "")


def is_trace_line(line: str) -> bool:
    """Whether a line belongs to a stack trace: a frame, or code that one shows."""
    return len(line) <= LONGEST_LINE and bool(
        _CODE.match(line) or _HEAD.match(line) or any(pattern.search(line) for pattern in _PATTERNS)
    )
