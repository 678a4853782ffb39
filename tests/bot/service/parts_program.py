"""A whole run of an organization of agents on the engine, without containers and without a model's server.

    python -m tests.bot.service.parts_program FOLDER [--kill-at N] [--calls N] [--in-turn]

`--kill-at` ends the process at the N-th request of all runs so far, when nothing that was answered is still unstored.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from bot.bench.made_projects import Player, Project, project
from bot.llm.budget import Limits, Meter
from bot.llm.port import Completion, Request
from bot.publish.verdict import baseline
from bot.records import Delivered, Record, RunStarted
from bot.service.effects import RunEffects, Seconds, Steps
from bot.service.order import Ended, Order
from bot.service.parts import Shared
from bot.service.workflow import engine, start
from bot.task import Outcome
from bot.team.evidence import Assignment
from bot.team.loop import perform
from bot.team.strategies.self_organized import self_organized
from bot.transcript import Transcript
from repo_tools.checkout import open_local
from repo_tools.index import Index
from repo_tools.tree import Tree
from sandbox.port import Environment, Recipe, Result, Snapshot, TestReport
from tests.fakes.git_repository import GitRepository

RECIPE = Recipe("none", (), "none", "none")
MADE = project(600, 20)
RUN = "20260101-000000-parts-0000"


class Counting:
    """A model that writes down what it is asked and what it has answered."""

    def __init__(self, folder: Path, kill_at: int) -> None:
        self._asked, self._answered = folder / "asked", folder / "answered"
        self._kill_at = kill_at
        self._lock = threading.Lock()
        self._doomed = False
        self._open = 0
        self.at_once = 0
        self._player = Player(most=4)

    def complete(self, request: Request) -> Completion:
        with self._lock:
            self._open += 1
            self.at_once = max(self.at_once, self._open)
            number = note(self._asked, request)
            doomed, self._doomed = self._doomed, self._doomed or number == self._kill_at
        if self._doomed:
            while doomed or self._unstored():
                time.sleep(0.05)
            os._exit(9)
        time.sleep(0.02)
        while self._doomed:
            time.sleep(0.05)
        with self._lock:
            self._open -= 1
            note(self._answered, request)
        return self._player.complete(request)

    def _unstored(self) -> bool:
        """Whether an answer that was given is not stored yet: no engine could save that from being asked again."""
        answered = len(self._answered.read_text().splitlines()) if self._answered.exists() else 0
        with contextlib.closing(sqlite3.connect(self._answered.with_name("steps.sqlite"), timeout=30)) as steps:
            query = "select count(*) from operation_outputs where function_name like 'complete %'"
            return int(steps.execute(query).fetchone()[0]) < answered


class Watch:
    """Writes down what is shown of a run, and when it was shown: how many requests there had been."""

    def __init__(self, file: Path) -> None:
        self._file, self._asked = file, file.with_name("asked")

    def __call__(self, record: Record) -> None:
        asked = len(self._asked.read_text().splitlines()) if self._asked.exists() else 0
        with self._file.open("a") as lines:
            lines.write(f"{asked} {record.kind} {record.agent}\n")


def note(file: Path, request: Request) -> int:
    """Write a request down; how many there are now."""
    with file.open("a") as lines:
        lines.write(f"{request.agent} {request.index}\n")
    return len(file.read_text().splitlines())


class Looking:
    """A `sandbox.port.Sandbox` that looks at texts and runs nothing."""

    def __init__(self, made: Project) -> None:
        self._made = made

    def prepare(self, recipe: Recipe, snapshot: Snapshot) -> Environment:
        return Environment("none", recipe, built=False, log="", seconds=0.0)

    def run(self, environment: Environment, snapshot: Snapshot, command: str, *, seconds: float) -> Result:
        return Result(0, "", 0.1)

    def test(
        self,
        environment: Environment,
        snapshot: Snapshot,
        *,
        selection: Iterable[str] = (),
        watch: Iterable[str] = (),
        seconds: float,
    ) -> TestReport:
        assert isinstance(snapshot, Tree)
        return self._made.report(snapshot, tuple(selection))


def carry_out(order: Order, steps: Steps, *, folder: Path, model: Counting, in_turn: bool) -> Ended:
    """The run, from the team's work on; its change ends up in the transcript."""
    watch = Watch(folder / "watched")
    with (
        open_local(folder / "repo") as repository,
        Transcript.resume(folder / "transcript.jsonl", str, watch=watch) as transcript,
    ):
        tree = Tree(repository.resolve(order.task.base_commit))
        transcript.add(RunStarted(run=order.run, task=order.task, models={}, limits=order.limits))
        sandbox = Looking(MADE)
        effects = RunEffects(
            steps=steps,
            model=model,
            sandbox=sandbox,
            environment=sandbox.prepare(RECIPE, tree),
            transcript=transcript,
            meter=Meter(order.limits, clock=lambda: transcript.seconds),
            index=Index.open(folder / "index"),
            request_tokens=lambda role: 100_000,
            seconds=Seconds(60, 60),
            cancel=threading.Event(),
            share=None if in_turn else Shared(order.run),
        )
        work = Assignment(order.task, tree, baseline(MADE.report(tree, ())))
        delivery = perform(self_organized(work), effects)
        best, stop = delivery.best, str(delivery.stop or "")
        if best is None:
            return Ended(run=order.run, outcome=Outcome.OVER_BUDGET, reason=stop)
        transcript.add(Delivered(files=best.tree.patch.to_json()))
        return Ended(run=order.run, outcome=Outcome.FIXED if best.sound else Outcome.DRAFT, reason=stop)


def prepare(folder: Path) -> str:
    """The project as a repository, once; its commit."""
    repo = GitRepository(folder / "repo")
    if not (folder / "steps.sqlite").exists():
        repo.commit(MADE.files)
    return repo.git("rev-parse", "HEAD")


def main() -> None:
    """Begin the run, or go on with it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kill-at", type=int, default=0)
    parser.add_argument("--calls", type=int, default=None)
    parser.add_argument("--in-turn", action="store_true")
    given = parser.parse_args()
    base = prepare(given.folder)
    task = type(MADE.task)(**{**vars(MADE.task), "base_commit": base})
    order = Order(
        run=RUN,
        task=task,
        repository=given.folder / "repo",
        limits=Limits(calls=given.calls),
        models={},
        started=datetime(2026, 1, 1, tzinfo=UTC),
    )
    model = Counting(given.folder, given.kill_at)
    work = partial(carry_out, folder=given.folder, model=model, in_turn=given.in_turn)
    if given.in_turn:
        ended = work(order, lambda name, work: work())
    else:
        with engine(f"sqlite:///{given.folder / 'steps.sqlite'}", work) as runs:
            ended = start(runs, order)
    sys.stdout.write(json.dumps({"outcome": ended.outcome, "reason": ended.reason, "at_once": model.at_once}))


if __name__ == "__main__":
    main()
