"""`bot.forge.port.Reviews` and `Checks` on GitHub."""

from __future__ import annotations

import pytest

from bot.forge.github_reviews import ANSWER_TAG
from bot.forge.port import Annotation, Check, Remark
from tests.contracts.github_place import Place
from tests.fakes.github_server import acts
from tests.fakes.github_server.faults import LOST_ANSWER
from tests.fakes.github_server.state import Issue, Review, ReviewComment

HEAD = "agent-fix/issue-1"


def review(here: Place, issue: Issue, by: str, body: str, *remarks: str) -> list[ReviewComment]:
    scene = here.scene
    lines = [("widgets.py", at, text) for at, text in enumerate(remarks, 1)]
    acts.review(scene.world, scene.repository, issue, scene.person(by), "changes_requested", body, lines)
    assert issue.pull is not None
    return issue.pull.remarks[len(issue.pull.remarks) - len(remarks) :]


def test_what_is_said_counts_by_who_said_it(here: Place) -> None:
    issue = here.pull(HEAD)
    [first] = review(here, issue, "mary", "Not yet", "Why two?")
    review(here, issue, "rita", "I think", "Me too")
    review(here, issue, "tim", "And I")
    said = here.forge().reviews.remarks(issue.number)
    assert said == (
        Remark("mary", "Not yet"),
        Remark("mary", "Why two?", "widgets.py", 1, first.diff_hunk, first.id),
    )


def test_all_that_was_submitted_counts(here: Place) -> None:
    """Whatever this machine's clock says: it may be behind GitHub's."""
    issue, scene = here.pull(HEAD), here.scene
    scene.world.advance(600)
    review(here, issue, "mary", "Not yet", "Why two?")
    assert issue.pull is not None
    pending = Review(1, here.bot, "Not submitted", "PENDING", issue.pull.head_sha, None)
    issue.pull.reviews.append(pending)
    assert [it.body for it in here.forge().reviews.remarks(issue.number)] == ["Not yet", "Why two?"]


def test_threads_that_are_resolved_or_answered_are_left(here: Place) -> None:
    issue, scene = here.pull(HEAD), here.scene
    resolved, answered, reopened, still = review(here, issue, "mary", "", "a", "b", "c", "d")
    resolved.resolved = True
    reviews = here.forge().reviews
    reviews.answer(issue.number, answered.id, "Done")
    reviews.answer(issue.number, reopened.id, "Done")
    acts.answer(scene.world, scene.repository, issue, scene.person("mary"), reopened, "No, it is not", None)
    said = here.forge().reviews.remarks(issue.number)
    assert [(it.thread, it.body) for it in said] == [
        (reopened.id, "c"),
        (still.id, "d"),
        (reopened.id, "No, it is not"),
    ]


def test_a_review_of_an_earlier_commit_is_settled_but_not_its_threads(here: Place) -> None:
    issue, scene = here.pull(HEAD), here.scene
    review(here, issue, "mary", "Not yet", "Why two?")
    scene.commit(HEAD, {"widgets.py": "def size():\n    return 3\n"})
    acts.follow_branches(scene.world, scene.repository, here.bot)
    said = here.forge().reviews.remarks(issue.number)
    assert [it.body for it in said] == ["Why two?"]


def test_many_threads_are_all_looked_at(app: Place) -> None:
    issue = app.pull(HEAD)
    remarks = review(app, issue, "mary", "", *(f"remark {at}" for at in range(102)))
    for at, remark in enumerate(remarks):
        remark.resolved = at not in (0, 101)
    said = app.forge().reviews.remarks(issue.number)
    assert [it.body for it in said] == ["remark 0", "remark 101"]


def test_an_answer_is_given_once(here: Place) -> None:
    issue = here.pull(HEAD)
    [remark] = review(here, issue, "mary", "", "Why two?")
    reviews = here.forge().reviews
    here.scene.github.faults.plan("POST", "/replies$", LOST_ANSWER)
    reviews.answer(issue.number, remark.id, "Because")
    here.forge().reviews.answer(issue.number, remark.id, "Because")
    assert issue.pull is not None
    answers = [it for it in issue.pull.remarks if it.in_reply_to is remark]
    assert [(it.author, it.body) for it in answers] == [(here.bot, f"{ANSWER_TAG}\nBecause")]
    here.forge().reviews.answer(issue.number, remark.id, "Also")
    assert len([it for it in issue.pull.remarks if it.in_reply_to is remark]) == 2


def test_a_remark_that_was_seen_says_so(here: Place) -> None:
    issue = here.pull(HEAD)
    [remark] = review(here, issue, "mary", "", "Why two?")
    for _ in range(2):
        here.forge().reviews.saw(issue.number, remark.id)
    assert [(it.content, it.user) for it in remark.reactions] == [("eyes", here.bot)]


def check(**changes: object) -> Check:
    given = {"run": "run-1", "title": "At work", "summary": "Three tests fail"} | changes
    return Check(**given)  # type: ignore[arg-type]


def annotations(count: int) -> tuple[Annotation, ...]:
    return tuple(Annotation("widgets.py", at + 1, at + 1, "warning", f"note {at}") for at in range(count))


def test_a_check_goes_from_begun_to_done(here: Place) -> None:
    commit = here.scene.commit(HEAD, {"a": "1"})
    page = here.forge().checks.show(commit, check())
    if here.identity == "person":
        assert page is None
        assert here.scene.repository.checks == []
        return
    [made] = here.scene.repository.checks
    assert page == f"{here.scene.world.origin}/octo/widgets/runs/{made.id}"
    assert (made.status, made.conclusion, made.external_id) == ("in_progress", None, "run-1")
    done = check(title="Done", text="Long story", conclusion="success", annotations=annotations(1))
    assert here.forge().checks.show(commit, done) == page
    assert here.scene.repository.checks == [made]
    assert (made.status, made.conclusion, made.output["title"], made.output["text"]) == (
        "completed", "success", "Done", "Long story",
    )  # fmt: skip
    assert made.annotations[0]["message"] == "note 0"


@pytest.mark.parametrize("count", [50, 51, 120])
def test_annotations_come_in_batches_and_never_twice(app: Place, count: int) -> None:
    commit = app.scene.commit(HEAD, {"a": "1"})
    checks = app.forge().checks
    shown = check(conclusion="neutral", annotations=annotations(count))
    checks.show(commit, shown)
    app.forge().checks.show(commit, shown)
    [made] = app.scene.repository.checks
    assert [it["message"] for it in made.annotations] == [f"note {at}" for at in range(count)]


def test_a_text_too_long_for_a_check_is_cut_and_says_so(app: Place) -> None:
    commit = app.scene.commit(HEAD, {"a": "1"})
    app.forge().checks.show(commit, check(summary="é" * 70_000, text="x" * 70_000))
    [made] = app.scene.repository.checks
    assert len(made.output["summary"].encode()) <= 65_535
    assert made.output["summary"].endswith("longer than a check run can hold.")
    assert made.output["text"].startswith("xxx")


def test_each_run_has_a_check_of_its_own_on_a_commit(app: Place) -> None:
    commit = app.scene.commit(HEAD, {"a": "1"})
    app.scene.github.faults.plan("POST", "/check-runs$", LOST_ANSWER)
    app.forge().checks.show(commit, check())
    app.forge().checks.show(commit, check(run="run-2"))
    assert [it.external_id for it in app.scene.repository.checks] == ["run-1", "run-2"]
