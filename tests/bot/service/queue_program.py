"""The workers' queue on a real engine, with runs that only wait.

    python -m tests.bot.service.queue_program FOLDER EVERYWHERE PER_REPOSITORY NAME:REPOSITORY:PRIORITY…

The first run is asked for alone, the others once it is at work. Prints name and seconds of each begin and end as JSON.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dbos import DBOS, DBOSConfiguredInstance

from bot.service.desk import Desk
from bot.service.requests import RunRequest
from bot.service.serving import Capacity, Role, engine

EVENTS: list[tuple[str, str, float]] = []
BEGUN, ASKED = threading.Event(), threading.Event()
SECONDS = 0.8


@DBOS.dbos_class()
class GitHubRuns(DBOSConfiguredInstance):
    """Stands for the worker."""

    def __init__(self) -> None:
        super().__init__("github runs")

    @DBOS.workflow(name="github run")
    def run(self, request: dict[str, Any]) -> None:
        """Waits."""
        EVENTS.append((request["run"], "begin", time.monotonic()))
        BEGUN.set()
        ASKED.wait(60)  # or a slow machine ends the first run before the last one is asked for
        time.sleep(SECONDS)
        EVENTS.append((request["run"], "end", time.monotonic()))


def main(folder: Path, everywhere: int, repository: int, wanted: list[str]) -> None:
    """Ask for the runs and wait for all."""
    capacity = Capacity(everywhere, everywhere, repository)

    def furnish(_: Desk) -> None:
        GitHubRuns()

    database = f"sqlite:///{folder / 'queue.sqlite'}"
    with engine(
        database, folder, frozenset({Role.WORKER}), capacity=capacity, furnish=furnish, sweep_minutes=None
    ) as desk:
        for number, one in enumerate(wanted):
            name, where, priority = one.split(":")
            request = RunRequest(
                run=name, repository=where, repository_id=1, number=number, title="t", body="b", branch="main",
                default_branch="main", caller="will", at=datetime.now(UTC), strategy="team",
            )  # fmt: skip
            desk.start(request, priority=int(priority))
            BEGUN.wait(20)
        ASKED.set()
        for one in wanted:
            desk.wait(one.split(":")[0])
    print(json.dumps(EVENTS))  # noqa: T201 - what it is run for


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
