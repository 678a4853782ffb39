"""What can be said of designed tests without a model: whether they may be taken, what is left without one of them."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Sequence

from bot.publish.python_tests import read_tests
from bot.team.evidence import test_files
from bot.team.selection import Showing
from bot.team.testing_roles import KINDS, DesignedTest, TestDesign
from repo_tools import python_code
from repo_tools.languages import Unparsed, language_of
from repo_tools.patch import Patch
from repo_tools.symbols import Definition, definitions
from repo_tools.syntax import syntax_error
from repo_tools.test_files import is_test
from repo_tools.tree import Tree
from sandbox.port import TestOutcome, TestReport

TIME_BOUND = re.compile(
    r"perf_counter|monotonic|process_time|setitimer|alarm|time.?out|elapsed|deadline|duration", re.IGNORECASE
)
MARKS = re.compile(r"[\s`*_>\"'#]+")


def merged(code: Tree, tests: Tree) -> Tree:
    """The code of one tree with the tests of another on the same base."""
    files = {path: state for path, state in code.patch.files.items() if not is_test(path)}
    return Tree(code.base, Patch(files | {path: tests.patch.files[path] for path in test_files(tests)}))


def code_of(tree: Tree) -> Tree:
    """A tree without its changes to tests."""
    return tree.only({path for path in tree.patch.files if not is_test(path)})


def objection(issue: str, design: TestDesign, tree: Tree) -> str:
    """Why a design with its test files cannot be taken; empty if it can."""
    return " ".join([*_about_kinds(design), *_about_entries(issue, design, tree), *_about_files(design, tree)][:6])


def _about_kinds(design: TestDesign) -> Iterator[str]:
    for kind in KINDS:
        there = any(one.kind == kind for one in design.tests)
        if not there and not design.not_applicable.get(kind, "").strip():
            yield f"there is no {kind} test: write one, or say in not_applicable why not."


def _about_entries(issue: str, design: TestDesign, tree: Tree) -> Iterator[str]:
    known = plain(issue)
    for one in design.tests:
        if plain(one.sentence) not in known:
            yield f"{one.test}: its sentence is not in the issue word for word: {one.sentence!r}."
        if one.kind == "large-scale" and one.seconds is None:
            yield f"{one.test}: a large-scale test needs `seconds`, the bound that it enforces."
        source = source_of(tree, one.test)
        if source is None:
            yield f"{one.test}: there is no such test in your files."
        elif one.kind == "large-scale" and not TIME_BOUND.search(_with_helpers(tree, one.test, source)):
            yield f"{one.test}: nothing in it bounds its time; measure it or stop it in the test itself."


def _about_files(design: TestDesign, tree: Tree) -> Iterator[str]:
    """For Python: a new test that the design does not name, and one that asserts nothing."""
    for path in sorted(test_files(tree)):
        if not path.endswith(".py") or not tree.exists(path):
            continue
        now = read_tests(tree.read(path).decode("utf-8", "replace"))
        then = read_tests(tree.base.read(path).decode("utf-8", "replace")) if path in tree.base.entries() else None
        for name, case in (now.cases if now else {}).items():
            if then is not None and name in then.cases:
                continue
            test = f"{path}::{name.replace('.', '::')}"
            if design.of(test) is None:
                yield f"{test} is new and not in your list: describe it or remove it."
            elif not case.assertions:
                yield f"{test} asserts nothing."


def plain(text: str) -> str:
    """Words and signs alone: what is left when layout, quotes and marks are put aside."""
    return MARKS.sub(" ", text).strip().casefold()


def is_stated(test: DesignedTest) -> bool:
    """Whether the quoted sentence holds the expected value itself: an example, not a conclusion."""
    wanted = plain(test.expected.removeprefix("raises "))
    return re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", plain(test.sentence)) is not None if wanted else False


def showing(design: TestDesign | None, base: TestReport, report: TestReport, reports: Sequence[TestReport]) -> Showing:
    """What `report`, one of the `reports`, shows of a candidate: the issue's examples, the project's tests, others."""
    known = sorted(base.having(TestOutcome.PASSED))
    named = sorted({test for one in reports for test in one.tests if test not in base.tests})
    entries = {test: design.of(test) if design else None for test in named}
    stated = {test for test, entry in entries.items() if entry is not None and is_stated(entry)}
    passed = report.having(TestOutcome.PASSED)
    return Showing(
        [test in passed for test in named if test in stated],
        [test in passed for test in known],
        [test in passed for test in named if test not in stated],
    )


def source_of(tree: Tree, test: str) -> str | None:
    """The text of a test, or of its whole file in languages whose tests are not definitions; None if there is none."""
    path, name = split(test)
    if path not in test_files(tree) or not tree.exists(path):
        return None
    text = tree.read(path)
    found = definition(tree, path, name)
    if found is not None:
        return text[found.start : found.end].decode("utf-8", "replace")
    whole = text.decode("utf-8", "replace")
    return whole if not path.endswith(".py") and name.rpartition(".")[2] in whole else None


def _with_helpers(tree: Tree, test: str, source: str) -> str:
    """The text of a test and of what it uses of its own file, directly or not: a bound may stand in a helper."""
    data = tree.read(split(test)[0])
    rest = {one.name: data[one.start : one.end].decode("utf-8", "replace") for one in _defined(tree, split(test)[0])}
    used = {name for name in rest if re.search(rf"\b{re.escape(name.rpartition('.')[2])}\b", source)}
    if not used:
        return source
    texts = [rest.pop(name) for name in sorted(used)]
    while rest and (more := [name for name in rest if any(name.rpartition(".")[2] in text for text in texts)]):
        texts += [rest.pop(name) for name in more]
    return "\n".join([source, *texts])


def without_test(tree: Tree, test: str) -> Tree:
    """A tree without one test; without its file's changes where the test cannot be cut out cleanly."""
    path, name = split(test)
    if path not in test_files(tree) or not tree.exists(path):
        return tree
    found = definition(tree, path, name)
    if found is not None:
        lines = tree.read(path).splitlines(keepends=True)
        data = b"".join([*lines[: found.first_line - 1], *lines[found.last_line :]])
        if syntax_error(path, data) is None and b"".join(data.split()):
            return tree.with_file(path, data.rstrip() + b"\n")
    return tree.only(set(tree.patch.files) - {path})


