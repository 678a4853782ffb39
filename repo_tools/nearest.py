"""Why a text was not found: the nearest real text and what is different about it, in words for a model."""

from __future__ import annotations

import difflib
import html
import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Callable

from repo_tools.text_file import numbered

_QUOTES = {
    **dict.fromkeys(map(ord, "'`\u00b4\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb"), '"'),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212"), "-"),
    0xA0: " ",
}
_LINE_NUMBER = re.compile(r"^\s*\d+(?:\t|: ?| ?\| ?)", re.MULTILINE)
_ESCAPES = {r"\n": "\n", r"\t": "\t", r"\"": '"', r"\'": "'", r"\\": "\\"}
_ESCAPE = re.compile("|".join(map(re.escape, _ESCAPES)))

_DISGUISES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("without the line numbers, which are not part of the file", lambda old: _LINE_NUMBER.sub("", old)),
    ("with real line ends and quotes instead of backslash escapes", lambda old: _ESCAPE.sub(_unescaped, old)),
    ("with the characters themselves instead of HTML entities", html.unescape),
    ("in composed Unicode form (NFC)", lambda old: unicodedata.normalize("NFC", old)),
    ("in decomposed Unicode form (NFD)", lambda old: unicodedata.normalize("NFD", old)),
    ("without the empty lines or spaces around it", str.strip),
)
_FOLDS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("only quotes, dashes or no-break spaces differ", lambda text: text.translate(_QUOTES)),
    ("only upper and lower case differ", str.lower),
)
_WORD = re.compile(r"\w+|[^\w\s]")
_COMMON, _CANDIDATES, _COMPARED, _WORDS, _LINES, _SHOWN, _PAIRS = 50, 5, 8000, 500, 500, 30, 5
"""Bounds, so that no file and no old text makes a refusal slow or long."""
_ALIKE = 0.4
_TELLING = 10
"""A new text shorter than this, in characters, is in many files by chance."""


def explain_missing(text: str, old: str, new: str) -> str:
    """Why `old` is not in `text` (line ends `\\n` in all three), and where the nearest is."""
    for said, undo in _DISGUISES:
        plain = undo(old)
        if plain.strip() and plain != old and plain in text:
            return f"It is there {said}, at {_place(text, plain)}. Give it like that."
    lines, wanted = text.split("\n"), old.strip("\n").split("\n")
    for said, fold in _FOLDS:
        at = fold(text).find(fold(old))
        if at >= 0 and len(fold(text)) == len(text):
            first = text.count("\n", 0, at)
            return (
                f"The nearest: {said}.\n{_compared(lines, first, first + old.count(chr(10)) + 1, old.split(chr(10)))}"
            )
    window = _but_for_spaces(lines, wanted)
    if window is not None:
        return f"The nearest: only spaces, tabs or empty lines differ.\n{_compared(lines, *window, wanted)}"
    if len(new.strip()) >= _TELLING and text.count(new) == 1:
        return f"The new text is already there, at {_place(text, new)}: this edit may have been made before."
    window = _most_alike(lines, wanted)
    if window is None:
        return "Nothing in the file resembles it: is it the right file? Read or search it again."
    return f"The nearest text there is:\n{_compared(lines, *window, wanted)}"


def explain_many(text: str, old: str, places: list[int]) -> str:
    """Where the matches of a text lie that is not unique."""
    lines = text.split("\n")
    said = []
    for place in places[:_PAIRS]:
        number = text.count("\n", 0, place)
        start = max(number - 1, 0)
        said.append(numbered(lines[start : number + old.count("\n") + 2][:_PAIRS], start + 1, 160))
    numbers = ", ".join(str(text.count("\n", 0, place) + 1) for place in places[:20])
    more = f" and {len(places) - 20} more" if len(places) > 20 else ""
    return (
        f"The old text is there {len(places)} times, beginning at lines {numbers}{more}; it must be there once. "
        "Add lines before or after it, until only the place that you mean fits.\n" + "\n   ...\n".join(said)
    )


def _unescaped(found: re.Match[str]) -> str:
    return _ESCAPES[found.group()]


