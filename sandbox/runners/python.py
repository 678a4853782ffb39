"""pytest and unittest."""

from __future__ import annotations

import json
import posixpath
import shlex
from collections.abc import Mapping
from typing import Any

from sandbox.port import Lines, Result, TestOutcome
from sandbox.runners import coverage, junit
from sandbox.runners.base import Asked, Findings, Reporter, Unreadable, parsed, tests_of, text_at, the

_LIBRARY = 'export PYTHONPATH="$AGENT_FIX_LIB${PYTHONPATH:+:$PYTHONPATH}"\n'


class Pytest(Reporter):
    """JUnit XML, to which a plugin adds the exact ids."""

    inside = ("agent_fix_pytest.py",)

    def files(self, asked: Asked) -> dict[str, bytes]:
        return super().files(asked) | coverage.python_files(asked)

    def command(self, asked: Asked) -> str:
        watching = " -p agent_fix_lines" if asked.watch else ""
        return (
            f"{_LIBRARY}{asked.recipe.test_command} -p agent_fix_pytest{watching} -o junit_family=xunit1"
            f' --junitxml="$AGENT_FIX_OUT/junit.xml" --maxfail=0 -- {tests_of(asked)}'
        )

    def read(self, asked: Asked, result: Result, files: Mapping[str, bytes]) -> Findings:
        if "junit.xml" not in files and "pytest.jsonl" in files:
            return _unfinished(asked, files["pytest.jsonl"])
        modules = {_module(path): path for path in asked.paths}
        return [
            (
                _id(case.properties.get("agent-fix-id", "")) or _uncollected(case, asked, modules),
                case.outcome,
                case.message,
            )
            for case in junit.cases(the(files, "junit.xml"))
        ]

    def lines(self, asked: Asked, files: Mapping[str, bytes]) -> dict[str, Lines]:
        return coverage.python(asked, files)


def _uncollected(case: junit.Case, asked: Asked, modules: Mapping[str, str]) -> str:
    """The path of a file that could not be collected: pytest names it like a module."""
    name = ".".join(filter(None, (case.classname, case.name)))
    path = modules.get(name) or modules.get(_module(posixpath.join(asked.recipe.workdir, name)))
    return posixpath.relpath(path, asked.recipe.workdir) if path else name


def _module(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")


def _id(text: str) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        return ""
    return value if isinstance(value, str) else ""


def _unfinished(asked: Asked, data: bytes) -> Findings:
    """What is known of a run that was ended, or died, before pytest wrote its report."""
    findings: Findings = [(asked.recipe.test_command, TestOutcome.ERROR, "pytest did not come to its end")]
    running = ""
    for line in data.splitlines():
        value = parsed(line)
        if value.get("outcome") == "running":
            running = text_at(value, "id")
        else:
            findings.append(_finding(value))
            running = "" if findings[-1][0] == running else running
    if running:
        findings.append((running, TestOutcome.ERROR, "it was running when the run ended"))
    return findings


class Unittest(Reporter):
    """`python -m unittest`, by a program of the same arguments that writes down each outcome."""

    inside = ("agent_fix_unittest.py",)

    def files(self, asked: Asked) -> dict[str, bytes]:
        selection = {"selection.json": json.dumps(asked.chosen).encode()}
        return super().files(asked) | selection | coverage.python_files(asked)

    def command(self, asked: Asked) -> str:
        if "-m unittest" not in asked.recipe.test_command:
            raise ValueError(f"reporter 'unittest' needs `python -m unittest` in {asked.recipe.test_command!r}")
        command = asked.recipe.test_command.replace("-m unittest", "-m agent_fix_unittest", 1)
        return f"{_LIBRARY}{command} {shlex.join(asked.recipe.tests)}"

    def read(self, asked: Asked, result: Result, files: Mapping[str, bytes]) -> Findings:
        return [_finding(parsed(line)) for line in the(files, "unittest.jsonl").splitlines()]

    def lines(self, asked: Asked, files: Mapping[str, bytes]) -> dict[str, Lines]:
        return coverage.python(asked, files)


def _finding(value: Mapping[str, Any]) -> tuple[str, TestOutcome, str]:
    try:
        return text_at(value, "id"), TestOutcome(value["outcome"]), text_at(value, "message")
    except (ValueError, KeyError) as error:
        raise Unreadable(f"a line of the test report has no outcome: {error}") from error
