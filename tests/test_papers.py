"""Every claim about the papers names a test that exists, and the figures are those that are measured."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from bot.bench.context import measure

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / ".github" / "PAPERS.md").read_text("utf-8")
NAMED = re.compile(r"`(tests/[\w/]+\.py)::([\w:]+)`")
ROWS = {f"SC{n}" for n in range(1, 12)} | {f"{kind}{n}" for kind in ("AC", "SO") for n in range(1, 11)}
ROWS |= {f"X{n}" for n in range(1, 10)}


def named_in(path: Path) -> set[str]:
    """The tests of a file, as pytest names them."""
    found = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{one.name}" for one in node.body if isinstance(one, ast.FunctionDef)}
    return {name for name in found if name.rpartition("::")[2].startswith("test_")}


def test_each_row_is_there_once_and_names_a_test() -> None:
    rows = re.findall(r"^\| ((?:SC|AC|SO|X)\d+) \| (.+?) \| (.+) \|$", TEXT, re.MULTILINE)
    assert sorted(row for row, _, _ in rows) == sorted(ROWS)
    for row, _, shown in rows:
        assert NAMED.search(shown), f"{row} names no test"
        assert not NAMED.sub("", shown).strip(" ,"), f"{row} names something that is no test: {shown}"


def test_each_test_that_is_named_exists() -> None:
    missing = [f"{path}::{name}" for path, name in NAMED.findall(TEXT) if name not in named_in(ROOT / path)]
    assert not missing


def test_no_row_names_a_test_twice() -> None:
    for line in TEXT.splitlines():
        named = NAMED.findall(line)
        assert len(named) == len({*named}), line[:20]


@pytest.mark.parametrize("functions", [2, 8, 32])
def test_what_is_said_of_constant_context_is_what_is_measured(functions: int) -> None:
    """The rows of the small projects; those of the large ones take seconds each."""
    one = measure(1_000, functions)
    largest = [f"{one.largest[role]:,}" if role in one.largest else "-" for role in ("mother", "child", "reproducer")]
    cells = [str(functions), f"{one.lines:,}", str(one.agents), *largest]
    assert f"| {' | '.join(cells)} |" in TEXT.splitlines(), "measure again: agent-fix bench context"
