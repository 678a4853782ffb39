"""Test runs that measure a change rather than judge it, within a time of their own; and what they show of it.

Which of its lines run, and whether anything fails without each of its parts.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bot.publish.verdict import BAD
from bot.team.delivery import Attempt, Mark
from bot.team.evidence import Assignment, suite, with_tests
from bot.team.hunks import Hunk, changed_lines, code_files, hunks, named, unused_import, without
from bot.team.steps import Check, Step
from repo_tools.syntax import syntax_error
from repo_tools.tree import Tree
from sandbox.port import Lines, TestReport

MOST_PARTS = 8
MOST_SECONDS = 240.0
"""Of tests, for everything that is measured of a change: publishing it needs some of the run's time too."""
SUITE_SECONDS = 60.0
"""A suite that takes longer is not run again to measure; the tests in the changed files are."""
SHOWN = 3
ALL = "all tests"


@dataclass
class Trials:
    """Test runs on states near the one that `best` holds."""

    work: Assignment
    best: Attempt
    seconds: float = field(default=0.0, init=False)
    marks: list[Mark] = field(default_factory=list, init=False)
    """What was found that stands at certain lines."""

    @property
    def own(self) -> tuple[str, ...]:
        """The test files of the change."""
        return with_tests(self.best.tree)

    @property
    def over(self) -> bool:
        """Whether the time for measuring is spent."""
        return self.seconds >= MOST_SECONDS

    @property
    def affordable(self) -> bool:
        """Whether the whole suite may run once more."""
        return self.best.after.result.seconds <= SUITE_SECONDS and not self.over

    def run(
        self, tree: Tree, reason: str, selection: tuple[str, ...], watch: tuple[str, ...] = ()
    ) -> Generator[Step, Any, TestReport]:
        """One run, whose time counts."""
        report: TestReport = yield Check(tree, reason, selection, watch)
        self.seconds += report.result.seconds
        return report

    def fails(self, tree: Tree, reason: str, selection: tuple[str, ...]) -> Generator[Step, Any, bool]:
        """Whether a test fails on `tree` that neither failed before the change nor is unsteady."""
        report = yield from self.run(tree, reason, selection)
        known = self.work.known_bad | set(self.best.verdict.flaky)
        return not report.tests or bool(report.having(*BAD) - known)


def lines_run(trials: Trials, tree: Tree) -> Generator[Step, Any, dict[str, Lines] | None]:
    """Of each changed file of code, the lines that run: under the tests of the change, then, if some do not, under all.

    None if the runner cannot tell, or its suite takes too long.
    """
    files, found = code_files(tree), dict[str, Lines]()
    runs = [(trials.own, "the tests in the changed files")] if trials.own else []
    for selection, which in [*runs, (suite(trials.work, tree), ALL)]:
        if which == ALL and not trials.affordable:
            break
        report = yield from trials.run(tree, f"which changed lines run under {which}", selection, files)
        if report.lines is None:
            break
        for path, one in report.lines.items():
            was = found.get(path, one)
            found[path] = Lines(was.able | one.able, was.ran | one.ran)
        if not missing(tree, found):
            break
    return found or None


def missing(tree: Tree, lines: Mapping[str, Lines]) -> list[str]:
    """The changed lines that can run and did not, as `path:line`."""
    return [
        f"{path}:{line}"
        for path, one in sorted(lines.items())
        for line in sorted(changed_lines(tree, path) & (one.able - one.ran))
    ]


def marked(tree: Tree, lines: Mapping[str, Lines] | None) -> list[Mark]:
    """The changed lines that did not run, those that follow each other together."""
    found: list[Mark] = []
    for place in missing(tree, lines or {}):
        path, _, number = place.rpartition(":")
        last = found[-1] if found else None
        if last is not None and (last.path, last.last + 1) == (path, int(number)):
            found[-1] = replace(last, last=int(number))
        else:
            found.append(Mark(path, int(number), int(number), "No test runs this."))
    return found


def told_lines(tree: Tree, lines: Mapping[str, Lines] | None) -> str:
    """A sentence on which of the changed lines run under the tests; empty if none of them is such that it runs."""
    if not code_files(tree):
        return ""
    if lines is None:
        return (
            "Which changed lines run under the tests was not measured: their runner does not tell, or takes too long."
        )
    able = sum(len(changed_lines(tree, path) & one.able) for path, one in lines.items())
    left = missing(tree, lines)
    if left:
        return f"{able - len(left)} of {able} changed lines run under the tests; not: {listed(left)}."
    return f"All changed lines that can run ({able}) do so under the tests." if able else ""


@dataclass(frozen=True)
class Parts:
    """What became of the parts of a change when each was taken back."""

    number: int
    tried: int = 0
    idle: tuple[Hunk, ...] = ()
    """Nothing fails without them. That alone is no reason to take them out: tests do not tell everything."""
    spare: tuple[Hunk, ...] = ()
    """Nothing fails without all of them, and a reader of the issue found them needless, too."""
    tree: Tree | None = None
    """The change without what is spare."""
    whole: bool = True
    """Whether the whole suite ran wherever the tests in the changed files did not fail."""

    @property
    def told(self) -> str:
        """A sentence; empty if none was tried."""
        if not self.tried:
            return ""
        which = f"the {self.number} parts" if self.tried == self.number else f"{self.tried} of the {self.number} parts"
        if not self.idle:
            return f"Without any one of {which} of the change, tests fail."
        rest = "" if self.whole else " that was run"
        return f"Of {which} of the change, no test{rest} fails without {listed_parts(self.idle)}."


def parts(trials: Trials) -> Generator[Step, Any, Parts]:
    """Take back each part of the change in turn. What is spare stays away while the next ones are tried.

    With it goes an import that nothing uses any more.
    """
    needless = trials.best.challenge.unneeded if trials.best.challenge else []
    tree = trials.best.tree
    found = hunks(tree)
    if len(found) < 2:  # the new tests, which fail without the change, tell already
        return Parts(len(found))
    idle, spared, tried, whole = list[Hunk](), list[Hunk](), 0, not trials.work.baseline.sample
    # From the end of each file, so that what is away moves nothing that is still to be tried.
    for part in reversed(found[:MOST_PARTS]):
        if trials.over:
            break
        tried, whole = tried + 1, whole and trials.affordable
        bare = without(tree, part)
        if (yield from _needed(trials, bare, part)):
            continue
        if named(part, needless) or (spared and unused_import(tree, part)):
            spared.append(part)
            tree = bare
        else:
            idle.append(part)
    return Parts(len(found), tried, tuple(idle), tuple(spared), tree, whole)


def _needed(trials: Trials, bare: Tree, part: Hunk) -> Generator[Step, Any, bool]:
    if bare.exists(part.path) and syntax_error(part.path, bare.read(part.path)) is not None:
        return True
    if (yield from trials.fails(bare, f"the change without {part.place}", trials.own)):
        return True
    return trials.affordable and (
        yield from trials.fails(bare, f"the change without {part.place}, under {ALL}", suite(trials.work, bare))
    )


def listed(places: Sequence[str]) -> str:
    """The first few, and how many more."""
    more = f" and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
    return ", ".join(f"`{place}`" for place in places[:SHOWN]) + more


def listed_parts(found: Sequence[Hunk]) -> str:
    """Where parts are, from the top."""
    return listed([part.place for part in sorted(found, key=lambda part: (part.path, part.first))])
