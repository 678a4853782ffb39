"""`index`, `find` and `env` on a checkout."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import docker
import docker.errors
import pytest
from typer.testing import CliRunner, Result

from bot.cli import app
from sandbox.container import OWNER_LABEL
from sandbox.setups import digest
from tests.fakes.git_repository import GitRepository
from tests.journeys.harness import PROJECT, repository

RUNNER = CliRunner()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "repo", PROJECT)


def called(repo: Path, *words: str) -> Result:
    state = str(repo.parent / "state")
    return RUNNER.invoke(app, [words[0], str(repo), *words[1:]], env={"AGENT_FIX_STATE_DIR": state, "COLUMNS": "200"})


def test_index_says_what_was_found(repo: Path) -> None:
    shown = called(repo, "index")
    assert shown.exit_code == 0, shown.output
    assert shown.output.startswith("3 files, ")
    assert "calc.py" in shown.output


def test_index_shows_how_a_file_is_cut(repo: Path) -> None:
    shown = called(repo, "index", "--file", "calc.py")
    assert "function half" in shown.output
    assert "no file" in str(called(repo, "index", "--file", "nothing.py").exception)


def test_find_ranks_and_says_why(repo: Path) -> None:
    shown = called(repo, "find", "--title", "half(3) is wrong", "--body", "`half(3)` gives 1", "--map-tokens", "100")
    assert shown.exit_code == 0, shown.output
    first = shown.output.splitlines()[0]
    assert "calc.py: " in first
    assert "half" in first
    assert "test: tests/test_calc.py" in shown.output
    assert "def half(number)" in shown.output


def test_find_says_what_a_partial_clone_does_not_hold(repo: Path) -> None:
    checkout = GitRepository(repo)
    checkout.commit({"big.py": b"def half_of_all(): pass\n"})
    checkout.git("config", "uploadpack.allowFilter", "true")
    partial = repo.parent / "partial"
    checkout.git("clone", "-q", "--bare", "--filter=blob:none", repo.as_uri(), str(partial))
    shown = called(partial, "find", "--title", "half(3) is wrong")
    assert shown.exit_code == 0, shown.output
    assert "named and not held by this clone, which is partial, and were left out: big.py, calc.py" in shown.stderr
    assert "git fetch --refetch --no-filter" in shown.stderr
    checkout.git("-C", str(partial), "cat-file", "-p", "HEAD:calc.py")  # git fetches what it is asked for
    shown = called(partial, "find", "--title", "half(3) is wrong")
    assert shown.stdout.splitlines()[0].split()[1] == "calc.py:"
    assert "big.py" in shown.stderr
    assert " calc.py" not in shown.stderr
    checkout.git("-C", str(partial), "fetch", "-q", "--refetch", "--no-filter")
    assert called(partial, "find", "--title", "half(3) is wrong").stderr == ""


def test_env_prints_the_recipe_with_its_sources_and_writes_it(repo: Path) -> None:
    shown = called(repo, "env", "--explain")
    assert shown.exit_code == 0, shown.output
    assert "python -m pytest" in shown.output
    assert "from" in shown.output
    assert called(repo, "env", "--write").exit_code == 0
    written = (repo / ".github/agent-fix.yml").read_text("utf-8")
    assert "test: python -m pytest" in written
    assert "exists already" in str(called(repo, "env", "--write").exception)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[None]:
    """The engine, from which what the state folder's installation made is removed at the end."""
    yield
    mine = {"label": f"{OWNER_LABEL}={digest(str((tmp_path / 'state/images').resolve()))}"}
    with contextlib.closing(docker.DockerClient()) as client:
        for image in client.images.list(filters=mine):
            with contextlib.suppress(docker.errors.NotFound):  # went with one that stood on it
                client.images.remove(str(image.id), force=True)
        for volume in client.volumes.list(filters=mine):
            volume.remove()


@pytest.mark.usefixtures("engine")
def test_env_proves_a_recipe_and_tells_what_was_tried_and_what_is_missing(tmp_path: Path) -> None:
    workflow = "jobs:\n  test:\n    runs-on: ubuntu-latest\n    steps: [{run: scripts/test}]\n"
    project = {
        ".github/agent-fix.yml": "environment: {setup: ['echo no wombats; exit 3'], test: 'true'}\n",
        ".github/workflows/ci.yml": workflow,
        ".gitmodules": '[submodule "data"]\n\tpath = data\n\turl = ../data\n',
        "scripts/test": "#!/bin/sh\nexit 0\n",
    }
    checkout = repository(tmp_path / "repo", project)
    GitRepository(checkout).git("update-index", "--chmod=+x", "scripts/test")
    GitRepository(checkout).git("commit", "-qm", "executable")
    shown = called(checkout, "env", "--build")
    assert shown.exit_code == 0, shown.output
    assert "proved: 1 passed in " in shown.output
    assert "The submodule data could not be fetched and is left empty" in shown.output
    assert "tried before, and not taken:\n1. .github/agent-fix.yml: the project's set-up ended with exit code 3" in (
        shown.output
    )


def test_env_says_what_to_do_where_there_are_no_tests(tmp_path: Path) -> None:
    shown = called(repository(tmp_path / "repo", {"readme.md": "nothing"}), "env")
    assert ".github/agent-fix.yml" in str(shown.exception)


@pytest.mark.parametrize("measure", ["index", "localize", "environments", "checks", "overhead"])
def test_each_benchmark_has_a_command_that_explains_itself(measure: str) -> None:
    shown = RUNNER.invoke(app, ["bench", measure, "--help"])
    assert shown.exit_code == 0, shown.output
    assert "usage: " in shown.output
