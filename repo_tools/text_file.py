"""A file's bytes as text and back, so that what an edit does not name stays as it was, byte for byte."""

from __future__ import annotations

import bisect
import codecs
import difflib
import functools
import re
from dataclasses import dataclass

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(rb"\A(?:[^\n]*\n)?[ \t\f]*(?:#|//|/\*|--|;|%)[^\n]*?coding[:=][ \t]*([-\w.]+)")
_STATELESS = re.compile(
    r"utf-8|ascii|latin-1|iso8859-\d+|cp\d+|koi8-[rut]|mac-\w+|euc_\w+|shift_jis\w*|gbk|gb2312|big5"
)
"""Encodings in which a character is the same bytes wherever it stands."""
_UNDECLARED = "latin-1"
_PROBE = 8000


@dataclass(frozen=True)
class TextFile:
    """The text of a file, line ends as they are in it, and how it is written down."""

    text: str
    encoding: str
    mark: bytes = b""
    """The byte-order mark in front, if there is one."""
    guessed: bool = False
    """Nothing says what the encoding is and it is not UTF-8: read as Latin-1, which gives every byte back."""

    def encode(self) -> bytes:
        """The bytes of the file. Raises `UnicodeEncodeError` for a character that the encoding lacks."""
        return self.mark + self.text.encode(self.encoding)

    @functools.cached_property
    def plain(self) -> str:
        """The text with `\\n` for every line end, as a model reads and writes it."""
        return self.text.replace("\r\n", "\n")

    @functools.cached_property
    def _carriage_returns(self) -> list[int]:
        """Where, in `plain`, the line ends stand that are two characters in `text`."""
        return [found.start() - number for number, found in enumerate(re.finditer("\r\n", self.text))]

    def replaced(self, start: int, end: int, new: str) -> TextFile:
        """The file with `plain[start:end]` replaced; lines that stay keep their ends, new ones take a neighbour's."""
        before = bisect.bisect_left(self._carriage_returns, start)
        within = bisect.bisect_left(self._carriage_returns, end)
        first, last = start + before, end + within
        middle = _with_line_ends(self.text[first:last], new, self._line_end_near(last))
        return TextFile(self.text[:first] + middle + self.text[last:], self.encoding, self.mark, self.guessed)

    def _line_end_near(self, place: int) -> str:
        at = self.text.find("\n", place)
        if at < 0:
            at = self.text.rfind("\n", 0, place)
        return "\r\n" if at > 0 and self.text[at - 1] == "\r" else "\n"

    def traits(self) -> tuple[str, ...]:
        """What is unusual about the file, for a reader who sees only its lines."""
        pairs = len(self._carriage_returns)
        single = self.plain.count("\n") - pairs
        said = []
        if pairs:
            said.append(
                "line ends CRLF, kept by edits" if not single else f"mixed line ends: {pairs} CRLF, {single} LF"
            )
        if self.guessed:
            said.append("encoding unknown, shown as Latin-1")
        elif self.encoding != "utf-8":
            said.append(f"encoding {self.encoding}")
        if self.mark:
            said.append("starts with a byte-order mark")
        if self.text and not self.text.endswith("\n"):
            said.append("no line end after the last line")
        return tuple(said)


def decode(data: bytes) -> TextFile | None:
    """The text of `data`, or `None` if it is binary.

    A byte-order mark decides, then UTF-8, then what the file declares in its first two lines. What is left is
    read as Latin-1 and marked as guessed: a statistical guess would be right more often, but where it is
    wrong it writes wrong bytes, and Latin-1 gives back every byte that it was given.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            found = _exact(data[len(mark) :], encoding, mark)
            if found is not None:
                return found
    if b"\0" in data[:_PROBE]:
        return None
    declared = _DECLARED.match(data[:_PROBE])
    names = ["utf-8", declared.group(1).decode("ascii", "replace")] if declared else ["utf-8"]
    for name in names:
        try:
            encoding = codecs.lookup(name).name
        except LookupError:
            continue
        found = _exact(data, encoding) if _STATELESS.fullmatch(encoding) else None
        if found is not None:
            return found
    return TextFile(data.decode(_UNDECLARED), _UNDECLARED, guessed=True)


def _exact(data: bytes, encoding: str, mark: bytes = b"") -> TextFile | None:
    """Only a decoding that can be undone is one."""
    try:
        file = TextFile(data.decode(encoding), encoding, mark)
        return file if file.encode() == mark + data else None
    except (UnicodeError, LookupError):
        return None


def _with_line_ends(old: str, new: str, otherwise: str) -> str:
    """`new` (line ends `\\n`) in place of `old` (line ends as in the file)."""
    pairs = old.count("\r\n")
    single = old.count("\n") - pairs
    if not (pairs and single):
        end = "\r\n" if pairs else "\n" if single else otherwise
        return new.replace("\n", end)
    was, now = old.split("\n"), new.split("\n")
    plain = [line.removesuffix("\r") for line in was]
    lines: list[str] = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, plain, now, autojunk=False).get_opcodes():
        if tag == "equal":
            lines += was[i1:i2]
            continue
        for number, line in enumerate(now[j1:j2]):
            neighbour = min(i1 + number, i2 - 1) if i2 > i1 else max(i1 - 1, 0)
            lines.append(line + ("\r" if was[neighbour].endswith("\r") else ""))
    # The last piece is not followed by a line end, so a carriage return there would stand alone.
    lines[-1] = now[-1]
    return "\n".join(lines)


def numbered(lines: list[str], first: int, width: int = 400) -> str:
    """Lines with their numbers in front, counted from `first`; what is longer than `width` is cut and says so."""
    rows = []
    for number, line in enumerate(lines, first):
        cut = f"{line[:width]} … ({len(line) - width} more characters)" if len(line) > width else line
        rows.append(f"{number}\t{cut}")
    return "\n".join(rows)
