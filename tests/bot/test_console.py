"""What a person sees of a run."""

from __future__ import annotations

import contextlib
import io

import pytest
import typer
from rich.console import Console

from bot import records as r
from bot.cli import _report
from bot.console import Progress, limits_line
from bot.llm.budget import Limits, Spent
from bot.llm.port import ToolCall, Usage
from bot.service.order import Ended
from bot.task import Outcome
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


def test_nothing_that_a_model_or_a_repository_wrote_steers_the_terminal() -> None:
    hostile = "\x1b[2J\x1b]0;mine\x07 \u202e"
    out = io.StringIO()
    call = ToolCall("1", f"read{hostile}", "{}")
    with Progress(Console(file=out, width=140, color_system=None), LIMITS) as watch:
        watch(r.StageChanged(stage="team", detail=hostile))
        watch(r.CommandRun(agent="coder-1", command=hostile, exit_code=0, ended="exit", output="", seconds=1.0))
        watch(r.Posted(slot="verification", value=f"1 test fails: `test_x[{hostile}]`"))
        watch(
            r.Completed(
                agent="coder-1",
                role="coder",
                index=0,
                kept=0,
                messages=(),
                text="",
                tool_calls=(call,),
                usage=Usage(),
                model="m",
                seconds=1.0,
                finish="stop",
                usd=None,
            )
        )
    with pytest.raises(typer.Exit), contextlib.redirect_stdout(out):
        _report(Ended(run="1", outcome=Outcome.DRAFT, reason=hostile, files=(hostile,)), json=False)
    assert len(out.getvalue().splitlines()) > 4
    assert not set("\x1b\x07\u202e") & set(out.getvalue())


def test_money_is_shown_only_where_it_is_known() -> None:
    assert "price not known" in limits_line(Spent(calls=2, unpriced=2), LIMITS)
    assert "$0.500 and 1 calls of unknown price/$3" in limits_line(Spent(calls=2, usd=0.5, unpriced=1), LIMITS)
    assert "$0.500/$3" in limits_line(Spent(calls=2, usd=0.5), LIMITS)
