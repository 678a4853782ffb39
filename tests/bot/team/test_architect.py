"""Project mode: what is new and has several files is designed first, made whole, and held to its design."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.publish.verdict import Level, baseline
from bot.task import Task
from bot.team.architect import Architecture, NewFile, objection, shortfalls
from bot.team.delivery import Delivery
from bot.team.evidence import Assignment
from bot.team.loop import perform
from bot.team.strategies.self_collaboration import self_collaboration
from repo_tools.tree import Tree
from sandbox.port import TestReport
from tests.bot.team.test_self_collaboration import CHANGE, REVIEW, brief
from tests.fakes.memory_base import MemoryBase
from tests.fakes.stage import Stage, call, reply, report

OLD, NEW = "tests/test_calc.py::test_even", "tests/test_shapes.py::test_area"
BASE = {"calc.py": b"def half(number):\n    return number / 2\n", "tests/test_calc.py": b"def test_even(): pass\n"}
TASK = Task("calc", "Create a package shapes", "Create a package `shapes` with area(Square(2)) == 4", "0" * 40)
PLAN = {
    "decision": "change",
    "diagnosis": "There is no package shapes yet.",
    "subtasks": [{"title": "make it", "regions": ["shapes/__init__.py:1-1"], "change": "a package of three files"}],
    "new_files": ["shapes/__init__.py", "shapes/model.py", "shapes/area.py"],
}
DESIGN = {
    "files": [
        {"path": "shapes/__init__.py", "purpose": "What the package offers", "interface": ["area", "class Square"]},
        {"path": "shapes/model.py", "purpose": "Shapes as values", "interface": ["class Square"]},
        {"path": "shapes/area.py", "purpose": "Their areas", "interface": ["def area(shape: Square) -> int"]},
    ],
    "data_flow": "area() takes a Square of model.py and gives a number.",
}
FILES = {
    "shapes/__init__.py": "from shapes.area import area\nfrom shapes.model import Square\n",
    "shapes/model.py": "class Square:\n    def __init__(self, side):\n        self.side = side\n",
    "shapes/area.py": "def area(shape):\n    return shape.side**2\n",
}
ADD_TEST = call("create", path="tests/test_shapes.py", text="def test_area():\n    assert area(Square(2)) == 4\n")


def create(*paths: str) -> list[Any]:
    return [call("create", path=path, text=FILES[path]) for path in paths]


def shown_by(tree: Tree, selection: tuple[str, ...]) -> TestReport:
    if not tree.exists("tests/test_shapes.py"):
        return report([OLD])
    there = all(tree.exists(path) for path in FILES)
    return report([OLD, NEW]) if there else report([OLD], {NEW: "ModuleNotFoundError: No module named 'shapes'"})


GOOD = {
    "analyst-1": [reply(call("submit", **PLAN))],
    "architect-1": [reply(call("submit", **DESIGN))],
    "coder-1": [reply(*create(*FILES), call("submit", **CHANGE))],
    "tester-1": [reply(ADD_TEST, call("run_tests")), reply(call("submit", **REVIEW))],
}


def played(folder: Path, scripts: dict[str, Any], **options: Any) -> tuple[Stage, Delivery]:
    stage = Stage(folder, scripts, shown_by)
    work = Assignment(TASK, Tree(MemoryBase(BASE)), baseline(report([OLD])))
    delivery: Delivery = perform(self_collaboration(work, **options), stage)
    return stage, delivery


def test_a_package_is_designed_made_in_several_files_and_proved(tmp_path: Path) -> None:
    stage, delivery = played(tmp_path, GOOD)
    assert stage.agents == ["analyst-1", "architect-1", "coder-1", "tester-1"]
    assert delivery.best is not None
    new = [path for path in delivery.best.tree.patch.files if path not in BASE]
    assert set(FILES) <= set(new)
    assert delivery.best.verdict.level in (Level.READY, Level.DRAFT)
    assert not [reason for reason in delivery.best.verdict.reasons if "design" in reason]
    assert "area() takes a Square" in brief(stage, "coder-1")
    assert "def area(shape: Square) -> int" in brief(stage, "tester-1")
    assert delivery.board.last("architecture") == Architecture(**DESIGN)


def test_what_is_changed_in_few_files_needs_no_architect(tmp_path: Path) -> None:
    scripts = GOOD | {"analyst-1": [reply(call("submit", **(PLAN | {"new_files": ["shapes.py"]})))]}
    stage, _ = played(tmp_path, scripts)
    assert "architect-1" not in stage.agents


def test_without_an_analyst_there_is_no_architect(tmp_path: Path) -> None:
    stage, _ = played(tmp_path, GOOD, roles=frozenset({"coder"}), rounds=1)
    assert stage.agents == ["coder-1"]


def test_the_coder_cannot_hand_over_less_than_the_design(tmp_path: Path) -> None:
    first, *others = FILES
    scripts = GOOD | {
        "coder-1": [
            reply(*create(first), call("submit", **CHANGE)),
            reply(*create(*others), call("submit", **CHANGE)),
        ]
    }
    stage, delivery = played(tmp_path, scripts)
    refused = [text for who, _, text, ok in stage.answers if who == "coder-1" and not ok]
    assert "`shapes/model.py`, which was not made" in refused[0]
    assert delivery.best is not None
    assert delivery.best.tree.exists("shapes/area.py")


def test_a_coder_who_finds_the_design_wrong_sends_it_back_to_the_analyst(tmp_path: Path) -> None:
    fault = CHANGE | {"plan_fault": "a shapes package exists in another place"}
    scripts = GOOD | {
        "coder-1": [reply(call("submit", **fault))],
        "analyst-2": GOOD["analyst-1"],
        "architect-2": GOOD["architect-1"],
        "coder-2": GOOD["coder-1"],
    }
    stage, _ = played(tmp_path, scripts)
    assert stage.agents == ["analyst-1", "architect-1", "coder-1", "analyst-2", "architect-2", "coder-2", "tester-1"]


def test_what_falls_short_of_the_design_is_a_draft(tmp_path: Path) -> None:
    scripts = GOOD | {"coder-1": [reply(*create(*list(FILES)[:2]))] + [reply(text="done")] * 3}
    _, delivery = played(tmp_path, scripts, rounds=1)
    assert delivery.best is not None
    assert delivery.best.verdict.level is Level.DRAFT
    assert "The design has a file `shapes/area.py`, which was not made." in delivery.best.verdict.reasons


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("calc.py", "exists"),
        ("tests/test_new.py", "is a test"),
        ("../away.py", "cannot be a file"),
        ("shapes/model.py", "is there twice"),
    ],
)
def test_a_design_of_other_files_is_sent_back(path: str, said: str) -> None:
    design = Architecture(**DESIGN)
    more = design.model_copy(update={"files": [*design.files, NewFile(path=path, purpose="something else")]})
    assert objection(design, Tree(MemoryBase(BASE))) == ""
    assert said in objection(more, Tree(MemoryBase(BASE)))


@pytest.mark.parametrize(
    ("path", "text", "interface"),
    [
        ("a.py", "class A:\n    def f(self): ...\n\nLIMIT: int = 3\n", ["class A", "def f(self) -> None", "LIMIT"]),
        ("a.js", "export const half = (n) => n / 2\nfunction f() {}\n", ["const half", "function f()"]),
        ("a.go", "package a\n\ntype Box struct{}\n\nfunc (b Box) Open() {}\n", ["type Box", "func (b Box) Open()"]),
        ("a.conf", "limit = 3\n", ["limit"]),
        ("a.py", "x = 1\n", ["", "   "]),
    ],
)
def test_interfaces_are_found_in_what_was_made(path: str, text: str, interface: list[str]) -> None:
    design = Architecture(
        files=[NewFile(path=path, purpose="one of each kind", interface=interface)],
        data_flow="from here to there, always",
    )
    tree = Tree(MemoryBase(BASE)).with_file(path, text.encode())
    assert shortfalls(design, tree) == ()
    absent = design.model_copy(update={"files": [design.files[0].model_copy(update={"interface": ["class Nothing"]})]})
    assert "lacks what the design has there: `Nothing`" in shortfalls(absent, tree)[0].text
