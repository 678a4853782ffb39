"""What the command line says to somebody who gave it what it cannot use: one text that names the next move."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from bot.cli import main
from tests.journeys.demo import RECORDING
from tests.journeys.harness import PROJECT, repository


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, with a checkout `repo` and the file `file`."""
    repository(tmp_path / "repo", PROJECT)
    (tmp_path / "file").write_text("no transcript, key or event\n")
    for name in ("OPENAI_API_KEY", "AGENT_FIX_GITHUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("AGENT_FIX_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[object, str]:
    """Exit code and all that is printed."""
    monkeypatch.setattr(sys, "argv", ["agent-fix", *words])
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code, "".join(capsys.readouterr())


@pytest.mark.parametrize(
    ("words", "more", "move"),
    [
        (["run", "--repo", "repo", "--title", "t"], {}, "set OPENAI_API_KEY"),
        (
            ["run", "--repo", "repo", "--title", "t"],
            {"OPENAI_API_KEY": "x", "AGENT_FIX_STATE_DIR": "file"},
            "AGENT_FIX_STATE_DIR",
        ),
        (["index", "repo"], {"AGENT_FIX_STATE_DIR": "file"}, "give another folder"),
        (["transcript"], {}, "There is no run. `agent-fix run` begins one."),
        (["transcript", "xyz"], {}, "There is no run named xyz. `agent-fix run` begins one."),
        (["transcript", "file"], {}, "line 1: no JSON"),
        (["transcript", str(RECORDING), "--html", "nowhere/page.html"], {}, "nowhere/page.html: No such file"),
        (["resume"], {}, "There is no run to carry on. `agent-fix run` begins one."),
        (
            ["serve", "--roles", "worker"],
            {"AGENT_FIX_GITHUB_APP_ID": "1", "AGENT_FIX_GITHUB_APP_KEY": "file"},
            "file holds no private key: set AGENT_FIX_GITHUB_APP_KEY",
        ),
        (
            ["action"],
            {"GITHUB_EVENT_NAME": "issues", "GITHUB_EVENT_PATH": "none.json", "GITHUB_REPOSITORY": "o/r"},
            "none.json: No such file",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_used_is_told_with_the_next_move(
    place: Path,
    words: list[str],
    more: dict[str, str],
    move: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in more.items():
        monkeypatch.setenv(name, value)
    code, text = said(words, monkeypatch, capsys)
    assert code == 2
    assert move in text.replace("\n", " ")
    assert not (place / "state" / "runs").exists()


def test_a_port_that_is_taken_is_told(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = str(taken.getsockname()[1])
        code, text = said(["setup", "--port", number], monkeypatch, capsys)
    assert (code, place.joinpath("config", "agent-fix", "config.toml").exists()) == (2, False)
    assert f"Port {number} cannot be had" in text
    assert "--port" in text


def test_of_a_run_that_was_never_begun_nothing_is_told_but_why(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    code, text = said(["run", "--repo", "nowhere", "--title", "t"], monkeypatch, capsys)
    assert code == 11
    assert "There is no folder nowhere: give the folder of a git checkout" in text
    assert not [word for word in ("someone who may", "transcript", "spent", "price") if word in text]


def test_a_state_folder_that_is_none_is_what_the_doctor_finds(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AGENT_FIX_STATE_DIR", str(place / "file"))
    code, text = said(["doctor"], monkeypatch, capsys)
    assert code == 1
    assert f"FAIL  disk: {place / 'file'}" in text
