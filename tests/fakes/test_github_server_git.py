"""git over HTTP on the stand-in GitHub, by git itself."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.github_server import acts, bare
from tests.fakes.github_server.stage import Stage, stage
from tests.fakes.githubkits import NAME, OWNER, installation_token, kit, status


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Stage]:
    with stage(tmp_path) as scene:
        yield scene


def git(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    env = bare.ENVIRONMENT | bare.PERSON
    return subprocess.run(["git", *args], cwd=folder, env=env, capture_output=True, text=True)


def clone(scene: Stage, folder: Path, token: str) -> Path:
    host = scene.world.origin.removeprefix("http://")
    done = git(folder, "clone", "--quiet", f"http://x-access-token:{token}@{host}/octo/widgets.git", "clone")
    assert done.returncode == 0, done.stderr
    work = folder / "clone"
    (work / "new.py").write_text("new\n")
    git(work, "add", ".")
    git(work, "commit", "--quiet", "-m", "New")
    return work


def test_git_pushes_where_it_may(scene: Stage, tmp_path: Path) -> None:
    work = clone(scene, tmp_path, installation_token(scene, permissions={"contents": "write"}))
    assert git(work, "push", "origin", "HEAD:refs/heads/fix").returncode == 0
    assert bare.head(scene.repository.path, "fix") == git(work, "rev-parse", "HEAD").stdout.strip()
    pull = acts.open_pull(
        scene.world, scene.repository, scene.person("will"), head="fix", base="main", title="t", body=""
    )
    git(work, "commit", "--quiet", "--allow-empty", "-m", "More")
    git(work, "push", "origin", "HEAD:refs/heads/fix")
    assert pull.pull is not None
    assert pull.pull.head_sha == git(work, "rev-parse", "HEAD").stdout.strip()


def test_git_is_told_in_githubs_words_where_it_may_not(scene: Stage, tmp_path: Path) -> None:
    scene.repository.protected.add("main")
    work = clone(scene, tmp_path, installation_token(scene, permissions={"contents": "write"}))
    protected = git(work, "push", "origin", "HEAD:refs/heads/main")
    assert "GH006: Protected branch update failed for refs/heads/main." in protected.stderr
    assert "(protected branch hook declined)" in protected.stderr
    (work / ".github/workflows").mkdir(parents=True)
    (work / ".github/workflows/ci.yml").write_text("on: push\n")
    git(work, "add", ".")
    git(work, "commit", "--quiet", "-m", "Workflow")
    whole = git(work, "push", "origin", "HEAD:refs/heads/one", "HEAD~1:refs/heads/two")
    what = "create or update workflow `.github/workflows/ci.yml` without `workflows` permission"
    reason = f"(refusing to allow a GitHub App to {what})"
    assert whole.stderr.count(reason) == 2
    assert bare.head(scene.repository.path, "two") is None
    host = scene.world.origin.removeprefix("http://")
    for token, words in (
        (installation_token(scene, permissions={"contents": "read"}), "Write access to repository not granted."),
        (scene.token_of("tim").value, "Permission to octo/widgets.git denied to tim."),
        ("ghs_nonsense", "Invalid username or token."),
    ):
        done = git(work, "push", f"http://x-access-token:{token}@{host}/octo/widgets.git", "HEAD~1:refs/heads/three")
        assert words in done.stderr
    assert bare.head(scene.repository.path, "three") is None


def test_private_repositories_do_not_exist_for_strangers(tmp_path: Path) -> None:
    with stage(tmp_path / "github", private=True) as scene:
        rita = kit(scene, scene.token_of("rita").value)
        assert status(lambda: rita.rest.repos.get(OWNER, NAME)) == 404
        url = f"{scene.world.origin}/octo/widgets.git"
        assert "terminal prompts disabled" in git(tmp_path, "ls-remote", url).stderr
        host = scene.world.origin.removeprefix("http://")
        secret = scene.token_of("rita").value
        stranger = git(tmp_path, "ls-remote", f"http://x:{secret}@{host}/octo/widgets.git")
        assert "Repository not found" in stranger.stderr or "not found" in stranger.stderr
