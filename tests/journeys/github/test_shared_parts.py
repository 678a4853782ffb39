"""The parts of one run on several workers: each takes some, and what a dead one had begun is done by the others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.github_server.faults import BAD_GATEWAY, Fault
from tests.fakes.postgres import Postgres
from tests.journeys.github.projects import Calls, units
from tests.journeys.github.town import Town, town

FUNCTIONS = 40


def workers(here: Town) -> None:
    here.serve("listener", "publisher", "worker")
    here.serve("worker")


def test_workers_share_the_parts_of_one_run_and_do_what_a_dead_one_had_begun(tmp_path: Path) -> None:
    with town(tmp_path, units(FUNCTIONS)) as here:
        workers(here)
        issue = here.issue()
        here.label(issue)
        here.until(lambda: "for another process" in here.logs() and here.asked() >= 8, 60)
        here.kill(here.processes[1])
        assert here.ended(issue, 120) == "Fixed", here.logs()
        assert max(here.model.answered.values()) == 1, "an answer was paid for twice"
        pull = here.pull(issue).pull
        assert pull is not None
        changed = here.read(pull.head, "units/join_0.py")
        assert changed.count("offset=0") == changed.count("+ offset")


@pytest.mark.parametrize(("fault", "times", "said"), [(BAD_GATEWAY, 3, "once more"), (Fault(404), 99, "left to the")])
def test_what_one_machine_cannot_check_out_costs_the_run_nothing(
    tmp_path: Path, postgres_server: Postgres, fault: Fault, times: int, said: str
) -> None:
    with town(tmp_path, units(FUNCTIONS), database=postgres_server.url(f"shared_{times}")) as here:
        faults, by_rule = here.scene.github.faults, here.model.project.improvise
        assert by_rule is not None

        def improvise(role: str, messages: list[dict[str, Any]]) -> Calls:
            if role == "child":  # there are more of them than one machine takes at once
                here.until(lambda: said in here.logs(), 60)
            return by_rule(role, messages)

        here.model.project = replace(here.model.project, improvise=improvise)
        # The machine of the run asks for the history, and for the contents; what comes then is the other one's.
        faults.plan("GET", "widgets.git/info/refs", fault, skip=2, times=times)
        for name, roles in (("one", ("listener", "publisher", "worker")), ("other", ("worker",))):
            here.serve(*roles, settings={"AGENT_FIX_STATE_DIR": str(tmp_path / name)})
        issue = here.issue()
        here.label(issue)
        here.until(lambda: said in here.logs(), 120)
        faults.clear()
        here.settled(issue, "Fixed", pulls=1)
