"""What happens between two steps that belong together, and while GitHub is away. Many runs, so with a small project."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.github_server import acts, bare
from tests.fakes.github_server.faults import BAD_GATEWAY, LOST_ANSWER, SERVER_ERROR, Fault, told_to_wait
from tests.fakes.github_server.world import World
from tests.journeys.github.projects import widgets
from tests.journeys.github.proxy import losing_answers
from tests.journeys.github.town import LABEL, Town, free_port, town


@pytest.fixture(scope="module")
def bot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    with town(tmp_path_factory.mktemp("town"), widgets()) as made:
        made.serve(settings={"AGENT_FIX_GITHUB_SECONDS": "2"})
        yield made


def redeliver(here: Town) -> None:
    """Have the newest delivery about a label come (again)."""
    labelled = [one for one in here.scene.world.deliveries if one.action == "labeled"]
    here.scene.github.hooks.redeliver(labelled[-1])


def test_the_webhook_comes_in_the_second_in_which_the_sweep_looks(tmp_path: Path) -> None:
    with town(tmp_path, widgets()) as here:
        issues = [here.issue() for _ in range(3)]
        hooks = here.scene.github.hooks
        hooks.lose = True
        for issue in issues:
            here.label(issue)
        hooks.lose = False
        lost = [one for one in here.scene.world.deliveries if one.action == "labeled"]

        def come() -> None:
            for delivery in lost:
                hooks.redeliver(delivery)

        # A starting process sweeps: its list of labelled issues is answered when their webhooks are on the way.
        here.scene.github.faults.plan("GET", "/repos/octo/widgets/issues$", Fault(call=come))
        here.serve()
        for issue in issues:
            here.settled(issue, "Fixed", pulls=1)
        assert here.asked() == len(issues) * here.model.project.whole
        assert len({one.guid for one in lost}) == len(issues)


def test_what_was_never_delivered_is_found_while_the_bot_goes_on(tmp_path: Path) -> None:
    with town(tmp_path, widgets()) as here:
        here.serve(settings={"AGENT_FIX_SWEEP_MINUTES": "1"})
        here.still()  # the sweep of the beginning is over
        issue = here.issue()
        here.scene.github.hooks.lose = True
        here.label(issue)
        here.scene.github.hooks.lose = False
        here.settled(issue, "Fixed", pulls=1)
        here.still()


def test_the_listener_dies_after_the_row_and_before_the_answer(tmp_path: Path) -> None:
    with town(tmp_path, widgets()) as here:
        behind = free_port()
        here.serve("publisher", "worker")
        listener = here.serve("listener", port=behind)
        issue = here.issue()
        here.scene.github.hooks.settle()
        with losing_answers(here.port, behind, lambda: here.kill(listener)):
            here.label(issue)
            here.scene.github.hooks.settle()
        (delivery,) = [one for one in here.scene.world.deliveries if one.action == "labeled"]
        assert delivery.status != "OK"
        here.serve("listener")
        here.settled(issue, "Fixed", pulls=1)
        here.kill(here.processes[0])
        here.serve("publisher", "worker")  # its first sweep has GitHub deliver again what had no answer
        here.until(lambda: len([one for one in here.scene.world.deliveries if one.guid == delivery.guid]) == 2, 30)
        here.still()
        here.settled(issue, "Fixed", pulls=1)
        assert here.asked() == here.model.project.whole


def test_the_publisher_alone_dies_between_push_and_pull_request(tmp_path: Path) -> None:
    with town(tmp_path, widgets()) as here:
        here.serve("listener", "worker")
        publisher = here.serve("publisher")
        here.scene.github.faults.plan("POST", "/pulls$", Fault(502, call=publisher.kill))
        issue = here.issue()
        here.label(issue)
        here.until(lambda: publisher.poll() is not None, 60)
        assert bare.git(here.repository.path, "branch", "--list", "agent-fix/*").split()
        assert here.pulls(issue) == []
        here.serve("publisher")
        here.settled(issue, "Fixed", pulls=1)
        assert len(bare.git(here.repository.path, "branch", "--list", "agent-fix/*").split()) == 1


def test_a_label_taken_away_and_set_again_arrives_the_other_way_round(bot: Town) -> None:
    here = bot.elsewhere("swapped")
    issue, hooks = here.issue(), here.scene.github.hooks
    hooks.settle()
    hooks.lose = True
    here.label(issue)
    acts.unset_label(here.scene.world, here.repository, issue, here.scene.person("will"), LABEL)
    here.label(issue)
    hooks.lose = False
    _, taken_away, again = here.scene.world.deliveries[-3:]
    hooks.redeliver(again)
    here.until(lambda: here.asked_about(issue), 60)
    hooks.redeliver(taken_away)
    here.settled(issue, "Fixed", pulls=1)
    hooks.settle()
    assert here.asked_about(issue) == here.model.project.whole


def test_github_hangs_and_what_it_did_all_the_same_is_not_done_again(bot: Town) -> None:
    here = bot.elsewhere("hanging")
    issue, faults = here.issue(), here.scene.github.faults
    faults.plan("GET", "hanging/issues/1$", Fault(hang=6))
    faults.plan("POST", "hanging/issues/1/comments$", Fault(after=True, hang=6))
    faults.plan("POST", "hanging/pulls$", Fault(after=True, hang=6))
    here.label(issue)
    here.settled(issue, "Fixed", pulls=1)
    assert here.asked_about(issue) == here.model.project.whole


def test_without_permission_to_push_it_is_said_what_is_missing(tmp_path: Path) -> None:
    with town(tmp_path, widgets()) as here:
        here.scene.installation.permissions["contents"] = "read"
        here.serve()
        issue = here.issue()
        here.label(issue)
        here.settled(issue, "Refused", pulls=0)
        said = here.own_comments(issue)[0].body
        assert "permission" in said, said
        assert bare.git(here.repository.path, "branch", "--list", "agent-fix/*") == ""


def test_what_github_remembers_outlives_the_database(tmp_path: Path) -> None:
    with town(tmp_path, widgets()) as here:
        process, issue, declined = here.serve(), here.issue(), here.issue()
        whole = here.model.project.whole
        for one in (issue, declined):
            here.label(one)
            here.settled(one, "Fixed", pulls=1)
        pull = here.pull(issue)
        acts.set_state(here.scene.world, here.repository, here.pull(declined), here.scene.person("ann"), "closed")
        here.kill(process)
        here.database = f"sqlite:///{tmp_path / 'another.sqlite'}"
        process = here.serve()  # it sweeps
        redeliver(here)
        here.scene.github.hooks.settle()
        here.say(issue, "/agent-fix retry")
        here.until(lambda: here.asked() == 3 * whole, 60)
        here.settled(issue, "Fixed", pulls=1, runs=2)
        assert here.pull(issue) is pull
        here.kill(process)
        here.serve()  # it sweeps once more, and knows of the retry alone
        here.still()
        assert (here.headline(issue), here.headline(declined), here.asked()) == ("Fixed", "Fixed", 3 * whole)
        here.scene.world.advance(60)
        acts.unset_label(here.scene.world, here.repository, declined, here.scene.person("will"), LABEL)
        here.label(declined)  # a new wish is a new run
        here.until(lambda: here.asked() == 4 * whole, 30)
        here.settled(declined, "Fixed", pulls=2, runs=2)


def test_a_person_opens_a_pull_request_from_the_pushed_branch_first(bot: Town) -> None:
    here = bot.elsewhere("overtaken")
    issue, will = here.issue(), here.scene.person("will")

    def overtake() -> None:
        acts.open_pull(
            here.scene.world, here.repository, will, head=f"agent-fix/issue-{issue.number}", base="main", title="Mine",
            body="By hand.",
        )  # fmt: skip

    here.scene.github.faults.plan("POST", "overtaken/pulls$", Fault(call=overtake))
    here.label(issue)
    here.settled(issue, "Fixed", pulls=1)
    pull = here.pull(issue)
    assert (pull.author, pull.title, pull.body) == (will, "Mine", "By hand.")
    assert f"#{pull.number}" in here.own_comments(issue)[0].body


def test_the_last_word_is_lost_with_the_token(bot: Town) -> None:
    here = bot.elsewhere("expiring")
    issue, world = here.issue(), here.scene.world
    for method, path in (("POST", "expiring/pulls$"), ("POST", "expiring/check-runs$"), ("GET", "expiring.git/info")):
        here.scene.github.faults.plan(method, path, expired(world))
    here.label(issue)
    here.settled(issue, "Fixed", pulls=1)


def expired(world: World) -> Fault:
    return Fault(call=world.expire_tokens)


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
    here.at_request(2, here.scene.world.expire_tokens)
    here.label(issue)
    here.settled(issue, "Fixed", pulls=1)
    assert [one.status for one in here.repository.checks] == ["completed"]


def test_a_branch_that_must_not_be_pushed_to_is_said(bot: Town) -> None:
    here = bot.elsewhere("protected")
    issue = here.issue()
    here.repository.protected.add(f"agent-fix/issue-{issue.number}")
    here.label(issue)
    here.settled(issue, "Refused", pulls=0)
    assert "protected branch" in here.own_comments(issue)[0].body
    assert here.pulls(issue) == []


def test_a_taken_branch_name_is_passed_over_and_a_retry_goes_to_the_open_pull_request(bot: Town) -> None:
    here = bot.elsewhere("again")
    issue = here.issue()
    name = f"agent-fix/issue-{issue.number}"
    bare.git(here.repository.path, "branch", name, "main")
    here.label(issue)
    here.settled(issue, "Fixed", pulls=1)
    pull = here.pull(issue)
    assert pull.pull is not None
    assert pull.pull.head == f"{name}-2"
    first = pull.pull.head_sha
    before = here.asked()
    here.say(issue, "/agent-fix retry")
    here.until(lambda: here.asked() > before, 30)
    here.settled(issue, "Fixed", pulls=1, runs=2)
    assert here.pull(issue) is pull
    assert pull.pull.head_sha != first


def test_closed_before_anything_begins(bot: Town) -> None:
    here = bot.elsewhere("closed")
    issue = here.issue()
    acts.set_label(here.scene.world, here.repository, issue, here.scene.person("will"), "agent:fix")
    acts.set_state(here.scene.world, here.repository, issue, here.scene.person("will"), "closed")
    here.still()
    assert here.headline(issue) in ("", "Cancelled")
    assert here.pulls(issue) == []


def test_where_the_model_is_stands_in_the_transcript_and_not_on_the_issue(tmp_path: Path) -> None:
    with town(tmp_path, widgets()) as here:
        address = f"127.0.0.1:{free_port()}"
        here.serve(settings={"OPENAI_BASE_URL": f"http://{address}/v1", "AGENT_FIX_RETRIES": "0"})
        issue = here.issue()
        here.label(issue)
        here.settled(issue, "Error", pulls=0)
        (comment,) = here.own_comments(issue)
        assert "cannot be reached" in comment.body
        assert "127.0.0.1" not in comment.body
        (transcript,) = tmp_path.glob("state/runs/*/transcript.jsonl")
        assert address in transcript.read_text("utf-8")
