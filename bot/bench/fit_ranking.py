"""Weights for the ranking, from issues with known fixes: `python -m bot.bench.fit_ranking DATASET --mirrors DIR`.

The dataset is that of `bot.bench.localize`. For each model the weights are those that make the gold most likely among
the candidates of its issue (a softmax over their scores, weights not below zero, a quadratic penalty). To judge them,
each project's issues are also ranked with weights that were fitted to the other projects alone.
"""

from __future__ import annotations

import argparse
import math
import operator
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.bench.localize import FILES_AT, FUNCTIONS_AT, Case, read_cases, views
from repo_tools.evidence import Evidence, Model
from repo_tools.ranking import DEFINITIONS, FILES, Gathered, gather, spread
from repo_tools.view import View

PENALTY = 1.0
STEPS = 400
CANDIDATES = 150
"""The candidates of an issue that a fit looks at besides the gold: the likeliest by the weights of now."""
BY_HAND = frozenset({"pointed", "constant"})
"""Signals that too few issues have to be fitted."""

Row = tuple[float, ...]


@dataclass(frozen=True)
class Issue:
    """The candidates of one issue: their scaled signals and which of them are gold."""

    repo: str
    rows: Sequence[Row]
    gold: frozenset[int]
    files: Sequence[int]
    """The file of each candidate."""
    wanted: int
    """How many are gold in truth, though they may be no candidates."""


def fit(issues: Sequence[Issue], model: Model) -> list[float]:
    """The weights of the model's signals, in its order: gradient steps in units of each signal's largest strength."""
    now = [signal.weight for signal in model.values()]
    cases = [_likeliest(issue, now) for issue in issues if issue.gold]
    units = [max((abs(row[at]) for rows, _ in cases for row in rows), default=0.0) or 1.0 for at in range(len(model))]
    cases = [([_times(row, units, -1) for row in rows], gold) for rows, gold in cases]
    weights = _times(now, units, 1)
    free = [name not in BY_HAND for name in model]
    weights = [0.0 if may_move else weight for weight, may_move in zip(weights, free, strict=True)]
    step = 1.0
    loss, slope = _loss(cases, weights, units)
    for _ in range(STEPS):
        tried = [
            max(0.0, weight - step * down) if may_move else weight
            for weight, down, may_move in zip(weights, slope, free, strict=True)
        ]
        found = _loss(cases, tried, units)
        if found[0] < loss:
            weights, (loss, slope) = tried, found
            step *= 1.5
        else:
            step /= 2
    return _times(weights, units, -1)


def _times(row: Sequence[float], units: Sequence[float], power: int) -> list[float]:
    return [value * unit**power for value, unit in zip(row, units, strict=True)]


def _likeliest(issue: Issue, now: Sequence[float]) -> tuple[list[list[float]], list[bool]]:
    best = sorted(range(len(issue.rows)), key=lambda at: -_dot(issue.rows[at], now))
    kept = [at for place, at in enumerate(best) if place < CANDIDATES or at in issue.gold]
    return [list(issue.rows[at]) for at in kept], [at in issue.gold for at in kept]


def _loss(
    cases: Sequence[tuple[list[list[float]], list[bool]]], weights: Sequence[float], units: Sequence[float]
) -> tuple[float, list[float]]:
    """The mean surprise of the gold, with the penalty, and its slope."""
    many = max(1, len(cases))
    slope = [PENALTY * weight / unit**2 for weight, unit in zip(weights, units, strict=True)]
    total = _dot(slope, weights) / 2
    for rows, gold in cases:
        scores = [_dot(row, weights) for row in rows]
        highest = max(scores)
        likely = [math.exp(score - highest) for score in scores]
        norm, share = sum(likely), 1 / sum(gold)
        for row, score, one, is_gold in zip(rows, scores, likely, gold, strict=True):
            surplus = one / norm - share * is_gold
            if is_gold:
                total -= share * (score - highest - math.log(norm))
            slope = [value + surplus * strength for value, strength in zip(slope, row, strict=True)]
    return total / many, [value / many for value in slope]


def _dot(row: Sequence[float], weights: Sequence[float]) -> float:
    return math.fsum(map(operator.mul, row, weights))


