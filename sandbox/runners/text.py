"""Runners that are read from the text that they print."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterable, Mapping

from sandbox.output import plain
from sandbox.port import Result, TestOutcome
from sandbox.runners.base import Asked, Findings, Reporter, any_of, into_file, tests_of, the

PASSED, FAILED, SKIPPED, ERROR = TestOutcome.PASSED, TestOutcome.FAILED, TestOutcome.SKIPPED, TestOutcome.ERROR

MESSAGE_LINES = 200


def lines_of(files: Mapping[str, bytes]) -> list[str]:
    """What a runner printed. Raises `Unreadable` if it was not even started."""
    return plain(the(files, "report.txt").decode("utf-8", "replace")).splitlines()


class Tap(Reporter):
    """Any runner that prints the Test Anything Protocol. The selection is put at the command's end."""

    def command(self, asked: Asked) -> str:
        return into_file(f"{asked.recipe.test_command} {tests_of(asked)}", "report.txt")

    def read(self, asked: Asked, result: Result, files: Mapping[str, bytes]) -> Findings:
        return tap(lines_of(files))


_POINT = re.compile(r"(?P<indent> *)(?P<failed>not )?ok\b(?: +(?P<number>\d+))?(?: +- +| +|$)(?P<rest>.*)")
_DIRECTIVE = re.compile(r"(?<!\\)#\s*(skip|todo)\b", re.IGNORECASE)
_SUBTEST = re.compile(r"(?P<indent> *)# Subtest: (?P<name>.*)")


def tap(lines: list[str]) -> Findings:
    """Test points, those of subtests named `outer > inner`; what follows a failed one is its message.

    Subtests are indented and stand before the point that they belong to. That point is left out, unless it failed
    where all of them passed.
    """
    findings: Findings = []
    names: dict[int, str] = {}
    failed: dict[int, bool] = {}
    for number, line in enumerate(lines):
        if subtest := _SUBTEST.match(line):
            names[len(subtest["indent"]) // 4] = _plain(subtest["name"])
        elif point := _POINT.match(line):
            depth = len(point["indent"]) // 4
            name, outcome = _point(point)
            inner = [failed.pop(level) for level in sorted(failed) if level > depth]
            failed[depth] = failed.get(depth, False) or outcome is FAILED
            if not inner or (outcome is FAILED and not any(inner)):
                path = " > ".join([*(names.get(level, "?") for level in range(depth)), name])
                findings.append((path, outcome, _following(lines, number) if outcome is FAILED else ""))
        elif line.startswith("Bail out!"):
            findings.append(("Bail out!", ERROR, line))
    return findings


def _point(point: re.Match[str]) -> tuple[str, TestOutcome]:
    directive = _DIRECTIVE.search(point["rest"])
    name = _plain(point["rest"][: directive.start()] if directive else point["rest"])
    outcome = SKIPPED if directive else FAILED if point["failed"] else PASSED
    return name or f"test {point['number'] or '?'}", outcome


def _plain(name: str) -> str:
    return re.sub(r"\\([#\\])", r"\1", name).strip()


def _following(lines: list[str], number: int) -> str:
    """The lines from a point to the next one."""
    end = number + 1
    while (
        end < min(len(lines), number + MESSAGE_LINES)
        and not _POINT.match(lines[end])
        and not _SUBTEST.match(lines[end])
    ):
        end += 1
    return "\n".join(lines[number:end])


class Cargo(Reporter):
    """`cargo test`. Ids are `source::path::of::test`, the source as Cargo shows it or `Doc-tests crate`."""

    def command(self, asked: Asked) -> str:
        names = [name for _, _, name in (test.partition("::") for test in asked.chosen) if name]
        files = [test for test in asked.chosen if "::" not in test]
        command = f"{asked.recipe.test_command} --no-fail-fast {shlex.join(asked.recipe.tests)}"
        if names and not files:  # a file is a target or a part of one: only the whole suite surely has it
            command += f" -- --exact {shlex.join(names)}"
        return into_file(command, "report.txt")

    def read(self, asked: Asked, result: Result, files: Mapping[str, bytes]) -> Findings:
        return cargo(lines_of(files))


_RUNNING = re.compile(r" +Running (?:unittests )?(?P<source>\S+) \(")
_DOC = re.compile(r" +(?P<source>Doc-tests \S+)")
_TEST = re.compile(r"test (?P<name>.+?)(?: - should panic)? \.\.\. (?P<word>ok|FAILED|ignored)\b")
_OUTPUT = re.compile(r"---- (?P<name>.+) stdout ----")


def cargo(lines: list[str]) -> Findings:
    """The tests that Cargo and its harness tell of."""
    words = {"ok": PASSED, "FAILED": FAILED, "ignored": SKIPPED}
    source, messages = "?", {}
    found: list[tuple[str, TestOutcome]] = []
    for number, line in enumerate(lines):
        if running := _RUNNING.match(line) or _DOC.match(line):
            source = running["source"]
        elif test := _TEST.match(line):
            found.append((f"{source}::{test['name']}", words[test["word"]]))
        elif output := _OUTPUT.match(line):
            messages[f"{source}::{output['name']}"] = _block(lines, number)
    return [(name, outcome, messages.get(name, "")) for name, outcome in found]


def _block(lines: list[str], number: int) -> str:
    """The output of one test: to the next one's, or to the list of those that failed."""
    end = number + 1
    while end < min(len(lines), number + MESSAGE_LINES) and not _OUTPUT.match(lines[end]) and lines[end] != "failures:":
        end += 1
    return "\n".join(lines[number + 1 : end]).strip()


class Minitest(Reporter):
    """Minitest in its verbose form. Ids are `Class#method`; it takes no files. Rake hands options on by a variable."""

    def command(self, asked: Asked) -> str:
        names = [test for test in asked.chosen if "#" in test]
        chosen = [f"--name=/{self.pattern(names)}/"] if names and len(names) == len(asked.chosen) else []
        options = shlex.join(["-v", *chosen])
        command = f"{asked.recipe.test_command} {shlex.join(asked.recipe.tests)}"
        if re.search(r"\brake\b", command):
            return f"export TESTOPTS={shlex.quote(options)}\n" + into_file(command, "report.txt")
        return into_file(f"{command} {options}", "report.txt")

    def pattern(self, tests: Iterable[str]) -> str:
        """The regular expression that chooses these tests."""
        return any_of(tests)

    def read(self, asked: Asked, result: Result, files: Mapping[str, bytes]) -> Findings:
        return minitest(lines_of(files))


_VERBOSE = re.compile(r"(?P<name>\S.*?#.+) = \d+\.\d+ s = (?P<mark>[.FES])$")
_DETAIL = re.compile(r" +\d+\) (?:Failure|Error):")


def minitest(lines: list[str]) -> Findings:
    """The tests that Minitest tells of with `-v`; classes that are made of descriptions have spaces in their names."""
    marks = {".": PASSED, "F": FAILED, "E": ERROR, "S": SKIPPED}
    found: list[tuple[str, TestOutcome]] = []
    messages = {}
    for number, line in enumerate(lines):
        if test := _VERBOSE.match(line):
            found.append((test["name"], marks[test["mark"]]))
        elif _DETAIL.match(line) and number + 1 < len(lines):
            name = re.split(r" \[|:$", lines[number + 1], maxsplit=1)[0]
            block = itertools.takewhile(str.strip, lines[number + 1 : number + MESSAGE_LINES])
            messages[name] = "\n".join(block)
    return [(name, outcome, messages.get(name, "")) for name, outcome in found]
