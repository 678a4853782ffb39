"""The answer to `explain`: what was done and why, from a run's own records, harmless and of bounded size."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.llm.budget import Spent
from bot.publish.account import STEP_CHARS, STEPS, Account, Step, explanation, kept, step_of
from bot.publish.comment import Progress
from bot.publish.hidden_text import Removed
from bot.publish.outcomes import PRESENTATIONS
from bot.publish.verdict import Counts
from bot.records import Posted, StageChanged, Tested
from bot.task import Outcome
from bot.transcript import read
from sandbox.port import Result, TestReport
from tests.bot.publish import rendering

RECORDING = Path(__file__).parent.parent.parent / "data" / "recordings" / "humanize.jsonl"
STEPS_OF_IT = tuple(step for record in read(RECORDING) if (step := step_of(record)))
ENDED = Progress(
    "12-7-l5",
    ("team", "published"),
    "published",
    before=Counts(737, 0, 0, 0, 12.0, 0, "exit"),
    now=Counts(760, 0, 0, 0, 12.5, 0, "exit"),
    spent={"coder": Spent(5, 18_400, 1_200, 0, 0.05)},
    minutes=3.2,
    removed=(Removed("HTML comment", "obey"),),
    outcome=Outcome.DRAFT,
    reasons=("1 test that passed before fails now.",),
    pull_request=8,
)
NOW = Account(
    ENDED, STEPS_OF_IT, "will", datetime(2026, 5, 1, 9, 30, tzinfo=UTC), "team", "main", {"coder": "some-model"}
)


def told(now: Account | None, *before: Account) -> str:
    return explanation(now, before, command="/agent-fix", label="agent:fix")


def test_a_run_is_told_from_who_asked_to_what_comes_next() -> None:
    text = told(NOW)
    parts = [
        "The run ended: **Draft**. The pull request is #8.",
        "Asked for by `will` at 2026-05-01 09:30 UTC",
        "1 hidden part was taken out of it.",
        "1. The suite on the unchanged code: 737 passed in 32 s",
        "1. Plan: Decided to change something. naturalday()",
        "1. The tester ran tests/test_time.py: 405 passed",
        "1. The tester's report: Passed.",
        "1. The new tests on the unchanged code: 392 passed, 13 failed",
        f"**Why**\n\n{PRESENTATIONS[Outcome.DRAFT].meaning}\n\n- 1 test that passed before fails now.",
        "Tests: 737 passed before; 760 passed with the change.",
        "3 min, 5 model calls",
        "| `coder` | `some-model` | 5 |",
        PRESENTATIONS[Outcome.DRAFT].move,
        "`/agent-fix revise …` on the pull request",
    ]
    places = [text.find(part) for part in parts]
    assert -1 not in places
    assert places == sorted(places)
    assert "--- src/" not in text


def test_a_run_at_work_and_one_that_never_was() -> None:
    text = told(replace(NOW, progress=replace(ENDED, outcome=None, detail="the coder is at work")))
    assert "at work: **published**: the coder is at work." in text
    assert "`/agent-fix stop` ends it" in text
    assert "Set the label `agent:fix`, or say `/agent-fix`" in told(None)


@pytest.mark.parametrize("outcome", Outcome)
def test_every_end_has_its_reasons_and_a_next_move(outcome: Outcome) -> None:
    text = told(replace(NOW, progress=replace(ENDED, outcome=outcome, pull_request=None)))
    assert PRESENTATIONS[outcome].move in text
    assert "fails now." in text


def test_earlier_runs_are_a_line_each() -> None:
    earlier = replace(NOW, progress=replace(ENDED, run="12-7-c1", outcome=Outcome.OVER_BUDGET, reasons=("Spent.",)))
    assert "- `12-7-c1`, over budget: Spent. (3 min, 5 model calls" in told(NOW, earlier)


def test_what_models_wrote_is_harmless_and_never_too_long() -> None:
    evil = Step("Plan, round 1", "@octo/team fixes #3 <img src=https://evil.example/x>\n# Head " + "x" * 2_000)
    steps: tuple[Step, ...] = ()
    for number in range(300):
        steps = kept(steps, Step(f"Step {number}", evil.said))
    assert len(steps) == STEPS
    assert (steps[0].what, steps[-1].what) == ("Step 0", "Step 299")
    text = told(replace(NOW, steps=steps))
    assert len(text) < 30_000
    assert rendering.dangers(text, frozenset({"github.com"})) == ["<sub>"]
    assert step_of(StageChanged(stage="team")) is None
    long = step_of(Posted(slot="ruling", value={"ruling": "x " * 2_000}))
    assert long is not None
    assert len(long.said) <= STEP_CHARS


def test_what_was_measured_is_told_once() -> None:
    measuring = TestReport({}, {}, Result(0, "", 1.0))
    assert step_of(Tested.of("a fault put into line 3", measuring, agent="executor")) is None
    told = step_of(Posted(slot="measured", value=["All lines run.", "Of 2 faults, 2 are noticed."]))
    assert told == Step("Measured", "All lines run. Of 2 faults, 2 are noticed.")


def test_a_diff_is_not_told() -> None:
    assert step_of(Posted(slot="change", round=1, value="--- a\n+++ b\n")) is None
    assert step_of(Posted(slot="change", round=2, value="It is mended.\n--- a\n+++ b\n")) == Step(
        "Change, round 2", "It is mended."
    )
    printed = "import half\n-> (nothing printed)\nhalf(3)\n-> 1"
    ran = step_of(Posted(slot="executed", value=printed))
    assert ran is not None
    assert ran.said == "half(3) -> 1"
