"""What a Python test file holds: its tests, what each asserts, what keeps one from running, what they share."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from repo_tools import python_code

Definition = ast.FunctionDef | ast.AsyncFunctionDef
SKIPS = frozenset(
    ("skip", "skipif", "skipIf", "skipUnless", "skipTest", "SkipTest", "xfail", "expectedFailure", "importorskip")
)
ASSERTING = frozenset(("raises", "warns", "deprecated_call", "fail"))
ENDING = (ast.Return, ast.Raise, ast.Yield, ast.YieldFrom)
"""What ends a test before its last statement, or keeps it from beginning."""
AROUND_FILE = frozenset(("setUpModule", "setup_module", "setup_function", "load_tests", "*"))
AROUND = "setUp setUpClass asyncSetUp setup setup_method setup_class run __init__ __new__ __getattr__ __getattribute__"
AROUND_CLASS = frozenset(AROUND.split())
"""What is called around the tests beside it, or decides what they find."""
FIXTURE = "fixture "
"""Before the name of a fixture, which is looked up otherwise than other names."""


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
    bound: dict[str, set[str]] = field(default_factory=dict)
    """What each name stands for, that of a class's part as `Class.name`: where it is imported from, or its dump."""
    wanted: set[str] = field(default_factory=set)
    """The names that are read and bound nowhere in the file: built-in ones, and those of fixtures."""


def read_tests(source: str) -> TestFile | None:
    """The tests of a Python file; `None` if it cannot be parsed."""
    try:
        module = python_code.module(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    file = TestFile()
    marks = Counter[str]()
    for statement in module.body:
        if isinstance(statement, ast.Assign | ast.Expr):
            marks += _skips(statement)
    _collect(file, module.body, "", marks)
    file.hooks.update(_hooks(module))
    file.wanted.update(_wanted(module) - set(file.bound))
    return file


def replaces(old: TestFile, new: TestFile) -> bool:
    """Whether something that the tests of `old` use has another meaning in `new`, though nothing was taken out."""
    for name, stands_for in new.bound.items():
        owner, _, last = name.rpartition(".")
        if owner and owner not in old.bound:
            continue  # a new class is for new tests
        is_around = last in AROUND_CLASS or last.startswith("assert") if owner else last in AROUND_FILE
        is_wanted = last in old.wanted and (not owner or last.startswith(FIXTURE))
        if (name in old.bound or is_wanted or is_around) and stands_for - old.bound.get(name, set()):
            return True
    return False


def only_adds(before: Case, after: Case) -> bool:
    """Whether `after` is `before` with more parameters or more statements, none of which ends it early or changes
    what those below it work on."""
    old, new = [[ast.dump(each) for each in case.node.decorator_list] for case in (before, after)]
    if old != new and not _more_parameters(before.node, after.node):
        return False
    if type(before.node) is not type(after.node) or ast.dump(before.node.args) != ast.dump(after.node.args):
        return False
    read, own = _read(before.node), set[str]()
    rest = iter(before.node.body)
    wanted = next(rest, None)
    for statement in after.node.body:
        if wanted is not None and ast.dump(statement) == ast.dump(wanted):
            wanted = next(rest, None)
        elif any(isinstance(node, ENDING) for node in ast.walk(statement)):
            return False
        elif wanted is not None:
            own |= _stored(statement)
            if read & {name for name, _ in _bindings(statement)} or _meddles(statement, own):
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
            _bind(file, node, prefix)
            _collect(file, node.body, f"{prefix}{node.name}.", own)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            _bind(file, node, prefix)
        elif not _is_text(node):
            _bind(file, node, prefix)
            file.shared[prefix + ast.dump(node)] += 1


def _bind(file: TestFile, statement: ast.stmt, prefix: str) -> None:
    for name, stands_for in _bindings(statement):
        file.bound.setdefault(prefix + name, set()).add(stands_for)


def _bindings(statement: ast.stmt) -> Iterator[tuple[str, str]]:
    """The names that a statement binds where it stands, and what each stands for then."""
    match statement:
        case ast.ImportFrom():
            place = "." * statement.level + (statement.module or "")
            for alias in statement.names:
                yield alias.asname or alias.name, f"{alias.name} of {place}"
                yield FIXTURE + (alias.asname or alias.name), f"{alias.name} of {place}"
        case ast.Import():
            for alias in statement.names:
                top = alias.name.partition(".")[0]
                yield alias.asname or top, alias.name if alias.asname else top
        case ast.ClassDef():
            made = [*statement.bases, *statement.keywords, *statement.decorator_list]
            yield statement.name, " ".join(map(ast.dump, made))
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield _called(statement), ast.dump(statement)
        case _:
            for name in _stored(statement):
                yield name, ast.dump(statement)
            for part in ast.walk(statement):
                if isinstance(part, ast.Import | ast.ImportFrom | Definition):
                    yield from _bindings(part)


def _called(definition: Definition) -> str:
    """The name of a function; of a fixture, what tests call it by."""
    for decorator in definition.decorator_list:
        made = decorator.func if isinstance(decorator, ast.Call) else decorator
        if _last_name(made) == "fixture":
            given = decorator.keywords if isinstance(decorator, ast.Call) else []
            named = [ast.literal_eval(one.value) for one in given if one.arg == "name" and _is_name(one.value)]
            return f"{FIXTURE}{(named or [definition.name])[0]}"
    return definition.name


def _is_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _stored(tree: ast.AST) -> set[str]:
    """The names that are bound in `tree`, but for those within comprehensions."""
    parts = [part for part in ast.walk(tree) if isinstance(part, ast.comprehension)]
    inside = {id(node) for part in parts for node in ast.walk(part.target)}
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in inside)
    return {node.id for node in names if not isinstance(node.ctx, ast.Load)}


def _read(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _wanted(module: ast.Module) -> set[str]:
    """The names that are read and never bound, and those of fixtures."""
    nodes = list(ast.walk(module))
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    arguments = {node.arg for node in nodes if isinstance(node, ast.arg)}
    return (_read(module) - bound - arguments) | {FIXTURE + argument for argument in arguments}


def _meddles(statement: ast.stmt, own: Collection[str]) -> bool:
    """Whether a statement changes what is not of its own making, or puts one thing in the place of another."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            root: ast.AST = node
            while isinstance(root, ast.Attribute | ast.Subscript):
                root = root.value
            if not (isinstance(root, ast.Name) and root.id in own):
                return True
        if _last_name(node) in ("setattr", "setitem", "delattr", "delitem"):
            return True
        if isinstance(node, ast.Name) and node.id in ("patch", "mock", "mocker", "monkeypatch"):
            return True
    return False


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
