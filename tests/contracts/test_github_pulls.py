"""`bot.forge.port.Pulls` on GitHub."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.errors import Refused
from bot.forge.port import NotThere, Proposal, Unavailable
from tests.contracts.github_place import Place
from tests.fakes.github_server import acts, bare
from tests.fakes.github_server.faults import (
    BAD_GATEWAY,
    LOST_ANSWER,
    UNAUTHORIZED,
    Fault,
    told_by_graphql,
    told_to_wait,
    used_up,
)
from tests.fakes.github_server.state import Issue

HEAD = "agent-fix/issue-1"
PROPOSAL = Proposal(HEAD, "main", "Mend size", "It was one.\n\nCloses #1", draft=True)


def pushed(here: Place, head: str = HEAD) -> None:
    here.scene.commit(head, {"widgets.py": "def size():\n    return 2\n"})


def pulls(here: Place) -> list[Issue]:
    return [issue for issue in here.scene.repository.issues.values() if issue.pull is not None]


def test_a_pull_request_is_opened_as_a_draft_with_all_its_parts(here: Place) -> None:
    pushed(here)
    made = here.forge().pulls.propose(PROPOSAL)
    [issue] = pulls(here)
    assert (issue.title, issue.body, issue.author) == (PROPOSAL.title, PROPOSAL.body, here.bot)
    assert issue.pull is not None
    assert (issue.pull.head, issue.pull.base, issue.pull.draft) == (HEAD, "main", True)
    assert (made.number, made.draft, made.open, made.merged, made.ours) == (issue.number, True, True, False, True)
    assert made.head_commit == bare.head(here.scene.repository.path, HEAD)
    assert made.url == f"{here.scene.world.origin}/octo/widgets/pull/{issue.number}"


def test_proposing_again_brings_the_same_one_up_to_date(here: Place) -> None:
    pushed(here)
    first = here.forge().pulls.propose(PROPOSAL)
    better = replace(PROPOSAL, title="Mend the size", body="Closes #1", draft=False)
    second = here.forge().pulls.propose(better)
    assert second.number == first.number
    [issue] = pulls(here)
    assert (issue.title, issue.body) == ("Mend the size", "Closes #1")
    assert issue.pull is not None
    assert not issue.pull.draft
    assert not second.draft


def test_a_person_who_made_it_ready_is_not_overruled(here: Place) -> None:
    pushed(here)
    here.forge().pulls.propose(PROPOSAL)
    [issue] = pulls(here)
    acts.set_draft(here.scene.world, here.scene.repository, issue, here.scene.person("will"), False)
    assert not here.forge().pulls.propose(PROPOSAL).draft


def test_one_that_another_process_opens_meanwhile_is_adopted(here: Place) -> None:
    """The list does not show it, GitHub answers 422, then it is found."""
    pushed(here)
    forge, scene = here.forge(), here.scene

    def overtake() -> None:
        acts.open_pull(scene.world, scene.repository, here.bot, head=HEAD, base="main", title="First", body="")

    scene.github.faults.plan("POST", "/pulls$", Fault(call=overtake))
    made = forge.pulls.propose(PROPOSAL)
    [issue] = pulls(here)
    assert made.number == issue.number
    assert issue.title == PROPOSAL.title


def test_somebody_elses_pull_request_from_the_branch_is_adopted_but_not_rewritten(here: Place) -> None:
    theirs = here.pull(HEAD, by="mary")
    made = here.forge().pulls.propose(replace(PROPOSAL, reviewers=("will",)))
    assert (made.number, made.ours) == (theirs.number, False)
    assert theirs.title == "Mend"
    assert theirs.pull is not None
    assert theirs.pull.reviewers == []


@pytest.mark.parametrize("fault", [BAD_GATEWAY, LOST_ANSWER, Fault(502, hang=2), Fault(502, hang=2, after=True)])
def test_a_lost_answer_makes_no_second_pull_request(app: Place, fault: Fault) -> None:
    pushed(app)
    forge = app.forge(timeout=1)
    app.scene.github.faults.plan("POST", "/pulls$", fault)
    made = forge.pulls.propose(PROPOSAL)
    assert [issue.number for issue in pulls(app)] == [made.number]


def test_when_github_stays_down_nothing_is_opened(here: Place) -> None:
    pushed(here)
    forge = here.forge()
    here.scene.github.faults.plan("POST", "/pulls$", BAD_GATEWAY, times=9)
    with pytest.raises(Unavailable):
        forge.pulls.propose(PROPOSAL)
    assert pulls(here) == []


def test_reviewers_are_asked_one_by_one_and_the_others_passed_over(here: Place) -> None:
    pushed(here)
    names = ["rita", "mary", "no-such-user", "octo/core", "other/team", here.bot.login, "will"]
    asked = replace(PROPOSAL, reviewers=tuple(names))
    here.forge().pulls.propose(asked)
    [issue] = pulls(here)
    assert issue.pull is not None
    assert [account.login for account in issue.pull.reviewers] == ["mary", "will"]
    before = len(here.scene.github.requests("POST", ".*requested_reviewers"))
    here.forge().pulls.propose(replace(asked, reviewers=("mary",)))
    assert len(here.scene.github.requests("POST", ".*requested_reviewers")) == before


def test_where_there_are_no_drafts_it_is_opened_without(here: Place) -> None:
    here.scene.repository.drafts = False
    pushed(here)
    assert not here.forge().pulls.propose(PROPOSAL).draft


def test_what_github_refuses_is_said_in_its_words(here: Place) -> None:
    forge = here.forge()
    with pytest.raises(Refused, match="422"):
        forge.pulls.propose(PROPOSAL)
    bare.git(here.scene.repository.path, "update-ref", f"refs/heads/{HEAD}", "refs/heads/main")
    with pytest.raises(Refused, match="No commits between main and agent-fix/issue-1"):
        forge.pulls.propose(PROPOSAL)


def test_the_bots_open_pull_requests_are_found_again_by_their_branches(here: Place) -> None:
    scene = here.scene
    first, second = here.pull(HEAD), here.pull(f"{HEAD}-2")
    here.pull(f"{HEAD}-3", by="mary")
    closed = here.pull(f"{HEAD}-4")
    acts.set_state(scene.world, scene.repository, closed, scene.person("will"), "closed")
    scene.commit(f"{HEAD}-5", {"a": "no pull request"})
    found = here.forge().pulls.ours(HEAD)
    assert [it.number for it in found] == [first.number, second.number]


def test_a_merged_one_and_a_missing_one(here: Place) -> None:
    issue = here.pull(HEAD)
    acts.merge(here.scene.world, here.scene.repository, issue, here.scene.person("mary"))
    shown = here.forge().pulls.read(issue.number)
    assert (shown.merged, shown.open) == (True, False)
    with pytest.raises(NotThere):
        here.forge().pulls.read(99)
    with pytest.raises(NotThere):
        here.forge().pulls.read(here.issue().number)


def test_a_revision_changes_the_body_alone_and_makes_it_a_draft_or_ready(here: Place) -> None:
    issue = here.pull(HEAD)
    assert issue.pull is not None
    pulls = here.forge().pulls
    assert pulls.read(issue.number).body == "So:"
    shown = pulls.revise(issue.number, "So, revised:", draft=True, reviewers=("will", "nobody-there"))
    assert [one.login for one in issue.pull.reviewers] == ["will"]
    assert (shown.body, shown.draft, shown.title) == ("So, revised:", True, "Mend")
    assert (issue.body, issue.pull.draft) == ("So, revised:", True)
    writes = len(here.scene.github.requests("PATCH", ".*/pulls/.*"))
    assert not here.forge().pulls.revise(issue.number, "So, revised:", draft=False).draft
    assert not issue.pull.draft
    assert len(here.scene.github.requests("PATCH", ".*/pulls/.*")) == writes


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (told_to_wait(3600), Unavailable),
        (used_up(4_000_000_000), Unavailable),
        (told_by_graphql(3600), Unavailable),
        (UNAUTHORIZED, Refused),
        (BAD_GATEWAY, Unavailable),
    ],
)
def test_what_could_not_be_made_a_draft_now_is_not_passed_over(
    here: Place, fault: Fault, error: type[Exception]
) -> None:
    issue = here.pull(HEAD)
    assert issue.pull is not None
    here.scene.github.faults.plan("POST", "/graphql$", fault, times=9)
    with pytest.raises(error):
        here.forge().pulls.revise(issue.number, "So, revised:", draft=True)
    assert (issue.body, issue.pull.draft) == ("So:", False), "the body is changed last"
    here.scene.github.faults.clear()
    here.forge().pulls.revise(issue.number, "So, revised:", draft=True)
    assert issue.pull.draft


def test_whoever_says_that_it_closes_an_issue_is_found(here: Place) -> None:
    scene, issue = here.scene, here.issue()
    theirs, mine = here.pull("topic", by="mary"), here.pull("other", by="will")
    closed = here.pull("third", by="will")
    for one, body in ((theirs, f"Fixes #{issue.number}"), (mine, "Fixes #99"), (closed, f"Closes #{issue.number}")):
        acts.edit_issue(scene.world, scene.repository, one, scene.person("mary"), body=body)
    acts.set_state(scene.world, scene.repository, closed, scene.person("will"), "closed")
    assert here.forge().pulls.closing(issue.number) == (theirs.number,)
    scene.github.faults.plan("POST", "/graphql$", told_by_graphql(3600))
    with pytest.raises(Unavailable) as limited:
        here.forge().pulls.closing(issue.number)
    assert limited.value.retry_after is not None
    assert 3500 < limited.value.retry_after < 3700
