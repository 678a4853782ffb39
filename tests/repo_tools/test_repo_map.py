"""The map holds what matters most and never more than its budget."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_tools.index import Index
from repo_tools.ranking import rank
from repo_tools.regions import tokens
from repo_tools.repo_map import repo_map
from repo_tools.view import View
from tests.fakes.memory_base import memory_tree

FILES = {
    "kitchen/oven.py": b"""LIMIT = 250


class Oven(Device):
    shelves = 3

    def heat(self, degrees: int) -> None:
        self.degrees = degrees

    def cool(self) -> None:
        def fan():
            return 1

        fan()


def preheat(oven):
    oven.heat(180)
""",
    "kitchen/fridge.py": b"class Fridge:\n    def open(self):\n        pass\n",
    "tests/test_oven.py": b"def test_heat(): Oven().heat(9)\n",
}
ISSUE = "Oven is too hot\n`Oven.heat` heats above its limit"


def test_a_constant_is_in_it_if_the_issue_names_it(view: View) -> None:
    ranking = rank(view, "Too cold\nIs OVEN_LIMIT right, and what is `LIMIT`?")
    assert repo_map(view, ranking, 500).splitlines()[:2] == ["kitchen/oven.py", "    1 LIMIT = 250"]


@pytest.fixture
def view(tmp_path: Path) -> View:
    return Index.open(tmp_path).view(memory_tree(FILES))


def test_it_shows_signatures_of_the_best_files_first(view: View) -> None:
    assert repo_map(view, rank(view, ISSUE), 500) == (
        "kitchen/oven.py\n"
        "    4 class Oven(Device)\n"
        "    7   def heat(self, degrees: int) -> None\n"
        "   10   def cool(self) -> None\n"
        "   11     def fan()\n"
        "   17 def preheat(oven)\n"
        "kitchen/fridge.py\n"
        "    1 class Fridge\n"
        "    2   def open(self)\n"
    )


def test_with_little_room_the_best_definition_stands_in_its_class(view: View) -> None:
    assert repo_map(view, rank(view, ISSUE), 22) == (
        "kitchen/oven.py\n    4 class Oven(Device)\n    7   def heat(self, degrees: int) -> None\n"
    )


@pytest.mark.parametrize("budget", range(60))
def test_no_budget_is_overdrawn(view: View, budget: int) -> None:
    assert tokens(repo_map(view, rank(view, ISSUE), budget)) <= budget


def test_a_large_repository_fills_the_budget(tmp_path: Path) -> None:
    files = {
        f"app/part_{n}.py": b"".join(b"def handle_%d_%d(request): pass\n" % (n, m) for m in range(40))
        for n in range(30)
    }
    view = Index.open(tmp_path).view(memory_tree(files))
    found = repo_map(view, rank(view, "Requests\n`handle_7_3` handles no request"), 1000)
    assert 980 < tokens(found) <= 1000
    assert found.startswith("app/part_7.py\n")
