"""Which adapters the settings choose."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from bot import wiring
from bot.errors import BadInput
from bot.settings import load_settings
from sandbox.docker_engine import DockerSandbox
from sandbox.local_process import LocalSandbox
from tests.fakes.memory_base import MemoryBase


def test_containers_unless_plain_processes_are_named(tmp_path: Path) -> None:
    for name, kind in ((None, DockerSandbox), ("docker", DockerSandbox), ("local", LocalSandbox)):
        settings = load_settings(state_dir=tmp_path, sandbox=name)
        with contextlib.closing(wiring.sandbox(settings, "test-wiring", "any")) as made:
            assert type(made) is kind


def test_copies_of_a_local_repository_share_an_environment(tmp_path: Path) -> None:
    one, two = wiring.local_name(tmp_path / "a" / "calc"), wiring.local_name(tmp_path / "b" / "calc")
    assert one == two != wiring.local_name(tmp_path / "a" / "other")
    assert one != "owner/calc"


@pytest.mark.parametrize("name", ["none", "podman"])
def test_no_other_sandbox_is_known(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"(?i)sandbox"):
        load_settings(state_dir=tmp_path, sandbox=name)


@pytest.mark.parametrize(
    ("named", "own", "setting", "chosen"),
    [
        (None, None, None, "team"),
        (None, None, "single", "single"),
        (None, "strategy: agentcoder\n", "single", "agentcoder"),
        ("self-collaboration", "strategy: agentcoder\n", "single", "self-collaboration"),
    ],
)
def test_the_team_is_the_nearest_choice(
    tmp_path: Path, named: str | None, own: str | None, setting: str | None, chosen: str
) -> None:
    base = MemoryBase({".github/agent-fix.yml": own.encode()} if own else {})
    settings = load_settings(state_dir=tmp_path, strategy=setting)
    assert wiring.strategy(settings, base, named) == chosen


def test_a_team_that_there_is_not_is_told(tmp_path: Path) -> None:
    settings = load_settings(state_dir=tmp_path)
    with pytest.raises(BadInput, match="choose one of team"):
        wiring.strategy(settings, MemoryBase({}), "heroes")
    with pytest.raises(BadInput, match="line 1: unknown key `stratagem`; did you mean `strategy`"):
        wiring.strategy(settings, MemoryBase({".github/agent-fix.yml": b"stratagem: team\n"}), None)


def test_an_issue_is_read_with_its_title_on_the_first_line_or_as_given(tmp_path: Path) -> None:
    file = tmp_path / "issue.md"
    file.write_text("\n# Wrong total\n\nIt is 1.\n", "utf-8")
    assert wiring.issue_text(file, None, None) == ("Wrong total", "It is 1.")
    assert wiring.issue_text(None, " Wrong total ", None) == ("Wrong total", "")


@pytest.mark.parametrize("text", ["", "\n \n", "# \n\nNo title."])
def test_an_issue_without_a_title_is_refused_with_what_to_do(tmp_path: Path, text: str) -> None:
    file = tmp_path / "issue.md"
    file.write_text(text, "utf-8")
    for given in ((file, None, None), (None, " ", text)):
        with pytest.raises(BadInput, match="has no title: say in one line"):
            wiring.issue_text(*given)
    with pytest.raises(BadInput, match="There is no issue: give"):
        wiring.issue_text(None, None, None)
    with pytest.raises(BadInput, match="Name a text file"):
        wiring.issue_text(tmp_path / "none.md", None, None)
