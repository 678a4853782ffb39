"""What happens meanwhile: the base moves, GitHub fails, tokens die, processes are killed, the database is lost."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.github_server import acts, bare
from tests.fakes.github_server.faults import BAD_GATEWAY, LOST_ANSWER, SERVER_ERROR, Fault, told_to_wait
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
    assert here.ended(issue) == "Fixed", here.logs()
    pull = here.pull(issue)
    assert "rebased onto it and verified again" in (pull.body or "")
    assert pull.pull is not None
    assert pull.pull.base == "trunk"
    assert here.read(pull.pull.head, "NEWS") == "new"


def test_a_base_that_conflicts_leaves_the_pull_request_on_the_old_one(bot: Town) -> None:
    here = bot.elsewhere("conflicting")
    issue = here.issue()
    path = "src/hourglass/writing.py"
    old = bare.head(here.repository.path, "main")

    def rewrite() -> None:
        bare.commit(
            here.repository.path,
            "main",
            {path: b"def format(*_):\n    raise NotImplementedError\n"},
            "No",
            "a@b.example",
        )

    here.at_request(4, rewrite)
    here.label(issue)
    assert here.ended(issue) == "Fixed", here.logs()
    pull = here.pull(issue)
    assert f"conflicts with this in {path}" in (pull.body or "").replace("`", "")
    assert pull.pull is not None
    assert bare.git(here.repository.path, "merge-base", "main", pull.pull.head_sha).strip() == old


def test_github_fails_in_every_way_and_nothing_is_lost_or_doubled(bot: Town) -> None:
    here = bot.elsewhere("failing")
    issue, faults = here.issue(), here.scene.github.faults
    faults.plan("POST", "failing/issues/1/comments$", LOST_ANSWER)
    faults.plan("GET", "failing/issues/1$", SERVER_ERROR, times=2)
    faults.plan("PATCH", "failing/issues/comments", told_to_wait(1))
    faults.plan("GET", "failing/git/matching-refs", BAD_GATEWAY, times=8)
    faults.plan("POST", "failing/pulls$", LOST_ANSWER)
    faults.plan("POST", "failing/check-runs$", LOST_ANSWER)
    faults.plan("POST", "failing.git/git-receive-pack$", Fault(503))
    here.at_request(4, here.scene.world.expire_tokens)
    here.label(issue)
    assert here.ended(issue) == "Fixed", here.logs()
    assert len(here.pulls(issue)) == 1
    here.until(lambda: [one.status for one in here.repository.checks] == ["completed"], 10)


def test_a_branch_that_must_not_be_pushed_to_is_said(bot: Town) -> None:
    here = bot.elsewhere("protected")
    issue = here.issue()
    here.repository.protected.add(f"agent-fix/issue-{issue.number}")
    here.label(issue)
    assert here.ended(issue) == "Refused", here.logs()
    assert "protected branch" in here.own_comments(issue)[0].body
    assert here.pulls(issue) == []


def test_a_taken_branch_name_is_passed_over_and_a_retry_goes_to_the_open_pull_request(bot: Town) -> None:
    here = bot.elsewhere("again")
    issue = here.issue()
    name = f"agent-fix/issue-{issue.number}"
    bare.git(here.repository.path, "branch", name, "main")
    here.label(issue)
    assert here.ended(issue) == "Fixed", here.logs()
    pull = here.pull(issue)
    assert pull.pull is not None
    assert pull.pull.head == f"{name}-2"
    first = pull.pull.head_sha
    before = here.asked()
    here.say(issue, "/agent-fix retry")
    here.until(lambda: here.asked() > before, 30)
    assert here.ended(issue) == "Fixed", here.logs()
    assert here.pull(issue) is pull
    assert pull.pull.head_sha != first


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
            stage = own[0].body.splitlines()[1].split("**")[1] if own else ""
            if stage and stage not in seen and process.poll() is None:
                seen.add(stage)
                here.kill(process)
            if process.poll() is not None:
                stages += 1
                process = here.serve()
            time.sleep(0.05)
            assert stages < 15, here.logs()
        assert here.headline(issue) == "Fixed", here.own_comments(issue)[0].body + here.logs()
        assert stages >= 5
        assert len(here.pulls(issue)) == 1
        # What was cut off while the answer was awaited is asked for once more; what was answered never.
        assert max(here.model.answered.values()) == 1
        assert len(bare.git(here.repository.path, "branch", "--list", "agent-fix/*").split()) == 1


def test_the_database_is_lost_and_webhooks_come_again(tmp_path: Path) -> None:
    with town(tmp_path) as here:
        issue, process = here.issue(), here.serve()
        here.scene.github.hooks.lose = True
        here.label(issue)
        here.scene.github.hooks.lose = False
        here.kill(process)
        process = here.serve()  # its first sweep finds the label, and asks for the delivery that was lost
        assert here.ended(issue) == "Fixed", here.logs()
        asked = here.asked()
        assert asked == here.model.project.whole
        here.kill(process)
        here.database = f"sqlite:///{tmp_path / 'another.sqlite'}"
        here.serve()
        for delivery in [one for one in here.scene.world.deliveries if one.action == "labeled"]:
            here.scene.github.hooks.redeliver(delivery)
        here.scene.github.hooks.settle()
        time.sleep(3)
        assert here.asked() == asked
        assert len(here.pulls(issue)) == 1
        assert here.headline(issue) == "Fixed"


def test_closed_before_anything_begins(bot: Town) -> None:
    here = bot.elsewhere("closed")
    issue = here.issue()
    acts.set_label(here.scene.world, here.repository, issue, here.scene.person("will"), "agent:fix")
    acts.set_state(here.scene.world, here.repository, issue, here.scene.person("will"), "closed")
    here.scene.github.hooks.settle()
    time.sleep(3)
    assert here.headline(issue) in ("", "Cancelled")
    assert here.pulls(issue) == []
