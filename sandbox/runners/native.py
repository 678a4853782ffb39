"""Runners of C and C++ projects: Automake's `make check` and Meson. CTest is in `sandbox.runners.xml`."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Mapping

from sandbox.port import Result, TestOutcome
from sandbox.runners import junit
from sandbox.runners.base import Asked, ExitCode, Findings, Reporter, into_file, the
from sandbox.runners.text import MESSAGE_LINES, lines_of

_RESULT = re.compile(r"(?P<word>PASS|FAIL|XFAIL|XPASS|SKIP|ERROR): (?P<name>\S.*)")
_ENTERED = re.compile(r"make(?:\[\d+\])?: (?P<way>Entering|Leaving) directory '(?P<path>[^']*)'")
_WORDS = {
    "PASS": TestOutcome.PASSED,
    "XFAIL": TestOutcome.PASSED,
    "FAIL": TestOutcome.FAILED,
    "XPASS": TestOutcome.FAILED,
    "SKIP": TestOutcome.SKIPPED,
    "ERROR": TestOutcome.ERROR,
}


class Automake(ExitCode):
    """`make check`. Ids are `folder/test`; a check of the project's own, which prints no results, is one test.

    Which folder has a test's rule is not known beforehand: a selection runs the whole suite.
    """

    def command(self, asked: Asked) -> str:
        return into_file(f"VERBOSE=1 {super().command(asked)} --keep-going --print-directory", "report.txt")

    def read(self, asked: Asked, result: Result, files: Mapping[str, bytes]) -> Findings:
        return automake(lines_of(files), asked) or super().read(asked, result, files)


def automake(lines: list[str], asked: Asked) -> Findings:
    """The results that Automake's harness prints, with the logs of failed tests, which it prints at the end."""
    folders: list[str] = []
    found: list[tuple[str, TestOutcome]] = []
    messages: dict[str, str] = {}
    for number, line in enumerate(lines):
        if entered := _ENTERED.match(line):
            if entered["way"] == "Entering":
                folders.append(asked.local(f"{entered['path']}/."))
            elif folders:
                folders.pop()
        elif result := _RESULT.match(line):
            name = posixpath.join(folders[-1] if folders and folders[-1] != "." else "", result["name"])
            found.append((name, _WORDS[result["word"]]))
            if number + 1 < len(lines) and set(lines[number + 1]) == {"="}:
                messages[name] = _logged(lines, number + 2, result["name"])
    return [(name, outcome, messages.get(name, "")) for name, outcome in found]


def _logged(lines: list[str], first: int, name: str) -> str:
    """A test's log, which ends with a line of its name and exit status."""
    kept = []
    for line in lines[first : first + MESSAGE_LINES]:
        kept.append(line)
        if f" {name} (exit status: " in f" {line}":
            break
    return "\n".join(kept).strip()


class Meson(Reporter):
    """Meson. Ids are its names, `suite / name`; where a test reports several, `suite / name > part`."""

    def command(self, asked: Asked) -> str:
        reports = r"find ~ . -path '*/meson-logs/testlog.junit.xml'"
        names = dict.fromkeys(test.partition(" > ")[0].rpartition(" / ")[2] for test in asked.chosen)
        return (
            f"{reports} -delete\n"
            f"{asked.recipe.test_command} {shlex.join([*asked.recipe.tests, *names])}\n"
            "code=$?\n"
            f'{reports} -exec cp {{}} "$AGENT_FIX_OUT/junit.xml" \\;\n'
            'exit "$code"'
        )

    def read(self, asked: Asked, result: Result, files: Mapping[str, bytes]) -> Findings:
        return [_meson(case) for case in junit.cases(the(files, "junit.xml"))]


def _meson(case: junit.Case) -> tuple[str, TestOutcome, str]:
    whole = case.classname.partition(".")[2]
    if " / " not in whole:
        return case.name, case.outcome, case.message
    return f"{whole} > {case.name}", case.outcome, case.message or f"{whole} reports this part as failed"
