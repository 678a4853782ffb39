"""What all runners share: what is asked of one, and careful readings of what it left."""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from sandbox.port import Lines, Recipe, Result, TestOutcome

Findings = list[tuple[str, TestOutcome, str]]
"""Test id, outcome, message; a test may come several times."""


class Unreadable(ValueError):
    """A test report that is not of its format."""


@dataclass(frozen=True)
class Asked:
    """The tests that a run is to do."""

    recipe: Recipe
    paths: frozenset[str]
    """The files of the tree under test."""
    selection: tuple[str, ...] = ()
    root: str = "/repo"
    """Where the repository is for the runner."""
    watch: Mapping[str, bytes] = field(default_factory=dict)
    """Path -> contents of the files whose lines are to be told."""

    @property
    def chosen(self) -> list[str]:
        """The selection as the runner names it: files count from the working folder.

        Raises `ValueError` for what cannot name a test.
        """
        return [self._named(test) for test in self.selection]

    def _named(self, test: str) -> str:
        if not test or test.startswith("-") or "\0" in test:
            raise ValueError(f"{test!r} is neither a test id nor a test file")
        file, mark, rest = test.partition("::")
        beside = posixpath.normpath(posixpath.join(self.recipe.workdir, file))
        if beside not in self.paths and file in self.paths:
            return posixpath.relpath(file, self.recipe.workdir) + mark + rest
        return test

    def local(self, path: str) -> str:
        """A path that a runner wrote, counted from the working folder."""
        if path.startswith(self.root + "/"):
            return posixpath.relpath(path, posixpath.normpath(f"{self.root}/{self.recipe.workdir}"))
        return path.removeprefix("./")


class Reporter:
    """How one runner is asked for a report and how it is read.

    Commands may use `$AGENT_FIX_OUT`, the folder of report files, and `$AGENT_FIX_LIB`, that of `files`.
    Where a runner cannot be told to run just the selected tests, it runs more, never less.
    """

    inside: tuple[str, ...] = ()
    """Modules of `sandbox.inside` that are put in."""

    def files(self, asked: Asked) -> dict[str, bytes]:
        """What is put into `$AGENT_FIX_LIB`: name -> bytes."""
        return {name: resources.files("sandbox.inside").joinpath(name).read_bytes() for name in self.inside}

    def command(self, asked: Asked) -> str:
        """The bash text that runs the tests asked for. Raises `ValueError` if the recipe's command does not fit."""
        raise NotImplementedError

    def read(self, asked: Asked, result: Result, files: Mapping[str, bytes]) -> Findings:
        """What the report files say. Raises `Unreadable`."""
        raise NotImplementedError

    def lines(self, asked: Asked, files: Mapping[str, bytes]) -> dict[str, Lines] | None:
        """What is known of the watched files; None if the runner cannot tell. Raises `Unreadable`."""
        return None

    def text(self, result: Result, files: Mapping[str, bytes]) -> str:
        """What the runner told people, where its standard output is for machines."""
        return result.output


class ExitCode(Reporter):
    """For a runner without a readable report: the command is the one test, whatever is selected."""

    def command(self, asked: Asked) -> str:
        return f"{asked.recipe.test_command} {shlex.join(asked.recipe.tests)}"

    def read(self, asked: Asked, result: Result, files: Mapping[str, bytes]) -> Findings:
        outcome = TestOutcome.PASSED if result.exit_code == 0 else TestOutcome.FAILED
        return [(asked.recipe.test_command, outcome, result.output)]


def the(files: Mapping[str, bytes], name: str) -> bytes:
    """One report file. Raises `Unreadable` if the run left none."""
    if name not in files:
        raise Unreadable("the runner left no report: it crashed, was ended, or did not accept its options")
    return files[name]


def tests_of(asked: Asked) -> str:
    """The tests to run, quoted for the shell."""
    return shlex.join(asked.chosen or asked.recipe.tests)


def split(tests: Iterable[str]) -> tuple[list[str], list[str]]:
    """The files of tests named `file::name`, and the names; no names if a whole file is among them."""
    pairs = [test.partition("::") for test in tests]
    names = [name for _, _, name in pairs]
    return list(dict.fromkeys(file for file, _, _ in pairs)), names if all(names) else []


def any_of(names: Iterable[str]) -> str:
    """A regular expression, of the kind that most languages share, for exactly these names."""
    return "^(" + "|".join(re.sub(r"([\\^$.|?*+()\[\]{}/-])", r"\\\1", name) for name in names) + ")$"


def into_file(command: str, name: str) -> str:
    """Bash text that runs a command and keeps a copy of all that it prints as a report file."""
    return f'set -o pipefail\n{{ {command}\n}} 2>&1 | tee "$AGENT_FIX_OUT/{name}"'


def parsed(data: bytes | str) -> dict[str, Any]:
    """A JSON object. Raises `Unreadable`."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"the report is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise Unreadable("the report is not a JSON object")
    return value


def objects(value: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """The objects in a list that stands under `key`; what is none is left out."""
    items = value.get(key)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def text_at(value: Mapping[str, Any], *keys: str) -> str:
    """The text at the end of a chain of keys; empty if there is none."""
    found: Any = value
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, str) else ""
