"""The publisher's workflows: an event decided about, a state shown, a change published, the sweep."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from dbos import DBOS, DBOSConfiguredInstance

from bot.errors import Refused
from bot.forge.events import Rules
from bot.publish.account import Account, explanation
from bot.publish.comment import Progress
from bot.service.decision import Decision, Seen
from bot.service.desk import ACTS, LATER, NOW, Desk, number_of
from bot.service.intake import Intake
from bot.service.patience import Patience, patiently
from bot.service.publishing import Publishing
from bot.service.requests import Occurrence, Publication, RunRequest, Told
from bot.service.sweep import Sweep
from bot.service.talking import Talking
from bot.service.telling import QUEUED, STAGES, queued
from bot.task import Outcome

LOG = logging.getLogger("agent-fix.publisher")


@DBOS.dbos_class()
class Acts(DBOSConfiguredInstance):
    """What is done with the forge's write credential."""

    def __init__(  # noqa: PLR0917 - each a part of its own
        self,
        intake: Intake,
        talking: Talking,
        publishing: Publishing,
        sweep: Sweep,
        desk: Desk,
        patience: Patience,
        rules: Rules,
    ) -> None:
        super().__init__("acts")
        self._intake = intake
        self._talking = talking
        self._publishing = publishing
        self._sweep = sweep
        self._desk = desk
        self._patience = patience
        self._rules = rules

    @DBOS.workflow(name="receive")
    def receive(self, occurrence: dict[str, Any]) -> str:
        """Decide about an event and see to it; gives what was decided, for the log."""
        it = Occurrence.model_validate(occurrence)
        decision = Decision.model_validate(self._step("decide", lambda: self._decided(it).to_json()))
        self._carry_out(decision)
        said = decision.start.run if decision.start else decision.because
        LOG.info("delivery %s: %s", it.guid, said)
        return said

    @DBOS.workflow(name="tell")
    def tell(self, told: dict[str, Any]) -> None:
        """Show how a run stands."""
        it = Told.model_validate(told)
        if DBOS.run_step({"name": "out of date"}, lambda: self._out_of_date(it)):
            return
        self._step("tell", lambda: self._talking.tell(it))

    @DBOS.workflow(name="publish")
    def publish(self, publication: dict[str, Any]) -> dict[str, Any]:
        """Publish a change."""
        it = Publication.model_validate(publication)
        return self._publishing.publish(it, self._step).to_json()

    @DBOS.workflow(name="sweep")
    def sweep(self, only: list[Any] | None) -> list[str]:
        """Start what was never delivered, and ask for the deliveries that failed; gives what was decided.

        `only` is a repository and the number of an issue in it, to look at that alone.
        """
        said = []
        for repository, number in [only] if only else self._step("look", self._sweep.waiting):
            found = self._step("decide", functools.partial(self._found, repository, number))
            decision = Decision.model_validate(found)
            self._carry_out(decision, NOW if only else LATER)
            said.append(decision.start.run if decision.start else decision.because)
        if not only:
            self._step("ask again", self._sweep.ask_again)
        return said

    @DBOS.workflow(name="stop")
    def stop(self, why: str) -> None:
        """Stop all runs, since the process that carries them out is to end for good."""
        self._carry_out(Decision(stop=("",), because=why))

    def _found(self, repository: str, number: int) -> dict[str, Any]:
        return self._sweep.decided(repository, number).to_json()

    def _step(self, name: str, act: Callable[[], Any]) -> Any:
        return patiently(self._patience, name, act)

    def _decided(self, it: Occurrence) -> Decision:
        try:
            return self._intake.decide(it.read(), it.guid)
        except Refused as error:
            return Decision(because=str(error))

    def _carry_out(self, decision: Decision, priority: int = NOW) -> None:
        if decision.start is not None:
            DBOS.run_step({"name": "start"}, functools.partial(self._start, decision, priority))
        if decision.refuse is not None:
            DBOS.run_step({"name": "refuse"}, functools.partial(self._refuse, decision.refuse, decision))
        if decision.seen is not None:
            DBOS.run_step({"name": "saw"}, functools.partial(self._saw, decision, decision.seen))
        if decision.stop:
            found = DBOS.run_step({"name": "find"}, lambda: self._runs(decision.stop, unfinished=True))
            runs = [run for run in found if run != decision.spare]
            DBOS.run_step({"name": "stop"}, lambda: self._stop(runs, decision))
        if decision.explain and decision.seen is not None and decision.seen.comment is not None:
            said = DBOS.run_step({"name": "explain"}, functools.partial(self._explained, decision))
            self._step("answer", functools.partial(self._answer, decision, decision.seen.comment, said))

    def _saw(self, decision: Decision, seen: Seen) -> None:
        self._talking.saw(decision.repository, decision.number, seen)

    def _refuse(self, said: Progress, decision: Decision) -> None:
        number = number_of(said.run)
        runs = self._desk.runs(f"{said.run.split('-')[0]}-{number}-")
        if bool(runs) == decision.again and said.run not in runs:
            label = Outcome.REFUSED.value
            told = Told(repository=decision.repository, number=decision.number, progress=said, label=label)
            self._desk.tell(f"{said.run}:tell:refused", told)

    def _start(self, decision: Decision, priority: int) -> None:
        request = decision.start
        if request is None or self._desk.status(request.run) is not None:
            return
        self._desk.tell(f"{request.run}:tell:000", queued(request))
        self._desk.start(request, priority=priority)

    def _stop(self, runs: list[str], decision: Decision) -> None:
        """Stop runs, and have said of each what it had reached and why it stopped."""
        self._desk.cancel(runs)
        for run in runs:
            if self._desk.status(run) != "CANCELLED":
                continue  # it came to its own end in the very moment
            told = self._desk.last_told(run)
            reached = told.progress if told else Progress(run, STAGES, QUEUED)
            ended = replace(reached, outcome=Outcome.CANCELLED, reasons=(decision.because,))
            where = told or Told(repository=decision.repository, number=decision.number, progress=ended)
            said = where.model_copy(update={"progress": ended, "label": Outcome.CANCELLED.value})
            self._desk.tell(f"{run}:tell:999", said)

    def _out_of_date(self, told: Told) -> bool:
        """Whether a run was stopped after it had this to say."""
        stopped = self._desk.status(told.progress.run) == "CANCELLED"
        return stopped and told.progress.outcome is not Outcome.CANCELLED

    def _runs(self, prefixes: Iterable[str], *, unfinished: bool = False) -> list[str]:
        return [run for one in prefixes for run in self._desk.runs(one, unfinished=unfinished)]

    def _explained(self, decision: Decision) -> str:
        told = self._desk.told(decision.explain)
        accounts = [account(one, self._desk.request(one.progress.run)) for one in told]
        now, before = (accounts[0], tuple(accounts[1:])) if accounts else (None, ())
        return explanation(now, before, command=self._rules.command, label=decision.label)

    def _answer(self, decision: Decision, comment: int, said: str) -> None:
        self._talking.answer(decision.repository, decision.number, comment, said)


def account(told: Told, request: RunRequest | None) -> Account:
    """What is known of a run; one that was refused has no request."""
    if request is None:
        return Account(told.progress, told.steps)
    return Account(told.progress, told.steps, request.caller, request.at, request.strategy, request.branch, told.models)


@DBOS.workflow(name="scheduled sweep")
def scheduled_sweep(at: datetime, _: Any) -> None:
    """What the engine's clock starts: it knows no instances."""
    DBOS.enqueue_workflow_with_options(
        {
            "workflow_name": "sweep",
            "queue_name": ACTS,
            "workflow_id": f"sweep-{at:%Y%m%d-%H%M}",
            "class_name": "Acts",
            "instance_name": "acts",
            "queue_partition_key": "sweep",
        },
        None,
    )
