"""Where runs are kept: one folder each, with the order, the steps' database, the transcript and the result."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from bot.errors import BadInput
from bot.llm.budget import Limits
from bot.service.order import Ended, Order, is_run, new_run

T = TypeVar("T", bound=BaseModel)
MIRRORS = "mirrors"
"""The folder, beside that of the runs, with the copies of what is on a forge."""


@dataclass(frozen=True)
class RunFolder:
    """The files of one run."""

    path: Path

    @property
    def name(self) -> str:
        """The run's name."""
        return self.path.name

    @property
    def transcript(self) -> Path:
        """The record of everything that happened."""
        return self.path / "transcript.jsonl"

    @property
    def database(self) -> str:
        """The address of the steps' database, SQLAlchemy's way of writing it."""
        return f"sqlite:///{self.path / 'steps.sqlite'}"

    @property
    def pull_request(self) -> Path:
        """The pull request's title and body, if there is one."""
        return self.path / "pull-request.md"

    @property
    def paid(self) -> list[Path]:
        """The transcripts of the runs that this one carries on, the newest first."""
        return sorted(self.path.glob("paid-*.jsonl"), reverse=True)

    @property
    def continued(self) -> str:
        """The run in which this one goes on; empty if there is none."""
        mark = self.path / "continued"
        return mark.read_text("utf-8") if mark.exists() else ""

    @property
    def resumable(self) -> bool:
        """Whether it can be carried on: it has not ended, or was stopped before its work was done.

        One of the service's is not, whose steps are in its database and whose issue is on the forge.
        """
        try:
            if self.path.parents[1] / MIRRORS in self.order().repository.parents:
                return False
            return not self.done or (self.result().stopped and not self.continued)
        except BadInput:
            return not self.done  # what is wrong with it is said when it is used

    @property
    def done(self) -> bool:
        """Whether the run has ended."""
        return (self.path / "result.json").exists()

    def order(self) -> Order:
        """What was asked. Raises `BadInput` if it cannot be read."""
        return _read(self.path / "order.json", Order)

    def result(self) -> Ended:
        """How it ended. Raises `BadInput` if it cannot be read."""
        return _read(self.path / "result.json", Ended)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the run for this process. Raises `BadInput` if another one holds it: two would write one database."""
        file = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError:
            raise BadInput(f"The run {self.name} is still at work in another process.") from None
        finally:
            os.close(file)

    def keep(self, result: Ended) -> None:
        """Store how the run ended."""
        write_whole(self.path / "result.json", result.model_dump_json(indent=1))


def begin(state: Path, order: Order) -> RunFolder:
    """A folder for a new run, with its order in it."""
    path = state / "runs" / order.run
    path.mkdir(parents=True, mode=0o700)
    write_whole(path / "order.json", order.model_dump_json(indent=1))
    return RunFolder(path)


def begin_or_find(state: Path, order: Order) -> RunFolder:
    """The folder of a run that may have been begun here, or on another machine, before."""
    path = state / "runs" / order.run
    path.mkdir(parents=True, mode=0o700, exist_ok=True)
    if not (path / "order.json").exists():
        write_whole(path / "order.json", order.model_dump_json(indent=1))
    return RunFolder(path)


def carried_on(state: Path, ended: RunFolder, limits: Limits, models: dict[str, str]) -> RunFolder:
    """A folder for a new run that goes on where one that was stopped had to end, within other limits.

    What that one had paid for is at hand in it; it counts as spent. Raises `BadInput` if it goes on already.
    """
    with ended.held():
        if ended.continued:
            raise BadInput(f"The run {ended.name} goes on as {ended.continued}: name that one.")
        before = ended.order()
        order = before.model_copy(
            update={
                "run": new_run(before.task.title),
                "limits": limits,
                "models": models,
                "started": datetime.now(UTC),
                "continues": ended.name,
            }
        )
        path = state / "runs" / order.run
        path.mkdir(parents=True, mode=0o700)
        for number, transcript in enumerate([*reversed(ended.paid), ended.transcript]):
            shutil.copyfile(transcript, path / f"paid-{number:03}.jsonl")
        write_whole(path / "order.json", order.model_dump_json(indent=1))
        write_whole(ended.path / "continued", order.run)
    return RunFolder(path)


def all_runs(state: Path) -> list[RunFolder]:
    """Every run, oldest first."""
    folder = state / "runs"
    found = folder.iterdir() if folder.is_dir() else iter(())
    return [RunFolder(path) for path in sorted(found) if is_run(path.name) and (path / "order.json").exists()]


def find(state: Path, name: str | None, *, resumable: bool = False) -> RunFolder:
    """The run of that name or beginning, or the newest. Raises `BadInput` that lists what there is."""
    there = all_runs(state)
    runs = [run for run in there if not resumable or run.resumable]
    matching = [
        run for run in runs if name is None or run.name == name or run.name.startswith(name) or name in run.name
    ]
    exact = [run for run in matching if run.name == name]
    if exact or (name is None and matching):
        return (exact or matching)[-1]
    if len(matching) == 1:
        return matching[0]
    for run in there:
        if resumable and run.name == name and run.continued:
            raise BadInput(f"The run {run.name} goes on as {run.continued}: name that one.")
    kind = "run to carry on" if resumable else "run"
    known = "\n".join(f"  {run.name}" for run in (matching or runs)[-10:])
    raise BadInput(
        f"There is {'more than one' if matching else 'no'} {kind}{f' named {name}' if name else ''}. "
        + (f"The newest:\n{known}" if known else "`agent-fix run` begins one.")
    )


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is either whole or not there."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text, "utf-8")
    temporary.replace(path)


def _read(path: Path, model: type[T]) -> T:
    try:
        return model.model_validate(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, ValidationError) as error:
        raise BadInput(f"{path} cannot be read as what it should be ({error}); the run cannot be used.") from None
