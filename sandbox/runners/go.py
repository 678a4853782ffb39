"""Go's own test command."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from sandbox.port import Lines, Result, TestOutcome
from sandbox.runners import coverage
from sandbox.runners.base import Asked, Findings, Reporter, Unreadable, any_of, parsed, text_at, the

_ENDS = {"pass": TestOutcome.PASSED, "fail": TestOutcome.FAILED, "skip": TestOutcome.SKIPPED}


_NOT_BUILT = re.compile(r"FAIL\t(\S+) \[(?:build|setup) failed\]")


class Go(Reporter):
    """`go test -json`. Ids are `import/path::Test/subtest`; a selected subtest runs with its whole test."""

    def command(self, asked: Asked) -> str:
        test = f"{asked.recipe.test_command} -json -count=1"
        watching = ' -coverpkg=./... -coverprofile="$AGENT_FIX_OUT/cover-{}.out"' if asked.watch else ""
        if not asked.chosen:
            return f'{test}{watching.format(0)} {shlex.join(asked.recipe.tests)} > "$AGENT_FIX_OUT/go.jsonl"'
        lines = ["code=0"]
        for number, (package, names) in enumerate(_wanted(asked.chosen).items()):
            run = f" -run {shlex.quote(any_of(names))}" if all(names) else ""
            lines.append(
                f'{test}{watching.format(number)}{run} {shlex.quote(package)} >> "$AGENT_FIX_OUT/go.jsonl" || code=$?'
            )
        return "\n".join([*lines, 'exit "$code"'])

    def read(self, asked: Asked, result: Result, files: Mapping[str, bytes]) -> Findings:
        outputs: dict[tuple[str, str], str] = {}
        ends: dict[tuple[str, str], TestOutcome] = {}
        for event in _events(the(files, "go.jsonl")):
            key = text_at(event, "Package"), text_at(event, "Test")
            if event["Action"] == "output":
                outputs[key] = outputs.get(key, "") + text_at(event, "Output")
            elif event["Action"] in _ENDS:
                ends[key] = _ENDS[event["Action"]]
        failed = {package for (package, test), end in ends.items() if test and end is TestOutcome.FAILED}
        findings: Findings = []
        for (package, test), end in ends.items():
            if test:
                findings.append((f"{package}::{test}", end, outputs.get((package, test), "")))
            elif end is TestOutcome.FAILED and package not in failed:  # it could not be built, or crashed
                findings.append((package, TestOutcome.ERROR, result.output + outputs.get((package, ""), "")))
        return findings

    def lines(self, asked: Asked, files: Mapping[str, bytes]) -> dict[str, Lines]:
        return coverage.go(asked, files)

    def text(self, result: Result, files: Mapping[str, bytes]) -> str:
        return result.output + "".join(text_at(event, "Output") for event in _events(files.get("go.jsonl", b"")))


def _wanted(chosen: list[str]) -> dict[str, list[str]]:
    """Package -> its top-level tests to run; an empty name stands for all of them."""
    wanted: dict[str, list[str]] = {}
    for item in chosen:
        package, _, test = item.partition("::")
        if package.endswith(".go"):
            package = "./" + posixpath.dirname(package)
        names = wanted.setdefault(package, [])
        name = test.partition("/")[0]
        if name not in names:
            names.append(name)
    return wanted


def _events(data: bytes) -> Iterator[dict[str, Any]]:
    """The events of a run; a line that is none is output, and older versions tell so of what they could not build."""
    for line in data.decode("utf-8", "replace").splitlines():
        try:
            event = parsed(line)
        except Unreadable:
            event = {"Action": "output", "Output": line + "\n"}
            if failed := _NOT_BUILT.match(line):
                yield {"Action": "fail", "Package": failed[1]}
        if isinstance(event.get("Action"), str):
            yield event
