"""What the threads of a review are answered."""

from __future__ import annotations

from datetime import UTC, datetime

from bot.publish.proposal import PullRequestText
from bot.publish.sanitize import markdown
from bot.service.requests import Revision, RunRequest
from bot.service.working import answers
from repo_tools.tree import Tree
from tests.bot.publish import rendering
from tests.fakes.memory_base import memory_tree

THREADS = {1: "a.py", 2: "b.py"}
REVISION = Revision(pull=8, branch="agent-fix/issue-7", head="a" * 40, author="", asked=True, threads=THREADS)
REQUEST = RunRequest(
    run="9-8-r5", repository="octo/widgets", repository_id=9, number=7, title="t", body="b", branch="main",
    default_branch="main", caller="will", at=datetime(2026, 5, 1, tzinfo=UTC), strategy="team", revision=REVISION,
)  # fmt: skip


def text(summary: str, *, draft: bool = False) -> PullRequestText:
    account = f"{markdown(summary)}\n\n- `a.py`, new\n\n<sub>1 min.</sub>"
    return PullRequestText("b", "t", "body", draft, account=account)


def tree() -> Tree:
    return memory_tree().with_file("a.py", b"1\n")


def test_each_thread_is_told_of_its_own_file_and_shortly_of_the_rest() -> None:
    said = answers(REQUEST, tree(), text("Uses a set."))
    assert said[1] == "Revised, and the tests were run again; `a.py` is changed. Uses a set."
    assert said[2] == "Revised, and the tests were run again; `b.py` is as it was. Uses a set."
    assert "as far as it could be shown" in answers(REQUEST, tree(), text("Uses a set.", draft=True))[1]
    assert answers(REQUEST.model_copy(update={"revision": None}), tree(), text("x")) == {}


def test_an_answer_is_short_and_harmless_wherever_it_is_cut() -> None:
    for length in range(560, 600):
        said = answers(REQUEST, tree(), text(f"{'x ' * (length // 2)} `@octocat fixes #1 {'y' * 100}`"))[1]
        assert len(said) < 720
        assert rendering.dangers(said, frozenset()) == []
