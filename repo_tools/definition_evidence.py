"""What speaks for each definition of the files that are worth opening."""

from __future__ import annotations

import bisect
import heapq
import itertools
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from repo_tools.bodies import Bodies
from repo_tools.evidence import Evidence
from repo_tools.file_evidence import FileEvidence, Place, Weighed
from repo_tools.literals import quoted
from repo_tools.mentions import Mentions
from repo_tools.symbols import VALUES, Definition
from repo_tools.traces import Frame
from repo_tools.view import View
from repo_tools.words import spelled, terms

SATURATION, BY_LENGTH = 1.2, 0.75
"""BM25's k1 and b."""
IN_NAME, IN_OWNER = 3.0, 2.0
"""How many times in its body a word in the name of a definition counts, and one in the names of its owners."""
TOLD = 1.0
"""A name that is mentioned less than this strongly may be a plain word, and is no reason to tell a person."""
MANY_DEFINE = 12
"""A name that more files define says nothing about any of them."""
ENTRIES = frozenset({"__init__", "index", "mod", "lib"})
"""What files are called, without their endings, that name what others define and all may use."""
BEST_OF = 5
"""So many of a file's definitions speak for the file together."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A definition as a candidate: something that can be read and changed by itself."""

    file: int
    definition: Definition


@dataclass(slots=True)
class DefinitionEvidence:
    """Signals of the units, which go by their place in `units`; what speaks for a file goes to the file's evidence."""

    units: list[Unit] = field(default_factory=list)
    evidence: Evidence[int] = field(default_factory=Evidence)
    of_file: dict[int, range] = field(default_factory=dict)
    times: list[dict[int, float]] = field(default_factory=list)
    """For each unit: place of a term of the query -> how often it stands there, its name included."""


def definition_evidence(
    view: View, said: Mentions, files: FileEvidence, bodies: Mapping[int, Bodies]
) -> DefinitionEvidence:
    """The evidence for all that is defined in the files of `bodies`, by number."""
    found = DefinitionEvidence()
    finding = _Finding(files.weighed)
    sizes: list[int] = []
    outlines = view.outlines(view.files()[number] for number in bodies)
    for (number, of_file), outline in zip(bodies.items(), outlines, strict=True):
        first = len(found.units)
        places = [place for place, one in enumerate(outline) if _is_candidate(one, said)]
        times = of_file.count(finding.meaning)
        found.units += [Unit(number, outline[place]) for place in places]
        found.times += [times.get(place, {}) for place in places]
        sizes += [of_file.sizes[place] for place in places]
        found.of_file[number] = range(first, len(found.units))
    _words(found, files, finding, sizes)
    _names(found, view, said, files.evidence)
    _exported(found, view, said.titled, files.evidence)
    _places_of_issue(found, files.places)
    _quotes(found, view, said, files.evidence, bodies)
    _sum_up(found, files.evidence)
    return found


def _is_candidate(one: Definition, said: Mentions) -> bool:
    """Whether a definition can be what an issue is about: of single values those that it names, and no plain words."""
    if one.kind not in VALUES:
        return True
    name = one.last_name
    return said.names.get(name, 0.0) >= TOLD and (name.isupper() or "_" in name.strip("_"))


def _words(found: DefinitionEvidence, files: FileEvidence, finding: _Finding, sizes: Sequence[int]) -> None:
    """BM25 over bodies, of so many words each, and names, and sums of rarity over names and over owners."""
    mean = sum(sizes) / max(1, len(sizes)) or 1.0
    worth = _worth(found.times, files.weighed)
    text, of_name, of_owner = {}, {}, {}
    for place, (unit, times) in enumerate(zip(found.units, found.times, strict=True)):
        owner, _, name = unit.definition.name.rpartition(".")
        in_name, in_owner = finding.in_name(name), finding.in_name(owner)
        for term in in_name:
            times[term] = times.get(term, 0.0) + IN_NAME
        for term in in_owner:
            times[term] = times.get(term, 0.0) + IN_OWNER
        norm = SATURATION * (1 - BY_LENGTH + BY_LENGTH * sizes[place] / mean)
        text[place] = sum([worth[term] * count / (count + norm) for term, count in times.items()])
        of_name[place] = sum([worth[term] for term in in_name])
        of_owner[place] = sum([worth[term] for term in in_owner])
    size = {place: math.log1p(size) for place, size in enumerate(sizes)}
    for signal, strengths in (("text", text), ("name", of_name), ("owner", of_owner), ("size", size)):
        found.evidence.put(signal, strengths)


