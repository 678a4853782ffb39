"""The table over projects: each is found, proved in the real engine and compared with a run by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.bench.environments import Project, Row, agreement, main, measure, projects, table
from sandbox.docker_engine import DockerSandbox
from sandbox.settings import SandboxSettings
from tests.fakes.git_repository import GitRepository
from tests.sandbox.snapshots import Files
from tests.sandbox.test_proving import THING


def test_a_project_is_found_set_up_and_compared(sandbox: DockerSandbox, settings: SandboxSettings) -> None:
    row = measure(Project("thing", THING, 1), sandbox, settings.base_image, seconds=60)
    assert (row.outcome, row.attempts, row.reason) == ("agrees", 1, "")
    assert row.counts == {"passed": 1, "failed": 0, "error": 0, "skipped": 0}
    assert row.all >= row.tests > 0


@pytest.mark.parametrize(
    ("files", "outcome", "reason"),
    [
        ({"README": ""}, "no recipe", "no test suite was found"),
        ({".github/agent-fix.yml": "environment: {test: 'true', setup: [exit 3]}\n"}, "set-up failed", "no set-up"),
        ({".github/agent-fix.yml": "environment: {test: exit 3}\n"}, "not run", "no test could be run"),
        ({".github/agent-fix.yml": "environment: {tset: a}\n"}, "no recipe", "did you mean `test`"),
    ],
)
def test_what_fails_is_told_apart(
    files: dict[str, str], outcome: str, reason: str, sandbox: DockerSandbox, settings: SandboxSettings
) -> None:
    row = measure(Project("x", Files({"a": "", **files})), sandbox, settings.base_image, seconds=60)
    assert row.outcome == outcome
    assert reason in row.reason


def test_fewer_tests_than_by_hand_are_a_difference() -> None:
    assert [agreement(100, None), agreement(98, 100), agreement(120, 100), agreement(97, 100)] == [
        "runs",
        "agrees",
        "agrees",
        "differs",
    ]


def test_the_table_counts_what_is_as_it_should_be() -> None:
    good = Row("a", "agrees", {"passed": 3, "failed": 0, "error": 0, "skipped": 1}, 3, "uv.lock", 1, 4.0, 2.0, 7.0, "")
    bad = Row("b", "set-up failed", {}, 5, "", 0, 0.0, 0.0, 9.0, "no compiler")
    text = table([good, bad])
    assert "| a | agrees | 3 | 3 | 0 | 0 | 1 | uv.lock | 1 | 4 | 2 | 7 |" in text
    assert "1 of 2 projects" in text
    assert "- b: no compiler" in text


def test_a_folder_that_is_not_there_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([str(tmp_path / "nothing")])
    assert "nothing: name one that holds git checkouts" in capsys.readouterr().err


def test_checkouts_are_found_in_a_folder(tmp_path: Path) -> None:
    for place in ("one", "two/repo"):
        GitRepository(tmp_path / place, {"file": b"x"})
    found = [
        (project.name, project.expected, list(project.snapshot.entries()))
        for project in projects(tmp_path, {"two": 7}, frozenset())
    ]
    assert found == [("one", None, ["file"]), ("two", 7, ["file"])]
    assert [project.name for project in projects(tmp_path, {}, frozenset({"one"}))] == ["one"]
