"""Drawn inputs for changed functions, before and after the change: does it raise where it did not? Python alone.

Only functions whose parameters say their types can be called without knowing more; what they do happens in the sandbox.
"""

from __future__ import annotations

import ast
import base64
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from bot.team.hunks import changed_lines, code_files
from repo_tools import python_code
from repo_tools.tree import Tree
from sandbox.port import Result

MARK = "agent-fix-fuzz:"
MOST = 5
"""Functions."""
NUMBER = 200
"""Inputs for each."""

PLAIN = {"int": "int", "float": "float", "str": "str", "bool": "bool", "bytes": "bytes", "None": "None"}
LISTS = frozenset({"list", "List", "Sequence", "Iterable", "Collection"})
MAPPINGS = frozenset({"dict", "Dict", "Mapping"})

Kind = Any
"""What to draw: a name of `PLAIN`, or a pair of `list`, `dict`, `tuple` or `or` and the kinds within."""


@dataclass(frozen=True)
class Target:
    """A function and what its parameters are, by name."""

    path: str
    name: str
    kinds: dict[str, Kind]


def targets(tree: Tree) -> tuple[Target, ...]:
    """The changed functions of modules that were there before with the same parameters, and can be called."""
    return tuple(found for path in code_files(tree) if path.endswith(".py") for found in _of_file(tree, path))[:MOST]


def _of_file(tree: Tree, path: str) -> Iterator[Target]:
    if path not in tree.base.entries():
        return
    now, then = _functions(tree.read(path)), _functions(tree.base.read(path))
    lines = changed_lines(tree, path)
    for name, function in now.items():
        within = range(function.lineno, (function.end_lineno or function.lineno) + 1)
        kinds = _kinds(function)
        if kinds and lines & set(within) and name in then and _kinds(then[name]) == kinds:
            yield Target(path, name, kinds)


def _functions(data: bytes) -> dict[str, ast.FunctionDef]:
    try:
        body = python_code.module(data).body
    except (SyntaxError, ValueError, RecursionError):
        return {}
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef) and not node.decorator_list}


def _kinds(function: ast.FunctionDef) -> dict[str, Kind] | None:
    """What each parameter is. One that nobody need give is left out if it does not say; None if the function cannot
    be called so."""
    given = function.args
    if given.posonlyargs or any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(function)):
        return None
    defaults = [None] * (len(given.args) - len(given.defaults)) + [*given.defaults]
    kinds: dict[str, Kind] = {}
    pairs = [*zip(given.args, defaults, strict=True), *zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    for parameter, default in pairs:
        kind = _kind(parameter.annotation)
        if kind is None and isinstance(default, ast.Constant) and type(default.value).__name__ in PLAIN:
            kind = type(default.value).__name__
        if kind is not None:
            kinds[parameter.arg] = kind
        elif default is None:
            return None
    return kinds


def _kind(annotation: ast.expr | None) -> Kind | None:  # noqa: PLR0911 - one return for each form
    match annotation:
        case ast.Constant(value=None):
            return "None"
        case ast.Constant(value=str() as text):
            try:
                return _kind(python_code.expression(text))
            except SyntaxError:
                return None
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return PLAIN.get(name)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _pair("or", [left, right])
        case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), slice=inner):
            parts = list(inner.elts) if isinstance(inner, ast.Tuple) else [inner]
            if name == "Optional":
                return _pair("or", [*parts, ast.Constant(None)])
            if name == "Union":
                return _pair("or", parts)
            if name in LISTS:
                return _pair("list", parts)
            if name in MAPPINGS and len(parts) == 2:
                return _pair("dict", parts) if _kind(parts[0]) in PLAIN else None
            if name in ("tuple", "Tuple"):
                return _pair("tuple", parts)
    return None


def _pair(name: str, parts: Sequence[ast.expr]) -> Kind | None:
    kinds = [_kind(part) for part in parts]
    return None if None in kinds else [name, kinds]


def command(found: Sequence[Target]) -> str:
    """A shell command that calls the functions with the same drawn inputs each time, and prints what each call did."""
    program = files(__package__).joinpath("run_fuzz.txt").read_text("utf-8")
    packed = base64.b64encode(json.dumps([[one.path, one.name, one.kinds] for one in found]).encode()).decode()
    return f"python - {packed} {NUMBER} <<'PROGRAM'\n{program}\nPROGRAM"


def outcomes(result: Result, number: int) -> list[list[tuple[str, str]]]:
    """For each of `number` functions its inputs, each with the error that it ended in; nothing if it cannot be read."""
    line = next((line for line in reversed(result.output.splitlines()) if line.startswith(MARK)), None)
    try:
        told = json.loads(line.removeprefix(MARK)) if line else []
        found = [[(str(row[0]), str(row[1])) for row in rows] for rows in told]
    except (ValueError, TypeError, IndexError):
        return []  # the project's code shares the output, and may have written such a line itself
    return found if len(found) == number else []


def compared(
    found: Sequence[Target], before: Sequence[list[tuple[str, str]]], after: Sequence[list[tuple[str, str]]]
) -> str:
    """A sentence on what the change makes raise that did not; empty if too little could be called."""
    called, worse = [], []
    for target, old, new in zip(found, before, after, strict=False):
        pairs = [(was, now) for was, now in zip(old, new, strict=False) if was[0] == now[0]]
        fresh = [(now[0], now[1]) for was, now in pairs if not was[1] and now[1]]
        called += [target] if pairs else []
        worse += [(target, fresh, len(pairs))] if fresh else []
    if not called:
        return ""
    if not worse:
        names = ", ".join(f"`{target.name}`" for target in called)
        return f"On drawn inputs, up to {NUMBER} for each, nothing raises that did not before: {names}."
    target, fresh, number = worse[0]
    values, error = min(fresh, key=lambda one: len(one[0]))
    shown = f"{target.name}({values})".replace("`", "'")[:120]
    many = f"{len(fresh)} of {number} drawn inputs"
    return f"`{shown}` raised nothing before the change and ends in `{error[:60]}` now ({many})."
