"""`bot.forge.port.Issues` on GitHub."""

from __future__ import annotations

import pytest

from bot.errors import BadInput
from bot.forge.github_comments import PROGRESS_TAG
from bot.forge.port import BODY_LIMIT, Access, NotThere, Unavailable
from bot.task import Comment
from tests.contracts.github_place import Place
from tests.fakes.github_server import acts
from tests.fakes.github_server.faults import BAD_GATEWAY, LOST_ANSWER, Fault
from tests.fakes.github_server.state import Issue

LABEL = "agent:fix"


def set_label(here: Place, issue: Issue, by: str = "will", label: str = LABEL) -> None:
    acts.set_label(here.scene.world, here.scene.repository, issue, here.scene.person(by), label)


def names(issue: Issue) -> set[str]:
    return {label.name for label in issue.labels}


def test_an_issue_is_read_as_it_stands(here: Place) -> None:
    issue = here.issue("bug")
    issue.assignees.append(here.scene.person("mary"))
    shown = here.forge().issues.read(issue.number)
    assert (shown.number, shown.title, shown.body, shown.author) == (issue.number, "It breaks", "So:", "rita")
    assert (shown.open, shown.locked, shown.labels, shown.assignees) == (True, False, {"bug"}, ("mary",))
    assert not shown.is_pull_request
    acts.set_state(here.scene.world, here.scene.repository, issue, here.scene.person("will"), "closed")
    issue.body, issue.locked = None, True
    again = here.forge().issues.read(issue.number)
    assert (again.open, again.locked, again.body) == (False, True, "")
    assert here.forge().issues.read(here.pull("fix").number).is_pull_request


def test_an_issue_that_is_gone_is_named_so(here: Place) -> None:
    issue, forge = here.issue(), here.forge()
    with pytest.raises(NotThere):
        forge.issues.read(99)
    other = here.scene.world.create_repository("octo/other")
    moved = acts.open_issue(here.scene.world, other, here.scene.person("rita"), "It breaks", "So:")
    issue.transferred_to = f"octo/other/{moved.number}"
    with pytest.raises(NotThere, match="moved"):
        forge.issues.read(issue.number)
    issue.transferred_to = None
    acts.delete_issue(here.scene.world, here.scene.repository, issue, here.scene.person("ann"))
    with pytest.raises(NotThere, match="deleted"):
        forge.issues.read(issue.number)


def test_a_run_is_known_by_the_newest_setting_of_the_label(here: Place) -> None:
    issue, forge = here.issue(), here.forge()
    assert forge.issues.labelling(issue.number, LABEL) is None
    set_label(here, issue, by="tim")
    set_label(here, issue, label="agent:fix-later")
    first = forge.issues.labelling(issue.number, LABEL)
    assert first is not None
    assert (first.actor.login, first.edited_since) == ("tim", False)
    assert first.id == next(one.id for one in issue.events if one.kind == "labeled")
    acts.unset_label(here.scene.world, here.scene.repository, issue, here.scene.person("will"), LABEL)
    assert forge.issues.labelling(issue.number, LABEL) is None
    set_label(here, issue)
    second = forge.issues.labelling(issue.number, LABEL)
    assert second is not None
    assert second.id > first.id
    assert second.actor.login == "will"


@pytest.mark.parametrize("change", [{"title": "Another"}, {"body": "Another"}])
def test_an_edit_since_the_label_is_noticed(here: Place, change: dict[str, str]) -> None:
    issue, forge, world = here.issue(), here.forge(), here.scene.world
    acts.edit_issue(world, here.scene.repository, issue, here.scene.person("rita"), title="Early", body="Early")
    world.advance(5)
    set_label(here, issue)
    before = forge.issues.labelling(issue.number, LABEL)
    assert before is not None
    assert not before.edited_since
    world.advance(5)
    acts.edit_issue(world, here.scene.repository, issue, here.scene.person("rita"), **change)
    after = forge.issues.labelling(issue.number, LABEL)
    assert after is not None
    assert after.edited_since


def test_a_setting_that_github_does_not_show_yet_is_none(here: Place) -> None:
    issue = here.issue()
    here.scene.world.lag["events"] = 60
    set_label(here, issue)
    forge = here.forge()
    assert forge.issues.labelling(issue.number, LABEL) is None
    here.scene.world.lag.clear()
    assert forge.issues.labelling(issue.number, LABEL) is not None


