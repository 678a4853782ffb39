"""The first look shows the likely code once, and the tests beside it."""

from __future__ import annotations

from pathlib import Path

from bot.task import Task
from bot.team.scout import CODE_LINES, scout, spans, without_code
from repo_tools.index import Index
from repo_tools.ranking import Hit
from repo_tools.tree import Tree
from tests.fakes.memory_base import MemoryBase

FILES = {
    "calc/halves.py": b'"""Halves."""\n\n\ndef half(number):\n    """Half of a number."""\n    return number // 2\n',
    "calc/other.py": b"def unrelated():\n    return 'nothing'\n",
    "tests/test_halves.py": b"from calc.halves import half\n\n\ndef test_half():\n    assert half(4) == 2\n",
}


def hit(path: str, first: int, last: int, score: float) -> Hit:
    return Hit(path, first, last, "f", score, "why")


def test_the_code_that_the_issue_names_is_shown_with_lines_and_why(tmp_path: Path) -> None:
    view = Index.open(tmp_path).view(Tree(MemoryBase(FILES)))
    seen = scout(view, Task("calc", "half(3) is wrong", "`half(3)` gives 1", "0" * 40))
    assert "- calc/halves.py: " in seen.hints
    assert "6\t    return number // 2" in seen.hints
    assert '1\t"""Halves."""' in seen.hints
    assert "def half(number)" in seen.hints
    assert "def test_half" in seen.examples
    assert "test_halves" not in seen.hints
    short = without_code(seen.hints)
    assert "- calc/halves.py: " in short
    assert "def half(number)" in short
    assert "return number" not in short
    assert without_code(short) == short


def test_nothing_is_shown_twice_and_a_file_s_parts_stand_in_order() -> None:
    hits = [
        hit("a.py", 50, 60, 9),
        hit("a.py", 45, 90, 8),
        hit("b.py", 1, 5, 7),
        hit("a.py", 10, 20, 6),
        hit("a.py", 55, 56, 5),
    ]
    assert spans(hits) == [("a.py", 10, 20), ("a.py", 50, 60), ("b.py", 1, 5)]


def test_what_lies_between_two_parts_is_shown_if_it_is_little() -> None:
    assert spans([hit("a.py", 1, 10, 9), hit("a.py", 14, 20, 8), hit("a.py", 40, 50, 7)]) == [
        ("a.py", 1, 20),
        ("a.py", 40, 50),
    ]


def test_a_long_docstring_is_passed_over(tmp_path: Path) -> None:
    docs = "".join(f"    Words of line {number}.\n" for number in range(50))
    filler = "".join(f"def other_{n}():\n    return {n}\n\n\n" for n in range(30))
    text = f'def half(number):\n    """Half.\n\n{docs}    """\n    return number // 2\n\n\n{filler}'
    view = Index.open(tmp_path).view(Tree(MemoryBase({"calc.py": text.encode()})))
    shown = scout(view, Task("calc", "half(3) is wrong", "`half(3)` gives 1", "0" * 40)).hints
    assert "return number // 2" in shown
    assert "def half(number)" in shown
    assert "Words of line 30" not in shown


def test_what_is_much_worse_than_the_best_or_does_not_fit_is_left_out() -> None:
    hits = [hit("a.py", 1, 20, 10), hit("b.py", 1, 20, 0.5), *(hit(f"c{n}.py", 1, 80, 9) for n in range(10))]
    shown = spans(hits)
    assert ("b.py", 1, 20) not in shown
    assert sum(last - first + 1 for _, first, last in shown) <= CODE_LINES


def test_of_a_class_its_beginning_is_shown_and_of_its_methods_those_that_matter(tmp_path: Path) -> None:
    methods = [f"    def step_{n}(self):\n        return {n}\n" for n in range(40)]
    text = 'class Machine:\n    """Steps."""\n\n' + "\n".join(methods)
    view = Index.open(tmp_path).view(Tree(MemoryBase({"m.py": text.encode(), "o.py": b"x = 1\n"})))
    shown = scout(view, Task("m", "Machine.step_31 is wrong", "`Machine().step_31()` gives 31", "0" * 40)).hints
    assert "1\tclass Machine:" in shown
    assert "return 31" in shown
    assert "return 17" not in shown


def test_with_a_class_its_bases_are_shown(tmp_path: Path) -> None:
    filler = "".join(f"def other_{n}():\n    return {n}\n\n\n" for n in range(30))
    text = f"class Base(Exception):\n    text = 'told'\n\n\n{filler}class Special(Base):\n    pass\n"
    view = Index.open(tmp_path).view(Tree(MemoryBase({"errors.py": text.encode()})))
    shown = scout(view, Task("m", "Special has no message", "`str(Special())` is empty", "0" * 40)).hints
    assert "text = 'told'" in shown
    assert "return 17" not in shown


def test_an_empty_repository_gives_no_hints_that_mislead(tmp_path: Path) -> None:
    view = Index.open(tmp_path).view(Tree(MemoryBase({"readme.md": b"# nothing\n"})))
    seen = scout(view, Task("calc", "it is wrong", "", "0" * 40))
    assert "Likely code" not in seen.hints
    assert seen.examples == ""
