"""Searching finds what a line says, whoever wrote the expression."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repo_tools.index import Index
from repo_tools.search import LONGEST_LINE, search, word_part
from tests.fakes.memory_base import memory_tree

TEXT = b"alpha beta\r\n\r\n  gamma(alpha)\nfoo\xff bar\n\n\xc3\xa9t\xc3\xa9 x_y\nlast"


def lines(pattern: str, data: bytes = TEXT) -> list[int]:
    return [line.line for line in search([("a.txt", data)], pattern, limit=100, seconds=5).lines]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("alpha", [1, 3]),
        ("^alpha", [1]),
        (r"^\s*gamma", [3]),
        (r"^\s*$", [2, 5]),
        (r"beta\s+gamma", []),
        (r"[^z]*gamma", [3]),
        (r"\bbar$", [4]),
        ("été", [6]),
        ("(?i)ALPHA", [1, 3]),
        ("last$", [7]),
        (r"alpha\)\nfoo", [3]),
        ("x*", [1, 2, 3, 4, 5, 6, 7]),
        (r"\d", []),
    ],
)
def test_lines_are_looked_at_one_by_one(pattern: str, found: list[int]) -> None:
    assert lines(pattern) == found


def test_there_is_no_line_after_the_last_line_end() -> None:
    assert lines("$", b"a\nb\n") == [1, 2]
    assert lines("$", b"") == [1]


def test_a_line_is_shown_without_its_end_and_not_at_length() -> None:
    (one,) = search([("a", b"x" * 5000 + b"\r\n")], "x", limit=9, seconds=5).lines
    assert one.text == "x" * LONGEST_LINE
    (one,) = search([("a", b"ab\r\n")], "a", limit=9, seconds=5).lines
    assert one.text == "ab"


@pytest.mark.parametrize("pattern", ["(a|aa)+$", "(a+)+b", "(.*)*,(.*)*,c", "(x+x+)+y"])
def test_no_expression_takes_long(pattern: str) -> None:
    started = time.monotonic()
    lines(pattern, b"a" * 200_000 + b"\n" + b"x" * 200_000)
    assert time.monotonic() - started < 5


def test_the_deadline_and_the_limit_are_told() -> None:
    files = [(f"{n}", b"a\na\n") for n in range(10)]
    assert not search(files, "a", limit=100, seconds=0).complete
    assert len(search(files, "a", limit=3, seconds=5).lines) == 3
    assert not search(files, "a", limit=3, seconds=5).complete
    assert search(files, "a", limit=20, seconds=5).complete


WORDS = st.sampled_from(["alpha", "beta_gamma", "x", "été", "getValue", "(", ")", ".", " ", "a|b", "9"])
PATTERNS = st.lists(
    st.sampled_from(["alpha", "gamma", "get", "Value", "b", "?", "*", "+", "{2}", ".", r"\w", r"\.", "[abc]", "(", ")"])
    | st.sampled_from([r"\b", "^", "$", "|", "(?i)", " ", "_", "é", r"\(", "x{0,2}", "[^]a]"]),
    max_size=6,
).map("".join)


@given(PATTERNS, st.lists(WORDS, max_size=8).map("".join))
def test_what_must_stand_in_a_match_does(pattern: str, text: str) -> None:
    """The index leaves out files without this word: it may never leave out one that matches."""
    part = word_part(pattern)
    try:
        wanted = re.compile(pattern)
    except re.error:
        return
    if part is not None and wanted.search(text):
        assert part in text


@pytest.mark.parametrize(
    ("pattern", "part"),
    [
        ("def get_queryset", "get_queryset"),
        (r"self\.assert\w+\(", "assert"),
        ("colou?r_map", "r_map"),
        ("(maybe)?surely", "surely"),
        ("one|other", None),
        ("(?i)name", None),
        ("ab", None),
        ("[abc]{3}", None),
    ],
)
def test_the_longest_certain_word_is_looked_up(pattern: str, part: str | None) -> None:
    assert word_part(pattern) == part


def test_only_files_that_may_match_are_read(tmp_path: Path) -> None:
    tree = memory_tree({f"{n}.py": b"x_%d = needle_%d\n" % (n, n) for n in range(50)} | {"b.bin": b"\0needle_7"})
    view = Index.open(tmp_path).view(tree)
    assert [line.path for line in view.search("needle_7").lines] == ["7.py"]
    assert [line.path for line in view.search("eedle_7$").lines] == ["7.py"]
    assert len(view.search("x_").lines) == 50
