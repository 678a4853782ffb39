"""Publishing on the stand-in: who made a draft of a pull request decides who may take that back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.publish.blocks import block, content
from bot.publish.proposal import EVIDENCE, STATE, CheckText
from bot.publish.revised import was_draft
from bot.secrets_mask import Mask
from bot.service.publishing import Publishing
from bot.service.requests import Publication, PublishedOn, Revision, RunRequest
from repo_tools.mirrors import Mirrors
from repo_tools.patch import FileState, Patch
from tests.contracts.github_place import Place, place
from tests.fakes.github_server import acts, bare
from tests.fakes.github_server.state import Issue

WHY = "**This is a draft.** Why: a test fails."
TOKEN = "ghs_" + "a1" * 30
AT = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Place]:
    with place(tmp_path, "app") as made:
        yield made


def at_once(name: str, act: Callable[[], Any]) -> Any:
    return act()


def published(here: Place, folder: Path, number: int, *, state: str = "", pull: Issue | None = None) -> PublishedOn:
    """A change published: a new pull request, or a revision of `pull`."""
    path = here.scene.repository.path
    head = pull.pull.head_sha if pull and pull.pull else None
    branch = f"agent-fix/issue-{number}"
    revision = Revision(pull=pull.number, branch=branch, head=head, author="", asked=True) if pull and head else None
    request = RunRequest(
        run=f"{here.scene.repository.id}-{number}-c{len(bare.refs(path, 'refs'))}", repository="octo/widgets",
        repository_id=here.scene.repository.id, number=number, title="t", body="b", branch="main",
        default_branch="main", caller="will", at=AT, strategy="team", revision=revision,
    )  # fmt: skip
    files: Any = Patch({"widgets.py": FileState(f"# {head}\n".encode(), 0o100644)}).to_json()
    body = f"{block(STATE, state)}\n\nIt was wrong.\n\n{block(EVIDENCE, 'first')}"
    publication = Publication(
        request=request, base=head or bare.head(path, "main") or "", files=files, title="Mend it", body=body,
        message="Mend it", draft=bool(state), state=state, evidence="newest", account=f"With {TOKEN}.",
        check=CheckText("Ready", f"Says {TOKEN}", ""), note=f"It said {TOKEN}.\n",
    )  # fmt: skip
    publishing = Publishing(here.host(), Mirrors(folder / "mirrors"), Mask())
    done = publishing.publish(publication, at_once)
    again = publishing.publish(publication, at_once)
    assert (done.withheld, again.withheld) == ("", "")
    assert (again.pull, again.commit) == (done.pull, done.commit)
    return done


def first(here: Place, folder: Path, state: str = "") -> Issue:
    issue = here.issue()
    done = published(here, folder, issue.number, state=state)
    return here.scene.repository.issues[done.pull]


def number_of(pull: Issue) -> int:
    assert pull.pull is not None
    return int(pull.pull.head.rpartition("-")[2])


@pytest.mark.parametrize(("before", "after"), [("", WHY), (WHY, ""), (WHY, WHY), ("", "")])
def test_what_the_bot_made_a_draft_or_ready_follows_what_is_shown(
    here: Place, tmp_path: Path, before: str, after: str
) -> None:
    pull = first(here, tmp_path, before)
    assert pull.pull is not None
    assert pull.pull.draft is bool(before)
    published(here, tmp_path, number_of(pull), state=after, pull=pull)
    assert pull.pull.draft is bool(after)
    body = pull.body or ""
    assert content(body, STATE) == after
    assert content(body, EVIDENCE) == "newest"
    assert body.count("## Revisions") == 1
    assert body.count("asked for by `will`") == 1


@pytest.mark.parametrize(("before", "after"), [("", ""), (WHY, WHY)])
def test_what_a_person_made_of_it_stays(here: Place, tmp_path: Path, before: str, after: str) -> None:
    pull = first(here, tmp_path, before)
    assert pull.pull is not None
    scene = here.scene
    acts.set_draft(scene.world, scene.repository, pull, scene.person("mary"), not before)
    published(here, tmp_path, number_of(pull), state=after, pull=pull)
    assert pull.pull.draft is not bool(before)


def test_the_pull_request_for_an_issue_whose_number_begins_alike_is_another_one(here: Place, tmp_path: Path) -> None:
    first_of_ten, *_, tenth = [here.issue() for _ in range(10)]
    assert (first_of_ten.number, tenth.number) == (1, 10)
    published(here, tmp_path, 10)
    done = published(here, tmp_path, 1, state=WHY)
    scene = here.scene
    pull = scene.repository.issues[done.pull]
    acts.set_draft(scene.world, scene.repository, pull, scene.person("mary"), False)
    again = published(here, tmp_path, 1, state=WHY)
    assert again.pull == done.pull
    assert pull.pull is not None
    assert not pull.pull.draft, "a person made it ready, whatever the pull request for issue 10 is"


def test_others_who_may_be_at_work_on_the_issue_are_told_of(here: Place, tmp_path: Path) -> None:
    scene, issue = here.scene, here.issue()
    theirs = here.pull("topic", by="mary")
    acts.edit_issue(scene.world, scene.repository, theirs, scene.person("mary"), body=f"Fixes #{issue.number}")
    issue.assignees.append(scene.person("ann"))
    done = published(here, tmp_path, issue.number)
    body = scene.repository.issues[done.pull].body or ""
    assert "The issue is assigned to `ann`." in body
    assert f"too: #{theirs.number}." in body
    assert not was_draft(body)


def test_no_secret_is_shown(here: Place, tmp_path: Path) -> None:
    pull = first(here, tmp_path)
    published(here, tmp_path, number_of(pull), pull=pull)
    shown = [pull.body or "", *(one.output["summary"] for one in here.scene.repository.checks)]
    noted = bare.git(here.scene.repository.path, "notes", "--ref=agent-fix", "list").split()
    shown += [bare.git(here.scene.repository.path, "cat-file", "-p", noted[0])]
    assert len(shown) == 4
    assert not [text for text in shown if TOKEN in text]
    assert all("masked" in text for text in shown)
