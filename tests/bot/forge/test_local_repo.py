"""Publishing to a folder: a branch and a text, once, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.errors import Refused
from bot.forge.local_repo import LocalRepo, Published
from repo_tools.checkout import open_local
from repo_tools.patch import FileState, Patch
from repo_tools.tree import Tree
from tests.fakes.git_repository import GitRepository

AT = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.fixture
def made(tmp_path: Path) -> GitRepository:
    return GitRepository(tmp_path / "project", {"a.py": b"x = 1\r\n"})


@pytest.fixture
def forge(made: GitRepository, tmp_path: Path) -> Iterator[LocalRepo]:
    with open_local(made.path) as repository:
        yield LocalRepo(repository, tmp_path / "state" / "runs" / "1")


def publish(forge: LocalRepo, data: bytes = b"x = 2\r\n", branch: str = "agent-fix/issue-7") -> Published:
    tree = Tree(forge.repository.resolve()).with_file("a.py", data)
    return forge.publish(tree, branch=branch, title="Mend x", body="Why: é\n", message="Mend x\n\nIt was 1.", at=AT)


def test_a_branch_and_a_text_are_left(forge: LocalRepo, made: GitRepository) -> None:
    made.write({"a.py": b"mine, uncommitted", "untracked": b"mine"})
    made.git("add", "a.py")
    before = made.state()
    published = publish(forge)
    assert made.state() == before
    assert made.git("symbolic-ref", "HEAD") == "refs/heads/main"
    assert published.branch == "agent-fix/issue-7"
    assert made.git("rev-parse", published.branch) == published.commit
    assert made.git("diff", "--name-only", "main", published.branch) == "a.py"
    assert forge.repository.resolve(published.branch).read("a.py") == b"x = 2\r\n"
    assert made.git("log", "-1", "--format=%an|%ct|%B", published.commit) == (
        f"agent-fix|{int(AT.timestamp())}|Mend x\n\nIt was 1."
    )
    assert published.text.read_bytes() == "# Mend x\n\nWhy: é\n".encode()
    assert [path.name for path in forge.folder.iterdir()] == [published.text.name]


def test_publishing_again_leaves_one_and_another_change_takes_the_next_name(forge: LocalRepo) -> None:
    assert publish(forge) == publish(forge)
    other = publish(forge, b"x = 3\r\n")
    assert other.branch == "agent-fix/issue-7-2"
    assert set(forge.repository.branches()) == {"main", "agent-fix/issue-7", "agent-fix/issue-7-2"}


def test_what_git_will_not_take_is_a_refusal_with_the_next_move(forge: LocalRepo, made: GitRepository) -> None:
    bad = Tree(forge.repository.resolve(), Patch({".git/hooks/post-checkout": FileState(b"#!/bin/sh\n")}))
    with pytest.raises(Refused, match=r"git's own directory"):
        forge.publish(bad, branch="x", title="t", body="b", message="m", at=AT)
    made.git("branch", "agent-fix")
    with pytest.raises(Refused, match="git branch -m agent-fix"):
        publish(forge)
    assert not forge.folder.exists(), "no text without a branch"


def test_a_text_that_cannot_be_encoded_is_still_written(forge: LocalRepo) -> None:
    tree = Tree(forge.repository.resolve()).with_file("a.py", b"")
    published = forge.publish(tree, branch="b", title="t", body="half \ud800", message="m", at=AT)
    assert published.text.read_text("utf-8") == "# t\n\nhalf \\ud800\n"
