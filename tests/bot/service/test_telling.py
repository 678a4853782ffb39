"""What is told of a run: of its records while it goes on, and of its end."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest

from bot.records import Tested
from bot.service.desk import Desk
from bot.service.order import Ended
from bot.service.requests import RunRequest, Told
from bot.service.telling import Teller, shows_the_change, why
from bot.task import Outcome
from bot.team.evidence import WHOLE_SUITE
from bot.transcript import read
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
        (Outcome.ERROR, ("KeyError: 'x'",), ""),
        (Outcome.ENVIRONMENT_FAILED, ("Traceback:",), "  /srv/bot/job.py, line 3\nKeyError: 'x'"),
        (Outcome.DRAFT, ("Traceback:", "  /srv/bot/job.py, line 3", "KeyError: 'x'"), ""),
    ],
)
def test_of_a_defect_of_the_bot_no_more_than_its_name_is_told(
    outcome: Outcome, reasons: tuple[str, ...], log: str
) -> None:
    ended = Ended(run="r", outcome=outcome, reason="Traceback:\n  /srv/bot/job.py, line 3\n\nKeyError: 'x'")
    assert why(ended) == (reasons, log)
