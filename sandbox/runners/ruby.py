"""RSpec and test-unit; Minitest is in `sandbox.runners.text`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping

from sandbox.port import Result, TestOutcome
from sandbox.runners.base import Asked, Findings, Reporter, any_of, objects, parsed, split, text_at, the
from sandbox.runners.text import MESSAGE_LINES, Minitest, lines_of

_OUTCOMES = {"passed": TestOutcome.PASSED, "failed": TestOutcome.FAILED, "pending": TestOutcome.SKIPPED}


class Rspec(Reporter):
    """RSpec's JSON. Ids are `file::full description`: RSpec's own ids count examples and shift with each new one."""

    def command(self, asked: Asked) -> str:
        files, names = split(asked.chosen)
        named = "".join(f" --example {shlex.quote(name)}" for name in names)
        return (
            f'{asked.recipe.test_command} --format progress --format json --out "$AGENT_FIX_OUT/report.json"'
            f"{named} {shlex.join(files or asked.recipe.tests)}"
        )

    def read(self, asked: Asked, result: Result, files: Mapping[str, bytes]) -> Findings:
        report = parsed(the(files, "report.json"))
        findings: Findings = []
        for example in objects(report, "examples"):
            name = f"{asked.local(text_at(example, 'file_path'))}::{text_at(example, 'full_description')}"
            outcome = _OUTCOMES.get(text_at(example, "status"), TestOutcome.ERROR)
            message = "\n".join(filter(None, (text_at(example, "exception", key) for key in ("class", "message"))))
            findings.append((name, outcome, message))
        summary = report.get("summary")
        if isinstance(summary, dict) and summary.get("errors_outside_of_examples_count"):
            messages = report.get("messages")
            told = "\n".join(map(str, messages)) if isinstance(messages, list) else ""
            findings.append(("errors outside of examples", TestOutcome.ERROR, told))
        return findings


class TestUnit(Minitest):
    """test-unit in its verbose form. Ids are `Class#method`; of equal names in several classes, all are run."""

    __test__ = False  # pytest would take the name for a test class

    def pattern(self, tests: Iterable[str]) -> str:
        return any_of(dict.fromkeys(test.partition("#")[2] for test in tests))

    def read(self, asked: Asked, result: Result, files: Mapping[str, bytes]) -> Findings:
        return verbose(lines_of(files))


_CLASS = re.compile(r" *(?P<name>\S.*): $")
_METHOD = re.compile(r" +(?P<name>\S.*?):\t+(?P<rest>.*)")
_LONG = re.compile(r" +(?P<name>\S.{39,}?):(?=[^\s:]|$)(?P<rest>.*)")
"""A name that leaves no room for a tab."""
_END = re.compile(r"(?P<said>.*): \(\d+\.\d{6}\)$")
_DETAIL = re.compile(r"(Failure|Error|Omission|Pending|Notification): ")
_WORDS = {
    "Failure": TestOutcome.FAILED,
    "Error": TestOutcome.ERROR,
    "Omission": TestOutcome.SKIPPED,
    "Pending": TestOutcome.SKIPPED,
    "Notification": TestOutcome.PASSED,
}


def verbose(lines: list[str]) -> Findings:
    """The tests that test-unit tells of with `-v`. What a test prints stands between its name and its end."""
    findings: Findings = []
    case, method, said = "?", "", list[str]()
    for line in lines:
        if begun := _METHOD.match(line) or (None if method else _LONG.match(line)):
            if method:  # the one before did not end
                findings.append((f"{case}#{method}", TestOutcome.ERROR, "\n".join(said)))
            method, said = begun["name"], []
            line = begun["rest"]  # noqa: PLW2901 - the rest is a line of its own
        elif not method:
            if group := _CLASS.match(line):
                case = group["name"]
            continue
        end = _END.match(line)
        if len(said) < MESSAGE_LINES:
            said.append(end["said"] if end else line)
        if end:
            findings.append((f"{case}#{method}", *_judged(said)))
            method = ""
    return [*findings, *([(f"{case}#{method}", TestOutcome.ERROR, "\n".join(said))] if method else [])]


def _judged(said: list[str]) -> tuple[TestOutcome, str]:
    """The outcome of a test and its message, from what stands between its name and its time."""
    detail = next((match for line in said if (match := _DETAIL.match(line))), None)
    if detail:
        return _WORDS[detail[1]], "\n".join(line for line in said[1:] if not line.startswith("======")).strip()
    return (TestOutcome.PASSED, "") if said[-1].endswith(".") else (TestOutcome.ERROR, "\n".join(said))
