"""Performing a transcript again without a model, on a real sandbox, and comparing where both end."""

from __future__ import annotations

import tempfile
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from bot import wiring
from bot.errors import BadInput, Diverged
from bot.records import Delivered, Record, RunEnded, RunStarted
from bot.service.order import Ended, Order, new_run
from bot.service.runs import begin
from bot.service.workflow import engine, start
from bot.settings import Settings
from bot.transcript import read


class Watching(Protocol):
    """How a person is shown a run: what `bot.console.Progress` makes."""

    def __call__(self, order: Order, /) -> AbstractContextManager[Any]:
        """A watcher of records, for the time of a run."""


def replayed(file: Path, repo: Path, settings: Settings, watching: Watching, *, strict: bool = True) -> Ended:
    """Perform `file` again on `repo`; nothing is published. `strict` wants the prompts to be the same, too.

    Raises `Diverged` that names the step or the files that differ, `BadInput` if the transcript has no end.
    """
    records = read(file)
    began, last = records[0], records[-1]
    if not isinstance(began, RunStarted) or not isinstance(last, RunEnded):
        raise BadInput(f"{file} is the transcript of a run that has not ended: resume the run first.")
    order = Order(
        run=new_run(began.task.title),
        task=began.task,
        repository=repo.resolve(),
        limits=replace(began.limits, minutes=None),  # the recording says when the time was up
        models=began.models,
        started=datetime.now(UTC),
        recording=file.resolve(),
        strict=strict,
        publish=False,
    )
    with tempfile.TemporaryDirectory(prefix="agent-fix-replay-") as state:
        folder = begin(Path(state), order)
        with watching(order) as watch:
            work = partial(wiring.carry_out, settings=settings, folder=folder, stop=wiring.Stop(), watch=watch)
            with engine(folder.database, work) as runs:
                ended = start(runs, order)
        compare(records, read(folder.transcript))
    return ended


def compare(old: tuple[Record, ...], new: tuple[Record, ...]) -> None:
    """Raises `Diverged` unless both end in the same change and the same outcome."""
    ends = [next(record for record in reversed(records) if isinstance(record, RunEnded)) for records in (old, new)]
    if ends[0].outcome != ends[1].outcome:
        raise Diverged(f"The run ended as {ends[0].outcome}, its replay as {ends[1].outcome}: {ends[1].text}")
    files = [
        next((record.files for record in reversed(records) if isinstance(record, Delivered)), {})
        for records in (old, new)
    ]
    differing = sorted(path for path in {*files[0], *files[1]} if files[0].get(path) != files[1].get(path))
    if differing:
        raise Diverged(f"The replay ends in another change; these files differ: {', '.join(differing)}")
