"""The places that a check run points at: files that are there, lines that are in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.publish.objection import Objection
from bot.publish.pointers import MOST, place_of, pointers
from bot.publish.verdict import Verdict, baseline, judge
from bot.team.delivery import Mark
from repo_tools.checkout import open_local
from repo_tools.tree import Tree
from sandbox.port import Result, TestOutcome, TestReport
from tests.journeys.harness import repository

OLD = "def test_old():\n    assert size() == 1\n"
NEW = "\n\ndef test_new():\n    assert size() == 2\n\n\n"
MANY = "@pytest.mark.parametrize('n', [1, 2])\ndef test_many(n):\n    pass\n"
FILES = {"setup.cfg": "[a]\nb = 1\n", "tests/test_a.py": OLD, "size_test.go": "package a\n\nfunc TestSize() {}\n"}
PASSED, FAILED = TestOutcome.PASSED, TestOutcome.FAILED
A = "tests/test_a.py"


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Tree]:
    with open_local(repository(tmp_path / "repo", FILES)) as there:
        base = Tree(there.resolve())
        yield base.with_file(A, (OLD + NEW + MANY).encode()).with_file("setup.cfg", b"[a]\nb = 2\n")


def report(tests: dict[str, TestOutcome], messages: dict[str, str] | None = None) -> TestReport:
    return TestReport(tests, messages or {}, Result(0, "", 1.0))


def judged(after: TestReport, without: TestReport) -> Verdict:
    before = baseline(report({f"{A}::test_old": PASSED, "TestSize": PASSED}))
    return judge(before, after, own=[A], own_without=without, stated="the size is wrong")


def test_failures_are_shown_where_they_failed_and_new_tests_where_they_begin(tree: Tree) -> None:
    said = f"def test_old():\n>   assert size() == 1\nE   assert 2 == 1\nlib/x.py:99: in y\n{A}:2: AssertionError"
    after = report(
        {
            f"{A}::test_old": FAILED,
            f"{A}::test_new": PASSED,
            f"{A}::test_many[1]": PASSED,
            f"{A}::test_many[2]": PASSED,
        },
        {f"{A}::test_old": said},
    )
    alone = {f"{A}::test_old": PASSED, f"{A}::test_new": FAILED}
    alone |= {f"{A}::test_many[{n}]": FAILED for n in (1, 2)}
    texts = {test: "E   assert 1 == 2" for test, outcome in alone.items() if outcome is FAILED}
    objections = [
        Objection("setup.cfg", "manifest", "`setup.cfg` was changed.", False),
        Objection("", "size", "!", False),
    ]
    marks = [Mark("setup.cfg", 1, 2, "No test runs this."), Mark("gone.py", 1, 1, "No test runs this.")]
    found = pointers(tree, judged(after, report(alone, texts)), after, objections, marks)
    assert [(it.path, it.first_line, it.level, it.title) for it in found] == [
        (A, 2, "failure", f"Passed before, fails now: {A}::test_old"),
        ("setup.cfg", 2, "warning", "To be looked at: manifest"),
        ("setup.cfg", 1, "warning", "Not shown by a test"),
        (A, 10, "notice", "Fails without the change"),
        (A, 5, "notice", "Fails without the change"),
    ]
    assert found[0].message == "assert 2 == 1"
    assert found[-1].message == f"{A}::test_new, without it: assert 1 == 2"


@pytest.mark.parametrize(
    ("test", "message", "place"),
    [
        ("TestSize", "    size_test.go:3: wrong", ("size_test.go", 3)),
        ("TestSize", "", None),
        ("TestSize", "/usr/lib/go/x.go:3: wrong", None),
        (f"{A}::Gone::test_gone", "", (A, 1)),
        (A, "", (A, 1)),
        ("tests/test_none.py::test_a", "", None),
    ],
)
def test_a_place_that_is_not_in_the_files_is_none(
    tree: Tree, test: str, message: str, place: tuple[str, int] | None
) -> None:
    assert place_of(tree, test, message) == place


def test_there_are_never_more_than_somebody_reads(tree: Tree) -> None:
    tests = {f"{A}::test_{number}": FAILED for number in range(200)}
    after = report(tests, dict.fromkeys(tests, f"E   boom\n{A}:1: X"))
    assert len(pointers(tree, judged(after, report(tests)), after, [])) == MOST