def test_comments_count_by_who_and_when(here: Place) -> None:
    scene, world = here.scene, here.scene.world
    issue = here.issue()

    def say(login: str, body: str) -> None:
        acts.comment(world, scene.repository, issue, world.account(login), body)

    for login in ("mary", "will", "tim", "rita"):
        say(login, f"{login} says")
    world.account("helper[bot]", "Bot")
    scene.repository.roles["helper[bot]"] = "admin"
    say("helper[bot]", "a bot says")
    acts.comment(world, scene.repository, issue, here.bot, "the bot says")
    world.advance(5)
    acts.edit_comment(world, scene.repository, issue, issue.comments[0], scene.person("mary"), "mary says more")
    same_second = world.now()
    world.advance(5)
    before = world.now()
    say("will", "too late")
    comments = here.forge().issues.comments
    assert comments(issue.number, before) == (Comment("mary", "mary says more"), Comment("will", "will says"))
    # Edited in that very second: what stood there before cannot be known.
    assert comments(issue.number, same_second) == (Comment("will", "will says"),)


def test_there_is_one_progress_comment_however_often_and_by_whichever_process(here: Place) -> None:
    issue, forge = here.issue(), here.forge()
    tag = f"{PROGRESS_TAG}\nNot by the bot"
    acts.comment(here.scene.world, here.scene.repository, issue, here.scene.person("rita"), tag)
    forge.issues.progress(issue.number, "one")
    forge.issues.progress(issue.number, "two")
    here.forge().issues.progress(issue.number, "three")
    assert [comment.body for comment in issue.comments] == [tag, f"{PROGRESS_TAG}\nthree"]
    assert issue.comments[1].author is here.bot


def test_an_unchanged_progress_comment_is_not_written_again(here: Place) -> None:
    issue, forge = here.issue(), here.forge()
    for _ in range(3):
        forge.issues.progress(issue.number, "one")
    here.forge().issues.progress(issue.number, "one")
    writes = [one for one in here.scene.github.seen if one.method in ("POST", "PATCH") and "comments" in one.path]
    assert len(writes) == 1


@pytest.mark.parametrize(
    "fault",
    [
        BAD_GATEWAY,
        LOST_ANSWER,
        Fault(500, "Server Error", after=True),
        Fault(502, hang=2),
        Fault(502, hang=2, after=True),
    ],
)
def test_a_comment_whose_answer_is_lost_is_not_written_twice(app: Place, fault: Fault) -> None:
    issue, forge = app.issue(), app.forge(timeout=1)
    forge.author  # noqa: B018 - the bot knows itself before anything goes wrong
    app.scene.github.faults.plan("POST", "/comments$", fault)
    forge.issues.progress(issue.number, "one")
    assert [comment.body for comment in issue.comments] == [f"{PROGRESS_TAG}\none"]


def test_a_comment_is_edited_even_while_lists_do_not_show_it(here: Place) -> None:
    issue, forge = here.issue(), here.forge()
    here.scene.world.lag["comments"] = 60
    forge.issues.progress(issue.number, "one")
    forge.issues.progress(issue.number, "two")
    assert [comment.body for comment in issue.comments] == [f"{PROGRESS_TAG}\ntwo"]


def test_a_deleted_progress_comment_is_written_anew(here: Place) -> None:
    issue, forge = here.issue(), here.forge()
    forge.issues.progress(issue.number, "one")
    issue.comments.clear()
    forge.issues.progress(issue.number, "two")
    assert [comment.body for comment in issue.comments] == [f"{PROGRESS_TAG}\ntwo"]


def test_when_github_stays_down_it_is_said_so(here: Place) -> None:
    issue, forge = here.issue(), here.forge()
    forge.author  # noqa: B018 - the bot knows itself before anything goes wrong
    here.scene.github.faults.plan("POST", "/comments$", BAD_GATEWAY, times=9)
    with pytest.raises(Unavailable, match="502"):
        forge.issues.progress(issue.number, "one")
    assert issue.comments == []


def test_a_comment_has_room_for_what_github_takes_and_no_more(here: Place) -> None:
    issue, forge = here.issue(), here.forge()
    forge.issues.progress(issue.number, "é" * (BODY_LIMIT - 100))
    with pytest.raises(BadInput, match="shorten"):
        forge.issues.progress(issue.number, "é" * BODY_LIMIT)


