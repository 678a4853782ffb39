"""What speaks for each file before any is opened: words, paths, names and places that the issue mentions."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from repo_tools.evidence import Evidence
from repo_tools.issue_query import Term
from repo_tools.mentions import Mentions
from repo_tools.traces import Frame
from repo_tools.view import View
from repo_tools.words import terms
from repo_tools.written_paths import WrittenPaths

SATURATION, BY_LENGTH = 1.2, 0.75
"""BM25's k1 and b."""
IN_PATH = 2.0
"""How many times in a text a word in its path counts."""
COMMON = 0.5
"""Words of more than this part of all files are passed over: they cost most and say least."""
MANY_CHANGED = 10
"""A past commit that changed more of the ranked files says nothing about any of them."""
MANY_HOLD = 12
"""A name that stands in more files says nothing about any of them."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A term of the query in this tree."""

    term: Term
    rarity: float
    """Its inverse document frequency among the files that are ranked."""
    counts: dict[int, float]
    """File -> how often, its path included."""
    written: frozenset[bytes]
    """The words that are forms of it."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line in a file of this repository."""

    file: int
    frame: Frame
    strength: float
    """1 for a line pointed at and for the last frame of a stack trace; less for those farther from where it broke."""
    signal: str
    """`pointed` or `traced`."""
    reason: str


@dataclass(slots=True)
class FileEvidence:
    """Signals of the files of one tree for one issue; files go by number."""

    evidence: Evidence[int] = field(default_factory=Evidence)
    weighed: list[Weighed] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    """The lines of this repository that the issue points at or that its stack traces pass through."""


def file_evidence(view: View, said: Mentions, query: Sequence[Term], ranked: frozenset[int]) -> FileEvidence:
    """The evidence for all files; rarity is counted among `ranked`, and names count where those define them."""
    found = FileEvidence()
    _words(found, view, query, ranked)
    _history(found, view, query, ranked)
    _names(found.evidence, view, said, ranked)
    paths = WrittenPaths(view.files())
    _paths(found, said, paths)
    _frames(found, said.frames, paths, ranked)
    return found


def telling_words(found: FileEvidence, number: int, many: int = 3) -> list[str]:
    """The words of the issue that speak most for a file, the strongest first."""
    told = ((one.rarity * one.term.weight, one.term.said) for one in found.weighed if number in one.counts)
    return [said for _, said in heapq.nlargest(many, told)]


def _words(found: FileEvidence, view: View, query: Sequence[Term], ranked: frozenset[int]) -> None:
    lengths = view.lengths()
    mean = sum(lengths[number] for number in ranked) / max(1, len(ranked)) or 1.0
    norms = [SATURATION * (1 - BY_LENGTH + BY_LENGTH * length / mean) for length in lengths]
    in_paths = _in_paths(view.files(), frozenset(form for term in query for form in term.forms))
    text, title, path = ([0.0] * len(norms) for _ in range(3))
    for term in query:
        counts: dict[int, float] = {}
        here: set[int] = set()
        for form in term.forms:
            for number, times in view.with_term(form).items():
                counts[number] = counts.get(number, 0.0) + times
            here.update(in_paths.get(form, ()))
        for number in here:
            counts[number] = counts.get(number, 0.0) + IN_PATH
        holding = len(ranked & counts.keys())
        if not holding or holding > COMMON * len(ranked) + 3:
            continue
        rarity = math.log(1 + (len(ranked) - holding + 0.5) / (holding + 0.5))
        written = frozenset(word for form in term.forms for word in view.words_of(form))
        found.weighed.append(Weighed(term, rarity, counts, written))
        gain = term.weight * rarity * (SATURATION + 1)
        for number, count in counts.items():
            text[number] += gain * count / (count + norms[number])
        if term.titled:
            for number, count in counts.items():
                title[number] += rarity * count / (count + norms[number])
        for number in here:
            path[number] += term.weight * rarity
    for signal, strengths in (("text", text), ("title", title), ("path", path)):
        found.evidence.put(signal, {number: strength for number, strength in enumerate(strengths) if strength})


