"""What happens meanwhile: the base moves, GitHub fails, tokens die, processes are killed, the database is lost."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.github_server import bare
from tests.fakes.github_server.faults import Fault
from tests.journeys.github.projects import widgets
from tests.journeys.github.town import Town, town


@pytest.fixture(scope="module")
def bot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    with town(tmp_path_factory.mktemp("town")) as made:
        made.serve()
        yield made


def test_a_default_branch_called_trunk_that_moved_is_rebased_onto_and_verified_again(bot: Town) -> None:
    here = bot.elsewhere("moved", "trunk")
    issue = here.issue()
    here.at_request(
        4, lambda: bare.commit(here.repository.path, "trunk", {"NEWS": b"new\n"}, "News", "ann@example.com")
    )
    here.label(issue)
    here.settled(issue, "Fixed", pulls=1)
    pull = here.pull(issue)
    assert "rebased onto it and verified again" in (pull.body or "")
    assert pull.pull is not None
    assert pull.pull.base == "trunk"
    assert here.read(pull.pull.head, "NEWS") == "new"


def test_a_base_that_conflicts_leaves_the_pull_request_on_the_old_one(tmp_path: Path) -> None:
    with town(tmp_path, widgets()) as here:
        here.serve()
        issue, path = here.issue(), here.repository.path
        old = bare.head(path, "main")
        here.at_request(2, lambda: bare.commit(path, "main", {"size.sh": b"size() { exit 1; }\n"}, "No", "a@b.example"))
        here.label(issue)
        here.settled(issue, "Fixed", pulls=1)
        pull = here.pull(issue)
        assert "conflicts with this in size.sh" in (pull.body or "").replace("`", "")
        assert pull.pull is not None
        assert bare.git(path, "merge-base", "main", pull.pull.head_sha).strip() == old


@pytest.mark.timeout(300)
def test_killed_at_each_stage_and_between_push_and_pull_request_the_run_goes_on(tmp_path: Path) -> None:
    with town(tmp_path) as here:
        issue, process = here.issue(), here.serve()
        here.scene.github.faults.plan("POST", "/pulls$", Fault(call=lambda: here.processes[-1].kill()))
        here.label(issue)
        seen: set[str] = set()
        stages = 0
        while not here.headline(issue):
            own = here.own_comments(issue)
            trail = re.search(r"\*\*([a-z ]+)\*\* →|→ \*\*([a-z ]+)\*\*", own[0].body) if own else None
            stage = (trail[1] or trail[2]) if trail else ""
            if stage and stage not in seen and process.poll() is None:
                seen.add(stage)
                here.kill(process)
            if process.poll() is not None:
                stages += 1
                process = here.serve()
            time.sleep(0.05)
            assert stages < 15, here.logs()
        here.settled(issue, "Fixed", pulls=1)
        assert stages >= 5
        # What was cut off while the answer was awaited is asked for once more; what was answered never.
        assert max(here.model.answered.values()) == 1
        assert len(bare.git(here.repository.path, "branch", "--list", "agent-fix/*").split()) == 1
