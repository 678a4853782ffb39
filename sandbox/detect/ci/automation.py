"""The project's automation as one list of jobs, wherever it is written down, and the facts that any language uses."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator

from sandbox.detect.ci import github
from sandbox.detect.ci.jobs import Job, Step, expanded, lines_of, target_lines
from sandbox.detect.files import Files, strings, table

TARGETS = ("test", "tests", "check", "unit", "unittest", "test-unit")
MOST_JOBS = 3
PACKAGE = re.compile(r"[a-z0-9][a-z0-9.+-]+")
NOT_WANTED = re.compile(
    r"sudo|git|curl|ca-certificates|software-properties-common|lsb-release|(clang|gcc|g\+\+|llvm|python|php|ruby)[\d.-].*"
    r"|clang.*|valgrind|cppcheck|lcov|gcovr|doxygen|graphviz|linux-.*|docker.*|.*-dbg|snapd"
)
"""Packages that a job installs to check other compilers, to measure and to document."""


def jobs_with_tests(files: Files) -> list[Job]:
    """The jobs that run tests, the likeliest first; after those of CI services targets and a devcontainer."""
    found = [job for job in [*github.jobs(files), *_gitlab(files)] if job.weight]
    found.sort(key=lambda job: -job.weight)
    return [*found[:MOST_JOBS], *_targets(files), *_devcontainer(files)]


def debian_packages(files: Files, jobs: list[Job]) -> dict[str, str]:
    """Debian package -> the file that installs it with apt."""
    found: dict[str, str] = {}
    for job in jobs:
        for step in expanded(files, job.steps):
            match = re.search(r"\bapt(?:-get)?\s+(?:-\S+\s+)*install\s+(.*)", step.line)
            for word in re.split(r"\s+", match[1].split("&&")[0].split(";")[0]) if match else ():
                if PACKAGE.fullmatch(word) and not NOT_WANTED.fullmatch(word):
                    found.setdefault(word, job.source)
    return found


def services(jobs: list[Job]) -> dict[str, str]:
    """Service that the tests are given -> the file that says so."""
    return {name: job.source for job in reversed(jobs) for name in job.services}


def words_of(line: str) -> list[list[str]]:
    """A command line as lists of words, one for each command in it."""
    commands = []
    for part in re.split(r"\s*(?:&&|;|\|\|)\s*", line):
        try:
            words = shlex.split(part, comments=True)
        except ValueError:
            continue
        while words and re.fullmatch(r"\w+=.*", words[0]):
            words = words[1:]
        if words:
            commands.append(words)
    return commands


def _gitlab(files: Files) -> Iterator[Job]:
    data = files.yaml(".gitlab-ci.yml")
    common = strings(data.get("before_script")) + strings(table(data, "default").get("before_script"))
    for name, job in data.items():
        if not isinstance(job, dict) or str(name).startswith(".") or "script" not in job:
            continue
        base = table(data, job["extends"]) if isinstance(job.get("extends"), str) else {}
        before = strings(job.get("before_script")) or strings(base.get("before_script")) or common
        rows = [*before, *strings(job.get("script"))]
        steps = [Step(line) for row in rows for line in lines_of(row)]
        variables = {**table(data, "variables"), **table(job, "variables")}
        env = {str(key): str(value) for key, value in variables.items() if isinstance(value, str | int)}
        given = job.get("services")
        named = (
            [item.get("name") if isinstance(item, dict) else item for item in given] if isinstance(given, list) else []
        )
        yield Job(".gitlab-ci.yml", str(name), steps, env, services=tuple(map(str, named)))


def _targets(files: Files) -> Iterator[Job]:
    for tool, path in (("make", "Makefile"), ("just", "justfile"), ("just", "Justfile")):
        for target in TARGETS:
            lines = target_lines(files, ".", tool, target) if files.has(path) else []
            if lines:
                yield Job(path, target, [Step(line) for line in lines])
                break


def _devcontainer(files: Files) -> Iterator[Job]:
    for path in (".devcontainer/devcontainer.json", ".devcontainer.json"):
        text = re.sub(r"^\s*//.*$|(?<=[,{\[])\s*//.*$", "", files.text(path), flags=re.MULTILINE)
        try:
            data = json.loads(re.sub(r",(\s*[}\]])", r"\1", text)) if text else {}
        except ValueError:
            continue
        rows: list[str] = []
        for key in ("onCreateCommand", "updateContentCommand", "postCreateCommand"):
            value = table(data).get(key)
            for part in value.values() if isinstance(value, dict) else [value]:
                rows += strings(part)
        if rows:
            yield Job(path, "devcontainer", [Step(line) for row in rows for line in lines_of(row)])
