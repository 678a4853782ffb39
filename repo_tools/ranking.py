"""Where in a repository an issue is about, found without a model."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from repo_tools.definition_evidence import DefinitionEvidence, definition_evidence, telling_words_of
from repo_tools.evidence import Evidence, Model, Scale, Signal
from repo_tools.file_evidence import FileEvidence, file_evidence, telling_words
from repo_tools.file_kinds import FileKind, kinds, says_generated
from repo_tools.issue_query import query
from repo_tools.mentions import mentions
from repo_tools.view import View

OPENED = 80
"""Files that are read to look at their definitions."""
LISTED = 50
"""Hits, and files of each kind, that are given."""

FIRST: Model = {
    "text": Signal(2.0, Scale.OF_BEST),
    "title": Signal(1.5, Scale.OF_BEST),
    "path": Signal(1.0, Scale.OF_BEST),
    "mentioned": Signal(1.0, Scale.LOGARITHM),
    "dotted": Signal(0.4, Scale.LOGARITHM),
    "named": Signal(3.0, Scale.PLAIN),
    "traced": Signal(3.0, Scale.PLAIN),
    "pointed": Signal(3.0, Scale.PLAIN),
}
"""Which files to open."""

FILES: Model = {
    "text": Signal(1.8, Scale.OF_BEST),
    "title": Signal(1.3, Scale.OF_BEST),
    "path": Signal(1.1, Scale.OF_BEST),
    "best definition": Signal(0.8, Scale.OF_BEST),
    "best definitions": Signal(0.8, Scale.OF_BEST),
    "best name": Signal(1.4, Scale.OF_BEST),
    "mentioned": Signal(1.0, Scale.LOGARITHM),
    "dotted": Signal(0.4, Scale.LOGARITHM),
    "named": Signal(1.4, Scale.PLAIN),
    "traced": Signal(0.6, Scale.PLAIN),
    "pointed": Signal(3.0, Scale.PLAIN),
    "message": Signal(1.3, Scale.LOGARITHM),
}

DEFINITIONS: Model = {
    "text": Signal(2.4, Scale.OF_BEST),
    "title": Signal(0.8, Scale.OF_BEST),
    "name": Signal(0.9, Scale.OF_BEST),
    "owner": Signal(0.5, Scale.OF_BEST),
    "mentioned": Signal(0.3, Scale.LOGARITHM),
    "dotted": Signal(0.5, Scale.LOGARITHM),
    "traced": Signal(1.5, Scale.PLAIN),
    "pointed": Signal(4.0, Scale.PLAIN),
    "message": Signal(1.6, Scale.LOGARITHM),
    "quoted": Signal(1.2, Scale.LOGARITHM),
    "size": Signal(0.45, Scale.PLAIN),
    "nested": Signal(0.6, Scale.PLAIN),
    "file": Signal(0.4, Scale.PLAIN),
}

_TOLD = ("pointed", "traced", "named", "dotted", "message", "quoted", "mentioned")
"""What a person is told first."""


class RankedFile(NamedTuple):
    """A file and one line for a person that says why it is here."""

    path: str
    score: float
    why: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A definition that the issue may be about; lines count from 1, both included."""

    path: str
    first_line: int
    last_line: int
    symbol: str
    score: float
    why: str


@dataclass(frozen=True, slots=True)
class Ranking:
    """Best first everywhere; scores compare within one list."""

    files: tuple[RankedFile, ...]
    """The project's own code."""
    regions: tuple[Hit, ...]
    """Definitions of those files."""
    apart: Mapping[FileKind, tuple[RankedFile, ...]]
    """All else: tests, docs, …; their words alone are compared."""


def rank(view: View, issue_text: str) -> Ranking:
    """The files and definitions of a tree that an issue, its title in the first line, is most likely about."""
    said = mentions(issue_text)
    of_kind = _of_kind(view.files())
    sources = of_kind.get(FileKind.SOURCE) or of_kind.get(FileKind.TOOLING, frozenset())
    found = file_evidence(view, said, query(said.segments), sources)
    first = found.evidence.scores(FIRST, sources)
    opened = heapq.nlargest(OPENED, sources, key=lambda number: (first[number], -number))
    texts = {number: view.read(view.files()[number]) for number in opened}
    generated = {number for number, data in texts.items() if says_generated(data)}
    texts = {number: data for number, data in texts.items() if number not in generated}
    definitions = definition_evidence(view, said, found, texts)
    scores = found.evidence.scores(FILES, texts)
    of_kind = {**of_kind, FileKind.GENERATED: of_kind.get(FileKind.GENERATED, frozenset()) | generated}
    return Ranking(
        files=_files(view, found, scores),
        regions=_hits(view, found, definitions, scores),
        apart={kind: _apart(view, found, of_kind[kind]) for kind in of_kind if kind is not FileKind.SOURCE},
    )


def _of_kind(files: Sequence[str]) -> dict[FileKind, frozenset[int]]:
    of_kind: dict[FileKind, set[int]] = {}
    for number, kind in enumerate(kinds(files)):
        of_kind.setdefault(kind, set()).add(number)
    return {kind: frozenset(numbers) for kind, numbers in of_kind.items()}


def _files(view: View, found: FileEvidence, scores: Mapping[int, float]) -> tuple[RankedFile, ...]:
    return tuple(
        RankedFile(view.files()[number], scores[number], _why(found.evidence, number, telling_words(found, number)))
        for number in heapq.nlargest(LISTED, scores, key=lambda number: (scores[number], -number))
    )


def _apart(view: View, found: FileEvidence, numbers: frozenset[int]) -> tuple[RankedFile, ...]:
    text = found.evidence.strengths.get("text", {})
    best = heapq.nlargest(LISTED, numbers & text.keys(), key=lambda number: (text[number], -number))
    return tuple(
        RankedFile(view.files()[number], text[number], _why(found.evidence, number, telling_words(found, number)))
        for number in best
    )


def _why(evidence: Evidence[int], candidate: int, common: Sequence[str]) -> str:
    """The strongest reason that was given, or the words in common."""
    reasons = evidence.reasons(candidate, _TOLD)
    if reasons:
        return reasons[0]
    return f"has words of the issue: {', '.join(common)}" if common else ""


def _hits(
    view: View, found: FileEvidence, definitions: DefinitionEvidence, scores: Mapping[int, float]
) -> tuple[Hit, ...]:
    best_file = max(scores.values(), default=0.0)
    units = definitions.units
    for place, unit in enumerate(units):
        definitions.evidence.add("file", place, scores[unit.file] - best_file)
    of_units = definitions.evidence.scores(DEFINITIONS, range(len(units)))
    hits = []
    for place in heapq.nlargest(LISTED, of_units, key=lambda place: (of_units[place], -place)):
        one = units[place].definition
        path = view.files()[units[place].file]
        why = _why(definitions.evidence, place, telling_words_of(definitions, found, place))
        hits.append(Hit(path, one.first_line, one.last_line, one.name, of_units[place], why))
    return tuple(hits)