def _place(text: str, part: str) -> str:
    first = text.count("\n", 0, text.find(part)) + 1
    last = first + part.strip("\n").count("\n")
    return f"line {first}" if last <= first else f"lines {first}-{last}"


def _but_for_spaces(lines: list[str], wanted: list[str]) -> tuple[int, int] | None:
    """The first and the next-to-last line of a place that equals `wanted` but for white space."""
    bare = [(number, "".join(line.split())) for number, line in enumerate(lines)]
    bare = [(number, line) for number, line in bare if line]
    sought = [line for line in ("".join(line.split()) for line in wanted) if line]
    text = "\n".join(["", *(line for _, line in bare), ""])
    at = text.find("\n".join(["", *sought, ""]))
    if not sought or at < 0:
        return None
    first = text.count("\n", 0, at)
    return bare[first][0], bare[first + len(sought) - 1][0] + 1


def _most_alike(lines: list[str], wanted: list[str]) -> tuple[int, int] | None:
    where: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        if line.strip():
            where.setdefault(line.strip(), []).append(number)
    votes: Counter[int] = Counter()
    for offset, line in enumerate(wanted):
        places = where.get(line.strip(), [])
        if len(places) <= _COMMON:
            votes.update(max(place - offset, 0) for place in places)
    if not votes:
        offset, longest = max(enumerate(wanted), key=lambda pair: len(pair[1]))
        sought = longest.strip()[:_LINES]
        near = [line for line in where if 0.6 < (len(line) + 1) / (len(sought) + 1) < 1.7]
        for line in difflib.get_close_matches(sought, near[:20_000], n=3, cutoff=0.5):
            votes.update(max(place - offset, 0) for place in where[line][:_COMMON])
    sought = "\n".join(wanted)
    best = max(
        ((_ratio("\n".join(lines[at : at + len(wanted)]), sought), -at) for at, _ in votes.most_common(_CANDIDATES)),
        default=(0.0, 0),
    )
    return (-best[1], -best[1] + len(wanted)) if best[0] >= _ALIKE else None


def _ratio(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, _words(one), _words(other), autojunk=False).ratio()


def _words(text: str) -> list[str]:
    return [found.group() for found in itertools.islice(_WORD.finditer(text[:_COMPARED]), _WORDS)]


def _compared(lines: list[str], first: int, last: int, wanted: list[str]) -> str:
    """The lines of the file, then line by line what differs from what was wanted."""
    start = max(first - 1, 0)
    real, wanted = lines[first:last][:_LINES], wanted[:_LINES]
    said = [numbered(lines[start : last + 1][:_SHOWN], start + 1, 240)]
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, real, wanted, autojunk=False).get_opcodes():
        if tag == "equal" or len(said) > _PAIRS:
            continue
        for number in range(max(i2 - i1, j2 - j1)):
            there = real[i1 + number] if i1 + number < i2 else None
            given = wanted[j1 + number] if j1 + number < j2 else None
            said.append(_pair(first + i1 + number + 1, there, given))
    return "\n".join(said[: _PAIRS + 1])


def _pair(number: int, there: str | None, given: str | None) -> str:
    if there is None:
        return f"Not in the file, before line {number}: {_short(given or '')}"
    if given is None:
        return f"Line {number} is in the file and not in your old text: {_short(there)}"
    same = next(
        (at for at, (a, b) in enumerate(zip(there, given, strict=False)) if a != b), min(len(there), len(given))
    )
    start = max(same - 60, 0) if max(len(there), len(given)) > 160 else 0
    return f"Line {number} is    {_short(there[start:])}\n  you wrote {_short(given[start:])}{_remark(there, given)}"


def _remark(there: str, given: str) -> str:
    if there.rstrip() == given.rstrip():
        return "  (spaces at the end of the line)"
    if there.lstrip() == given.lstrip():
        tabs = "tabs" if "\t" in there[: len(there) - len(there.lstrip())] else "spaces"
        return f"  (the indentation; the file's is of {tabs})"
    return ""


def _short(line: str) -> str:
    return repr(line[:160]) + (" …" if len(line) > 160 else "")
