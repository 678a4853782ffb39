"""What a Python test file holds: its tests, what each asserts, what keeps one from running, what they share."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

Definition = ast.FunctionDef | ast.AsyncFunctionDef
SKIPS = frozenset(
    ("skip", "skipif", "skipIf", "skipUnless", "skipTest", "SkipTest", "xfail", "expectedFailure", "importorskip")
)
ASSERTING = frozenset(("raises", "warns", "deprecated_call", "fail"))


@dataclass(frozen=True)
class Case:
    """One test function."""

    node: Definition
    skips: Counter[str]
    """What may keep it from running, with what its class and its module have of that."""

    @property
    def body(self) -> str:
        """What it does, whatever its name."""
        return "\n".join(ast.dump(statement) for statement in self.node.body)

    @property
    def assertions(self) -> Counter[str]:
        """Each thing that it demands."""
        return Counter(ast.dump(node) for node in ast.walk(self.node) if _asserts(node))


@dataclass(frozen=True)
class TestFile:
    """One file. Tests are named `Class.test`."""

    __test__ = False  # pytest would take the name for a test class

    cases: dict[str, Case] = field(default_factory=dict)
    shared: Counter[str] = field(default_factory=Counter)
    """What stands around the tests and is no import: constants, helpers, fixtures, by their dumps."""
    hooks: Counter[str] = field(default_factory=Counter)
    """What changes how other tests are found and run: pytest's hooks, ignored files, fixtures used by all."""


def read_tests(source: str) -> TestFile | None:
    """The tests of a Python file; `None` if it cannot be parsed."""
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    file = TestFile()
    marks = Counter[str]()
    for statement in module.body:
        if isinstance(statement, ast.Assign | ast.Expr):
            marks += _skips(statement)
    _collect(file, module.body, "", marks)
    file.hooks.update(_hooks(module))
    return file


def only_adds(before: Case, after: Case) -> bool:
    """Whether `after` is `before` with more parameters or more statements, none of which ends it early."""
    old, new = [[ast.dump(each) for each in case.node.decorator_list] for case in (before, after)]
    if old != new and not _more_parameters(before.node, after.node):
        return False
    if ast.dump(before.node.args) != ast.dump(after.node.args):
        return False
    rest = iter(before.node.body)
    wanted = next(rest, None)
    for statement in after.node.body:
        if wanted is not None and ast.dump(statement) == ast.dump(wanted):
            wanted = next(rest, None)
        elif any(isinstance(node, ast.Return | ast.Raise) for node in ast.walk(statement)):
            return False
    return wanted is None


def _collect(file: TestFile, body: list[ast.stmt], prefix: str, skips: Counter[str]) -> None:
    for node in body:
        if isinstance(node, Definition) and node.name.startswith("test"):
            decorated = Counter[str]()
            for decorator in node.decorator_list:
                decorated += _skips(decorator)
            for statement in node.body:
                decorated += _skips(statement)
            file.cases[prefix + node.name] = Case(node, skips + decorated)
        elif isinstance(node, ast.ClassDef):
            own = Counter(skips)
            for part in [*node.decorator_list, *(each for each in node.body if isinstance(each, ast.Assign))]:
                own += _skips(part)
            _collect(file, node.body, f"{prefix}{node.name}.", own)
        elif not isinstance(node, ast.Import | ast.ImportFrom) and not _is_text(node):
            file.shared[prefix + ast.dump(node)] += 1


def _skips(tree: ast.AST) -> Counter[str]:
    names: Counter[str] = Counter()
    for node in ast.walk(tree):
        if _last_name(node) in SKIPS or (_last_name(node) == "__test__" and isinstance(node, ast.Name)):
            names[_last_name(node)] += 1
    return names


def _asserts(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return True
    name = _last_name(node.func) if isinstance(node, ast.Call) else ""
    return name.lower().startswith("assert") or name in ASSERTING


def _last_name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _hooks(module: ast.Module) -> Iterator[str]:
    for node in module.body:
        if isinstance(node, Definition) and node.name.startswith("pytest_"):
            yield ast.dump(node)
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(
                _last_name(target) in ("collect_ignore", "collect_ignore_glob", "pytest_plugins") for target in targets
            ):
                yield ast.dump(node)
    for each in ast.walk(module):
        if isinstance(each, ast.keyword) and each.arg == "autouse":
            yield ast.dump(each)


def _more_parameters(before: Definition, after: Definition) -> bool:
    """Whether the decorators differ only in that a list of parameters has more entries."""
    if len(before.decorator_list) != len(after.decorator_list):
        return False
    for old, new in zip(before.decorator_list, after.decorator_list, strict=True):
        if ast.dump(old) == ast.dump(new):
            continue
        if not (isinstance(old, ast.Call) and isinstance(new, ast.Call) and _last_name(old.func) == "parametrize"):
            return False
        if [ast.dump(each) for each in (old.func, *old.args[:1])] != [
            ast.dump(each) for each in (new.func, *new.args[:1])
        ]:
            return False
        entries = [
            Counter(ast.dump(entry) for part in call.args[1:] for entry in getattr(part, "elts", [part]))
            for call in (old, new)
        ]
        if entries[0] - entries[1]:
            return False
    return True