class _Finding:
    """Which terms of the query, by place, are found where."""

    def __init__(self, weighed: Sequence[Weighed]) -> None:
        self.meaning: dict[bytes, list[int]] = {}
        """Word -> terms."""
        self._forms: dict[str, list[int]] = {}
        self._names: dict[str, frozenset[int]] = {}
        for place, one in enumerate(weighed):
            for word in one.written:
                self.meaning.setdefault(word, []).append(place)
            for form in one.term.forms:
                self._forms.setdefault(form, []).append(place)

    def in_name(self, name: str) -> frozenset[int]:
        """The terms that find a name, or one of its owners if it has any."""
        if name not in self._names:
            parts = (term for part in name.split(".") for term in terms(part))
            self._names[name] = frozenset(place for term in parts for place in self._forms.get(term, ()))
        return self._names[name]


def _worth(times: Sequence[Mapping[int, float]], weighed: Sequence[Weighed]) -> list[float]:
    """What each term of the query counts: its weight and its rarity among the definitions."""
    holding = Counter(itertools.chain.from_iterable(times))
    many = len(times)
    return [
        one.term.weight * math.log(1 + (many - holding[place] + 0.5) / (holding[place] + 0.5))
        for place, one in enumerate(weighed)
    ]


def telling_words_of(found: DefinitionEvidence, files: FileEvidence, place: int, many: int = 3) -> list[str]:
    """The words of the issue that speak most for a unit, the strongest first."""
    there = [files.weighed[term] for term in found.times[place]]
    return [one.term.said for one in heapq.nlargest(many, there, key=lambda one: one.rarity * one.term.weight)]


def _names(found: DefinitionEvidence, view: View, said: Mentions, of_files: Evidence[int]) -> None:
    defining: dict[str, set[int]] = {}
    for unit in found.units:
        defining.setdefault(unit.definition.last_name, set()).add(unit.file)
    pairs = {pair: weight for dotted, weight in said.dotted.items() for pair in itertools.pairwise(dotted)}
    for place, unit in enumerate(found.units):
        *owners, name = unit.definition.name.split(".")
        weight = said.names.get(name, 0.0) if len(name) > 1 else 0.0
        if weight and len(defining[name]) <= MANY_DEFINE:
            reason = f"the issue mentions {name}" if weight >= TOLD else ""
            found.evidence.add("mentioned", place, weight / len(defining[name]), reason)
        if unit.definition.kind in VALUES:
            # It has so few words that nothing else would speak for it: that it is a candidate at all does.
            found.evidence.add("constant", place, 1 / len(defining[name]))
        owner = owners[-1] if owners else _stem(view.files()[unit.file])
        if weight := pairs.get((owner, name), 0.0):
            found.evidence.add("dotted", place, weight, f"the issue mentions {owner}.{name}")
    for name, files in defining.items():
        weight = said.names.get(name, 0.0) if len(name) > 1 else 0.0
        if weight and len(files) <= MANY_DEFINE:
            reason = f"defines {name}, which the issue mentions" if weight >= TOLD else ""
            for number in files:
                of_files.add("defining", number, weight / len(files), reason)


