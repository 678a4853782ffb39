"""The first look at a repository, without a model: the code that the issue is likely about, and a map of the rest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from bot.task import Task
from bot.team.briefs import merged
from bot.team.conventions import changelog, rules, supports
from repo_tools import edits
from repo_tools.file_kinds import FileKind
from repo_tools.ranking import Hit, Ranking, rank
from repo_tools.repo_map import repo_map
from repo_tools.symbols import Definition
from repo_tools.test_files import is_test
from repo_tools.view import View

FILES = 6
CODE_LINES = 150
"""Lines of likely code that are shown."""
REGION_LINES = 100
LATER_LINES = 60
"""A longer definition is shown to here, one that is not among the first to the latter; the rest can be read."""
GAP = 4
"""So few lines between two parts that are shown are shown too."""
DOCSTRING = re.compile(r"^\s*[rRuU]?(\"\"\"|\'\'\')")
LONG_DOCSTRING = 10
SMALL_FILE = 40
HOLDER_LINES = 12
"""Of a definition that holds others, such as a class: those inside rank for themselves."""
WORTH = 0.4
"""Of the best hit's score: what is below is not worth its tokens."""
MAP_TOKENS = 350
TEST_LINES = 90
"""Lines of existing tests that are shown."""
HEAD_LINES = 18
LONGEST_TEST = 80
BODIES = frozenset({"function", "method"})
"""What is shown whole, whatever it holds."""
NAMES = 8
"""Of the likeliest definitions, those whose tests are looked for."""
WORD = re.compile(r"\w+")
CODE, AROUND = "Likely code:", "Signatures around it:"


@dataclass(frozen=True)
class Scouted:
    """Two texts for prompts, and the likeliest files."""

    hints: str
    examples: str
    files: tuple[str, ...] = ()
    supports: str = ""
    """The versions of its language that the project declares, as it says it."""
    changelog: str = ""
    """Whether the project wants a line in its changelog, and where."""
    rules: str = ""
    """How the project wants code to be written, as it says to agents."""


def scout(view: View, task: Task) -> Scouted:
    """Rank the repository for the issue and show the best of it."""
    text = "\n\n".join([task.title, task.body, *(comment.body for comment in task.comments)])
    ranking = rank(view, text)
    files = tuple(found.path for found in ranking.files[:FILES])
    asked = supports(view), changelog(view), rules(view)
    return Scouted(_hints(view, ranking), _examples(view, ranking), files, *asked)


def _hints(view: View, ranking: Ranking) -> str:
    parts = ["Found by a search without a model, so it may be wrong. Likely files:"]
    parts += [f"- {found.path}: {found.why}" for found in ranking.files[:FILES]]
    shown = [edits.read_lines(view.tree, path, first, last) for path, first, last in spans(_heads(view, ranking))]
    if shown:
        parts += ["", CODE, *shown]
    around = repo_map(view, ranking, MAP_TOKENS)
    if around:
        parts += ["", AROUND, around]
    return "\n".join(parts)


def without_code(hints: str) -> str:
    """The hints with files and signatures alone: for who must not see more in one project than in another."""
    before, _, rest = hints.partition(f"\n\n{CODE}\n")
    around = rest.rpartition(f"\n\n{AROUND}\n")[2] if AROUND in rest else ""
    return f"{before}\n\n{AROUND}\n{around}" if around else before


def _heads(view: View, ranking: Ranking) -> Iterator[Hit]:
    """The hits; of one that holds other definitions, such as a class, only its beginning; a small file whole."""
    for hit in ranking.regions:
        lines = view.read(hit.path).count(b"\n") + 1
        if lines <= SMALL_FILE:
            yield replace(hit, first_line=1, last_line=lines)
            continue
        outline = view.outline(hit.path)
        own = next((one for one in outline if one.first_line == hit.first_line), None)
        for one in (own, *_bases(own, outline)) if own else ():
            part = _head(replace(hit, first_line=one.first_line, last_line=one.last_line), one.kind, outline)
            yield from _without_docstring(view, part)


