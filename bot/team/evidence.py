"""Proving a state: the whole suite on it, what failed once more, the new tests without the change; then the verdict."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bot.publish import security
from bot.publish.gate import Policy, objections
from bot.publish.objection import Objection
from bot.publish.verdict import BAD, Baseline, Level, Verdict, judge
from bot.task import Task
from bot.team.roles import Plan
from bot.team.steps import Check, Step
from repo_tools.file_kinds import FileKind, kinds
from repo_tools.test_files import is_test, serves_tests
from repo_tools.tree import Tree
from sandbox.port import TestOutcome, TestReport

WHOLE_SUITE = "the whole suite on the changed code"
RERUN_LIMIT = 40
"""More failures than these are a break, not flakiness: they are not run again."""


@dataclass(frozen=True)
class Assignment:
    """What a strategy starts from."""

    task: Task
    tree: Tree
    baseline: Baseline
    hints: str = ""
    """Where to look, for the first reader."""
    examples: str = ""
    """Excerpts of the test files nearest to the issue."""
    supports: str = ""
    """The versions of its language that the project says it supports, in its own words."""
    changelog: str = ""
    """Whether the project wants a line in its changelog, and where."""
    rules: str = ""
    """How the project wants code to be written, as it says to agents."""
    policy: Policy = field(default_factory=Policy)

    @property
    def known_bad(self) -> frozenset[str]:
        """What fails, or is flaky, before anybody has changed anything."""
        return self.baseline.report.having(*BAD) | self.baseline.flaky


def prove(
    work: Assignment, tree: Tree, stated: str, known: dict[str, TestReport], more: Sequence[Objection] = ()
) -> Generator[Step, Any, tuple[Verdict, TestReport]]:
    """Run what is needed to judge `tree`, and judge it; the report is of the whole suite.

    `stated` is why the new tests should fail without the change; `more` speaks against the state beside the gate.

    `known` keeps the runs of test files without the change, so that the same files are not run twice.
    """
    files = test_files(tree)
    after: TestReport = yield Check(tree, WHOLE_SUITE, suite(work, tree))
    failing = sorted(after.having(*BAD) - work.known_bad)
    again: TestReport | None = None
    if 0 < len(failing) <= RERUN_LIMIT and after.having(TestOutcome.PASSED):
        again = yield from _again(tree, failing)
    without = yield from alone(tree, known)
    verdict = judge(
        work.baseline,
        after,
        own=files,
        own_without=without,
        stated="\n".join([work.task.title, work.task.body, *(one.body for one in work.task.comments), stated]),
        again=again,
        objections=[*objections(tree, files, work.policy), *work.baseline.objections, *more],
    )
    return verdict, after


def _again(tree: Tree, failing: Sequence[str]) -> Generator[Step, Any, TestReport]:
    """What failed, alone; what passes then, in the company of its file: a test that fails there again is no chance."""
    alone: TestReport = yield Check(tree, "what failed, run again", tuple(failing))
    better = alone.having(TestOutcome.PASSED) & set(failing)
    files = tuple(sorted({test.partition("::")[0] for test in better if "::" in test}))
    if not files:
        return alone
    together: TestReport = yield Check(tree, "what passed alone, in the company of its file", files)
    worse = {test: outcome for test, outcome in together.tests.items() if test in better and outcome in BAD}
    return replace(alone, tests={**alone.tests, **worse}, messages={**together.messages, **alone.messages})


def suite(work: Assignment, tree: Tree) -> tuple[str, ...]:
    """What stands for the whole suite: nothing selected, or, where it is too long, a part of it and what the change
    tests."""
    sample = work.baseline.sample
    return tuple(path for path in dict.fromkeys([*sample, *with_tests(tree)]) if sample and tree.exists(path))


def for_a_person(work: Assignment, tree: Tree, verdict: Verdict) -> bool:
    """Whether nothing but what a person has to look at, such as a changed test, keeps a state from being ready.

    Another round could not mend that: it is shown as it is. A weakness that the change brings can be mended.
    """
    if verdict.level is not Level.DRAFT:
        return False
    found = [*objections(tree, test_files(tree), work.policy), *work.baseline.objections]
    soft = {one.text for one in found if not one.blocks and one.rule != security.RULE}
    return set(verdict.reasons) <= soft or (only_words(tree) and _harmless(verdict))


def only_words(tree: Tree) -> bool:
    """Whether nothing but documentation is changed, and perhaps tests: no test can fail for want of words."""
    paths = sorted(set(tree.patch.files) - test_files(tree))
    return bool(paths) and all(kind is FileKind.DOCS for kind in kinds(paths))


def _harmless(verdict: Verdict) -> bool:
    """Whether nothing is lost or fails that did not before."""
    return not (verdict.lost or verdict.muted or verdict.new_failures) and all(test.passes for test in verdict.own)


def alone(tree: Tree, known: dict[str, TestReport]) -> Generator[Step, Any, TestReport | None]:
    """The report of the test files that `tree` changes, without its other changes; run once for the same files.

    None if it has no such file with tests in it, because it changes none or deletes them.
    """
    files = test_files(tree)
    bare = tree.only(files)
    present = with_tests(bare)
    if not present:
        return None
    key = repr(sorted((path, bare.patch.files[path]) for path in files))
    if key not in known:
        known[key] = yield Check(bare, "the new tests on the unchanged code", present)
    return known[key]


def asks_for_tests(plan: Plan | None) -> bool:
    """Whether a plan names nothing but test files: the issue then asks for tests alone."""
    regions = [region for task in plan.subtasks for region in task.regions] if plan else []
    named = [*(region.partition(":")[0].strip() for region in regions), *(plan.new_files if plan else ())]
    return bool(named) and all(is_test(path) for path in named)


def test_files(tree: Tree) -> frozenset[str]:
    """The test files that `tree` changes."""
    return frozenset(path for path in tree.patch.files if is_test(path))


def with_tests(tree: Tree) -> tuple[str, ...]:
    """Those of them that are there to be run: given a file of data, a runner may run nothing at all."""
    return tuple(path for path in sorted(test_files(tree)) if tree.exists(path) and not serves_tests(path))