def _in_paths(files: Sequence[str], wanted: frozenset[str]) -> dict[str, list[int]]:
    """Those of `wanted` that stand in paths -> the files; one in whose path it stands twice may come twice."""
    found: dict[str, list[int]] = {}
    in_folder: dict[str, list[int]] = {}
    called: dict[str, list[int]] = {}
    for number, path in enumerate(files):
        folder, _, name = path.rpartition("/")
        in_folder.setdefault(folder, []).append(number)
        called.setdefault(name.partition(".")[0], []).append(number)
    for stem, numbers in called.items():
        for term in wanted.intersection(terms(stem)):
            found.setdefault(term, []).extend(numbers)
    for folder, numbers in in_folder.items():
        for term in {term for part in folder.split("/") for term in terms(part)} & wanted:
            found.setdefault(term, []).extend(numbers)
    return found


def _history(found: FileEvidence, view: View, query: Sequence[Term], ranked: frozenset[int]) -> None:
    """For each file the past commit whose message has most of the query, less if it changed other files as well."""
    changed = {
        commit: files
        for commit, numbers in enumerate(view.changed())
        if (files := ranked.intersection(numbers)) and len(files) <= MANY_CHANGED
    }
    if not changed:
        return
    scores = dict.fromkeys(changed, 0.0)
    for term in query:
        telling = scores.keys() & {commit for form in term.forms for commit in view.commits_with_term(form)}
        rarity = math.log(1 + (len(scores) - len(telling) + 0.5) / (len(telling) + 0.5))
        for commit in telling:
            scores[commit] += term.weight * rarity
    best: dict[int, float] = {}
    for commit, files in changed.items():
        for number in files:
            best[number] = max(best.get(number, 0.0), scores[commit] / len(files))
    found.evidence.put("history", best)


def _names(evidence: Evidence[int], view: View, said: Mentions, ranked: frozenset[int]) -> None:
    for name, weight in said.names.items():
        files = ranked.intersection(view.with_word(name)) if len(name) > 1 else frozenset()
        if len(files) <= MANY_HOLD:
            for number in files:
                evidence.add("mentioned", number, weight / len(files))


def _paths(found: FileEvidence, said: Mentions, paths: WrittenPaths) -> None:
    named: dict[int, tuple[float, str]] = {}
    for written in said.paths:
        files = paths.resolve(written)
        for number in files:
            named[number] = max(named.get(number, (0.0, "")), (1 / len(files), f"the issue names {written}"))
    for frame in said.places:
        files = paths.resolve(frame.path)
        reason = f"the issue points at {written_place(frame)}"
        for number in files:
            named[number] = max(named.get(number, (0.0, "")), (1 / len(files), reason))
        if len(files) == 1 and frame.line:
            found.places.append(Place(files[0], frame, 1.0, "pointed", reason))
            found.evidence.put("pointed", found.evidence.strengths.get("pointed", {}) | {files[0]: 1.0})
    for number, (strength, reason) in named.items():
        found.evidence.add("named", number, strength, reason)


def _frames(found: FileEvidence, frames: Sequence[Frame], paths: WrittenPaths, ranked: frozenset[int]) -> None:
    depth = 0
    seen: set[int] = set()
    for frame in reversed(frames):
        files = paths.resolve(frame.path)
        if len(files) != 1 or files[0] not in ranked:
            continue
        depth += 1
        place = Place(files[0], frame, 1 / depth, "traced", f"the stack trace passes through {written_place(frame)}")
        found.places.append(place)
        if place.file not in seen:
            seen.add(place.file)
            found.evidence.add("traced", place.file, place.strength, place.reason)


def written_place(frame: Frame) -> str:
    """A frame for a person: `line 12 in f`, or its path if it says no more."""
    line = f"line {frame.line}" if frame.line else ""
    return " ".join(part for part in (line, f"in {frame.function}" if frame.function else "") if part) or frame.path
