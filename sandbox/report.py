"""From a recipe to a command that runs its tests with a machine-readable report, and from there to a `TestReport`.

`REPORTERS` is the table of runners. Each adds its own options and the selected tests to the recipe's command, quoted,
and reads the files that the run left. A report was written by untrusted code: what cannot be read, a runner that
crashed, a run without tests are errors of the runner itself, which stands in the report under its command.
"""

from __future__ import annotations

import json
import posixpath
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

from sandbox import junit
from sandbox.junit import Unreadable, worse
from sandbox.output import Output
from sandbox.port import Recipe, Result, TestOutcome, TestReport

MESSAGE = 20_000
"""Bytes of one test's message that are kept."""
BAD = {TestOutcome.FAILED, TestOutcome.ERROR}

Findings = list[tuple[str, TestOutcome, str]]
"""Test id, outcome, message; a test may come several times."""


@dataclass(frozen=True)
class TestRun:
    """One run of a recipe's tests: what is asked for, and how to read the answer."""

    __test__ = False

    recipe: Recipe
    paths: frozenset[str]
    """The files of the tree under test."""
    selection: tuple[str, ...] = ()

    @property
    def reporter(self) -> Reporter:
        """Raises `ValueError` for a reporter that is not in the table."""
        if self.recipe.reporter not in REPORTERS:
            raise ValueError(f"no reporter {self.recipe.reporter!r}: use one of {', '.join(sorted(REPORTERS))}")
        return REPORTERS[self.recipe.reporter]

    @property
    def command(self) -> str:
        """The bash text. Raises `ValueError` for a selection that cannot name tests."""
        return self.reporter.command(self)

    @property
    def chosen(self) -> list[str]:
        """The selection as the runner names it: files count from the working folder."""
        return [self._named(test) for test in self.selection]

    def _named(self, test: str) -> str:
        if not test or test.startswith("-") or "\0" in test:
            raise ValueError(f"{test!r} is neither a test id nor a test file")
        file, mark, rest = test.partition("::")
        beside = posixpath.normpath(posixpath.join(self.recipe.workdir, file))
        if beside not in self.paths and file in self.paths:
            return posixpath.relpath(file, self.recipe.workdir) + mark + rest
        return test

    def report(self, result: Result, files: Mapping[str, bytes] | str) -> TestReport:
        """What the run said; `files` are those of the report, or why there are none."""
        tests: dict[str, TestOutcome] = {}
        messages: dict[str, str] = {}
        problem = "" if isinstance(files, Mapping) else files
        try:
            findings = self.reporter.read(self, result, files) if isinstance(files, Mapping) else []
        except Unreadable as error:
            findings, problem = [], str(error)
        for test, outcome, message in findings:
            tests[test] = worse(outcome, tests.get(test, outcome))
            if outcome in BAD and message:
                messages[test] = _cut(f"{messages[test]}\n{message}" if test in messages else message)
        problem = problem or _problem(result, tests)
        if problem:
            tests[self.recipe.test_command] = TestOutcome.ERROR
            messages[self.recipe.test_command] = problem
        return TestReport(tests, messages, result)


def _problem(result: Result, tests: Mapping[str, TestOutcome]) -> str:
    """What went wrong with the runner itself; empty if it did its work."""
    if result.ended != "exit":
        return f"the test run did not end by itself: {result.ended} after {result.seconds:.0f} seconds"
    if not tests:
        return f"the runner reported no test (exit code {result.exit_code})"
    if result.exit_code != 0 and not BAD & set(tests.values()):
        return f"the runner ended with exit code {result.exit_code}, though it reported no test that failed"
    return ""


def _cut(text: str) -> str:
    kept = Output(MESSAGE)
    kept.add(text.encode("utf-8", "replace"))
    return kept.text()


