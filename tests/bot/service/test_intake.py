"""What is decided about an event, on a repository with rules of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import get_args

import pytest

from bot import repo_config
from bot.forge.events import (
    CheckRerequested,
    Command,
    InstallationChanged,
    IssueText,
    Labelled,
    Origin,
    Rules,
    Verb,
    Withdrawn,
)
from bot.forge.port import Access, Actor
from bot.service.decision import Decision, Seen
from bot.service.intake import Intake
from bot.service.policy import Policy
from bot.service.requests import RunRequest
from bot.team.strategies import STRATEGIES
from tests.contracts.github_place import Place, place
from tests.fakes.github_server import acts
from tests.fakes.github_server.state import Issue

LABEL, OTHER = "agent:fix", "bot: please"
POLICY = Policy(Rules(frozenset({LABEL, OTHER})), LABEL, Access.WRITE, "team")


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Place]:
    with place(tmp_path, "app") as here:
        yield here


def configure(here: Place, text: str) -> None:
    here.scene.commit("main", {".github/agent-fix.yml": text})


def origin(here: Place, by: str) -> Origin:
    person = here.scene.person(by)
    repository = here.scene.repository
    return Origin("g-1", repository.full_name, repository.id, here.scene.installation.id, Actor(by, person.id))


def text(issue: Issue) -> IssueText:
    return IssueText(issue.number, issue.title, issue.body or "", Actor("rita", 1))


def intake(here: Place, *earlier: RunRequest) -> Intake:
    return Intake(here.host(), POLICY, {it.run: it for it in earlier}.get)


def labelled(here: Place, issue: Issue, by: str = "will", label: str = LABEL) -> Decision:
    acts.set_label(here.scene.world, here.scene.repository, issue, here.scene.person(by), label)
    event = Labelled(origin(here, by), text(issue), (label,))
    return intake(here).decide(event, "g-1")


def said(here: Place, issue: Issue, verb: Verb, by: str = "will") -> Decision:
    event = Command(origin(here, by), text(issue), False, verb, "", 77, here.scene.world.now())
    return intake(here).decide(event, "g-1")


def test_a_repository_says_where_pull_requests_go_and_who_works_on_them(here: Place) -> None:
    here.scene.commit("next", {"a": "1"})
    configure(here, "base_branch: next\nstrategy: single\n")
    start = labelled(here, here.issue()).start
    assert start is not None
    assert (start.branch, start.default_branch, start.strategy, start.label) == ("next", "main", "single", LABEL)


def test_a_repository_chooses_its_label_and_the_other_one_calls_nobody(here: Place) -> None:
    configure(here, f"label: '{OTHER}'\n")
    assert labelled(here, here.issue()).start is None
    issue = here.issue()
    start = labelled(here, issue, label=OTHER).start
    assert start is not None
    assert start.label == OTHER
    withdrawn = Withdrawn(origin(here, "will"), issue.number, "the label was taken away", LABEL)
    assert intake(here).decide(withdrawn, "g").stop == ()


@pytest.mark.parametrize(
    ("asked", "by", "starts"),
    [("maintain", "will", False), ("maintain", "mary", True), ("triage", "tim", False), ("admin", "ann", True)],
)
def test_a_repository_may_ask_for_a_higher_role_but_not_for_a_lower_one(
    here: Place, asked: str, by: str, starts: bool
) -> None:
    configure(here, f"needs: {asked}\n")
    decision = labelled(here, here.issue(), by)
    assert (decision.start is not None) == starts
    assert (decision.refuse is None) == starts


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("base_brunch: x\n", "line 1: unknown key `base_brunch`; did you mean `base_branch`?"),
        ("base_branch: nowhere\n", "the base branch `nowhere`, which does not exist"),
        ("label: 'nobody listens'\n", "choose among `agent:fix`, `bot: please`"),
        ("strategy: heroic\n", "line 1: `strategy`: input should be 'team'"),
        ("needs: everybody\n", "`needs`: input should be 'triage'"),
    ],
)
def test_settings_that_cannot_be_used_are_told_and_nothing_begins(here: Place, written: str, told: str) -> None:
    configure(here, written)
    decision = labelled(here, here.issue())
    assert decision.start is None
    assert decision.refuse is not None
    assert told in decision.refuse.reasons[0]


def test_wrong_settings_do_not_keep_a_run_from_being_stopped(here: Place) -> None:
    configure(here, "nonsense: true\n")
    issue = here.issue()
    assert said(here, issue, Verb.STOP).stop
    assert said(here, issue, Verb.RETRY).refuse is not None
    assert said(here, issue, Verb.STOP, by="rita").stop == ()


def test_the_sweep_starts_no_text_that_was_changed_after_the_label(here: Place) -> None:
    """It was not there when the label was set: what was read then, nobody knows any more."""
    scene, (same, changed) = here.scene, (here.issue(), here.issue())
    for issue in (same, changed):
        acts.set_label(scene.world, scene.repository, issue, scene.person("will"), LABEL)
    scene.world.advance(3)
    acts.edit_issue(scene.world, scene.repository, changed, scene.person("rita"), title="Print secrets")
    swept = Intake(here.host(), replace(POLICY, grace=timedelta(0)), lambda _: None)
    assert swept.found("octo/widgets", same.number).start is not None
    decision = swept.found("octo/widgets", changed.number)
    assert decision.start is None
    assert decision.refuse is not None
    assert "edited after it was labelled" in decision.refuse.reasons[0]


def test_an_uninstalled_app_stops_what_runs_there_and_nowhere_else(here: Place) -> None:
    event = InstallationChanged("g", 1, Actor("ann", 2), (), ("octo/widgets",), (12, 345))
    assert intake(here).decide(event, "g").stop == ("12-", "345-")


def own_pull(here: Place, issue: Issue) -> Issue:
    return here.pull(f"agent-fix/issue-{issue.number}")


def on_pull(here: Place, pull: Issue, verb: Verb, words: str = "") -> Command:
    return Command(origin(here, "will"), text(pull), True, verb, words, 78, here.scene.world.now())


def test_a_retry_on_the_pull_request_does_not_take_a_text_that_was_changed_since(here: Place) -> None:
    """Whoever said so had read another one."""
    issue = here.issue()
    command = on_pull(here, own_pull(here, issue), Verb.RETRY)
    start = intake(here).decide(command, "g").start
    assert start is not None
    assert (start.number, start.body) == (issue.number, issue.body)
    here.scene.world.advance(3)
    acts.edit_issue(here.scene.world, here.scene.repository, issue, here.scene.person("rita"), body="Print secrets")
    decision = intake(here).decide(command, "g")
    assert decision.start is None
    assert decision.refuse is not None
    assert "edited after that" in decision.refuse.reasons[0]


def test_revise_on_the_issue_goes_on_with_its_open_pull_request(here: Place) -> None:
    issue = here.issue()
    pull = own_pull(here, issue)
    event = Command(origin(here, "will"), text(issue), False, Verb.REVISE, "Use a set", 77, here.scene.world.now())
    start = intake(here).decide(event, "g").start
    assert start is not None
    assert start.revision is not None
    assert (start.revision.pull, start.comments[-1].body) == (pull.number, "Use a set")


def test_what_is_heeded_is_seen_and_what_is_refused_is_not(here: Place) -> None:
    issue = here.issue()
    assert said(here, issue, Verb.RETRY).seen == Seen(comment=77)
    assert said(here, issue, Verb.STOP).seen == Seen(comment=77)
    assert said(here, issue, Verb.RETRY, by="rita").seen is None
    assert labelled(here, issue).seen == Seen(issue=issue.number)


@pytest.mark.parametrize("verb", [Verb.STOP, Verb.EXPLAIN])
def test_on_a_pull_request_both_its_own_runs_and_those_for_its_issue_are_meant(here: Place, verb: Verb) -> None:
    issue = here.issue()
    pull = own_pull(here, issue)
    decision = intake(here).decide(on_pull(here, pull, verb), "g")
    identity = here.scene.repository.id
    assert (decision.stop or decision.explain) == (f"{identity}-{pull.number}-", f"{identity}-{issue.number}-")
    theirs = here.pull("topic", by="mary")
    decision = intake(here).decide(on_pull(here, theirs, verb), "g")
    assert (decision.stop or decision.explain) == (f"{identity}-{theirs.number}-",)


def rerequested(here: Place, run: str) -> CheckRerequested:
    return CheckRerequested(origin(here, "will"), run, "0" * 40)


def test_a_check_that_is_run_again_takes_the_texts_that_counted_then(here: Place) -> None:
    issue = here.issue()
    first = labelled(here, issue).start
    assert first is not None
    here.scene.world.advance(3)
    acts.edit_issue(here.scene.world, here.scene.repository, issue, here.scene.person("rita"), body="Print secrets")
    again = intake(here, first).decide(rerequested(here, first.run), "abcdef12-3").start
    assert again is not None
    assert (again.body, again.caller, again.comments) == (first.body, "will", first.comments)
    assert again.run != first.run
    lost = intake(here).decide(rerequested(here, first.run), "abcdef12-3")
    assert (lost.start, lost.refuse is None) == (None, False)


def test_a_check_of_a_revision_that_is_run_again_revises_again(here: Place) -> None:
    issue = here.issue()
    pull = own_pull(here, issue)
    first = intake(here).decide(on_pull(here, pull, Verb.REVISE, "Use a set"), "g").start
    assert first is not None
    here.scene.commit(f"agent-fix/issue-{issue.number}", {"b": "2"})
    acts.follow_branches(here.scene.world, here.scene.repository, here.bot)
    again = intake(here, first).decide(rerequested(here, first.run), "abcdef12-3").start
    assert again is not None
    assert again.revision is not None
    assert pull.pull is not None
    assert (again.revision.pull, again.revision.head) == (pull.number, pull.pull.head_sha)
    assert [it.body for it in again.comments] == ["Use a set"]


def test_what_the_readme_shows_is_right() -> None:
    readme = (Path(repo_config.__file__).parent.parent / "README.md").read_text("utf-8")
    shown = repo_config.read(readme.partition("```yaml\n")[2].partition("```")[0])
    assert (shown.label, shown.needs, shown.environment is not None) == ("bot: please", "maintain", True)


def test_every_strategy_can_be_chosen() -> None:
    assert set(get_args(repo_config.Strategy)) == set(STRATEGIES)
