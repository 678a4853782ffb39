"""Which lines ran under tests: by Python's own runners for real, by the others from what they really left."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from sandbox.docker_engine import DockerSandbox
from sandbox.port import Environment, Lines, Result, TestOutcome
from sandbox.report import REPORTERS, report
from sandbox.runners.base import Asked
from tests.data.runners.projects import WATCHED
from tests.sandbox.conftest import PROJECT, recipe

RECORDS = Path(__file__).parent.parent / "data" / "runners"
SUMS = (
    '"""Adds."""\n'  # 1
    "\n"
    "def add(a, b):\n"  # 3
    '    """A sum."""\n'
    "    if a > 10:\n"  # 5
    "        return 0\n"  # 6
    "    return sum(\n"  # 7
    "        [a, b]\n"
    "    )\n"
    "\n"
    "# a comment\n"
    "def in_thread():\n"  # 12
    "    return 1\n"  # 13
    "\n"
    "def never():\n"  # 15
    "    return 1\n"  # 16
)
TESTS = (
    "import threading\nfrom sums import add, in_thread\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
    "    worker = threading.Thread(target=in_thread)\n    worker.start()\n    worker.join()\n"
)
CLASSIC = (
    "import unittest\nfrom sums import add\n\nclass T(unittest.TestCase):\n    def test(self):\n        add(1, 2)\n"
)


def test_pytest_tells_of_each_line_also_in_threads_and_under_another_tracer(
    sandbox: DockerSandbox, environment: Environment
) -> None:
    other = "import sys\n\ndef pytest_configure(config):\n    sys.settrace(None)\n"
    tree = PROJECT.but(
        **{"sums/__init__.py": SUMS, "sums/not_loaded.py": "x = 1\n", "sums/bad.py": "def (\n", "conftest.py": other},
        **{"tests/test_add.py": TESTS},
    )
    watch = ["sums/__init__.py", "sums/not_loaded.py", "sums/bad.py"]
    found = sandbox.test(environment, tree, watch=watch, seconds=60)
    assert found.tests == {"tests/test_add.py::test_add": TestOutcome.PASSED}
    assert found.lines is not None
    lines = found.lines["sums/__init__.py"]
    assert {3, 5, 7, 12, 13, 15} <= lines.ran
    assert {6, 16} <= lines.able - lines.ran
    assert not {2, 4, 10, 11, 14} & lines.able
    assert found.lines["sums/not_loaded.py"] == Lines(frozenset({1}), frozenset())
    assert found.lines["sums/bad.py"] == Lines(frozenset(), frozenset())


def test_nothing_is_told_that_nobody_asked_for(sandbox: DockerSandbox, environment: Environment) -> None:
    assert sandbox.test(environment, PROJECT, seconds=60).lines is None


def test_unittest_tells_too(sandbox: DockerSandbox, environment: Environment) -> None:
    classic = dataclasses.replace(
        environment,
        recipe=dataclasses.replace(
            environment.recipe, test_command="python -m unittest", reporter="unittest", tests=("suite.test_sums",)
        ),
    )
    tree = PROJECT.but(**{"sums/__init__.py": SUMS, "suite/__init__.py": "", "suite/test_sums.py": CLASSIC})
    found = sandbox.test(classic, tree, watch=["sums/__init__.py"], seconds=60)
    assert found.lines is not None
    assert {3, 5, 7} <= found.lines["sums/__init__.py"].ran
    assert {6, 16} <= found.lines["sums/__init__.py"].able - found.lines["sums/__init__.py"].ran


@pytest.mark.parametrize(
    ("name", "ran", "not_run"),
    [
        ("lines-node", {2, 3, 6, 9, 11}, {4, 7}),
        ("lines-jest", {3, 6, 9, 11}, {4, 7}),
        ("lines-go", {5, 8}, {6, 12}),
    ],
)
def test_the_others_are_read_from_what_they_left(name: str, ran: set[int], not_run: set[int]) -> None:
    project = WATCHED[name]
    for run in json.loads((RECORDS / f"{name}.json").read_text("utf-8")):
        files = {file: text.encode() for file, text in run["files"].items()}
        watch = {path: project.files[path].encode() for path in project.watch}
        asked = Asked(project.recipe, frozenset(project.files), tuple(run["selection"]), watch=watch)
        found = report(asked, Result(**run["result"]), files)
        assert found.lines is not None
        lines = found.lines[project.watch[0]]
        assert ran <= lines.ran
        assert not_run <= lines.able - lines.ran


@pytest.mark.parametrize("runner", sorted(REPORTERS))
@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "null",
        "[1]",
        '{"/repo/a.py": 1}',
        '{"/repo/a.py": {"able": "x", "ran": [null, "1"]}}',
        '{"/repo/a.js": {"s": 1}}',
        '{"result": [{"url": "file:///repo/a.js", "functions": [{"ranges": [{}]}]}]}',
        "mode: set\nm/a.go:1.1,99999999.2 1 1\n",
        "mode: set\nm/a.go:x\n",
    ],
)
def test_a_report_of_lines_that_is_none_does_no_harm(runner: str, text: str) -> None:
    files = dict.fromkeys(["lines-1.json", "coverage-1.json", "coverage-final.json", "cover-0.out"], text.encode())
    watch = {"a.py": b"x = 1\n", "a.js": b"x = 1\n", "a.go": b"package a\n"}
    asked = Asked(recipe(reporter=runner), frozenset(watch), watch=watch)
    found = report(asked, Result(0, "", 1.0), files)
    for lines in (found.lines or {}).values():
        assert not lines.ran
