"""What is told of a run: of its records while it goes on, and of its end."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bot.errors import AgentFixError, BadInput, ModelFailed, Refused, public
from bot.forge.port import Unavailable
from bot.records import Tested
from bot.service.desk import Desk
from bot.service.job import decided, failure
from bot.service.order import Ended
from bot.service.requests import RunRequest, Told
from bot.service.telling import Teller, shows_the_change, why
from bot.service.working import Means, carry_out
from bot.task import Outcome
from bot.team.board import Board
from bot.team.delivery import Delivery
from bot.team.evidence import WHOLE_SUITE
from bot.transcript import read
from repo_tools.errors import GitFailed
from sandbox.errors import SandboxDied, SandboxUnavailable
from sandbox.port import Result, TestOutcome, TestReport

RECORDING = Path(__file__).parent.parent.parent / "data" / "recordings" / "humanize.jsonl"
REQUEST = RunRequest(
    run="9-7-l5", repository="octo/widgets", repository_id=9, number=7, title="t", body="b", branch="main",
    default_branch="main", caller="will", at=datetime(2026, 5, 1, tzinfo=UTC), strategy="team",
)  # fmt: skip


class Kept:
    """Stands for the database."""

    def __init__(self) -> None:
        self.all: dict[str, Told] = {}

    def tell(self, key: str, told: Told) -> str:
        self.all.setdefault(key, told)
        return key


def told_of_recording() -> Kept:
    kept = Kept()
    teller = Teller(REQUEST, cast("Desk", kept))
    for record in read(RECORDING):
        teller(record)
    teller.end(Ended(run=REQUEST.run, outcome=Outcome.FIXED, reason="Mended.", pull_request="https://x/pull/8"))
    return kept


def test_a_run_is_told_stage_by_stage_with_what_is_known_by_then() -> None:
    told = list(told_of_recording().all.values())
    team = [one.progress for one in told if one.progress.stage == "team"]
    assert [one.detail for one in team] == [
        "self-collaboration",
        "an analyst looks for the cause",
        "the change is written",
        "a tester examines the change",
    ]
    calls = [sum(spent.calls for spent in one.spent.values()) for one in team]
    assert calls == sorted(calls)
    assert calls[-1] > 0
    assert team[-1].before is not None
    assert team[-1].minutes > team[0].minutes
    last = told[-1]
    assert (last.progress.outcome, last.progress.pull_request, last.label) == (Outcome.FIXED, 8, "fixed")
    assert set(last.models) == {"analyst", "coder", "tester"}
    assert [step.what for step in last.steps][:2] == ["The suite on the unchanged code", "Plan"]


def test_a_resumed_run_tells_nothing_again() -> None:
    assert list(told_of_recording().all) == list(told_of_recording().all)


@pytest.mark.parametrize(
    ("agent", "why_it_ran", "selection", "counts"),
    [
        ("executor", WHOLE_SUITE, (), True),
        ("coder-1", "asked for by the role", (), True),
        ("coder-1", "asked for by the role", ("tests/a.py",), False),
        ("coder-1", "asked for by the role, without the change", (), False),
        ("reproducer-1", "asked for by the role", (), False),
        ("executor", "the change without a.py:3, under all tests", (), False),
        ("executor", "the suite on the base", (), False),
    ],
)
def test_only_the_change_as_it_is_counts_as_such(
    agent: str, why_it_ran: str, selection: tuple[str, ...], counts: bool
) -> None:
    report = TestReport({"a": TestOutcome.FAILED}, {}, Result(1, "", 1.0))
    assert shows_the_change(Tested.of(why_it_ran, report, selection=selection, agent=agent)) is counts


@pytest.mark.parametrize(
    ("outcome", "reasons", "log"),
    [
        (Outcome.ERROR, ("KeyError",), ""),
        (Outcome.ENVIRONMENT_FAILED, ("Traceback:",), "  /srv/bot/job.py, line 3\nKeyError: '/srv/x'"),
        (Outcome.DRAFT, ("Traceback:", "  /srv/bot/job.py, line 3", "KeyError: '/srv/x'"), ""),
    ],
)
def test_of_a_defect_of_the_bot_no_more_than_its_name_is_told(
    outcome: Outcome, reasons: tuple[str, ...], log: str
) -> None:
    ended = Ended(run="r", outcome=outcome, reason="Traceback:\n  /srv/bot/job.py, line 3\n\nKeyError: '/srv/x'")
    assert why(ended) == (reasons, log)


def raised(error: Exception) -> str:
    """How a run ends that an error ended which was raised because of another one."""
    try:
        try:
            int("first: at /srv/first")
        except ValueError as first:
            raise error from first
    except Exception as made:  # noqa: BLE001 - of any kind
        outcome, reason = failure(made)
        assert outcome is Outcome.ERROR
        return reason


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (FileNotFoundError(2, "No such file", "/srv/state/runs"), "FileNotFoundError"),
        (RuntimeError("in two lines:\n/srv/state: not there"), "RuntimeError"),
        (RuntimeError("of another process:\nTraceback of it\n/srv/state: not there"), "Exception"),
        (RuntimeError(), "RuntimeError"),
        (subprocess.TimeoutExpired(["/srv/bin/git"], 3), "TimeoutExpired"),
        (AgentFixError("Set a model, and start again."), "Set a model, and start again."),
        (SandboxDied("the container was killed"), "the container was killed"),
    ],
)
def test_no_file_of_the_bots_machine_is_told_of(error: Exception, reason: str) -> None:
    assert why(Ended(run="r", outcome=Outcome.ERROR, reason=raised(error))) == ((reason,), "")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ModelFailed("http://10.1.2.3:8000/v1 says /srv/x", public="The provider failed (503)."), "failed (503)"),
        (BadInput("/srv/state/runs/1/transcript.jsonl holds no record"), "its log says what"),
        (SandboxUnavailable("tcp://10.1.2.3:2375 does not answer"), "container engine"),
    ],
)
def test_nothing_of_the_bots_machine_is_told_of_what_ended_or_stopped_a_run(error: Exception, told: str) -> None:
    outcome, reason = failure(error)
    assert str(error) in reason
    ended = Ended(run="r", outcome=outcome, reason=reason, posted=failure(error, public)[1])
    (said,), _ = why(ended)
    assert told in said
    stopped = decided(Delivery(None, None, Board(), (), "stopped", error), public)[1]
    assert told in stopped
    assert not [text for text in (said, stopped) if "/srv" in text or "10.1.2.3" in text]


class Broken:
    """Stands for a forge that cannot even be asked."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def forge(self, repository: str) -> Any:
        raise self._error


