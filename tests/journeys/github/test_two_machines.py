"""Two machines on one Postgres share the work; one of them dies."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.github_server import bare
from tests.fakes.postgres import Postgres
from tests.journeys.github.projects import widgets
from tests.journeys.github.town import Town, free_port, town

RUNS = 40


def machine(here: Town, name: str, **settings: str) -> dict[str, str]:
    return {
        "AGENT_FIX_STATE_DIR": str(here.folder / name),
        "AGENT_FIX_RUNS_AT_ONCE": "8",
        "AGENT_FIX_RUNS_PER_MACHINE": "4",
        "AGENT_FIX_RUNS_PER_REPOSITORY": "8",
        **settings,
    }


AT_WORK = 4
"""Runs of the dead machine that may have been between an answer and its storing."""


def test_two_machines_share_forty_runs_and_one_is_killed(tmp_path: Path, postgres_server: Postgres) -> None:
    with town(tmp_path, widgets(), database=postgres_server.url("forty")) as here:
        here.scene.world.forbid_writes_per_minute = 10_000
        here.serve(settings=machine(here, "first"))
        second = here.serve(port=free_port(), settings=machine(here, "second"))
        issues = [here.issue() for _ in range(RUNS)]
        for issue in issues:
            here.label(issue)
        here.until(lambda: sum(here.headline(issue) != "" for issue in issues) >= 8, 120)
        here.kill(second)
        for issue in issues:
            here.settled(issue, "Fixed", pulls=1, runs=2)
        # An answer that had come but was not stored yet when its machine died is asked for once more, and no other.
        assert sum(here.paid(issue) > 1 for issue in issues) <= AT_WORK
        assert len(bare.git(here.repository.path, "branch", "--list", "agent-fix/*").splitlines()) == RUNS
        assert len(here.model.answered) == RUNS * here.model.project.whole


def test_the_database_server_restarts_midway_and_nobody_is_taken_for_dead(
    tmp_path: Path, postgres_server: Postgres
) -> None:
    with town(tmp_path, widgets(), database=postgres_server.url("restarted")) as here:
        here.serve(settings=machine(here, "first"))
        here.serve(port=free_port(), settings=machine(here, "second"))
        issues = [here.issue() for _ in range(6)]

        def restart() -> None:
            postgres_server.stop()
            postgres_server.start()

        here.at_request(3, restart)
        for issue in issues:
            here.label(issue)
        for issue in issues:
            here.settled(issue, "Fixed", pulls=1)
        assert "taking over" not in here.logs()
