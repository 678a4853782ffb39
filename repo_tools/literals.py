"""Messages of a program found again in what a user quotes: string literals, with holes where values stood."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

SHORTEST = 8
"""Characters that a piece of a literal between two holes must have to say anything."""

# A literal counts to its first escape: one class repeated is matched many times faster than an alternative.
_LITERAL = re.compile(rb'"([^"\n\\]{8,400})["\\]|\'([^\'\n\\]{8,400})[\'\\]|`([^`\n]{8,400})`')
_HOLES = re.compile(r"%(?:\(\w+\))?[-#0 +]*[\d.*]*[a-zA-Z]|\$?\{[^{}]*\}|#\{[^{}]*\}|\\[nrt]|\\u?[0-9a-fA-F]*")


def messages(data: bytes) -> Iterator[tuple[int, list[str]]]:
    """(offset, pieces) for each literal in source code that says something: the text between its holes.

    Single words match everything and are passed over.
    """
    for match in _LITERAL.finditer(data):
        literal = match[match.lastindex or 0]
        if b" " not in literal:
            continue
        pieces = [piece.strip() for piece in _HOLES.split(" ".join(literal.decode("utf-8", "replace").split()))]
        telling = [piece for piece in pieces if len(piece) >= SHORTEST and " " in piece]
        if telling:
            yield match.start(), telling


def quoted(pieces: Sequence[str], text: str) -> str:
    """The longest of a message's pieces that stands in `text`, where its holes may be filled; empty if few do."""
    matching = [piece for piece in pieces if piece in text]
    return max(matching, key=len) if len(matching) * 2 > len(pieces) else ""