def test_the_state_label_changes_and_other_labels_stay(here: Place) -> None:
    issue, forge = here.issue("bug"), here.forge()
    set_label(here, issue)
    set_label(here, issue, by="mary", label="agent-fix:by-hand")
    others = {"bug", LABEL, "agent-fix:by-hand"}
    forge.issues.mark(issue.number, "working")
    assert names(issue) == others | {"agent-fix:working"}
    forge.issues.mark(issue.number, "done")
    assert names(issue) == others | {"agent-fix:done"}
    here.forge().issues.mark(issue.number, None)
    assert names(issue) == others


def test_a_state_label_that_somebody_takes_away_meanwhile_is_no_error(here: Place) -> None:
    issue, forge, scene = here.issue(), here.forge(), here.scene
    forge.issues.mark(issue.number, "working")

    def take_away() -> None:
        acts.unset_label(scene.world, scene.repository, issue, scene.person("mary"), "agent-fix:working")

    scene.github.faults.plan("DELETE", "/labels/", Fault(call=take_away))
    forge.issues.mark(issue.number, "done")
    assert names(issue) == {"agent-fix:done"}


def test_access_is_the_role_that_github_names(here: Place) -> None:
    scene = here.scene
    scene.repository.roles["sue"] = "security-lead"
    scene.repository.custom_roles["security-lead"] = "write"
    for login in ("sue", "nobody"):
        scene.world.account(login)
    scene.world.account("evil[bot]", "Bot")
    forge = here.forge()
    wanted = {
        "ann": Access.ADMIN,
        "mary": Access.MAINTAIN,
        "will": Access.WRITE,
        "sue": Access.WRITE,
        "tim": Access.TRIAGE,
        "nobody": Access.READ,
        "evil[bot]": Access.NONE,
        "no-such-user": Access.NONE,
        "../../x": Access.NONE,
    }
    assert {login: forge.access(login) for login in wanted} == wanted


def test_labelled_issues_are_found_for_the_sweep(here: Place) -> None:
    first, second, closed = here.issue(), here.issue(), here.issue()
    here.issue()
    for issue in (second, first, closed, here.pull("fix", by="will")):
        set_label(here, issue)
    acts.set_state(here.scene.world, here.scene.repository, closed, here.scene.person("will"), "closed")
    assert here.host().labelled("octo/widgets", LABEL) == (first.number, second.number)
    assert list(here.host().repositories()) == ["octo/widgets"]


def test_what_was_seen_is_shown_once(here: Place) -> None:
    issue = here.issue()
    world, will = here.scene.world, here.scene.person("will")
    comment = acts.comment(world, here.scene.repository, issue, will, "/agent-fix")
    for _ in range(2):
        here.forge().issues.saw(issue.number)
        here.forge().issues.saw(issue.number, comment.id)
    for given in (issue.reactions, comment.reactions):
        assert [(it.content, it.user) for it in given] == [("eyes", here.bot)]


def test_edits_of_title_and_body_are_told_from_other_changes(here: Place) -> None:
    issue, scene = here.issue(), here.scene
    scene.world.advance(5)
    since = scene.world.now()
    acts.set_label(scene.world, scene.repository, issue, scene.person("will"), "bug")
    assert not here.forge().issues.edited_since(issue.number, since)
    acts.edit_issue(scene.world, scene.repository, issue, scene.person("rita"), title="It broke")
    assert here.forge().issues.edited_since(issue.number, since)


def test_a_comment_is_answered_once_beside_the_progress(here: Place) -> None:
    issue, scene = here.issue(), here.scene
    asked = acts.comment(scene.world, scene.repository, issue, scene.person("will"), "/agent-fix explain")
    scene.github.faults.plan("POST", "/comments$", LOST_ANSWER)
    here.forge().issues.answer(issue.number, asked.id, "Because.")
    here.forge().issues.answer(issue.number, asked.id, "Because.")
    here.forge().issues.progress(issue.number, "At work")
    own = [one.body for one in issue.comments if one.author == here.bot]
    assert own == [f"<!-- agent-fix:answer {asked.id} -->\nBecause.", f"{PROGRESS_TAG}\nAt work"]
    with pytest.raises(BadInput, match="shorten it"):
        here.forge().issues.answer(issue.number, asked.id + 1, "x" * BODY_LIMIT)


def test_the_bots_own_comment_can_be_read_again_and_nobody_elses_passes_for_it(here: Place) -> None:
    issue = here.issue()
    acts.comment(here.scene.world, here.scene.repository, issue, here.scene.person("will"), f"{PROGRESS_TAG}\nMine")
    assert here.forge().issues.shown(issue.number) is None
    here.forge().issues.progress(issue.number, "At work")
    assert here.forge().issues.shown(issue.number) == "At work"
