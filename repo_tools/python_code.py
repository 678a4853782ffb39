"""Python's own parser for code of others, in a process of many threads."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

TRIES = 20


def module(source: str | bytes) -> ast.Module:
    """The syntax tree of a module. Raises what `ast.parse` raises: `SyntaxError`, `ValueError`, `RecursionError`."""
    return _undisturbed(lambda: ast.parse(source))


def expression(source: str) -> ast.expr:
    """The syntax tree of one expression. Raises what `ast.parse` raises."""
    return _undisturbed(lambda: ast.parse(source.lstrip(" \t"), mode="eval").body)


def _undisturbed(parse: Callable[[], T]) -> T:
    for _ in range(TRIES - 1):
        try:
            return parse()
        except SystemError:
            # Before Python 3.11.8 and 3.12.2 threads that build trees at once share one count of their depth
            # (python/cpython issue 106905): nothing is wrong with the source, and the next try is another one.
            continue
    return parse()
