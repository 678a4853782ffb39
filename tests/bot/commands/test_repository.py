"""`index`, `find` and `env` on a checkout."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bot.cli import app
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
