"""The suite on the unchanged code: what fails there again, and which part of it is run if it is too long."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from bot.publish.verdict import BAD, Baseline, baseline
from repo_tools.languages import language_of
from repo_tools.test_files import is_test
from repo_tools.tree import Tree
from sandbox.port import TestOutcome, TestReport
from sandbox.proving import Proof

RERUN_LIMIT = 200
"""More baseline failures than these are not run again: that is a broken suite, not a flaky one."""
FIRST, MOST_RUNS = 4, 12
"""Test files in the first part of a suite that is too long; parts that are tried."""
SHARE = 0.4
"""Of the seconds that one run may take, for what is run of such a suite: with a change it may take longer."""
LARGEST = 200_000
"""Bytes; what a test file mentions is looked for in no larger one."""

Run = Callable[[tuple[str, ...], str], TestReport]
"""Runs a selection of the tests of the unchanged code, for a reason."""


def starting_point(proof: Proof, tree: Tree, near: Sequence[str], run: Run, seconds: float) -> Baseline:
    """The baseline of a run. `near` are the files that the change will likely be in, `seconds` limits one test run."""
    first = Baseline(proof.report)
    if not proof.whole:
        part = sampled(nearest(tree, near), lambda files: run(files, "a part of a suite that is too long"), seconds)
        first = part or first
    failing = tuple(sorted(first.report.having(*BAD)))
    if not 0 < len(failing) <= RERUN_LIMIT:
        return first
    again = baseline(first.report, run(failing, "what fails before any change, again"))
    return replace(first, flaky=again.flaky)


def nearest(tree: Tree, near: Sequence[str]) -> list[str]:
    """The test files of a tree, those first that are named after one of the files `near`, or mention it."""
    tests = [path for path in tree.entries() if is_test(path) and language_of(path) and _may_hold_tests(path)]
    return sorted(tests, key=lambda path: (-_nearness(tree, path, near), path))


def _may_hold_tests(path: str) -> bool:
    name = posixpath.basename(path)
    return re.search(r"test|spec", name, re.IGNORECASE) is not None and not name.startswith(("conftest.", "__init__."))


def _nearness(tree: Tree, test: str, near: Sequence[str]) -> float:
    text = tree.read(test)[:LARGEST].decode("utf-8", "replace")
    name = _stem(test)
    found = 0.0
    for position, path in enumerate(near):
        stem = _stem(path)
        module = posixpath.splitext(path)[0].removeprefix("src/").removeprefix("lib/")
        mentions = module.replace("/", ".") in text or module in text
        called = stem == name or (len(stem) > 2 and stem in name)
        worth = (
            4 * (test == path) + 4 * called + 2 * mentions + (re.search(rf"\b{re.escape(stem)}\b", text) is not None)
        )
        found += worth / (1 + position)
    return found


def _stem(path: str) -> str:
    """The name of a file without its end and what marks it as a test."""
    name = re.sub(r"\.[^.]*$", "", posixpath.basename(path))
    return re.sub(r"^tests?[_-]|[._-](tests?|spec)$|Tests?$|^Test(?=[A-Z])", "", name).strip("_")


def sampled(files: Sequence[str], run: Callable[[tuple[str, ...]], TestReport], seconds: float) -> Baseline | None:
    """Run files from the first on, part by part, while there is time; `None` if no part of them ends with a pass.

    A part that does not end is tried again smaller; a file that does not end alone is left out.
    """
    chosen: list[str] = []
    reports: list[TestReport] = []
    at, size, spent = 0, FIRST, 0.0
    for _ in range(MOST_RUNS):
        part = tuple(files[at : at + size])
        if not part or spent > SHARE * seconds:
            break
        report = run(part)
        spent += report.result.seconds
        if report.result.ended == "exit":
            chosen += part
            reports.append(report)
            at, size = at + size, size * 2
        else:
            at, size = (at + 1, 1) if size == 1 else (at, max(1, size // 4))
    whole = _together(reports)
    if whole is None or not whole.having(TestOutcome.PASSED):
        return None
    return Baseline(whole, sample=tuple(chosen), left_out=tuple(file for file in files if file not in set(chosen)))


def _together(reports: Sequence[TestReport]) -> TestReport | None:
    """Several reports as one."""
    if not reports:
        return None
    tests = {test: outcome for report in reports for test, outcome in report.tests.items()}
    messages = {test: text for report in reports for test, text in report.messages.items()}
    worst = next((report.result for report in reports if report.result.exit_code != 0), reports[-1].result)
    return TestReport(tests, messages, worst)