class Reporter:
    """How one runner is asked for a report and how it is read. `$AGENT_FIX_OUT` is the folder of report files."""

    inside: tuple[str, ...] = ()
    """Modules of `sandbox.inside` that are put in, into `$AGENT_FIX_LIB`."""

    def files(self, run: TestRun) -> dict[str, bytes]:
        """What is put into `$AGENT_FIX_LIB`: name -> bytes."""
        return {name: resources.files("sandbox.inside").joinpath(name).read_bytes() for name in self.inside}

    def command(self, run: TestRun) -> str:
        """The bash text that runs the tests of `run`."""
        raise NotImplementedError

    def read(self, run: TestRun, result: Result, files: Mapping[str, bytes]) -> Findings:
        """What the report says. Raises `Unreadable`."""
        raise NotImplementedError


def the(files: Mapping[str, bytes], name: str) -> bytes:
    """One report file. Raises `Unreadable` if the run left none."""
    if name not in files:
        raise Unreadable("the runner left no report: it crashed, was ended, or did not accept its options")
    return files[name]


def tests_of(run: TestRun) -> str:
    """The tests to run, quoted for the shell."""
    return shlex.join(run.chosen or run.recipe.tests)


class ExitCode(Reporter):
    """For a runner without a readable report: the command is the one test, whatever is selected."""

    def command(self, run: TestRun) -> str:
        return f"{run.recipe.test_command} {shlex.join(run.recipe.tests)}"

    def read(self, run: TestRun, result: Result, files: Mapping[str, bytes]) -> Findings:
        outcome = TestOutcome.PASSED if result.exit_code == 0 else TestOutcome.FAILED
        return [(run.recipe.test_command, outcome, result.output)]


class Pytest(Reporter):
    """JUnit XML; a plugin adds the exact ids."""

    inside = ("agent_fix_pytest.py",)

    def command(self, run: TestRun) -> str:
        return (
            'export PYTHONPATH="$AGENT_FIX_LIB${PYTHONPATH:+:$PYTHONPATH}"\n'
            f"{run.recipe.test_command} -p agent_fix_pytest -o junit_family=xunit1"
            f' --junitxml="$AGENT_FIX_OUT/junit.xml" --maxfail=0 -- {tests_of(run)}'
        )

    def read(self, run: TestRun, result: Result, files: Mapping[str, bytes]) -> Findings:
        modules = {_module(path): path for path in run.paths}
        findings = []
        for case in junit.cases(the(files, "junit.xml")):
            name = _id(case.properties.get("agent-fix-id", ""))
            if name is None:  # a file that cannot be collected is named like a module
                module = ".".join(filter(None, (case.classname, case.name)))
                path = modules.get(module) or modules.get(_module(posixpath.join(run.recipe.workdir, module)))
                name = posixpath.relpath(path, run.recipe.workdir) if path else module
            findings.append((name, case.outcome, case.message))
        return findings


def _module(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")


def _id(text: str) -> str | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, str) else None


class Unittest(Reporter):
    """`python -m unittest`, by a program of the same arguments that writes down each outcome."""

    inside = ("agent_fix_unittest.py",)

    def files(self, run: TestRun) -> dict[str, bytes]:
        return {**super().files(run), "selection.json": json.dumps(run.chosen).encode()}

    def command(self, run: TestRun) -> str:
        if "-m unittest" not in run.recipe.test_command:
            raise ValueError(f"reporter 'unittest' needs `python -m unittest` in {run.recipe.test_command!r}")
        command = run.recipe.test_command.replace("-m unittest", "-m agent_fix_unittest", 1)
        return (
            f'export PYTHONPATH="$AGENT_FIX_LIB${{PYTHONPATH:+:$PYTHONPATH}}"\n{command} {shlex.join(run.recipe.tests)}'
        )

    def read(self, run: TestRun, result: Result, files: Mapping[str, bytes]) -> Findings:
        return [finding(line) for line in the(files, "unittest.jsonl").splitlines()]


def finding(line: bytes) -> tuple[str, TestOutcome, str]:
    """One line of `agent_fix_unittest`. Raises `Unreadable`."""
    try:
        value = json.loads(line)
        return str(value["id"]), TestOutcome(value["outcome"]), str(value["message"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Unreadable(f"a line of the test report cannot be read: {error}") from error


REPORTERS: Mapping[str, Reporter] = {
    "exit-code": ExitCode(),
    "pytest": Pytest(),
    "unittest": Unittest(),
}
"""Name in a recipe -> how it is run and read."""
