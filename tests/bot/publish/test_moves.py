"""Files that a patch moves are found again."""

from __future__ import annotations

from bot.publish.moves import moved_files
from repo_tools.patch import FileState, Patch
from repo_tools.tree import Tree
from tests.bot.publish.test_gate import tree

LINES = "".join(f"line {number}\n" for number in range(20))


def test_a_moved_file_is_found_by_what_it_holds() -> None:
    changed = LINES.replace("line 3\n", "line three\n")
    moves = moved_files(tree({"a.py": LINES, "b.py": "other\n"}, {"a.py": None, "c.py": changed, "d.py": "new\n"}))
    assert moves == {"a.py": "c.py"}


def test_the_most_alike_of_several_is_taken_and_each_once() -> None:
    near = LINES + "more\n"
    patch = {"a.py": None, "b.py": None, "x/a.py": LINES, "x/b.py": near}
    assert moved_files(tree({"a.py": LINES, "b.py": near}, patch)) == {"a.py": "x/a.py", "b.py": "x/b.py"}


def test_copies_and_rewritten_files_are_not_moved() -> None:
    assert moved_files(tree({"a.py": LINES}, {"b.py": LINES})) == {}
    assert moved_files(tree({"a.py": LINES}, {"a.py": None, "b.py": "something else\n" * 20})) == {}
    assert moved_files(tree({"a.py": LINES, "b.py": "x\n"}, {"a.py": None, "b.py": LINES})) == {}


def test_binary_and_empty_files() -> None:
    base = tree({"a.bin": b"\0\1\2", "empty": ""}, {}).base
    patch = Patch({"a.bin": None, "empty": None, "b.bin": FileState(b"\0\1\2"), "none": FileState(b"")})
    assert moved_files(Tree(base, patch)) == {"a.bin": "b.bin", "empty": "none"}
