"""How many projects are set up and tested without being told how: a row for each, against a run by hand.

`python -m bot.bench.environments FOLDER [--expected FILE] [--only NAME ...]` takes each git checkout in FOLDER.
The expected counts of passing tests stand in a JSON object, name -> count; a row agrees if as many tests pass here,
but for a share of `TOLERATED`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path

from bot.settings import load_settings
from bot.wiring import sandbox_settings
from repo_tools.checkout import open_local
from sandbox.docker_engine import DockerSandbox
from sandbox.errors import SandboxError, SetupFailed
from sandbox.port import Sandbox, Snapshot, TestOutcome
from sandbox.proving import first_line, prove, remarks
from sandbox.recipe import candidates

TOLERATED = 0.02
"""Of the expected tests: suites meet no network and another version of the language here."""


@dataclass(frozen=True)
class Project:
    """One repository to try."""

    name: str
    snapshot: Snapshot
    expected: int | None = None
    """Tests that pass in a run by hand."""
    day: date | None = None
    submodules: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """What became of one project. Times are seconds."""

    name: str
    outcome: str
    """`agrees`, `differs`, `runs` (nothing to compare with), `no recipe`, `set-up failed` or `not run`."""
    counts: Mapping[str, int]
    expected: int | None
    recipe: str
    attempts: int
    setup: float
    tests: float
    all: float
    reason: str


def measure(project: Project, sandbox: Sandbox, base_image: str, *, seconds: float) -> Row:
    """Find, prove and compare one project's environment. `seconds` limits one run of its suite."""
    start = time.monotonic()
    recipe, attempts, setup, tests = "", 0, 0.0, 0.0
    counts: dict[str, int] = {}
    found, reason = [], ""
    try:
        found = candidates(project.snapshot, as_of=project.day, submodules=project.submodules, base_image=base_image)
        proof = prove(sandbox, project.snapshot, found, seconds=seconds)
    except SandboxError as error:
        outcome = "set-up failed" if isinstance(error, SetupFailed) else "not run" if found else "no recipe"
        reason = str(error)
    else:
        counts = {outcome.value: len(proof.report.having(outcome)) for outcome in TestOutcome}
        recipe = proof.recipe.sources.get("setup", "")
        attempts, setup, tests = len(proof.failures) + 1, proof.environment.seconds, proof.report.result.seconds
        outcome = agreement(counts["passed"], project.expected)
        reason = "\n".join(remarks(proof))
    return Row(
        project.name,
        outcome,
        counts,
        project.expected,
        recipe,
        attempts,
        setup,
        tests,
        time.monotonic() - start,
        reason,
    )


def agreement(passed: int, expected: int | None) -> str:
    """Whether as many tests pass as by hand; more is no disagreement."""
    if expected is None:
        return "runs"
    return "agrees" if passed >= expected * (1 - TOLERATED) else "differs"


def table(rows: Iterable[Row]) -> str:
    """The rows as Markdown, and a line with the share that is as it should be. Times are seconds."""
    rows = list(rows)
    lines = [
        "| project | outcome | passed | by hand | failed | errors | skipped | recipe | tries | set-up | tests | all |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        counts = [str(row.counts.get(key, "")) for key in ("passed", "failed", "error", "skipped")]
        cells = [row.name, row.outcome, counts[0], str(row.expected or ""), *counts[1:], row.recipe, str(row.attempts)]
        cells += [f"{row.setup:.0f}", f"{row.tests:.0f}", f"{row.all:.0f}"]
        lines.append(f"| {' | '.join(cells)} |")
    good = sum(row.outcome in ("agrees", "runs") for row in rows)
    lines += ["", f"{good} of {len(rows)} projects are found, set up and run."]
    lines += ["- {}: {}".format(row.name, row.reason.replace("\n", "\n  ")) for row in rows if row.reason]
    return "\n".join(lines) + "\n"


def projects(folder: Path, expected: Mapping[str, int], only: frozenset[str]) -> Iterator[Project]:
    """The git checkouts directly in a folder, or in the folder `repo` of its folders."""
    for path in sorted(folder.iterdir()):
        place = path / "repo" if (path / "repo").is_dir() else path
        if path.is_dir() and (not only or path.name in only):
            with open_local(place) as repository:
                commit = repository.resolve("HEAD")
                yield Project(path.name, commit, expected.get(path.name), commit.day, commit.submodules())


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--expected", type=Path, help="JSON: name -> tests that pass by hand")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--seconds", type=float, default=600.0)
    options = parser.parse_args(arguments)
    if not options.folder.is_dir():
        parser.error(f"there is no folder {options.folder}: name one that holds git checkouts")
    expected = json.loads(options.expected.read_text("utf-8")) if options.expected else {}
    settings = load_settings()
    rows = []
    for project in projects(options.folder, expected, frozenset(options.only)):
        run = f"bench-{datetime.now(UTC):%Y%m%d%H%M%S}"
        with contextlib.closing(DockerSandbox(sandbox_settings(settings, run, project.name))) as sandbox:
            row = measure(project, sandbox, settings.base_image, seconds=options.seconds)
        rows.append(row)
        print(f"{row.name}: {row.outcome} {dict(row.counts)} {first_line(row.reason)}", flush=True)
    print(table(rows), end="")


if __name__ == "__main__":
    main()
