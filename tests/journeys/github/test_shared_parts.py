"""The parts of one run on several workers: each takes some, and what a dead one had begun is done by the others."""

from __future__ import annotations

from pathlib import Path

from tests.journeys.github.projects import units
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