@pytest.mark.parametrize(
    ("error", "outcome", "reason"),
    [
        (FileNotFoundError(2, "No such file", "/srv/app.pem"), Outcome.ERROR, "FileNotFoundError"),
        (Unavailable("The forge is away."), Outcome.ERROR, "The forge is away."),
        (Refused("Install the App first."), Outcome.REFUSED, "Install the App first."),
        (AgentFixError(), Outcome.ERROR, "AgentFixError"),
        (BadInput("/srv/state/x is no file."), Outcome.ERROR, BadInput("").public),
        (GitFailed("git fetch failed: cannot lock /srv/state/mirrors/x"), Outcome.ERROR, GitFailed().public),
        (Unavailable("Fetching: /srv/x", public="Fetching."), Outcome.ERROR, "Fetching."),
    ],
)
def test_before_a_run_has_begun_neither_and_the_log_has_it_all(
    error: Exception, outcome: Outcome, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    kept = Kept()
    means = SimpleNamespace(host=Broken(error), desk=kept)
    ended = carry_out(REQUEST, cast("Means", means), lambda name, work: work())
    assert (ended.outcome, ended.reason) == (outcome, reason)
    assert [one.progress.reasons for one in kept.all.values()] == [(reason,)]
    assert str(error) in caplog.text
