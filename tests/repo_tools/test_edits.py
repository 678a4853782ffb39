"""Edits by a model: what changes, what stays byte for byte, and what a refusal says."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repo_tools.edits import EditRefused, apply_edits, create, delete, read_lines, rename
from repo_tools.patch import EXECUTABLE, SYMLINK, FileState, Patch
from repo_tools.tree import Tree
from tests.fakes.memory_base import MemoryBase, memory_tree

CODE = b"def add(a, b):\n    return a - b\n\n\ndef twice(a):\n\treturn add(a, a)\n"


def edited(data: bytes, *edits: tuple[str, str]) -> bytes:
    return apply_edits(memory_tree({"f": data}), "f", edits).read("f")


def refusal(data: bytes, *edits: tuple[str, str]) -> str:
    with pytest.raises(EditRefused) as caught:
        edited(data, *edits)
    return str(caught.value)


def python_syntax(path: str, data: bytes) -> str | None:
    try:
        ast.parse(data)
    except SyntaxError as error:
        return f"{error.msg} at line {error.lineno}"
    return None


# What changes and what stays


def test_edits_are_made_in_turn() -> None:
    tree = apply_edits(memory_tree({"f": CODE}), "./f", [("a - b", "a + b"), ("a + b\n", "(a + b)\n")])
    assert tree.read("f") == CODE.replace(b"a - b", b"(a + b)")
    assert tree.patch.files.keys() == {"f"}


def test_the_mode_survives() -> None:
    tree = apply_edits(memory_tree({"f": FileState(CODE, EXECUTABLE)}), "f", [("a - b", "a + b")])
    assert tree.mode("f") == EXECUTABLE


def test_an_edit_that_is_undone_leaves_no_change() -> None:
    tree = apply_edits(memory_tree({"f": CODE}), "f", [("a - b", "a + b"), ("a + b", "a - b")])
    assert not tree.patch


def test_crlf_stays_crlf() -> None:
    data = b"one\r\ntwo\r\nthree"
    assert edited(data, ("one\ntwo", "1\n2\n2b")) == b"1\r\n2\r\n2b\r\nthree"
    assert edited(data, ("three", "3\n4\n")) == b"one\r\ntwo\r\n3\r\n4\r\n"
    assert edited(data, ("one\r\ntwo", "1\r\n2")) == b"1\r\n2\r\nthree"


def test_mixed_line_ends_stay_where_lines_stay() -> None:
    data = b"a\r\nb\nc\r\nd\ne\n"
    assert edited(data, ("a\nb\nc\nd\n", "a\nB\nc\nnew\nd\n")) == b"a\r\nB\nc\r\nnew\r\nd\ne\n"
    assert edited(data, ("d", "d1\nd2")) == b"a\r\nb\nc\r\nd1\nd2\ne\n"


def test_other_encodings_and_marks_stay() -> None:
    assert edited(b"\xef\xbb\xbfx = 1\n", ("x", "y")) == b"\xef\xbb\xbfy = 1\n"
    assert edited("é = 1\n".encode("utf-16"), ("é", "ü\n")) == "ü\n = 1\n".encode("utf-16")
    declared = "# -*- coding: iso-8859-15 -*-\nx = 'é'\n".encode("iso-8859-15")
    assert edited(declared, ("'é'", "'é €'")) == declared.replace(b"\xe9", b"\xe9 \xa4")
    assert edited(b"caf\xe9\r\nx", ("café", "caféé")) == b"caf\xe9\xe9\r\nx"


def test_an_empty_file_takes_any_text() -> None:
    assert edited(b"", ("", "x\n")) == b"x\n"


texts = st.text(st.sampled_from("ab \t\n\r'é€\u2028\x0c\x85"), max_size=30)
line_ends = st.sampled_from(["\n", "\r\n", "\n", "\r"])
rows = st.builds(lambda line, end: line + end, st.text(st.sampled_from("abc \té"), max_size=6), line_ends)
documents = st.builds(lambda lines, end: "".join(lines) + end, st.lists(rows, max_size=12), st.sampled_from(["", "z"]))


@given(documents, documents, texts, st.sampled_from(["utf-8", "utf-16", "utf-8-sig"]))
def test_bytes_outside_the_edit_never_change(before: str, after: str, new: str, encoding: str) -> None:
    head, tail = f"{before}<", f">{after}"
    data = f"{head}middle{tail}".encode(encoding)
    bare = encoding.replace("-sig", "").replace("16", "16-le")
    first = len(head.encode(encoding))
    result = edited(data, ("<middle>", f"<{new}>"))
    assert result[:first] == data[:first]
    assert result.endswith(tail.encode(bare))
    middle = result[first : len(result) - len(tail.encode(bare))].decode(bare)
    # In one way or the other; folding line ends on both sides would take a lone return before one for a part of it.
    plain = new.replace("\r\n", "\n")
    assert middle in {plain, plain.replace("\n", "\r\n"), plain.replace("\n", "\r")}


@given(st.binary(max_size=40).filter(lambda data: b"\0" not in data), st.sampled_from([b"\n", b"\r\n"]))
def test_every_byte_outside_survives_whatever_the_encoding(junk: bytes, end: bytes) -> None:
    data = junk + end + b"<old>" + end + junk
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return
    result = edited(data, ("<old>", "<1>\n<2>"))
    assert result.startswith(junk + end + b"<1>")
    assert result.endswith(b"<2>" + end + junk)


@given(st.lists(st.sampled_from(["a\n", "b\r\n", "c\n", "d\r\n"]), min_size=1, max_size=8), st.data())
def test_kept_lines_keep_their_ends_in_a_mixed_file(lines: list[str], data: st.DataObject) -> None:
    unique = [f"{number}{line}" for number, line in enumerate(lines)]
    drop = data.draw(st.integers(0, len(lines) - 1))
    old = "".join(unique).replace("\r\n", "\n")
    new = "".join(line for number, line in enumerate(unique) if number != drop).replace("\r\n", "\n")
    result = edited(("".join(unique) + "end").encode(), (old + "end", new + "end"))
    assert result.decode() == "".join(line for number, line in enumerate(unique) if number != drop) + "end"


# What a refusal says


def test_all_or_nothing_and_it_says_which_fitted() -> None:
    said = refusal(CODE, ("a - b", "a + b"), ("nowhere", "x"), ("twice", "double"))
    assert "Edit 2 of 3 on f was refused" in said
    assert "Edits that fit: 1, 3" in said
    assert "Nothing was changed" in said


def test_a_text_that_is_not_unique_is_shown_with_its_places() -> None:
    said = refusal(b"x\ny\nx\nz\nx\n", ("x", "w"))
    assert "3 times, beginning at lines 1, 3, 5" in said
    assert "3\tx\n4\tz" in said
    assert "2 times" in refusal(b"aaa", ("aa", "b")), "overlaps count"


def test_white_space_is_pointed_out() -> None:
    said = refusal(CODE, ("def twice(a):\n    return add(a, a)", "x"))
    assert "only spaces, tabs or empty lines differ" in said
    assert r"Line 6 is    '\treturn add(a, a)'" in said
    assert "'    return add(a, a)'  (the indentation; the file's is of tabs)" in said
    assert "(spaces at the end of the line)" in refusal(b"x = 1 \ny\n", ("x = 1\ny", "x"))
    assert "only spaces, tabs or empty lines differ" in refusal(b"a = 1\n\n\nb = 2\n", ("a = 1\nb = 2", "x"))


@pytest.mark.parametrize(
    ("data", "old", "said"),
    [
        ("say('x')\n", 'say("x")', "only quotes"),
        ("it\u2019s \u2013 here\n", "it's - here", "only quotes, dashes"),
        ("Value = NONE\n", "value = none", "upper and lower case"),
        ("a\nb\n", "1\ta\n2\tb", "without the line numbers"),
        ('print("a")\nx\n', 'print(\\"a\\")\\nx', "backslash escapes"),
        ("if a < b:\n", "if a &lt; b:", "HTML entities"),
        ("cafe\u0301\n", "caf\u00e9", "decomposed"),
        ("x = 1", "x = 1\n", "without the empty lines"),
    ],
)
def test_usual_disguises_are_named(data: str, old: str, said: str) -> None:
    assert said in refusal(data.encode(), (old, "other"))


def test_an_edit_that_was_made_before_is_recognised() -> None:
    assert "already there, at line 2" in refusal(CODE, ("return a * b", "return a - b"))
    assert "already there" not in refusal(CODE, ("return a * b", ")")), "what is short is there by chance"


def test_the_nearest_text_is_shown_with_what_differs() -> None:
    lines = [f"value_{number} = compute({number})" for number in range(200)]
    data = "\n".join(lines).encode()
    said = refusal(data, ("value_70 = compute(70)\nvalue_71 = compile(71)\nvalue_72 = compute(72)", "x"))
    assert "72\tvalue_71 = compute(71)" in said
    assert "Line 72 is    'value_71 = compute(71)'\n  you wrote 'value_71 = compile(71)'" in said
    assert len(said) < 1500
    assert "Line 51 is" in refusal(data, ("value_50 = computed(50)", "x")), "also where no line is equal"
    assert "Nothing in the file resembles it" in refusal(data, ("import antigravity", "x"))


def test_refusals_on_huge_files_stay_short_and_quick() -> None:
    one_line = b"x=" + b"abcdefghij" * 500_000
    assert len(refusal(one_line, ("abcdefghijK", "y"))) < 5000
    assert len(refusal(one_line, ("abc", "y"))) < 5000
    same = b"aaaa aaaa aaaa aaaa\n" * 100_000
    assert len(refusal(same, ("aaaa aaaa aaaa aaaa\n" * 1000 + "b", "y"))) < 5000
    assert len(refusal(b"a" * 1_000_000, ("a" * 20_000 + "b", "y"))) < 5000
    many = "\n".join(f"line number {number}" for number in range(100_000)).encode()
    assert "Line 500 " in refusal(many, ("line number 498\nline numbr 499\nline number 500", "x"))


def test_edits_without_sense_are_refused() -> None:
    assert "equal" in refusal(CODE, ("a", "a"))
    assert "No edits" in refusal(CODE)
    assert "binary" in refusal(b"\0\1", ("x", "y"))


@pytest.mark.parametrize(
    ("data", "after"),
    [
        (b"a\n", b"a\nb\nc\n"),
        (b"a", b"a\nb\nc\n"),
        (b"", b"b\nc\n"),
        (b"a\r\n", b"a\r\nb\r\nc\r\n"),
        (b"\xef\xbb\xbfa\n", b"\xef\xbb\xbfa\nb\nc\n"),
    ],
)
def test_an_empty_old_text_stands_for_the_end_of_the_file(data: bytes, after: bytes) -> None:
    tree = Tree(MemoryBase({"f": data}))
    assert apply_edits(tree, "f", [("", "b\nc\n")]).read("f") == after


def test_characters_that_the_file_cannot_hold() -> None:
    assert "U+20AC" in refusal(b"# coding: latin-1\nx = '\xe9'\n", ("x", "€"))
    assert "encoding is unknown" in refusal(b"caf\xe9\nx\n", ("x", "ü"))
    assert "U+D800" in refusal(CODE, ("a - b", "\ud800"))


def test_broken_syntax_is_refused_with_the_place() -> None:
    tree = memory_tree({"f.py": CODE, "old.py": b"def broken(:\n"})
    with pytest.raises(EditRefused) as caught:
        apply_edits(tree, "f.py", [("return a - b", "return (a - b")], syntax_error=python_syntax)
    assert "break the syntax of f.py" in str(caught.value)
    assert "at line 2" in str(caught.value)
    assert "2\t    return (a - b" in str(caught.value)
    changed = apply_edits(tree, "old.py", [("broken", "still")], syntax_error=python_syntax)
    assert changed.read("old.py") == b"def still(:\n", "what did not parse before may be mended in steps"


# Paths

TREE = Tree(
    MemoryBase(
        {"src/a.py": CODE, "src/lib/b.py": b"", "link": FileState(b"/etc", SYMLINK), "odd\nname": b"x"},
        mounted={"vendor": "1" * 40},
    )
)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("", "empty"),
        ("/etc/passwd", "absolute"),
        ("C:\\x", "absolute"),
        ("/repo/src/a.py", "Do you mean 'src/a.py'?"),
        ("../src/a.py", "nothing outside"),
        ("src/../../x", "nothing outside"),
        ("src//a.py", "empty part"),
        ("src/./a.py", "empty part"),
        ("src/", "empty part"),
        (".git/config", "git's own"),
        ("src/.GIT/hooks/x", "git's own"),
        (".git /x", "git's own"),
        (".git./x", "git's own"),
        ("git~1/config", "git's own"),
        (".git::$INDEX_ALLOCATION/x", "git's own"),
        (".g\u200cit/x", "git's own"),
        ("x\\.git\\config", "git's own"),
        ("a\0b", "zero byte"),
        ("\ud800", "half a character"),
        ("x" * 256, "longer than 255"),
        ("link/passwd", "leads through 'link', which is a symbolic link"),
        ("src/a.py/b", "leads through 'src/a.py', which is a file"),
        ("vendor/x.py", "submodule 'vendor'"),
        ("vendor", "submodule 'vendor'"),
    ],
)
def test_paths_that_no_tool_takes(path: str, said: str) -> None:
    for act in (
        lambda: apply_edits(TREE, path, [("a", "b")]),
        lambda: create(TREE, path, "x"),
        lambda: delete(TREE, path),
        lambda: rename(TREE, "src/lib/b.py", path),
        lambda: rename(TREE, path, "new.py"),
        lambda: read_lines(TREE, path),
    ):
        with pytest.raises(EditRefused) as caught:
            act()
        assert said in str(caught.value)


def test_a_link_is_named_with_its_target_and_can_only_move_or_go() -> None:
    for act in (lambda: apply_edits(TREE, "link", [("/", "x")]), lambda: read_lines(TREE, "link")):
        with pytest.raises(EditRefused, match="symbolic link to '/etc'"):
            act()
    assert not delete(TREE, "link").exists("link")
    assert rename(TREE, "link", "other").mode("other") == SYMLINK


def test_what_is_not_there_is_answered_with_what_is_near() -> None:
    for path, near in (
        ("a.py", "Nearest: src/a.py"),
        ("src", "folder; files in it: src/a.py"),
        ("src/aa.py", "src/a.py"),
    ):
        with pytest.raises(EditRefused, match=near):
            apply_edits(TREE, path, [("a", "b")])


@pytest.mark.parametrize("path", ["a\nb", "a\\b", "\x1b[0m", "caf\udce9"])
def test_new_names_are_plain(path: str) -> None:
    with pytest.raises(EditRefused, match="control characters"):
        create(TREE, path, "x")


def test_odd_names_that_exist_can_be_edited() -> None:
    assert apply_edits(TREE, "odd\nname", [("x", "y")]).read("odd\nname") == b"y"


def test_files_are_created_renamed_and_deleted() -> None:
    tree = create(TREE, "./src/new.py", "é\n")
    assert tree.read("src/new.py") == "é\n".encode()
    assert create(tree, "run", "#!/bin/sh\n", executable=True).mode("run") == EXECUTABLE
    tree = rename(tree, "src/a.py", "src/a.py/inside.py")
    assert tree.read("src/a.py/inside.py") == CODE
    assert not tree.exists("src/a.py")
    tree = delete(tree, "src/new.py")
    assert tree.patch.files.keys() == {"src/a.py", "src/a.py/inside.py"}
    assert delete(create(TREE, "x", "x"), "x").patch == Patch()


def test_nothing_is_overwritten() -> None:
    for act in (lambda: create(TREE, "src/a.py", "x"), lambda: rename(TREE, "src/lib/b.py", "src/a.py")):
        with pytest.raises(EditRefused, match="there already"):
            act()
    with pytest.raises(EditRefused, match="is a folder"):
        create(TREE, "src/lib", "x")
    with pytest.raises(EditRefused, match="half a character"):
        create(TREE, "x", "\ud800")


# Reading


def test_lines_are_numbered_and_the_rest_is_told() -> None:
    tree = memory_tree({"f": b"a\r\nb\r\nc"})
    assert read_lines(tree, "f", 2, 3) == (
        "f, lines 2-3 of 3; line ends CRLF, kept by edits; no line end after the last line\n2\tb\n3\tc"
    )
    assert read_lines(tree, "f", 0, 1).startswith("f, lines 1-1 of 3")
    assert read_lines(tree, "f", 3, 1).startswith("f, lines 3-3 of 3")
    assert "has 3 lines" in read_lines(tree, "f", 9)


def test_what_is_read_is_bounded() -> None:
    tree = memory_tree(
        {"long": b"x" * 5_000_000 + b"\n", "many": b"line\n" * 100_000, "wide": (b"y" * 399 + b"\n") * 900}
    )
    assert "(4999600 more characters)" in read_lines(tree, "long")
    assert read_lines(tree, "many").startswith("many, lines 1-800 of 100000")
    shown = read_lines(tree, "wide")
    assert len(shown) < 41_000
    last = int(shown.split("lines 1-")[1].split(" ")[0])
    assert shown.endswith(f"{last}\t" + "y" * 399)


def test_what_cannot_be_shown_says_so() -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n"
    tree = memory_tree({"bin": b"\x89PNG\0", "empty": b"", "big.dat": pointer})
    assert read_lines(tree, "bin") == "bin is binary (5 bytes) and cannot be shown."
    assert read_lines(tree, "empty") == "empty is empty."
    assert "LFS pointer" in read_lines(tree, "big.dat")
    assert "unknown, shown as Latin-1" in read_lines(memory_tree({"f": b"\xe9\n"}), "f")
