"""`index`, `find` and `env` on a checkout."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bot.cli import app
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


def test_env_says_what_to_do_where_there_are_no_tests(tmp_path: Path) -> None:
    shown = called(repository(tmp_path / "repo", {"readme.md": "nothing"}), "env")
    assert ".github/agent-fix.yml" in str(shown.exception)


@pytest.mark.parametrize("measure", ["index", "localize", "environments", "checks", "overhead"])
def test_each_benchmark_has_a_command_that_explains_itself(measure: str) -> None:
    shown = RUNNER.invoke(app, ["bench", measure, "--help"])
    assert shown.exit_code == 0, shown.output
    assert "usage: " in shown.output