def _head(hit: Hit, kind: str, outline: Sequence[Definition]) -> Hit:
    inside = [one.first_line for one in outline if hit.first_line < one.first_line <= hit.last_line]
    if kind in BODIES or not inside or hit.last_line - hit.first_line < HOLDER_LINES:
        return hit
    return replace(hit, last_line=min(min(inside) - 1, hit.first_line + HOLDER_LINES - 1))


def _without_docstring(view: View, hit: Hit) -> Iterator[Hit]:
    """The hit; in two parts where a long docstring stands between, which says more to users than of a fault."""
    lines = view.read(hit.path).decode("utf-8", "replace").splitlines()[hit.first_line - 1 : hit.last_line]
    opens = next((at for at, line in enumerate(lines[:LONG_DOCSTRING]) if DOCSTRING.match(line)), None)
    if opens is not None:
        mark = '"""' if '"""' in lines[opens] else "'''"
        closes = next((at for at in range(opens + 1, len(lines)) if mark in lines[at]), opens)
        if closes - opens > LONG_DOCSTRING:
            yield replace(hit, last_line=hit.first_line + opens + 2)
            hit = replace(hit, first_line=hit.first_line + closes)
    yield hit


def _bases(own: Definition, outline: Sequence[Definition]) -> list[Definition]:
    """Of a class, those of the same file that it names as its bases: what it does may stand there."""
    named = set(WORD.findall(own.signature)) - {own.name}
    return [one for one in outline if one.kind == own.kind == "class" and one.name in named]


def spans(hits: Iterable[Hit]) -> list[tuple[str, int, int]]:
    """Path, first and last line of what is worth showing: the best hits, none twice, those of a file together."""
    chosen: dict[str, list[tuple[int, int]]] = {}
    best, room = 0.0, CODE_LINES
    for number, hit in enumerate(hits):
        best = best or hit.score
        last = min(hit.last_line, hit.first_line + (LATER_LINES if number > 1 else REGION_LINES) - 1)
        taken = chosen.get(hit.path, [])
        # A definition that holds, or lies in, one that is shown already would be shown twice.
        if any(first <= last and hit.first_line <= end for first, end in taken):
            continue
        size = last - hit.first_line + 1
        if hit.score < WORTH * best or size > room:
            continue
        room -= size
        chosen.setdefault(hit.path, []).append((hit.first_line, last))
    return [(path, *span) for path, found in chosen.items() for span in merged(found, GAP)]


def _examples(view: View, ranking: Ranking) -> str:
    """Of the likeliest test files the imports, and those tests that name what the issue is likely about."""
    names = {hit.symbol.rpartition(".")[2] for hit in ranking.regions[:NAMES]}
    tests = [found.path for found in ranking.apart.get(FileKind.TEST, ()) if is_test(found.path)]
    parts, room = [], TEST_LINES
    for path in tests[:3]:
        chosen = _near(view, path, names, room)
        parts += [edits.read_lines(view.tree, path, first, last) for first, last in chosen]
        room -= sum(last - first + 1 for first, last in chosen)
        if room < HEAD_LINES:
            break
    return "\n[…]\n".join(parts)


def _near(view: View, path: str, names: set[str], room: int) -> list[tuple[int, int]]:
    """Lines of a test file: its beginning, and the tests that use most of `names`; all of it, if it is short."""
    lines = view.read(path).decode("utf-8", "replace").splitlines()
    if len(lines) <= min(room, 70):
        return [(1, len(lines))]
    scored = []
    for one in view.outline(path):
        body = set(WORD.findall("\n".join(lines[one.first_line - 1 : one.last_line])))
        length = one.last_line - one.first_line + 1
        if one.kind in ("function", "method") and length <= LONGEST_TEST:
            scored.append((-len(body & names), length, one.first_line, one.last_line))
    chosen = [(1, min(HEAD_LINES, len(lines)))]
    room -= HEAD_LINES
    for missing, length, first, last in sorted(scored):
        apart = all(last < one or end < first for one, end in chosen)
        if missing and length <= room and apart:
            chosen.append((first, last))
            room -= length
    return sorted(chosen)
