"""Where in a repository an issue is about, found without a model."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from repo_tools.definition_evidence import DefinitionEvidence, definition_evidence, telling_words_of
from repo_tools.evidence import Evidence, Model, Scale, Signal
from repo_tools.file_evidence import FileEvidence, file_evidence, telling_words
from repo_tools.file_kinds import FileKind, kinds
from repo_tools.issue_query import query
from repo_tools.mentions import mentions
from repo_tools.uncollected import uncollected
from repo_tools.view import View

OPENED = 40
"""Files that are read to look at their definitions."""
LISTED = 40
"""Hits, and files of each kind, that are given."""

FIRST: Model = {
    "text": Signal(2.0, Scale.OF_BEST),
    "title": Signal(1.0, Scale.OF_BEST),
    "path": Signal(1.0, Scale.OF_BEST),
    "mentioned": Signal(1.0, Scale.LOGARITHM),
    "named": Signal(3.0, Scale.PLAIN),
    "traced": Signal(3.0, Scale.PLAIN),
    "pointed": Signal(3.0, Scale.PLAIN),
    "history": Signal(0.7, Scale.OF_BEST),
}
"""Which files to open: set by hand, as it only has to miss none."""

# From `python -m bot.bench.fit_ranking` for 94 issues of 32 projects, then moved a little, to where the gold files
# stood higher on average; `pointed`, which nearly no issue has, is set by hand. On 118 further issues no weights that
# were fitted to other projects ranked better, nor did fitted trees.
FILES: Model = {
    "text": Signal(2.6, Scale.OF_BEST),
    "path": Signal(1.3, Scale.OF_BEST),
    "history": Signal(1.3, Scale.OF_BEST),
    "best definitions": Signal(1.5, Scale.OF_BEST),
    "best name": Signal(1.1, Scale.OF_BEST),
    "best definition": Signal(0.8, Scale.OF_BEST),
    "exported": Signal(1.0, Scale.LOGARITHM),
    "defining": Signal(0.5, Scale.LOGARITHM),
    "named": Signal(1.1, Scale.PLAIN),
    "traced": Signal(0.5, Scale.PLAIN),
    "message": Signal(0.9, Scale.LOGARITHM),
    "pointed": Signal(3.0, Scale.PLAIN),
}
DEFINITIONS: Model = {
    "text": Signal(2.7, Scale.OF_BEST),
    "name": Signal(1.0, Scale.OF_BEST),
    "owner": Signal(1.0, Scale.OF_BEST),
    "mentioned": Signal(0.1, Scale.LOGARITHM),
    "dotted": Signal(0.4, Scale.LOGARITHM),
    "traced": Signal(1.0, Scale.PLAIN),
    "message": Signal(1.5, Scale.LOGARITHM),
    "quoted": Signal(1.2, Scale.LOGARITHM),
    "size": Signal(0.6, Scale.PLAIN),
    "file": Signal(0.4, Scale.PLAIN),
    "pointed": Signal(4.0, Scale.PLAIN),
    "constant": Signal(2.0, Scale.PLAIN),
}
AGAIN = 0.4
"""What each further definition of the same file loses: ten of one file are one guess."""

_TOLD = ("pointed", "traced", "named", "dotted", "message", "quoted", "exported", "defining", "mentioned")
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


@dataclass(frozen=True, slots=True)
class Gathered:
    """All that speaks for the files and definitions of a tree, before it is weighed."""

    of_kind: Mapping[FileKind, frozenset[int]]
    files: FileEvidence
    opened: tuple[int, ...]
    """The files whose definitions were looked at, by number."""
    definitions: DefinitionEvidence
    alone: Mapping[int, float]
    """The score of each definition before anything is known of its file."""


@uncollected()
def rank(view: View, issue_text: str) -> Ranking:
    """The files and definitions of a tree that an issue, its title in the first line, is most likely about."""
    found = gather(view, issue_text)
    scores = found.files.evidence.scores(FILES, found.opened)
    apart = {kind: numbers for kind, numbers in found.of_kind.items() if numbers and kind is not FileKind.SOURCE}
    return Ranking(
        files=_files(view, found.files, scores),
        regions=_hits(view, found, scores),
        apart={kind: _apart(view, found.files, numbers) for kind, numbers in apart.items()},
    )


def gather(view: View, issue_text: str) -> Gathered:
    """The evidence that `rank` weighs."""
    said = mentions(issue_text)
    of_kind = _of_kind(view.files())
    sources = of_kind.get(FileKind.SOURCE) or of_kind.get(FileKind.TOOLING, frozenset())
    files = file_evidence(view, said, query(said.segments), sources)
    first = files.evidence.scores(FIRST, sources)
    opened = heapq.nlargest(OPENED, sources, key=lambda number: (first[number], -number))
    bodies = dict(zip(opened, view.bodies(opened), strict=True))
    generated = {number for number in opened if bodies[number].generated}
    bodies = {number: said for number, said in bodies.items() if number not in generated}
    of_kind[FileKind.GENERATED] = of_kind.get(FileKind.GENERATED, frozenset()) | generated
    definitions = definition_evidence(view, said, files, bodies)
    alone = definitions.evidence.scores(DEFINITIONS, range(len(definitions.units)))
    files.evidence.put("best definition", _best(definitions, alone))
    return Gathered(of_kind, files, tuple(bodies), definitions, alone)


def _best(found: DefinitionEvidence, alone: Mapping[int, float]) -> dict[int, float]:
    """For each file the score of the best of its definitions that have words of the issue."""
    best: dict[int, float] = {}
    for place, unit in enumerate(found.units):
        if found.times[place]:
            best[unit.file] = max(best.get(unit.file, 0.0), alone[place])
    return best


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


def _hits(view: View, found: Gathered, scores: Mapping[int, float]) -> tuple[Hit, ...]:
    best_file = max(scores.values(), default=0.0)
    units, evidence = found.definitions.units, found.definitions.evidence
    of_file = DEFINITIONS["file"].weight
    both = {place: score + of_file * (scores[units[place].file] - best_file) for place, score in found.alone.items()}
    hits = []
    ordered = spread(both, [unit.file for unit in units])
    for place, score in ordered[:LISTED]:
        one = units[place].definition
        why = _why(evidence, place, telling_words_of(found.definitions, found.files, place))
        hits.append(Hit(view.files()[units[place].file], one.first_line, one.last_line, one.name, score, why))
    return tuple(hits)


def spread(scores: Mapping[int, float], files: Sequence[int]) -> list[tuple[int, float]]:
    """Candidates and scores, best first, each less what it loses for those of its file that come before it.

    `files` has the file of each candidate.
    """
    before: dict[int, int] = {}
    lowered = []
    for place in sorted(scores, key=lambda place: (-scores[place], place)):
        file = files[place]
        lowered.append((place, scores[place] - AGAIN * before.get(file, 0)))
        before[file] = before.get(file, 0) + 1
    return sorted(lowered, key=lambda one: (-one[1], one[0]))
