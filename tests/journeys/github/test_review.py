"""A maintainer reviews the pull request; the team goes on with it."""

from __future__ import annotations

from pathlib import Path

from bot.publish.blocks import content
from bot.publish.proposal import EVIDENCE
from tests.fakes.github_server import acts, bare
from tests.journeys.github.town import town


def test_a_review_is_worked_on_and_each_thread_answered_until_somebody_else_commits(tmp_path: Path) -> None:
    with town(tmp_path) as here:
        here.serve()
        issue = here.issue()
        here.label(issue)
        here.settled(issue, "Fixed", pulls=1)
        pull, will = here.pull(issue), here.scene.person("will")
        assert pull.pull is not None
        first = pull.pull.head_sha
        pull.body = f"Read me first.\n\n{pull.body}"
        here.scene.world.advance(5)
        remark = ("CHANGELOG.md", 5, "Say that it is about negative durations, too.")
        acts.review(here.scene.world, here.repository, pull, will, "changes_requested", "", [remark])
        here.scene.world.advance(5)
        here.until(lambda: here.headline(pull), 240)
        second = pull.pull.head_sha
        assert second != first, here.own_comments(pull)[0].body + here.logs()
        assert bare.git(here.repository.path, "rev-parse", f"{second}^").strip() == first
        assert "negative durations" in bare.git(here.repository.path, "show", f"{second}:CHANGELOG.md")
        here.until(lambda: len(pull.pull.remarks) == 2, 20)  # type: ignore[union-attr]
        answer = pull.pull.remarks[-1]
        assert answer.author.login == "agent-fix[bot]"
        assert answer.in_reply_to is pull.pull.remarks[0]
        assert "`CHANGELOG.md` is changed" in answer.body
        assert len(here.pulls(issue)) == 1
        body = pull.body
        assert body.startswith("Read me first.")
        assert body.count("## Revisions") == 1
        assert f"**`{second[:10]}`**, asked for by `will`" in body
        # A word in the changelog has no test of its own; the pull request as a whole has.
        assert not pull.pull.draft
        assert "New tests that pass with the change and fail without it" in content(body, EVIDENCE)

        here.scene.commit(pull.pull.head, {"mine.txt": "mine\n"})
        acts.follow_branches(here.scene.world, here.repository, will)
        theirs = pull.pull.head_sha
        asked = here.asked()
        here.scene.world.advance(5)
        acts.review(here.scene.world, here.repository, pull, will, "commented", "And another thing.")
        here.until(lambda: here.headline(pull) == "Refused", 120)
        assert "Somebody else committed" in here.own_comments(pull)[0].body
        assert (pull.pull.head_sha, here.asked()) == (theirs, asked)
