"""unittest, run for real: ids, kinds of ends, selections, modules that cannot be loaded."""

from __future__ import annotations

import dataclasses

import pytest

from sandbox.docker_engine import DockerSandbox
from sandbox.port import Environment, TestOutcome
from tests.sandbox.conftest import PROJECT

PASSED, FAILED, ERROR, SKIPPED = TestOutcome.PASSED, TestOutcome.FAILED, TestOutcome.ERROR, TestOutcome.SKIPPED

CASES = """\
import unittest

class Kinds(unittest.TestCase):
    def test_passes(self): pass
    def test_fails(self): self.assertEqual(1, 2, 'seen')
    def test_error(self): raise RuntimeError('seen')
    @unittest.skip('why')
    def test_skipped(self): pass
    @unittest.expectedFailure
    def test_expected(self): self.fail()
    @unittest.expectedFailure
    def test_unexpected(self): pass
    def test_parts(self):
        for part in range(3):
            with self.subTest(part=part): self.assertNotEqual(part, 1)

class Broken(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise RuntimeError('class set-up')
    def test_never(self): pass
"""
TREE = PROJECT.but(
    **{"tests/test_add.py": None, "suite/__init__.py": "", "suite/test_kinds.py": CASES, "suite/test_b.py": CASES}
)
WHOLE = {
    f"suite.{module}.{name}": outcome
    for module in ("test_kinds", "test_b")
    for name, outcome in {
        "Kinds.test_passes": PASSED,
        "Kinds.test_fails": FAILED,
        "Kinds.test_error": ERROR,
        "Kinds.test_skipped": SKIPPED,
        "Kinds.test_expected": SKIPPED,
        "Kinds.test_unexpected": FAILED,
        "Kinds.test_parts": FAILED,
    }.items()
} | {f"setUpClass (suite.{module}.Broken)": ERROR for module in ("test_kinds", "test_b")}


@pytest.fixture
def classic(environment: Environment) -> Environment:
    recipe = dataclasses.replace(
        environment.recipe,
        test_command="python -m unittest",
        reporter="unittest",
        tests=("discover", "-t", ".", "suite"),
    )
    return dataclasses.replace(environment, recipe=recipe)


def test_ends_are_told_apart(sandbox: DockerSandbox, classic: Environment) -> None:
    report = sandbox.test(classic, TREE, seconds=60)
    assert report.tests == WHOLE
    assert "seen" in report.messages["suite.test_b.Kinds.test_fails"]
    assert "part=1" in report.messages["suite.test_b.Kinds.test_parts"] + report.result.output


@pytest.mark.parametrize(
    ("selection", "chosen"),
    [
        (["suite.test_b.Kinds.test_passes"], {"suite.test_b.Kinds.test_passes"}),
        (["suite/test_b.py"], {name for name in WHOLE if "test_b" in name}),
        (["suite.test_b", "suite.test_kinds.Kinds"], {name for name in WHOLE if "test_b" in name or ".Kinds." in name}),
    ],
)
def test_a_selection_is_all_that_runs(
    selection: list[str], chosen: set[str], sandbox: DockerSandbox, classic: Environment
) -> None:
    assert sandbox.test(classic, TREE, selection=selection, seconds=60).tests.keys() == chosen


def test_a_module_that_cannot_be_loaded_is_an_error_of_it(sandbox: DockerSandbox, classic: Environment) -> None:
    broken = TREE.but(**{"suite/test_b.py": "import nothing_of_this_name\n"})
    report = sandbox.test(classic, broken, seconds=60)
    assert report.tests["suite.test_b"] == ERROR
    assert "nothing_of_this_name" in report.messages["suite.test_b"]


def test_of_a_run_that_is_ended_the_tests_before_are_known(sandbox: DockerSandbox, classic: Environment) -> None:
    flood = "def test_z(self):\n        while True: print('x' * 100_000)"
    endless = {"suite/test_kinds.py": "", "suite/test_b.py": CASES.replace("def test_passes(self): pass", flood)}
    report = sandbox.test(classic, TREE.but(**endless), seconds=60)
    assert report.result.ended == "output"
    assert report.tests["suite.test_b.Kinds.test_fails"] == FAILED
    assert report.tests["python -m unittest"] == ERROR
    assert not report.good
