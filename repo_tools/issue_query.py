"""The words of an issue as a query: which forms of which word are looked for, and how much each counts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from repo_tools.issue_text import Part, Segment
from repo_tools.traces import is_trace_line
from repo_tools.words import terms

WEIGHTS = {Part.TITLE: 3.0, Part.PROSE: 1.0, Part.INLINE: 2.0, Part.CODE: 0.5}
"""How much a word counts, by where it stands; a word said again counts by the logarithm."""
PAIRED = 0.5
"""The part of that which two neighbouring words count as one name: `code printer` for `CodePrinter`."""

_WORD = re.compile(r"[^\W\d]\w*")
_PAIR = re.compile(r"(?<![A-Za-z0-9])(?=([A-Za-z][A-Za-z0-9]+)[ _-]([A-Za-z][A-Za-z0-9]+)(?![A-Za-z0-9]))")


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STOPPED = _listed(
    "a an the and or not of to in is it be as at by on for from with this that these those if else then than so i we "
    "you he my our your its was were are am has have had do does did can could should would will may might must but "
    "when which what who how why where there here also just like get got use used using uses see any all some no yes "
    "only very more most other such new same into out about over after before now one two self none true false "
    "return import def class"
)
_REPORTING = _listed(
    "behavior behaviour expected expect expects expecting allow allows allowed doesn isn don didn aren wasn currently "
    "instead possible please think make makes making way ways want wants trying try tries work works working worked "
    "example examples result results output outputs support supports supported however seems seem seemed actually "
    "something anything thing things since because while without between though still even following below above "
    "really correct correctly properly simply given need needs needed able due cause causes caused consider look "
    "looks know maybe sure per via etc eg ie both each different many much lot bit good better best nice going gives "
    "give giving happen happens happened show shows showing tried tested already always never too yet again another "
    "being been having under won wouldn couldn shouldn hi hello thanks thank issue issues problem problems bug bugs "
    "reproduce reproduces reproduced steps mwe noticed notice"
)
"""What people report with, whatever is at fault."""
_PASSED_OVER = _STOPPED | _REPORTING
_SHORT_FOR = {
    "argument": "arg", "attribute": "attr", "boolean": "bool", "calculate": "calc", "character": "char",
    "column": "col", "command": "cmd", "configuration": "config", "context": "ctx", "convert": "conv",
    "coordinate": "coord", "database": "db", "definition": "def", "delete": "del", "dictionary": "dict",
    "directory": "dir", "document": "doc", "documentation": "doc", "environment": "env", "equal": "eq",
    "equality": "eq", "error": "err", "exception": "exc", "execute": "exec", "expression": "expr",
    "extension": "ext", "function": "func", "identifier": "id", "initialize": "init", "integer": "int",
    "length": "len", "maximum": "max", "message": "msg", "minimum": "min", "multiply": "mul", "number": "num",
    "object": "obj", "package": "pkg", "parameter": "param", "pointer": "ptr",
    "position": "pos", "previous": "prev", "reference": "ref", "regex": "re", "regular": "re",
    "representation": "repr", "request": "req", "response": "resp", "separator": "sep", "sequence": "seq",
    "source": "src", "specification": "spec", "statement": "stmt", "string": "str", "temporary": "tmp",
    "utility": "util", "value": "val", "variable": "var", "version": "ver",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Term:
    """One word in all its forms."""

    said: str
    """As the issue says it."""
    forms: tuple[str, ...]
    """As `View.with_term` takes them."""
    weight: float
    titled: bool
    """Whether the title says it."""


def query(segments: Iterable[Segment]) -> list[Term]:
    """The terms that an issue is looked for by; words that all texts have are left out."""
    counted: dict[Part, Counter[str]] = {}
    seen: dict[str, set[str]] = {}
    pairs: dict[str, float] = {}
    titled: set[str] = set()
    for segment in segments:
        text = "\n".join(line for line in segment.text.split("\n") if not is_trace_line(line))
        for surface in _surfaces(text):
            key = stem(surface)
            counted.setdefault(segment.part, Counter())[key] += 1
            seen.setdefault(key, set()).add(surface)
            if segment.part is Part.TITLE:
                titled.add(key)
        for pair in _pairs(text):
            pairs[pair] = max(pairs.get(pair, 0.0), PAIRED * WEIGHTS[segment.part])
    weights: dict[str, float] = {}
    for part, counts in counted.items():
        for key, count in counts.items():
            weights[key] = weights.get(key, 0.0) + WEIGHTS[part] * (1 + math.log(count))
    words = [
        Term(min(seen[key], key=lambda one: (len(one), one)), _forms(key, seen[key]), weight, key in titled)
        for key, weight in weights.items()
    ]
    return words + [Term(pair, (pair,), weight, False) for pair, weight in pairs.items() if pair not in seen]


def stem(word: str) -> str:
    """A lower-case word without its usual English endings: what `prints`, `printed` and `printing` have in common."""
    if "_" in word:
        return word
    if len(word) > 4 and word.endswith("ies"):
        word = word[:-3] + "y"
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    if len(word) > 5 and word.endswith("ing"):
        word = word[:-3]
    elif len(word) > 4 and word.endswith("ed"):
        word = word[:-2]
    if len(word) > 4 and word.endswith("e"):
        word = word[:-1]
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word


def _surfaces(text: str) -> Iterator[str]:
    """The words and parts of identifiers that are worth looking for, in lower case."""
    for word in _WORD.findall(text):
        for term in terms(word):
            bare = term.strip("_")
            if len(bare) > 1 and not bare.isdigit() and bare not in _PASSED_OVER:
                yield bare


def _pairs(text: str) -> Iterator[str]:
    for match in _PAIR.finditer(text):
        first, second = match[1].lower(), match[2].lower()
        if first not in _PASSED_OVER and second not in _PASSED_OVER:
            for last in {second, second.removesuffix("s")}:
                yield first + last
                yield f"{first}_{last}"


def _forms(key: str, surfaces: set[str]) -> tuple[str, ...]:
    """What a word may look like in code: as it was said, with other endings, abbreviated, or as a private name."""
    if any("_" in surface for surface in surfaces):
        return tuple(sorted({*surfaces, *(f"_{surface}" for surface in surfaces)}))
    forms = {key, *surfaces, *(key + ending for ending in ("s", "e", "es", "d", "ed", "ing"))}
    forms |= {key + key[-1] + ending for ending in ("ed", "ing")}
    if key.endswith("y"):
        forms |= {key[:-1] + ending for ending in ("ies", "ied")}
    forms |= {_SHORT_FOR[surface] for surface in (*surfaces, key, key + "e") if surface in _SHORT_FOR}
    return tuple(sorted(forms))
