"""From a recipe to a command that runs its tests with a machine-readable report, and from there to a `TestReport`.

`REPORTERS` is the table of runners. Each adds its own options and the selected tests to the recipe's command, quoted,
and reads the files that the run left. A report was written by untrusted code: what cannot be read, a runner that
crashed, a run without tests are errors of the runner itself, which stands in the report under its command.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from sandbox.output import Output
from sandbox.port import Lines, Recipe, Result, TestOutcome, TestReport
from sandbox.runners.base import Asked, ExitCode, Reporter, Unreadable
from sandbox.runners.go import Go
from sandbox.runners.javascript import Jest, Mocha, Node, Vitest
from sandbox.runners.jvm import JunitConsole
from sandbox.runners.native import Automake, Meson
from sandbox.runners.python import Pytest, Unittest
from sandbox.runners.ruby import Rspec, TestUnit
from sandbox.runners.text import Cargo, Minitest, Tap
from sandbox.runners.xml import Ctest, Gradle, Maven, Phpunit

MESSAGE = 20_000
"""Bytes of one test's message that are kept."""
BAD = {TestOutcome.FAILED, TestOutcome.ERROR}
WORST_FIRST = (TestOutcome.ERROR, TestOutcome.FAILED, TestOutcome.SKIPPED, TestOutcome.PASSED)

REPORTERS: Mapping[str, Reporter] = {
    "automake": Automake(),
    "cargo": Cargo(),
    "ctest": Ctest(),
    "exit-code": ExitCode(),
    "go": Go(),
    "gradle": Gradle(),
    "jest": Jest(),
    "junit-console": JunitConsole(),
    "maven": Maven(),
    "meson": Meson(),
    "minitest": Minitest(),
    "mocha": Mocha(),
    "node": Node(),
    "phpunit": Phpunit(),
    "pytest": Pytest(),
    "rspec": Rspec(),
    "tap": Tap(),
    "test-unit": TestUnit(),
    "unittest": Unittest(),
    "vitest": Vitest(),
}
"""Name in a recipe -> how it is run and read."""


def reporter(recipe: Recipe) -> Reporter:
    """Raises `ValueError` for a name that is not in the table."""
    if recipe.reporter not in REPORTERS:
        raise ValueError(f"no reporter {recipe.reporter!r}: use one of {', '.join(REPORTERS)}")
    return REPORTERS[recipe.reporter]


def report(asked: Asked, result: Result, files: Mapping[str, bytes] | str) -> TestReport:
    """What a run said; `files` are those of the report, or why there are none."""
    reads = reporter(asked.recipe)
    tests: dict[str, TestOutcome] = {}
    messages: dict[str, str] = {}
    problem = ""
    if isinstance(files, str):
        problem, files = files, {}
    else:
        try:
            for test, outcome, message in reads.read(asked, result, files):
                tests[test] = min(outcome, tests.get(test, outcome), key=WORST_FIRST.index)
                if outcome in BAD and message:
                    messages[test] = _cut(f"{messages[test]}\n{message}" if test in messages else message)
        except Unreadable as error:
            tests, messages, problem = {}, {}, str(error)
    problem = _not_ended(result) or problem or _no_result(result, tests)
    if problem:
        tests[asked.recipe.test_command] = TestOutcome.ERROR
        messages[asked.recipe.test_command] = problem
    told = dataclasses.replace(result, output=reads.text(result, files))
    return TestReport(tests, messages, told, _lines(reads, asked, files))


def _lines(reads: Reporter, asked: Asked, files: Mapping[str, bytes]) -> dict[str, Lines] | None:
    try:
        return reads.lines(asked, files) if asked.watch else None
    except Unreadable:
        return None


def _not_ended(result: Result) -> str:
    if result.ended == "exit":
        return ""
    return f"the test run did not end by itself: {result.ended} after {result.seconds:.0f} seconds"


def _no_result(result: Result, tests: Mapping[str, TestOutcome]) -> str:
    """What went wrong with the runner itself; empty if it did its work."""
    if not tests:
        return f"the runner reported no test (exit code {result.exit_code})"
    if result.exit_code != 0 and not BAD & set(tests.values()):
        return f"the runner ended with exit code {result.exit_code}, though it reported no test that failed"
    return ""


def _cut(text: str) -> str:
    kept = Output(MESSAGE)
    kept.add(text.encode("utf-8", "replace"))
    return kept.text()
