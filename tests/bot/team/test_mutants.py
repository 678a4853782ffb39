"""Small faults stay in the changed lines, parse, and differ."""

from __future__ import annotations

import ast

from bot.team.hunks import changed_lines
from bot.team.mutants import mutants
from repo_tools.tree import Tree
from tests.fakes.memory_base import MemoryBase

OLD = b"def f(a, b):\n    if a < b:\n        return a + 1\n    return b\n"
NEW = b"def f(a, b):\n    if a <= b and not a == 3:\n        return a + 2\n    return b\n"


def changed() -> Tree:
    return (
        Tree(MemoryBase({"m.py": OLD, "tests/test_m.py": b""}))
        .with_file("m.py", NEW)
        .with_file("tests/test_m.py", b"x = 1\n")
    )


def test_the_changed_lines_are_known() -> None:
    assert changed_lines(changed(), "m.py") == {2, 3}


def test_each_mutant_is_one_fault_in_a_changed_line_of_code() -> None:
    found = mutants(changed(), most=100)
    assert len(found) >= 6
    for one in found:
        assert one.path == "m.py"
        assert one.line in (2, 3)
        data = one.tree.read("m.py")
        ast.parse(data)
        rows = [
            number for number, (a, b) in enumerate(zip(NEW.split(b"\n"), data.split(b"\n"), strict=True), 1) if a != b
        ]
        assert rows == [one.line]


def test_there_are_not_more_than_wanted_and_the_same_each_time() -> None:
    assert len(mutants(changed(), most=3)) == 3
    assert [one.after for one in mutants(changed())] == [one.after for one in mutants(changed())]


def test_what_does_not_parse_or_is_not_python_has_none() -> None:
    tree = Tree(MemoryBase({"a.js": b"let x = 1\n", "b.py": b"x ="}))
    assert mutants(tree.with_file("a.js", b"let x = 2\n").with_file("b.py", b"y =")) == ()
