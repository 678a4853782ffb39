"""Regular expressions over files, line by line, with a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pathspec
import regex

LONGEST_LINE = 400
"""Characters of a line that are shown; minified files have lines of megabytes."""


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


def search(
    files: Iterable[str], read: Callable[[str], bytes], pattern: str, glob: str, *, limit: int, seconds: float
) -> Found:
    """The lines of `files` that match `pattern`; see `View.search`."""
    deadline = time.monotonic() + seconds
    wanted = _compiled(pattern)
    lines: list[Line] = []
    try:
        for path in _chosen(files, glob):
            for number, text in _matching(wanted, read(path), deadline):
                if len(lines) == limit:
                    return Found(tuple(lines), complete=False)
                lines.append(Line(path, number, text[:LONGEST_LINE]))
    except TimeoutError:
        return Found(tuple(lines), complete=False)
    return Found(tuple(lines), complete=True)


def _compiled(pattern: str) -> regex.Pattern[str]:
    try:
        return regex.compile(pattern, regex.MULTILINE)
    except regex.error as error:
        raise BadPattern(f"{pattern!r} is not a regular expression: {error}; escape what is meant literally") from error


def _chosen(files: Iterable[str], glob: str) -> Iterator[str]:
    try:
        return pathspec.GitIgnoreSpec.from_lines([glob]).match_files(files)
    except ValueError as error:
        raise BadPattern(f"{glob!r} is not a glob: {error}; write one such as *.py or docs/**") from error


def _matching(wanted: regex.Pattern[str], data: bytes, deadline: float) -> Iterator[tuple[int, str]]:
    if b"\0" in data[:8192]:
        return
    text = data.decode("utf-8", "replace")
    if wanted.search(text, timeout=_left(deadline)) is None:
        return
    for number, line in enumerate(text.splitlines(), 1):
        if wanted.search(line, timeout=_left(deadline)) is not None:
            yield number, line


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
