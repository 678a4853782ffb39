"""`python -m agent_fix_unittest` is `python -m unittest` that also writes each test's outcome to a file at once.

The file has one JSON object a line: {"id": ..., "outcome": ..., "message": ...}. Tests to run come from
`selection.json` beside this file: ids of tests, or files of them; everything is discovered as usual first.
"""

import contextlib
import importlib
import json
import os
import sys
import unittest
from typing import Any, Iterator, List

FAILED_IMPORT = "unittest.loader._FailedTest."


class Result(unittest.TextTestResult):
    """Reports as usual, and to the file."""

    def startTestRun(self) -> None:
        self.lines = open(os.path.join(os.environ["AGENT_FIX_OUT"], "unittest.jsonl"), "w")
        super().startTestRun()

    def stopTestRun(self) -> None:
        super().stopTestRun()
        self.lines.close()

    def _write(self, test: unittest.TestCase, outcome: str, message: str = "") -> None:
        name = test.id()
        if name.startswith(FAILED_IMPORT):
            name = name[len(FAILED_IMPORT) :]
        self.lines.write(json.dumps({"id": name, "outcome": outcome, "message": message}) + "\n")
        self.lines.flush()

    def addSuccess(self, test: unittest.TestCase) -> None:
        super().addSuccess(test)
        self._write(test, "passed")

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        super().addError(test, err)
        self._write(test, "error", self.errors[-1][1])

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addFailure(test, err)
        self._write(test, "failed", self.failures[-1][1])

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self._write(test, "skipped", reason)

    def addExpectedFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addExpectedFailure(test, err)
        self._write(test, "skipped", "fails as expected")

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        super().addUnexpectedSuccess(test)
        self._write(test, "failed", "passes, though it is marked as expected to fail")

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            kept = self.failures if issubclass(err[0], test.failureException) else self.errors
            self._write(test, "failed", kept[-1][1])


def tests_of(suite: Any) -> Iterator[unittest.TestCase]:
    """The tests of a suite, one by one."""
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from tests_of(item)
        else:
            yield item


def chosen(test: unittest.TestCase, selection: List[str]) -> bool:
    """Whether a test, or the file or module or class that it stands in, is selected."""
    name = test.id()
    if name.startswith(FAILED_IMPORT):
        name = name[len(FAILED_IMPORT) :]
    if any(name == wanted or name.startswith(wanted + ".") for wanted in selection):
        return True
    module = sys.modules.get(type(test).__module__)
    path = os.path.realpath(getattr(module, "__file__", None) or "")
    return any(os.path.realpath(wanted) == path for wanted in selection)


class Program(unittest.TestProgram):
    """The usual program, on the selected tests alone where some are selected."""

    def createTests(self, *arguments: Any, **options: Any) -> None:
        super().createTests(*arguments, **options)
        suite: Any = getattr(self, "test")  # noqa: B009 - not known to every version of its types
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "selection.json")) as file:
            selection = json.load(file)
        if selection:
            self.test = unittest.TestSuite(test for test in tests_of(suite) if chosen(test, selection))


if __name__ == "__main__":
    with contextlib.suppress(ImportError):  # it is there if somebody wants to know
        importlib.import_module("agent_fix_lines")
    runner: Any = unittest.TextTestRunner
    Program(module=None, testRunner=runner(resultclass=Result))