def definition(tree: Tree, path: str, name: str) -> Definition | None:
    """Where a test is defined."""
    return next((one for one in _defined(tree, path) if one.name == name), None)


def _defined(tree: Tree, path: str) -> Sequence[Definition]:
    language = language_of(path)
    try:
        return tuple(definitions(language, tree.read(path))) if language else ()
    except Unparsed:
        return ()


def split(test: str) -> tuple[str, str]:
    """File and dotted name of a test id."""
    path, _, name = test.partition("[")[0].partition("::")
    return path, name.replace("::", ".")


def same_value(one: str, other: str) -> bool | None:
    """Whether two expected results are the same; None if that cannot be said because one is no literal."""
    left, right = (text.strip().strip("`").strip() for text in (one, other))
    if plain(left) == plain(right):
        return True
    raised = [re.match(r"raises\s+(?:\w+\.)*(\w+)", text, re.IGNORECASE) for text in (left, right)]
    if any(raised):
        names = [match[1] if match else "" for match in raised]
        return names[0] == names[1]
    values = [_literal(text) for text in (left, right)]
    if any(value is _NO_LITERAL for value in values):
        return None
    return _equal(*values)


_NO_LITERAL = object()


def _literal(text: str) -> object:
    named = {"true": True, "false": False, "null": None, "nil": None, "undefined": None}
    if text in named:
        return named[text]
    try:
        return ast.literal_eval(python_code.expression(text))
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return _NO_LITERAL


def _equal(one: object, other: object) -> bool:
    if isinstance(one, float | int) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(_equal(*pair) for pair in zip(one, other, strict=True))
    return one == other
