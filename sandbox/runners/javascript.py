"""Jest, Vitest, Mocha and Node's own runner."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from sandbox.port import Lines, Result, TestOutcome
from sandbox.runners import coverage
from sandbox.runners.base import Asked, Findings, Reporter, any_of, objects, parsed, split, text_at, the

_OUTCOMES = {
    "passed": TestOutcome.PASSED,
    "failed": TestOutcome.FAILED,
    "pending": TestOutcome.SKIPPED,
    "skipped": TestOutcome.SKIPPED,
    "todo": TestOutcome.SKIPPED,
    "disabled": TestOutcome.SKIPPED,
}


class Jest(Reporter):
    """Jest's JSON. Ids are `file::full name`."""

    options = '--json --outputFile="$AGENT_FIX_OUT/report.json"'
    by_path = "--runTestsByPath"
    unmeasured = " --coverage=false"
    """A configured threshold is one for the whole suite: a part of it would end as failed."""

    def command(self, asked: Asked) -> str:
        files, names = split(asked.chosen)
        words = [self.by_path, *files] if files and self.by_path else files or list(asked.recipe.tests)
        # Vitest matches its pattern against a name that begins with a space.
        named = f" -t {shlex.quote(any_of(names).replace('^', '^ ?', 1))}" if names else ""
        watching = self.watching(asked) if asked.watch else self.unmeasured
        return f"{asked.recipe.test_command} {self.options}{watching}{named} {shlex.join(words)}"

    def watching(self, asked: Asked) -> str:
        """Options for the lines that ran."""
        files = [f"--collectCoverageFrom={asked.local(f'{asked.root}/{path}')}" for path in asked.watch]
        kept = ' --coverage --coverageReporters=json --coverageDirectory="$AGENT_FIX_OUT" --coverageThreshold="{}"'
        return f"{kept} {shlex.join(files)}"

    def lines(self, asked: Asked, files: Mapping[str, bytes]) -> dict[str, Lines] | None:
        return coverage.istanbul(asked, files)

    def read(self, asked: Asked, result: Result, files: Mapping[str, bytes]) -> Findings:
        findings: Findings = []
        _, names = split(asked.chosen)
        for suite in objects(parsed(the(files, "report.json")), "testResults"):
            path = asked.local(text_at(suite, "name"))
            tests = objects(suite, "assertionResults")
            for test in tests:
                name = text_at(test, "fullName").strip()
                outcome = _OUTCOMES.get(text_at(test, "status"), TestOutcome.ERROR)
                if names and outcome is TestOutcome.SKIPPED and name not in names:
                    continue  # what was not asked for is told as skipped
                messages = test.get("failureMessages")
                message = "\n".join(map(str, messages)) if isinstance(messages, list) else ""
                findings.append((f"{path}::{name}", outcome, message))
            if not tests and text_at(suite, "status") == "failed":
                findings.append((path, TestOutcome.ERROR, text_at(suite, "message")))
        return findings


class Vitest(Jest):
    """The same JSON by other options."""

    options = '--reporter=default --reporter=json --outputFile.json="$AGENT_FIX_OUT/report.json"'
    by_path = ""
    unmeasured = " --coverage.enabled=false"

    def watching(self, asked: Asked) -> str:
        """Nothing: it would need a package that few projects have."""
        return self.unmeasured

    def lines(self, asked: Asked, files: Mapping[str, bytes]) -> None:
        return None


class Mocha(Reporter):
    """Mocha's JSON. Ids are `file::full title`; a hook that fails is an error under its own title."""

    def command(self, asked: Asked) -> str:
        files, names = split(asked.chosen)
        named = f" --grep {shlex.quote(any_of(names))}" if names else ""
        return (
            f"{coverage.v8_setting(asked)}{asked.recipe.test_command}"
            f' --reporter json --reporter-option output="$AGENT_FIX_OUT/report.json"'
            f"{named} {shlex.join(files or asked.recipe.tests)}"
        )

    def read(self, asked: Asked, result: Result, files: Mapping[str, bytes]) -> Findings:
        report = parsed(the(files, "report.json"))
        tests = {_mocha_id(asked, test) for test in objects(report, "tests")}
        findings: Findings = []
        for key, outcome in (("passes", TestOutcome.PASSED), ("pending", TestOutcome.SKIPPED)):
            findings += [(_mocha_id(asked, test), outcome, "") for test in objects(report, key)]
        for test in objects(report, "failures"):
            name = _mocha_id(asked, test)
            message = text_at(test, "err", "stack") or text_at(test, "err", "message")
            findings.append((name, TestOutcome.FAILED if name in tests else TestOutcome.ERROR, message))
        return findings

    def lines(self, asked: Asked, files: Mapping[str, bytes]) -> dict[str, Lines]:
        return coverage.v8(asked, files)


def _mocha_id(asked: Asked, test: Mapping[str, object]) -> str:
    return f"{asked.local(text_at(test, 'file'))}::{text_at(test, 'fullTitle')}"


class Node(Reporter):
    """`node --test`. Ids are `file::test > subtest`; a selected test runs with its whole file."""

    inside = ("agent_fix_node.mjs",)

    def command(self, asked: Asked) -> str:
        files, _ = split(asked.chosen)
        options = (
            '--test-reporter="$AGENT_FIX_LIB/agent_fix_node.mjs"'
            ' --test-reporter-destination="$AGENT_FIX_OUT/node.jsonl"'
            " --test-reporter=spec --test-reporter-destination=stdout"
        )
        tests = shlex.join(files or asked.recipe.tests)
        return f"{coverage.v8_setting(asked)}{asked.recipe.test_command} {options} {tests}"

    def lines(self, asked: Asked, files: Mapping[str, bytes]) -> dict[str, Lines]:
        return coverage.v8(asked, files)

    def read(self, asked: Asked, result: Result, files: Mapping[str, bytes]) -> Findings:
        findings: Findings = []
        for test in map(parsed, the(files, "node.jsonl").splitlines()):
            names = test.get("name")
            name = "::".join(filter(None, [text_at(test, "file"), " > ".join(map(str, names)) if names else ""]))
            outcome = _OUTCOMES.get(text_at(test, "outcome"), TestOutcome.ERROR)
            findings.append((name, outcome, text_at(test, "message")))
        return findings
