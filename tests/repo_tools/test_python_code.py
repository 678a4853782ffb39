"""Python's parser is asked again where another thread disturbed it."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from typing import Any

import pytest

from repo_tools import python_code

SOURCE = "def f(a, b=1):\n" + "".join(f"    x{number} = [a, {{b: (a, b)}}]\n" for number in range(300))


@pytest.fixture
def disturbed() -> Iterator[list[str]]:
    """A tree is built while another one is: once, as a thread would that the search for cycles lets in."""
    done: list[str] = []

    def disturb(phase: str, _: dict[str, Any]) -> None:
        if not done:
            done.append(phase)
            ast.parse("x = (1, [2, {3: 4}])")

    before = gc.get_threshold()
    gc.callbacks.append(disturb)
    gc.set_threshold(10)
    yield done
    gc.set_threshold(*before)
    gc.callbacks.remove(disturb)


def test_a_tree_is_built_though_another_one_is_at_the_same_time(disturbed: list[str]) -> None:
    assert len(python_code.module(SOURCE).body) == 1
    assert disturbed
    disturbed.clear()
    assert isinstance(python_code.expression(f"  [{'(1, [2]), ' * 300}]"), ast.List)
    assert disturbed


@pytest.mark.parametrize("source", ["x = (", "def", ")"])
def test_what_is_no_python_is_said_at_once(source: str) -> None:
    with pytest.raises(SyntaxError):
        python_code.module(source)
    with pytest.raises(SyntaxError):
        python_code.expression(source)
