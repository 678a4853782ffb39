"""What a sandbox promises, and the values that go in and come out of one."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol


class Snapshot(Protocol):
    """The files of a repository at one moment; `repo_tools.tree.Tree` is one without knowing this class."""

    def entries(self) -> Mapping[str, tuple[int, str]]:
        """Path (POSIX, relative) -> (git file mode, content id). Equal ids mean equal bytes."""

    def read(self, path: str) -> bytes:
        """The bytes of one file; of a symbolic link, its target."""


@dataclass(frozen=True)
class Recipe:
    """How a project is set up and tested.

    Commands are bash lines, each run on its own in `workdir` below the repository by an unprivileged user. `HOME` is
    writable and kept by the environment; `$HOME/venv/bin`, `$HOME/.local/bin`, `$HOME/.cargo/bin`, `$HOME/go/bin`
    and `<workdir>/node_modules/.bin` lead the `PATH`.
    """

    base_image: str
    setup: tuple[str, ...]
    """With network, before any test: dependencies and the project itself."""
    test_command: str
    """The runner without the tests to run, such as `python -m pytest`. Without network."""
    reporter: str
    """How results are read: a key of the table in `sandbox/report.py`, such as `pytest`."""
    tests: tuple[str, ...] = ()
    """What the runner takes on its command line for the whole suite; a selection stands in its place."""
    packages: tuple[str, ...] = ()
    """Debian packages to install first. It is the only thing that root does."""
    build: tuple[str, ...] = ()
    """After the set-up, and again, without network, before a run whose tree differs in a file of `build_inputs`:
    what tests load in compiled form (extension modules, bundles)."""
    build_inputs: tuple[str, ...] = ()
    """Patterns of `fnmatch` on whole paths, where `*` also matches `/`."""
    workdir: str = "."
    env: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    """Where each part came from: field name -> file or rule."""


@dataclass(frozen=True)
class Environment:
    """A recipe that was carried out: an image that holds the project at some tree, set up."""

    id: str
    recipe: Recipe
    built: bool
    """False if an image of an earlier run served."""
    log: str
    seconds: float
    base: Snapshot | None = field(default=None, compare=False, repr=False)
    """The tree that it was prepared for: `HEAD` in every container, also where an image of an earlier tree serves."""


@dataclass(frozen=True)
class Result:
    """One command in a fresh container."""

    exit_code: int | None
    """None if it did not end by itself."""
    output: str
    """Standard output and error, interleaved; the middle is cut beyond the limit."""
    seconds: float
    ended: str = "exit"
    """`exit`, `timeout`, `memory`, `output` or `disk`: what ended it."""


class TestOutcome(enum.StrEnum):
    """What became of one test."""

    __test__ = False  # pytest would take the name for a test class

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Lines:
    """Which lines of a file, counted from 1, ran under tests, and which are such that they could."""

    able: frozenset[int]
    ran: frozenset[int]


@dataclass(frozen=True)
class TestReport:
    """What a test run said. Made only from a run, never from anybody's opinion of one."""

    __test__ = False

    tests: Mapping[str, TestOutcome]
    """Test id, as the runner would take it on its command line, -> outcome."""
    messages: Mapping[str, str]
    """Test id -> failure text, for those that failed or had an error."""
    result: Result
    lines: Mapping[str, Lines] | None = None
    """Of the files that were watched, those of which the runner can tell; None if it cannot tell, or none were."""

    @property
    def good(self) -> bool:
        """Exit code 0, at least one test passed, none failed or in error."""
        outcomes = set(self.tests.values())
        bad = {TestOutcome.FAILED, TestOutcome.ERROR}
        return self.result.exit_code == 0 and TestOutcome.PASSED in outcomes and not outcomes & bad

    def having(self, *outcomes: TestOutcome) -> frozenset[str]:
        """The ids of the tests that ended in one of `outcomes`."""
        return frozenset(test for test, outcome in self.tests.items() if outcome in outcomes)


class Sandbox(Protocol):
    """Prepares environments and runs commands in them. Errors: `sandbox.errors`."""

    def prepare(self, recipe: Recipe, snapshot: Snapshot) -> Environment:
        """Build, or find, the environment. Raises `SetupFailed` with the log, `SandboxUnavailable`, `SandboxStopped`.

        Set-up has the network: give it a tree that people committed, never one that a model changed.
        """

    def run(self, environment: Environment, snapshot: Snapshot, command: str, *, seconds: float) -> Result:
        """Run `command` on a copy of `snapshot`; whatever it writes is thrown away.

        Raises `SandboxDied`, `SandboxStopped`.
        """

    def test(
        self,
        environment: Environment,
        snapshot: Snapshot,
        *,
        selection: Iterable[str] = (),
        watch: Iterable[str] = (),
        seconds: float,
    ) -> TestReport:
        """Run the recipe's tests, or only `selection` (test ids or files, as a report or the runner names them).

        The report has the lines of the files `watch` that ran. Watching may slow tests down and make some fail.
        Raises `SandboxDied`, `SandboxStopped`.
        """
