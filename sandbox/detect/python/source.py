"""Facts read from Python source by its syntax tree. Nothing of a repository is ever imported or run."""

from __future__ import annotations

import ast
import contextlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

from sandbox.detect.files import Files

MOST_FILES = 250
"""Test files looked at: enough to meet each helper library that a suite uses."""


def parsed(text: str) -> ast.Module:
    """The syntax tree; an empty one where the text is not Python of this version."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module(body=[], type_ignores=[])
    except SystemError:  # Another thread built a tree at the same time (python/cpython issue 106905).
        return parsed(text)


def literal(node: ast.expr | None, names: dict[str, ast.expr]) -> object:
    """The value of a literal expression, looking up plain module-level names; `None` for anything computed."""
    if isinstance(node, ast.Name):
        return literal(names[node.id], {}) if node.id in names else None
    if isinstance(node, ast.List | ast.Tuple):
        return [literal(item, names) for item in node.elts]
    if isinstance(node, ast.Dict):
        pairs = [
            (literal(key, names), literal(value, names)) for key, value in zip(node.keys, node.values, strict=True)
        ]
        return {key: value for key, value in pairs if isinstance(key, str)}
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = literal(node.left, names), literal(node.right, names)
        if isinstance(left, list) or isinstance(right, list):
            return [*(left if isinstance(left, list) else []), *(right if isinstance(right, list) else [])]
        return None
    return node.value if isinstance(node, ast.Constant) else None


def assignments(tree: ast.Module) -> dict[str, ast.expr]:
    """Plain `name = value` lines at the top of a module."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node.value
    return found


def setup_arguments(files: Files, path: str) -> dict[str, object]:
    """The literal keyword arguments of the `setup(...)` call in a setup.py."""
    tree = parsed(files.text(path))
    names = assignments(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node) == "setup":
            with contextlib.suppress(RecursionError):
                return {word.arg: literal(word.value, names) for word in node.keywords if word.arg}
    return {}


def _called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Name):
        return node.func.id
    return node.func.attr if isinstance(node.func, ast.Attribute) else ""


@dataclass
class Uses:
    """What test files refer to by name."""

    imports: set[str] = field(default_factory=set)
    optional: set[str] = field(default_factory=set)
    """Imported within `try`, or through `pytest.importorskip`: wanted, not needed."""
    fixtures: set[str] = field(default_factory=set)
    defined: set[str] = field(default_factory=set)
    """Fixtures that the project defines itself."""
    marks: set[str] = field(default_factory=set)
    unittest: bool = False


def uses(files: Files, paths: list[str]) -> Uses:
    """What these Python files import and which fixtures and marks they use."""
    found = Uses()
    for path in paths[:MOST_FILES]:
        with contextlib.suppress(RecursionError):
            _collect(parsed(files.text(path)), found)
    return found


def _collect(tree: ast.Module, found: Uses) -> None:
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, guarded = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            (found.optional if guarded else found.imports).update(_imported(node))
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            _function(node, found)
        elif isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Attribute) and node.value.attr == "mark":
                found.marks.add(node.attr)
            found.unittest = found.unittest or node.attr == "TestCase"
        elif isinstance(node, ast.Call) and _called(node) == "importorskip" and node.args:
            name = literal(node.args[0], {})
            found.optional.update([name.split(".")[0]] if isinstance(name, str) else [])
        inner = guarded or isinstance(node, ast.Try)
        waiting += [(child, inner) for child in ast.iter_child_nodes(node)]


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, found: Uses) -> None:
    if any("fixture" in ast.unparse(mark) for mark in node.decorator_list):
        found.defined.add(node.name)
    if node.name.startswith("test") or node.name in found.defined:
        found.fixtures.update(argument.arg for argument in node.args.args)


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name.split(".")[0] for alias in node.names)
    elif node.level == 0 and node.module:
        yield node.module.split(".")[0]
