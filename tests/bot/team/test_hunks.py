"""The parts of a change: all of them taken back give the base; words are none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.team.hunks import Hunk, code_files, hunks, named, retold, standing, unused_import, without
from repo_tools.tree import Tree
from tests.fakes.memory_base import MemoryBase

LINES = st.lists(st.sampled_from([b"a = 1", b"b = 2", b"c", b"def f():", b"    pass", b"x\r"]), max_size=12)


def changed(path: str, old: bytes | None, new: bytes) -> Tree:
    files = {"README.md": b"words\n"} | ({} if old is None else {path: old})
    return Tree(MemoryBase(files)).with_file(path, new)


@given(LINES, LINES)
def test_all_parts_taken_back_give_the_base(old: list[bytes], new: list[bytes]) -> None:
    tree = changed("a.rb", b"\n".join(old), b"\n".join(new))
    for part in reversed(hunks(tree)):
        tree = without(tree, part)
    assert not tree.patch


@given(LINES, LINES, st.integers(0))
def test_what_is_left_stands_where_it_is_said_to_stand(old: list[bytes], new: list[bytes], chosen: int) -> None:
    tree = changed("a.rb", b"\n".join(old), b"\n".join(new))
    found = hunks(tree)
    taken = [part for number, part in enumerate(found) if chosen >> number & 1]
    smaller = tree
    for part in reversed(taken):
        smaller = without(smaller, part)
    for part in (one for one in found if one not in taken):
        there = standing(part, taken)
        assert text_at(smaller, there) == text_at(tree, part)
        said = retold(f"see `a.rb:{part.first}` and b.rb:{part.first}-{part.last}", taken)
        assert said == f"see `a.rb:{there.first}` and b.rb:{part.first}-{part.last}"


def text_at(tree: Tree, part: Hunk) -> list[bytes]:
    return tree.read(part.path).split(b"\n")[part.first - 1 : part.last]


def test_parts_are_told_apart_where_lines_stand_between_them() -> None:
    old = b"\n".join(b"x%d = 1" % number for number in range(20))
    new = old.replace(b"x3 = 1", b"x3 = 2").replace(b"x5 = 1", b"x5 = 2").replace(b"x12 = 1", b"x12 = 2\ny = 3")
    tree = changed("a.py", old, new)
    assert [part.place for part in hunks(tree)] == ["a.py:4-6", "a.py:13-14"]
    assert without(tree, hunks(tree)[1]).read("a.py") == new.replace(b"x12 = 2\ny = 3", b"x12 = 1")


def test_a_new_file_is_one_part() -> None:
    tree = changed("new.py", None, b"x = 1\n")
    (part,) = hunks(tree)
    assert part.place == "new.py"
    assert not without(tree, part).patch


@pytest.mark.parametrize("path", ["docs/use.py", "CHANGES.md", "a.pyi", "tests/test_a.py", "data.json", "a_pb2.py"])
def test_documents_stubs_tests_and_data_are_no_code(path: str) -> None:
    assert code_files(changed(path, b"x = 1\n", b"x = 2\n")) == ()


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("a.py", b"def f():\n    return 1\n", b'def f():\n    """One."""\n    return 1  # really\n'),
        ("a.py", b'"""Old."""\nx = 1\n', b'"""New\nand longer."""\n\nx = (1)\n'),
        ("a.js", b"// old\nlet x = 1\n", b"// new\n// and longer\nlet x = 1\n"),
        ("a.c", b"/* old */\nint x;\n", b"/*\n * new\n *\n */\nint x;\n"),
        ("a.rb", b"x = 1\n", b"#!/usr/bin/env ruby\n# one\n#\nx = 1\n"),
    ],
)
def test_words_are_no_part(path: str, old: bytes, new: bytes) -> None:
    assert hunks(changed(path, old, new)) == ()


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("a.c", b"    *p = 1;\n", b"    *p = 2;\n"),
        ("a.c", b"/* first */ x = 1;\n", b"/* first */ x = 2;\n"),
        ("a.c", b"int x;\n", b"int x;\n/* long\n*/ int y;\n"),
        ("a.c", b"#pragma once\n", b"#pragma once\n#pragma pack(1)\n"),
        ("a.rs", b"fn f() {}\n", b"#[inline]\nfn f() {}\n"),
    ],
)
def test_code_that_looks_like_words_is_a_part(path: str, old: bytes, new: bytes) -> None:
    assert len(hunks(changed(path, old, new))) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.py:4 is not asked for", True),
        ("`a.py:1-4`: a rename", True),
        ("(a.py:4-90)", True),
        ("a.py:5-9", False),
        ("b/a.py:4", False),
        ("a.py is long", False),
        ("", False),
    ],
)
def test_a_part_is_named_by_a_place_in_it(text: str, expected: bool) -> None:
    assert named(Hunk("a.py", 3, 4, ()), ["nothing", text]) is expected


BEFORE = b"import os\n\n\n\ndef f(x):\n    return x\n"


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (b"import os\nimport re\n\n\n\ndef f(x):\n    return x\n", True),
        (b"import os\nimport re\n\n\n\ndef f(x):\n    return re.match(x)\n", False),
        (b"import os\nfrom re import *\n\n\n\ndef f(x):\n    return x\n", False),
        (b"import os\nimport re\n\n__all__ = ['re']\n\n\n\ndef f(x):\n    return x\n", False),
        (b"import os\nX = 1\n\n\n\ndef f(x):\n    return x\n", False),
    ],
    ids=["unused", "used", "everything", "told to be public", "no import"],
)
def test_an_import_that_is_not_used_is_known(new: bytes, expected: bool) -> None:
    tree = changed("a.py", BEFORE, new)
    assert unused_import(tree, hunks(tree)[0]) is expected
