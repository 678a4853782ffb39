"""Killed at any moment, a run resumes: the same change, and nothing that was answered is asked for again."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from bot.records import CommandRun, Completed, Delivered, RunStarted, Tested
from bot.transcript import read
from tests.data.demo.demo import project
from tests.fakes.playback import playback
from tests.journeys.demo import ISSUE, RECORDING, agent_fix, ended

STEPS = ("completion", "tests", "command")


def steps_in(transcript: Path) -> int:
    if not transcript.exists():
        return 0
    return sum(
        any(f'"kind": "{kind}"' in line for kind in STEPS) for line in transcript.read_text("utf-8").splitlines()
    )


def delivered(transcript: Path) -> dict[str, dict[str, str] | None]:
    return next(record.files for record in read(transcript) if isinstance(record, Delivered))


@pytest.mark.timeout(600)
def test_killed_after_each_step_in_turn(tmp_path: Path) -> None:
    repo, state = project(tmp_path), tmp_path / "state"
    total = sum(isinstance(record, Completed | Tested | CommandRun) for record in read(RECORDING))
    with playback(RECORDING) as model:
        words = ["run", "--repo", str(repo), "--issue-file", str(ISSUE), "--number", "7", "--json"]
        killed = 0
        for step in range(1, total + 1):
            process = agent_fix(*words, state=state, url=model.url)
            words = ["resume", "--json"]
            while process.poll() is None:
                transcript = next(state.glob("runs/*/transcript.jsonl"), None)
                if transcript is not None and steps_in(transcript) >= step:
                    process.send_signal(signal.SIGKILL)
                    killed += process.wait() == -signal.SIGKILL
                time.sleep(0.01)
            out, err = process.communicate()
            assert process.returncode in (0, -signal.SIGKILL), err
            if process.returncode == 0:
                break
        else:
            out = agent_fix(*words, state=state, url=model.url).communicate(timeout=280)[0]
        assert killed >= total - 2
        assert '"outcome": "fixed"' in out
        assert max(model.asked.values()) == 1, "an answer that was stored was asked for again"
    transcript = next(state.glob("runs/*/transcript.jsonl"))
    assert delivered(transcript) == delivered(RECORDING)
    branches = subprocess.run(["git", "branch"], cwd=repo, capture_output=True, text=True, check=True).stdout.split()
    assert branches == ["agent-fix/issue-7", "*", "main"]


@pytest.mark.timeout(600)
def test_killed_while_each_answer_is_awaited(tmp_path: Path) -> None:
    repo, state = project(tmp_path), tmp_path / "state"
    with playback(RECORDING) as model:
        victim: list[int] = []
        waiting: set[int] = set()

        def strike(number: int) -> None:
            # Every second request is let through: it is the one that the strike before had cut off.
            if number % 2 and number not in waiting:
                waiting.add(number)
                os.kill(victim[-1], signal.SIGKILL)

        model.before = strike
        words = ["run", "--repo", str(repo), "--issue-file", str(ISSUE), "--number", "7", "--json"]
        for _ in range(2 * len(model.answers) + 1):
            process = agent_fix(*words, state=state, url=model.url)
            victim.append(process.pid)
            words = ["resume", "--json"]
            out, err = process.communicate(timeout=280)
            if process.returncode == 0:
                break
            assert process.returncode == -signal.SIGKILL, err
        assert '"outcome": "fixed"' in out
        assert len(waiting) == len(model.answers)
        assert max(model.asked.values()) == 2, "once cut off, once answered"
    assert delivered(next(state.glob("runs/*/transcript.jsonl"))) == delivered(RECORDING)


def test_interrupted_by_a_person_it_stops_within_seconds_and_carries_on(tmp_path: Path) -> None:
    repo, state = project(tmp_path), tmp_path / "state"
    with playback(RECORDING) as model:
        seen: list[float] = []
        model.before = lambda number: (seen.append(time.monotonic()), time.sleep(30 if number == 2 else 0))[0]
        words = ("run", "--repo", str(repo), "--issue-file", str(ISSUE), "--number", "7", "--json")
        process = agent_fix(*words, state=state, url=model.url)
        while len(seen) < 2:
            time.sleep(0.02)
        told = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert time.monotonic() - told < 6
        assert process.returncode == 10
        assert "resume" in err
        model.before = lambda number: None
        result = ended(agent_fix("resume", "--json", state=state, url=model.url))
    assert result["outcome"] == "fixed"


def test_what_a_limit_or_the_model_ended_goes_on_and_pays_for_nothing_twice(tmp_path: Path) -> None:
    repo, state = project(tmp_path), tmp_path / "state"
    with playback(RECORDING) as model:
        words = ("run", "--repo", str(repo), "--issue-file", str(ISSUE), "--number", "7", "--json")
        poor = ended(agent_fix(*words, state=state, url=model.url, more={"AGENT_FIX_BUDGET_CALLS": "3"}))
        assert (poor["outcome"], poor["calls"], sum(model.answered.values())) == ("over-budget", 3, 3)
        model.refused.add(5)
        failed = ended(agent_fix("resume", "--json", state=state, url=model.url, more={"AGENT_FIX_RETRIES": "0"}))
        assert (failed["outcome"], failed["calls"], sum(model.answered.values())) == ("draft", 4, 4)
        assert "The provider failed (500)" in failed["reason"]
        whole = ended(agent_fix("resume", "--budget-usd", "2", "--json", state=state, url=model.url))
        assert whole["outcome"] == "fixed"
        assert (set(model.answered.values()), len(model.answered)) == ({1}, len(model.answers))
    assert whole["calls"] == len(model.answers)
    assert f"carries on {failed['run']}" in Path(whole["pull_request"]).read_text("utf-8")
    assert delivered(Path(whole["transcript"])) == delivered(RECORDING)
    began = read(Path(whole["transcript"]))[0]
    assert isinstance(began, RunStarted)
    assert began.limits.usd == 2


def test_a_run_that_is_at_work_is_not_resumed_twice(tmp_path: Path) -> None:
    repo, state = project(tmp_path), tmp_path / "state"
    with playback(RECORDING) as model:
        model.before = lambda number: time.sleep(2 if number == 1 else 0)
        words = ("run", "--repo", str(repo), "--issue-file", str(ISSUE), "--number", "7", "--json")
        first = agent_fix(*words, state=state, url=model.url)
        while not model.asked:
            time.sleep(0.02)
        _, err = agent_fix("resume", "--json", state=state, url=model.url).communicate(timeout=60)
        assert "still at work" in err
        assert ended(first)["outcome"] == "fixed"