def collect(cases: Iterable[tuple[Case, View]]) -> tuple[list[Issue], list[Issue]]:
    """What `gather` finds for each case: as an issue of files and as one of definitions."""
    of_files, of_definitions = [], []
    for case, view in cases:
        found = gather(view, case.issue)
        paths = [view.files()[number] for number in found.opened]
        rows = _rows(found.files.evidence, FILES, found.opened)
        gold = frozenset(at for at, path in enumerate(paths) if path in case.gold_files)
        of_files.append(Issue(case.repo, rows, gold, range(len(paths)), len(case.gold_files)))
        of_definitions.append(_of_definitions(case, view, found))
    return of_files, of_definitions


def _of_definitions(case: Case, view: View, found: Gathered) -> Issue:
    scores = found.files.evidence.scores(FILES, found.opened)
    best = max(scores.values(), default=0.0)
    units = found.definitions.units
    found.definitions.evidence.put("file", {at: scores[unit.file] - best for at, unit in enumerate(units)})
    names = [f"{view.files()[unit.file]}:{unit.definition.name}" for unit in units]
    gold = frozenset(at for at, name in enumerate(names) if name in case.gold_functions)
    rows = _rows(found.definitions.evidence, DEFINITIONS, range(len(units)))
    return Issue(case.repo, rows, gold, [unit.file for unit in units], len(case.gold_functions))


def _rows(evidence: Evidence[int], model: Model, candidates: Sequence[int]) -> list[Row]:
    columns = [evidence.scaled(name, signal.scale, candidates) for name, signal in model.items()]
    return [tuple(column.get(candidate, 0.0) for column in columns) for candidate in candidates]


def without_each(issues: Sequence[Issue], model: Model) -> list[list[int]]:
    """The order of each issue's candidates, by weights that were fitted to the other projects alone."""
    orders: list[list[int]] = [[] for _ in issues]
    for repo in sorted({issue.repo for issue in issues}):
        weights = fit([issue for issue in issues if issue.repo != repo], model)
        for at, issue in enumerate(issues):
            if issue.repo == repo:
                orders[at] = order(issue, weights)
    return orders


def order(issue: Issue, weights: Sequence[float]) -> list[int]:
    """The candidates, best first."""
    scores = {at: _dot(row, weights) for at, row in enumerate(issue.rows)}
    return [at for at, _ in spread(scores, issue.files)]


def shares(issues: Sequence[Issue], orders: Sequence[list[int]], *, all_of: bool, at: Sequence[int]) -> list[float]:
    """The parts of the issues whose gold, all of it or any, stands among the first of the order."""
    found = []
    for first in at:
        hits = [len(issue.gold.intersection(best[:first])) for issue, best in zip(issues, orders, strict=True)]
        good = [hit == issue.wanted if all_of else hit > 0 for hit, issue in zip(hits, issues, strict=True)]
        found.append(sum(good) / max(1, len(issues)))
    return found


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--mirrors", type=Path, required=True, help="the folder of the repositories")
    parser.add_argument("--index", type=Path, help="where the index is kept (default: a temporary folder)")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        of_files, of_definitions = collect(
            views(read_cases(given.dataset), given.mirrors, given.index or Path(temporary))
        )
    _report("files", of_files, FILES, all_of=True, at=FILES_AT)
    _report("definitions", of_definitions, DEFINITIONS, all_of=False, at=(FUNCTIONS_AT,))


def _report(title: str, issues: Sequence[Issue], model: Model, *, all_of: bool, at: Sequence[int]) -> None:
    weights = fit(issues, model)
    print(f"{title}: " + ", ".join(f"{name} {weight:.2f}" for name, weight in zip(model, weights, strict=True)))
    fitted = [order(issue, weights) for issue in issues]
    for said, orders in (("fitted to all", fitted), ("fitted to the other projects", without_each(issues, model))):
        values = shares(issues, orders, all_of=all_of, at=at)
        print(f"  {said}: " + ", ".join(f"{share:.3f} at {first}" for share, first in zip(values, at, strict=True)))


if __name__ == "__main__":
    main()
