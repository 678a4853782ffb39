"""The measure of what is sent: it does not grow with the project, and agents grow with the issue alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.bench.context import main, measure, spread, table

SIZES = (1_000, 12_000)


def test_the_largest_request_of_each_role_stays_the_same_in_a_project_of_twelve_times_the_size() -> None:
    found = [measure(lines, functions) for lines in SIZES for functions in (2, 12)]
    assert all(one.sound for one in found)
    assert found[2].lines > 10 * found[0].lines
    for roles in spread(found).values():
        assert set(roles) >= {"mother", "reproducer"}
        assert max(roles.values()) <= 0.10, roles
    agents = {(one.lines > 5_000, one.functions): one.agents for one in found}
    assert agents[False, 2] == agents[True, 2] == 1
    assert agents[False, 12] == agents[True, 12] == 4
    assert "| yes |" in table(found)


def test_the_figures_are_printed_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--lines", "600,1200", "--functions", "3", "--out", str(tmp_path / "context.json")])
    kept = json.loads((tmp_path / "context.json").read_text("utf-8"))
    assert [one["functions"] for one in kept] == [3, 3]
    printed = capsys.readouterr().out
    assert "3 functions, largest request" in printed
    assert f"| {kept[0]['lines']:,} | 3 |" in printed
