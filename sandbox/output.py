"""The output of a command, held in bounded memory whatever the command prints."""

from __future__ import annotations

import re

PAINT = re.compile(r"\x1b\[[0-9;:?]*[ -/]*[@-~]")
"""Colours and moves of a terminal. To forbid them by a variable would be seen by the tests of what paints."""


class Output:
    """Keeps the first and the last bytes of a stream: the beginning tells what ran, the end how it ended."""

    def __init__(self, kept: int) -> None:
        self._half = kept // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        self.total += len(data)
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * self._half:
            del self._tail[: -self._half]

    def text(self) -> str:
        """What was kept, without colours, and with a line that says how much is missing between its halves."""
        tail = self._tail[-self._half :] if self._half else b""
        cut = self.total - len(self._head) - len(tail)
        note = f"\n[... {cut} bytes cut ...]\n".encode() if cut else b""
        return plain((self._head + note + tail).decode("utf-8", "replace"))


def plain(text: str) -> str:
    """Text as it reads without a terminal."""
    return PAINT.sub("", text)
