"""What a person sees of a run."""

from __future__ import annotations

import io

from rich.console import Console

from bot.console import Progress, limits_line
from bot.llm.budget import Limits, Spent
from bot.transcript import read
from tests.journeys.demo import RECORDING

LIMITS = Limits(usd=3, tokens=2_000_000, calls=120, minutes=30)


def shown(*, terminal: bool) -> str:
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=140, color_system=None)
    with Progress(console, LIMITS) as watch:
        for record in read(RECORDING):
            watch(record)
        if terminal:
            console.print(watch._panel())
    return out.getvalue()


def test_without_a_terminal_each_step_is_a_plain_line() -> None:
    lines = shown(terminal=False).splitlines()
    assert all(line.startswith("[") for line in lines)
    assert "\x1b" not in "".join(lines)
    assert any("tests (baseline): 19 passed" in line for line in lines)
    assert any("reproducer-1 begins" in line for line in lines)
    assert any("coder-1 replies: edit" in line for line in lines)
    assert any("round 1: everything that was run passed" in line for line in lines)


def test_on_a_terminal_the_panel_holds_stage_worker_tests_and_limits() -> None:
    text = shown(terminal=True)
    assert "tests before" in text
    assert "19 passed" in text
    assert "6/120 calls" in text
    assert "/2,000,000 tokens" in text
    assert "at most 30 minutes" in text


def test_money_is_shown_only_where_it_is_known() -> None:
    assert "price not known" in limits_line(Spent(calls=2, unpriced=2), LIMITS)
    assert "$0.500/$3" in limits_line(Spent(calls=2, usd=0.5), LIMITS)
