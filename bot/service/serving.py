"""One process of the service: the roles that it has, their queues, and the end of it."""

from __future__ import annotations

import enum
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from dbos import DBOS
from fastapi import FastAPI
from sqlalchemy.exc import SQLAlchemyError

from bot.service.acts import scheduled_sweep
from bot.service.database import prepare
from bot.service.desk import ACTS, APPLICATION, CLOCK, RUNS, Desk
from bot.service.parts import AT_ONCE
from bot.service.parts import QUEUES as PARTS
from bot.service.parts import declare_queues as declare_parts
from bot.service.presence import Watch, new_name, present
from bot.service.workflow import FORMAT

LOG = logging.getLogger("agent-fix")
LOOK_SECONDS = 1.0
"""How often it is looked whether somebody died."""
POLL_SECONDS = 0.25
GRACE_SECONDS = 30
ACTS_AT_ONCE = 24
"""Of one process: GitHub takes no more than a hundred requests at once, and most acts wait for it."""


class Role(enum.StrEnum):
    """What a process does; each needs a secret that the others need not have."""

    LISTENER = "listener"
    WORKER = "worker"
    PUBLISHER = "publisher"


@dataclass(frozen=True)
class Capacity:
    """How many runs at a time."""

    everywhere: int
    machine: int
    repository: int


@contextmanager
def engine(
    database: str,
    state: Path,
    roles: frozenset[Role],
    *,
    capacity: Capacity,
    furnish: Callable[[Desk], None],
    sweep_minutes: int | None,
) -> Iterator[Desk]:
    """A running engine that serves the queues of `roles` and takes over what dead processes have begun.

    `furnish` makes the instances (`Acts`, `GitHubRuns`) whose workflows are on those queues. Without
    `sweep_minutes` nothing is looked for that nobody told of.
    """
    name = new_name()
    prepare(database)
    with present(name, database, state) as locks:
        DBOS(
            config={
                "name": APPLICATION,
                "system_database_url": database,
                "application_version": FORMAT,
                "executor_id": name,
                "log_level": "ERROR",
            }
        )
        DBOS.listen_queues([ACTS, CLOCK] * (Role.PUBLISHER in roles) + [RUNS, *PARTS] * (Role.WORKER in roles))
        desk, done = Desk(database), threading.Event()
        furnish(desk)
        try:
            DBOS.launch()
            _declare_queues(capacity)
            declare_parts(PARTS, AT_ONCE)
            if Role.PUBLISHER in roles and sweep_minutes is not None:
                _schedule(sweep_minutes)
                desk.sweep(f"sweep-{name}")
            if roles != {Role.LISTENER}:
                threading.Thread(target=_take_over, args=(Watch(desk, locks, name), done), daemon=True).start()
            yield desk
        finally:
            done.set()
            desk.close()
            DBOS.destroy(destroy_registry=False, workflow_completion_timeout_sec=GRACE_SECONDS)


def _declare_queues(capacity: Capacity) -> None:
    DBOS.register_queue(
        ACTS,
        worker_concurrency=ACTS_AT_ONCE,
        partition_concurrency=1,
        polling_interval_sec=POLL_SECONDS,
        on_conflict="always_update",
    )
    # Of its own: what the engine's clock starts has no partition, and is never taken from a queue that has some.
    DBOS.register_queue(CLOCK, worker_concurrency=1, polling_interval_sec=POLL_SECONDS, on_conflict="always_update")
    DBOS.register_queue(
        RUNS,
        global_concurrency=capacity.everywhere,
        worker_concurrency=min(capacity.machine, capacity.everywhere),
        partition_concurrency=min(capacity.repository, capacity.everywhere),
        polling_interval_sec=POLL_SECONDS,
        on_conflict="always_update",
    )


def _schedule(minutes: int) -> None:
    DBOS.apply_schedules(
        [
            {
                "schedule_name": "sweep",
                "workflow_fn": scheduled_sweep,
                "schedule": f"*/{minutes} * * * *",
                "context": None,
                "queue_name": CLOCK,
            }
        ]
    )


def _take_over(watch: Watch, done: threading.Event) -> None:
    while not done.is_set():
        try:
            for other in watch.dead():
                LOG.warning("taking over from %s, which is gone", other)
                # Without a service of theirs, this is how the engine's makers have it recovered by its host.
                DBOS._recover_pending_workflows([other])
        except SQLAlchemyError as error:
            LOG.warning("the database does not answer: %s", error)
        done.wait(LOOK_SECONDS)


def listen(app: FastAPI, host: str, port: int, stop: Callable[[], None]) -> None:
    """Answer HTTP until the process is told to end; then call `stop`."""
    config = uvicorn.Config(app, host=host, port=port, log_level="warning", access_log=False)
    try:
        uvicorn.Server(config).run()
    finally:
        stop()
