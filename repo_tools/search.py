"""Regular expressions over files, line by line.

The engine is RE2: whoever wrote the expression, its time grows with the text alone and its memory is bounded, which
no backtracking engine can say (of those, some are only ended late, and some fill the memory before they start).
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pathspec
import re2

from repo_tools.facts import is_text

LONGEST_LINE = 400
"""Characters of a line that are shown; generated files have lines of megabytes."""

_PIECES = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[*?{]|\w+|.", re.DOTALL | re.ASCII)


class BadPattern(ValueError):
    """A regular expression or a glob is malformed; the text says where and what to write."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file as found; the line counts from 1."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Found:
    """Lines found, in the order of path and line. Not `complete` if the limit or the deadline cut them short."""

    lines: tuple[Line, ...]
    complete: bool


def chosen(files: Iterable[str], glob: str) -> list[str]:
    """The paths that match a glob as git reads it. Raises `BadPattern`."""
    try:
        return list(pathspec.GitIgnoreSpec.from_lines([glob]).match_files(files))
    except ValueError as error:
        raise BadPattern(f"{glob!r} is not a glob: {error}; write one such as *.py or docs/**") from error


def word_part(pattern: str) -> str | None:
    """A stretch of letters, digits and `_` that stands in all that `pattern` matches; None if none is certain."""
    if "|" in pattern or "(?" in pattern:
        return None
    best = run = ""
    depth = 0
    for piece in _PIECES.findall(pattern):
        depth += (piece == "(") - (piece == ")")
        if depth == 0 and piece[0] in "*?{":
            run = run[:-1]  # The last character may be missing.
        best = max(best, run, key=len)
        run = piece if depth == 0 and piece.isascii() and piece.isidentifier() else ""
    best = max(best, run, key=len)
    return best if len(best) > 2 else None


def search(files: Iterable[tuple[str, bytes]], pattern: str, *, limit: int, seconds: float) -> Found:
    """The lines of `files` (path and bytes) that match `pattern`; see `View.search`. Raises `BadPattern`."""
    deadline = time.monotonic() + seconds
    wanted = compiled(pattern)
    lines: list[Line] = []
    for path, data in files:
        if time.monotonic() > deadline:
            return Found(tuple(lines), complete=False)
        for line in _matching(wanted, path, data):
            if len(lines) == limit:
                return Found(tuple(lines), complete=False)
            lines.append(line)
    return Found(tuple(lines), complete=True)


def compiled(pattern: str) -> re2._Regexp:
    """The expression, for bytes. Raises `BadPattern`."""
    options = re2.Options()
    options.log_errors = False
    # What says nothing of line ends matches within a line: neither `\s` nor `[^x]` goes on to the next.
    options.never_nl = "\n" not in pattern and r"\n" not in pattern
    try:
        return re2.compile(b"(?m)" + pattern.encode("utf-8", "replace"), options)
    except re2.error as error:
        (reason,) = error.args
        raise BadPattern(
            f"{pattern!r} is not a regular expression of RE2: {reason.decode('utf-8', 'replace')}. It knows no "
            "lookaround and no backreferences; escape what is meant literally, or search for less and read on"
        ) from error


def _matching(wanted: re2._Regexp, path: str, data: bytes) -> Iterator[Line]:
    if not is_text(data):
        return
    counted, number, last = 0, 1, 0
    for match in wanted.finditer(data):
        start = match.start()
        number += data.count(b"\n", counted, start)
        counted = start
        if number > last and (start < len(data) or data[-1:] != b"\n"):
            last = number
            line_start = data.rfind(b"\n", 0, start) + 1
            line_end = data.find(b"\n", start)
            text = data[line_start : line_end if line_end >= 0 else len(data)]
            yield Line(path, number, text.decode("utf-8", "replace").rstrip("\r")[:LONGEST_LINE])
