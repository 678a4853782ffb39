"""A map of a repository for a model: signatures without bodies, of the files that matter most for an issue."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from repo_tools.ranking import Ranking
from repo_tools.symbols import VALUES, Definition
from repo_tools.view import View

_BYTES_PER_TOKEN = 4
"""As `repo_tools.regions.tokens` estimates."""


def repo_map(view: View, ranking: Ranking, budget_tokens: int) -> str:
    """Signatures with their line numbers, file by file, the best file first; at most `budget_tokens`, empty if 0.

    The definitions that rank best come into it first, wherever they are, each with the classes around it; what is
    left of the budget goes to the rest of the best file, then to the next one.
    """
    drawn = _Map(view, budget_tokens * _BYTES_PER_TOKEN)
    for hit in ranking.regions:
        drawn.add(hit.path, hit.symbol, hit.first_line)
    for ranked in ranking.files:
        for one in drawn.outline(ranked.path):
            if one.kind not in VALUES and not drawn.add(ranked.path, one.name, one.first_line):
                break
    return drawn.text([ranked.path for ranked in ranking.files])


class _Map:
    """What was chosen so far, and the bytes that are left."""

    def __init__(self, view: View, room: int) -> None:
        self._view = view
        self._room = room
        self._outlines: dict[str, Sequence[Definition]] = {}
        self._chosen: dict[str, set[int]] = {}

    def outline(self, path: str) -> Sequence[Definition]:
        if path not in self._outlines:
            self._outlines[path] = self._view.outline(path)
        return self._outlines[path]

    def add(self, path: str, symbol: str, line: int) -> bool:
        """Choose a definition and what it stands in, if there is room; whether there was."""
        outline = self.outline(path)
        place = next(at for at, one in enumerate(outline) if one.name == symbol and one.first_line == line)
        wanted = [at for at in _around(outline, place) if at not in self._chosen.get(path, ())]
        size = sum(len(_line(outline[at]).encode("utf-8", "surrogateescape")) for at in wanted)
        if path not in self._chosen:
            size += len(_head(path).encode("utf-8", "surrogateescape"))
        if size > self._room:
            return False
        self._room -= size
        self._chosen.setdefault(path, set()).update(wanted)
        return True

    def text(self, order: Sequence[str]) -> str:
        parts = []
        for path in order:
            if path in self._chosen:
                parts.append(_head(path))
                parts += [_line(self._outlines[path][at]) for at in sorted(self._chosen[path])]
        return "".join(parts)


def _around(outline: Sequence[Definition], place: int) -> Iterator[int]:
    one = outline[place]
    for at in range(place + 1):
        if outline[at].start <= one.start and one.end <= outline[at].end:
            yield at


def _head(path: str) -> str:
    return f"{path}\n"


def _line(one: Definition) -> str:
    return f"{one.line:>5} {'  ' * one.name.count('.')}{one.signature.rstrip(' {:')}\n"
