"""Whether a file's text parses, and where it does not."""

from __future__ import annotations

import warnings

import tree_sitter

from repo_tools import python_code
from repo_tools.languages import Unparsed, language_of, parse

SHOWN = 40
"""Bytes of the offending text that are quoted."""


def syntax_error(path: str, data: bytes) -> str | None:
    """The first fault as `line 12, column 3: …`; None if there is none, or nobody can tell.

    Python is judged by Python's own parser, which is stricter than a grammar made for editors; a file that needs a
    newer Python than this one is then judged by the grammar.
    """
    language = language_of(path)
    if language is None:
        return None
    try:
        root = parse(language, data).root_node
    except Unparsed:
        return None
    node = _first_fault(root) if root.has_error else None
    if node is not None:
        line, column = node.start_point.row + 1, node.start_point.column + 1
        return f"line {line}, column {column}: {_described(node)}"
    return _python_fault(data) if language.name == "python" else None


def _first_fault(root: tree_sitter.Node) -> tree_sitter.Node:
    """The first error or missing node. Walks without recursion: code may be nested deeper than the stack is."""
    node = root
    while not (node.is_error or node.is_missing):
        inner = next((child for child in node.children if child.has_error), None)
        if inner is None:
            return node
        node = inner
    return node


def _described(node: tree_sitter.Node) -> str:
    if node.is_missing:
        return f"{node.type!r} is missing"
    text = (node.text or b"")[:SHOWN].decode("utf-8", "replace").split("\n")[0]
    return f"unexpected {text!r}"


def _python_fault(data: bytes) -> str | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the target's invalid escapes are not ours to complain of
            python_code.module(data)
    except SyntaxError as error:
        return f"line {error.lineno or 1}, column {error.offset or 1}: {error.msg}"
    except (ValueError, RecursionError, MemoryError):
        return None
    return None
