"""From a run's records to the states of it that are shown on the issue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bot.llm.budget import Spent
from bot.publish.account import Step, kept, step_of
from bot.publish.comment import Progress
from bot.publish.verdict import Counts
from bot.records import Asked, Completed, Record, StageChanged, Tested
from bot.service.desk import Desk
from bot.service.job import Stage
from bot.service.order import Ended
from bot.service.requests import RunRequest, Told
from bot.task import Outcome
from bot.team.evidence import WHOLE_SUITE
from sandbox.port import TestOutcome

AT_WORK = "working"
"""The label of a run that is not finished."""
QUEUED = "queued"
DOING = {
    "analyst": "an analyst looks for the cause",
    "reproducer": "tests are written from the issue",
    "test-designer": "tests are designed from the issue",
    "coder": "the change is written",
    "programmer": "the change is written",
    "tester": "a tester examines the change",
    "challenger": "a fresh reader tries to refute the change",
    "single": "one agent works on it",
}
CHANGES_NO_CODE = ("analyst", "reproducer", "test-designer")
"""Whose runs of the suite say nothing about a change."""
TRACEBACK = "Traceback"
STAGES = (QUEUED, *(stage.value for stage in Stage))


def queued(request: RunRequest) -> Told:
    """What is said of a run that waits for a worker."""
    shown = Progress(request.run, STAGES, QUEUED, "for a free place", removed=request.removed, wished=request.at)
    return Told(repository=request.repository, number=request.talks_on, progress=shown, label=AT_WORK)


def refused(run: str, reason: str) -> Progress:
    """What is said in place of a run."""
    return Progress(run, (), "", outcome=Outcome.REFUSED, reasons=(reason,))


class Teller:
    """Watches a run's transcript and has each new stage shown. Watching a resumed run again asks for nothing new."""

    def __init__(self, request: RunRequest, desk: Desk) -> None:
        self._request = request
        self._desk = desk
        self._progress = queued(request).progress
        self._steps: tuple[Step, ...] = ()
        self._models: dict[str, str] = {}
        self._told = 0

    def __call__(self, record: Record) -> None:
        """Take one record in."""
        now = self._progress = replace(self._progress, minutes=record.clock / 60)
        step = step_of(record)
        if step is not None:
            self._steps = kept(self._steps, step)
        if isinstance(record, Completed):
            self._models = {**self._models, record.role: record.model}
            spent = now.spent.get(record.role, Spent()) + Spent.of(record.completion)
            self._progress = replace(now, spent={**now.spent, record.role: spent})
        elif isinstance(record, Tested) and now.before is None and not record.selection:
            self._progress = replace(now, before=counted(record))
        elif isinstance(record, Tested) and shows_the_change(record):
            self._progress = replace(now, now=counted(record))
        elif isinstance(record, StageChanged):
            self._show({"stage": record.stage, "detail": record.detail})
        elif isinstance(record, Asked):
            self._show({"detail": DOING.get(record.role, f"the {record.role} is at work")})

    def end(self, ended: Ended) -> None:
        """Show how the run ended."""
        number = ended.pull_request.rpartition("/")[2]
        reasons, log = why(ended)
        self._show(
            {
                "outcome": ended.outcome,
                "reasons": reasons,
                "log": log,
                "pull_request": int(number) if number.isdigit() else None,
                "minutes": ended.seconds / 60,
            },
            ended.outcome.value,
        )

    def _show(self, changes: Mapping[str, Any], label: str = AT_WORK) -> None:
        self._progress = replace(self._progress, **changes)
        self._told += 1
        told = Told(
            repository=self._request.repository,
            number=self._request.talks_on,
            progress=self._progress,
            label=label,
            steps=self._steps,
            models=self._models,
        )
        self._desk.tell(f"{self._request.run}:tell:{self._told:03}", told)


def why(ended: Ended) -> tuple[tuple[str, ...], str]:
    """The reasons that are told of an end, and the log that belongs to them.

    Of a defect of the bot no more than what it is called: the way to it is for whoever runs the bot, in its own log.
    """
    lines = [line for line in ended.public.splitlines() if line.strip()]
    if ended.outcome is Outcome.ERROR:
        return ((_called(lines),) if ended.public.startswith(TRACEBACK) else tuple(lines[-1:])), ""
    if ended.outcome in (Outcome.ENVIRONMENT_FAILED, Outcome.TESTS_UNRUNNABLE):
        return tuple(lines[:1]), "\n".join(lines[1:])
    return tuple(lines), ""


def _called(lines: list[str]) -> str:
    """What the last exception of a printed traceback is called, without what it says: that may name files."""
    last = max(at for at, line in enumerate(lines) if line.startswith(TRACEBACK))
    names = (line.partition(":")[0].rpartition(".")[2] for line in lines[last + 1 :])
    return next((name for name in names if name.isidentifier()), "Exception")


def shows_the_change(record: Tested) -> bool:
    """Whether a run is one of the whole suite with the change as it is: not without a part of it, nor with a fault."""
    role = record.agent.rpartition("-")[0]
    if record.selection or "without the change" in record.why:
        return False
    return role not in CHANGES_NO_CODE if role else record.why == WHOLE_SUITE


def counted(record: Tested) -> Counts:
    """A recorded test run in numbers."""
    numbers = {outcome: len(record.outcomes.get(outcome, ())) for outcome in TestOutcome}
    return Counts(
        passed=numbers[TestOutcome.PASSED],
        failed=numbers[TestOutcome.FAILED],
        errors=numbers[TestOutcome.ERROR],
        skipped=numbers[TestOutcome.SKIPPED],
        seconds=record.seconds,
        exit_code=record.exit_code,
        ended=record.ended,
    )
