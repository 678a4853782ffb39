"""What is run to prove a state: no more than tells something."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bot.publish.verdict import baseline
from bot.team.evidence import WHOLE_SUITE, Assignment, prove, suite
from bot.team.loop import perform
from repo_tools.tree import Tree
from tests.bot.team.test_self_collaboration import CODE, NEW_TEST, OLD, TASK, TESTS, really
from tests.fakes.memory_base import MemoryBase
from tests.fakes.stage import Stage, report

TREE = Tree(MemoryBase({"calc.py": CODE.encode(), "tests/test_calc.py": TESTS.encode(), "tests/test_b.py": b""}))
FIXED = TREE.with_file("calc.py", CODE.replace("//", "/").encode())
NEW = FIXED.with_file("tests/test_calc.py", (TESTS + NEW_TEST).encode())


@pytest.mark.parametrize(
    ("tree", "alone"),
    [
        (FIXED, []),
        (FIXED.without_file("tests/test_b.py"), []),
        (NEW, [("tests/test_calc.py",)]),
        (NEW.without_file("tests/test_b.py"), [("tests/test_calc.py",)]),
        (NEW.with_file("tests/data/case.json", b"{}").with_file("tests/conftest.py", b""), [("tests/test_calc.py",)]),
        (FIXED.with_file("tests/data/case.json", b"{}"), []),
    ],
    ids=["no tests", "deleted tests", "new tests", "new and deleted tests", "tests and what they need", "data alone"],
)
def test_new_tests_alone_are_run_without_the_change(tmp_path: Path, tree: Tree, alone: list[tuple[str, ...]]) -> None:
    stage = Stage(tmp_path, {}, really)
    perform(prove(Assignment(TASK, TREE, baseline(report([OLD]))), tree, "", {}), stage)
    assert [selection for _, selection, why in stage.checked if why != WHOLE_SUITE] == alone


def test_a_part_of_a_suite_is_run_with_the_new_tests_and_not_with_their_data() -> None:
    work = Assignment(TASK, TREE, replace(baseline(report([OLD])), sample=("tests/test_b.py",)))
    tree = NEW.with_file("tests/data/case.json", b"{}").with_file("tests/__init__.py", b"")
    assert suite(work, tree) == ("tests/test_b.py", "tests/test_calc.py")
