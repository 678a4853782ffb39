"""What the texts of a file's definitions say, kept as a row of bytes, so that ranking need not read the file again."""

from __future__ import annotations

import struct
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from repo_tools.file_kinds import looks_generated
from repo_tools.literals import messages
from repo_tools.symbols import VALUES, Definition
from repo_tools.words import spelled

_PARTS = struct.Struct("<?6I")
_CONTAINERS = frozenset({"class", "interface", "struct", "enum", "trait", "namespace", "module", "type"})


class Bodies:
    """What `bodies_row` found in a file. A definition goes by its place in the file's outline."""

    def __init__(self, row: bytes | memoryview) -> None:
        self.generated, *sizes = _PARTS.unpack_from(row)
        parts, at = [], _PARTS.size
        for size in sizes:
            parts.append(row[at : at + size])
            at += size
        self.sizes = array("I", bytes(parts[0]))
        """How many words the own text of each definition has."""
        self._words, self._starts, self._holders, self._pieces, self._offsets = parts[1:]

    def count(self, meaning: Mapping[bytes, Sequence[int]]) -> dict[int, dict[int, float]]:
        """Definition -> term -> how often words that mean it stand in its own text; `meaning` has word -> terms."""
        counts: dict[int, dict[int, float]] = {}
        starts, holders = memoryview(self._starts).cast("I"), memoryview(self._holders).cast("I")
        for at, word in enumerate(bytes(self._words).split()):
            if word in meaning:
                for place in range(starts[at], starts[at + 1], 2):
                    times = counts.setdefault(holders[place], {})
                    for term in meaning[word]:
                        times[term] = times.get(term, 0.0) + holders[place + 1]
        return counts

    def messages(self) -> Iterator[tuple[int, list[str]]]:
        """Offset and telling pieces of each literal that has any; see `repo_tools.literals.messages`."""
        literals = bytes(self._pieces).decode("utf-8").split("\n") if len(self._offsets) else []
        return ((at, one.split("\0")) for at, one in zip(array("I", bytes(self._offsets)), literals, strict=True))


def bodies_row(data: bytes, outline: Sequence[Definition]) -> bytes:
    """A file's row for `Bodies`, given what it defines."""
    sizes = array("I")
    holders: defaultdict[bytes, array[int]] = defaultdict(lambda: array("I"))
    for place, own in enumerate(_own_texts(data, outline)):
        every = spelled(own)
        sizes.append(len(every))
        for word, count in Counter(every).items():
            holders[word].extend((place, count))
    starts, flat = array("I", [0]), array("I")
    for of_word in holders.values():
        flat.extend(of_word)
        starts.append(len(flat))
    found = list(messages(data))
    pieces = "\n".join("\0".join(piece.replace("\0", " ") for piece in telling) for _, telling in found)
    parts = (
        sizes.tobytes(),
        b" ".join(holders),
        starts.tobytes(),
        flat.tobytes(),
        pieces.encode("utf-8"),
        array("I", [at for at, _ in found]).tobytes(),
    )
    return b"".join((_PARTS.pack(looks_generated(data), *map(len, parts)), *parts))


def _own_texts(data: bytes, outline: Sequence[Definition]) -> Iterator[bytes]:
    """The text of each definition; of a class, without what can be read by itself in it."""
    for place, one in enumerate(outline):
        if one.kind in _CONTAINERS:
            yield _without_members(data, one, outline[place + 1 :])
        else:
            yield data[one.start : one.end]


def _without_members(data: bytes, one: Definition, after: Sequence[Definition]) -> bytes:
    pieces, at = [], one.start
    for member in after:
        if member.start >= one.end:
            break
        if member.start >= at and member.kind not in VALUES:
            pieces.append(data[at : member.start])
            at = member.end
    pieces.append(data[at : one.end])
    return b"\n".join(pieces)
