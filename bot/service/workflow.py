"""Runs as DBOS workflows: what was paid for or executed is stored as a step and never done twice."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from dbos import DBOS, DBOSConfiguredInstance
from dbos import error as engine_errors

from bot.service.effects import Paused, Steps
from bot.service.order import Ended, Order
from bot.service.parts import QUEUES, Parts, beside_its_run, declare_queues

T = TypeVar("T")
FORMAT = "5"
"""Part of the application version: a run is resumed only by code that takes the same steps. Raise it with the steps."""


def step(name: str, work: Callable[[], T]) -> T:
    """A durable step of the workflow that is at work in this thread."""
    try:
        return DBOS.run_step({"name": name}, work)
    except (engine_errors.DBOSWorkflowCancelledError, engine_errors.DBOSWorkflowConflictIDError):
        # Nobody waits for this run any more, or another process took it over: it unwinds at once and stores nothing.
        raise Paused from None


@DBOS.dbos_class()
class Runs(DBOSConfiguredInstance):
    """The workflow of a run. `carry_out` does the work, given an order and the way to take steps."""

    def __init__(self, carry_out: Callable[[Order, Steps], Ended]) -> None:
        super().__init__("runs")
        self._carry_out = carry_out

    @DBOS.workflow(name="run")
    def run(self, order: dict[str, Any]) -> dict[str, Any]:
        """`Order` and `Ended` as JSON: what is stored stays readable for other versions."""
        ended = self._carry_out(Order.model_validate(order), step)
        return ended.model_dump(mode="json")


@contextmanager
def engine(
    database: str, carry_out: Callable[[Order, Steps], Ended], cancel: threading.Event | None = None
) -> Iterator[Runs]:
    """A running engine on a database. Runs that a crash left unfinished go on as soon as it starts.

    `cancel` is set when the process is told to stop.
    """
    DBOS(
        config={
            "name": "agent-fix",
            "system_database_url": database,
            "application_version": FORMAT,
            "executor_id": "local",
            "log_level": "ERROR",
        }
    )
    runs = Runs(carry_out)
    Parts(functools.partial(beside_its_run, cancel=cancel or threading.Event()))
    try:
        DBOS.launch()
        declare_queues(QUEUES[:1])
        yield runs
    finally:
        DBOS.destroy(destroy_registry=False)


def start(runs: Runs, order: Order) -> Ended:
    """Carry out `order`, or wait for the run of that name if it is at work already."""
    from dbos import SetWorkflowID

    with SetWorkflowID(order.run):
        handle = DBOS.start_workflow(runs.run, order.model_dump(mode="json"))
    return Ended.model_validate(handle.get_result())
