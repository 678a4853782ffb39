"""Small faults put into the changed lines: tests that notice none of them prove little. Python alone, so far."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bot.team.hunks import changed_lines, code_files
from repo_tools import python_code
from repo_tools.tree import Tree

MOST = 4

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
}


@dataclass(frozen=True)
class Mutant:
    """One fault: where it is, what stood there and what stands there now."""

    path: str
    line: int
    before: str
    after: str
    tree: Tree


def mutants(tree: Tree, most: int = MOST) -> tuple[Mutant, ...]:
    """Up to `most` mutants, spread over the changed lines; the same ones each time."""
    found = [one for path in code_files(tree) if path.endswith(".py") for one in _of_file(tree, path)]
    if len(found) <= most:
        return tuple(found)
    return tuple(found[position * len(found) // most] for position in range(most))


def _of_file(tree: Tree, path: str) -> Iterator[Mutant]:
    data = tree.read(path)
    try:
        module = python_code.module(data)
    except (SyntaxError, ValueError, RecursionError):
        return
    lines = changed_lines(tree, path)
    source = data.decode("utf-8", "replace")
    if source.encode() != data:
        return
    for node in ast.walk(module):
        if isinstance(node, ast.expr | ast.stmt) and node.lineno in lines:
            for mutated in _mutations(node):
                text = ast.get_source_segment(source, node)
                if text is None or "\n" in text:
                    continue
                new = _replaced(data, node, mutated)
                if new is not None and new != data:
                    yield Mutant(path, node.lineno, text, mutated, tree.with_file(path, new))


def _mutations(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Compare(ops=[op]) | ast.BoolOp(op=op) | ast.BinOp(op=op) if type(op) in SWAPS:
            other: Any = copy.deepcopy(node)
            swapped = SWAPS[type(op)]()
            if isinstance(node, ast.Compare):
                other.ops = [swapped]
            else:
                other.op = swapped
            yield f"({ast.unparse(other)})"
        case ast.UnaryOp(op=ast.Not()):
            yield f"({ast.unparse(node.operand)})"
        case ast.Constant(value=bool() as value):
            yield repr(not value)
        case ast.Constant(value=int() as value):
            yield repr(value + 1)
        case ast.Return(value=value) if value is not None and not isinstance(value, ast.Constant):
            yield "return None"
        case ast.Raise():
            yield "pass"


def _replaced(data: bytes, node: ast.AST, text: str) -> bytes | None:
    """`data` with the source of one node replaced; columns of `ast` are bytes."""
    if not isinstance(node, ast.expr | ast.stmt) or node.end_lineno != node.lineno or node.end_col_offset is None:
        return None
    lines = data.split(b"\n")
    row = lines[node.lineno - 1]
    lines[node.lineno - 1] = row[: node.col_offset] + text.encode() + row[node.end_col_offset :]
    changed = b"\n".join(lines)
    try:
        python_code.module(changed)
    except (SyntaxError, ValueError):
        return None
    return changed