def _exported(found: DefinitionEvidence, view: View, titled: Set[str], of_files: Evidence[int]) -> None:
    """Files that define what the title names and an entry of a package offers to all: how users know the code."""
    entries = {number for number, path in enumerate(view.files()) if _stem(path) in ENTRIES}
    defining: dict[str, set[int]] = {}
    for unit in found.units:
        name = unit.definition.name
        if name in titled and len(name) > 1 and unit.file not in entries:
            defining.setdefault(name, set()).add(unit.file)
    for name, files in defining.items():
        if not entries.isdisjoint(view.with_word(name)):
            for number in files:
                reason = f"defines {name}, which the title names and a package offers"
                of_files.add("exported", number, 1 / len(files), reason)


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _places_of_issue(found: DefinitionEvidence, places: Sequence[Place]) -> None:
    seen: set[int] = set()
    for one in sorted(places, key=lambda one: -one.strength):
        place = _at(found, one.file, one.frame)
        if place is not None and place not in seen:
            seen.add(place)
            found.evidence.add(one.signal, place, one.strength, one.reason)


def _at(found: DefinitionEvidence, file: int, frame: Frame) -> int | None:
    """The unit that a frame means: of its function's name, nearest to its line, as lines move between versions."""
    name = re.split(r"[.:>]", frame.function)[-1]
    places = found.of_file.get(file, range(0))
    called = [place for place in places if found.units[place].definition.last_name == name]
    if called:
        return min(called, key=lambda place: _distance(found.units[place].definition, frame.line))
    return _innermost(found, file, frame.line) if frame.line and not name.isidentifier() else None


def _distance(definition: Definition, line: int) -> int:
    return max(definition.first_line - line, line - definition.last_line, 0)


def _innermost(found: DefinitionEvidence, file: int, line: int) -> int | None:
    places = found.of_file.get(file, range(0))
    around = [place for place in places if _distance(found.units[place].definition, line) == 0]
    return max(around, default=None)


def _quotes(
    found: DefinitionEvidence, view: View, said: Mentions, of_files: Evidence[int], bodies: Mapping[int, Bodies]
) -> None:
    """Lines of code and messages in the issue that stand in a file."""
    hits: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for quote in said.quotes:
        if places := _standing(view, quote, bodies.keys()):
            hits["quoted", quote] = places
    for number, of_file in bodies.items():
        for at, pieces in of_file.messages():
            if piece := quoted(pieces, said.text):
                hits.setdefault(("message", piece), []).append((number, at))
    starts = {number: [found.units[place].definition.start for place in found.of_file[number]] for number in bodies}
    for (signal, text), places in hits.items():
        strength = min(len(text), 60) / 30 / len(places)
        reason = f"holds the {'line' if signal == 'quoted' else 'message'} {text[:60]!r} of the issue"
        for number, at in places:
            of_files.add(signal, number, strength, reason)
            place = _holding(found, number, at, starts[number])
            if place is not None:
                found.evidence.add(signal, place, strength, reason)


def _standing(view: View, quote: str, files: Set[int]) -> list[tuple[int, int]]:
    """Those of `files` in which a line stands, and its first offset there."""
    wanted = quote.encode("utf-8", "surrogateescape")
    # Only files with all of its words are read: hardly any.
    for word in dict.fromkeys(spelled(wanted)):
        files = files & view.with_word(word.decode("utf-8", "surrogateescape")).keys()
        if not files:
            return []
    found = ((number, view.read(view.files()[number]).find(wanted)) for number in sorted(files))
    return [(number, at) for number, at in found if at >= 0]


def _holding(found: DefinitionEvidence, number: int, at: int, starts: Sequence[int]) -> int | None:
    places = found.of_file[number]
    for back in range(bisect.bisect_right(starts, at) - 1, -1, -1):
        if found.units[places[back]].definition.end > at:
            return places[back]
    return None


def _sum_up(found: DefinitionEvidence, of_files: Evidence[int]) -> None:
    """What the best definitions of a file say for the file."""
    text = found.evidence.strengths.get("text", {})
    name = found.evidence.strengths.get("name", {})
    for number, places in found.of_file.items():
        best = heapq.nlargest(BEST_OF, (text.get(place, 0.0) for place in places))
        if best:
            of_files.add("best definitions", number, sum(best) / BEST_OF)
            of_files.add("best name", number, max(name.get(place, 0.0) for place in places))
