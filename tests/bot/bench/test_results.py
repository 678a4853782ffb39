"""Results on the disk, going on after them, and the figures made of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.bench.report import summary, write
from bot.bench.results import FILE, TaskResult, Volume, append, pass_at_1, read, wilson
from bot.bench.running import Try, chosen, go, tries
from bot.errors import BadInput
from bot.llm.budget import Spent


def result(task: str = "a", **values: Any) -> TaskResult:
    given: dict[str, Any] = {"suite": "s", "strategy": "single", "model": "m", "passed": True, "outcome": "ready"}
    return TaskResult(task=task, **{**given, **values})


@pytest.mark.parametrize(
    ("passed", "tried", "low", "high"),
    [(0, 0, 0, 1), (0, 10, 0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1), (164, 164, 0.9771, 1)],
)
def test_wilson(passed: int, tried: int, low: float, high: float) -> None:
    assert wilson(passed, tried) == pytest.approx((low, high), abs=1e-3)


def test_samples_of_one_task_do_not_make_the_interval_narrower() -> None:
    many = [result(task, sample=sample, passed=task == "a") for task in "ab" for sample in range(50)]
    few = [result("a"), result("b", passed=False)]
    assert pass_at_1(many) == pass_at_1(few) == (0.5, wilson(1, 2), 2)


def test_a_benchmark_goes_on_after_its_results_and_tries_errors_again(tmp_path: Path) -> None:
    made: list[Try] = []

    def attempt(one: Try) -> TaskResult:
        made.append(one)
        if one.task == "c" and len(made) == 3:
            raise KeyboardInterrupt
        outcome = "error" if one.task == "a" and len(made) == 1 else "ready"
        return result(one.task, sample=one.sample, outcome=outcome)

    wanted = tries(["a", "b", "c"], ["single"], 1)
    with pytest.raises(KeyboardInterrupt):
        go("s", "m", wanted, tmp_path, resume=False, attempt=attempt, say=print)
    assert [one.task for one in read(tmp_path / FILE)] == ["a", "b"]
    found = go("s", "m", wanted, tmp_path, resume=True, attempt=attempt, say=print)
    assert [one.task for one in made] == ["a", "b", "c", "a", "c"]
    assert {one.task: one.outcome for one in found} == {"a": "ready", "b": "ready", "c": "ready"}


def test_results_are_not_overwritten_by_accident(tmp_path: Path) -> None:
    append(tmp_path / FILE, result())
    with pytest.raises(BadInput, match="--resume"):
        go("s", "m", [], tmp_path, resume=False, attempt=lambda one: result(), say=print)


def test_a_line_that_a_crash_cut_off_is_tried_again(tmp_path: Path) -> None:
    path = tmp_path / FILE
    append(path, result("a"))
    with path.open("a") as file:
        file.write('{"suite": "s", "ta')
    assert [one.task for one in read(path)] == ["a"]
    append(path, result("b"))
    assert [one.task for one in read(path)] == ["a", "b"]


def test_a_foreign_line_is_named(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"other": 1}\n' + result().model_dump_json() + "\n")
    with pytest.raises(BadInput, match="line 1"):
        read(tmp_path / FILE)


def test_tasks_are_chosen_by_name_or_number() -> None:
    known = dict.fromkeys(["x/1", "x/2", "x/3"])
    assert chosen(known, "x/3, x/1", None) == ["x/3", "x/1"]
    assert chosen(known, "", 2) == ["x/1", "x/2"]
    with pytest.raises(BadInput, match="x/9"):
        chosen(known, "x/9", None)


SPENT = {"programmer": Spent(2, 900, 100, 0, 0.01, 0, 3.0), "test-designer": Spent(1, 400, 50, 0, 0.005, 0, 1.0)}
VOLUMES = (
    Volume(agent="programmer-1", role="programmer", calls=2, tokens_out=100, characters=300, functions=1),
    Volume(agent="test-designer-1", role="test-designer", calls=1, tokens_out=50, characters=100, functions=3),
)


def test_ac10_calls_tokens_seconds_and_money_are_summed_in_all_and_per_role() -> None:
    found = summary("agentcoder", "m", [result("a", by_role=SPENT), result("b", by_role=SPENT, passed=False)])
    assert found["total"]["calls"] == 6
    assert found["total"]["tokens_in"] == 2 * (900 + 400)
    assert found["total"]["usd"] == pytest.approx(0.03)
    for figure in ("calls", "tokens_in", "tokens_out", "model_seconds", "usd"):
        assert found["total"][figure] == pytest.approx(sum(one[figure] for one in found["by_role"].values()))


def test_a_price_that_is_not_known_is_not_called_nothing() -> None:
    found = summary("single", "m", [result(by_role={"single": Spent(1, 10, 10, 0, 0.0, 1)})])
    assert found["total"]["usd"] is None


def test_ac8_test_accuracy_and_coverage_are_over_the_tasks_that_have_tests() -> None:
    found = summary(
        "agentcoder",
        "m",
        [
            result("a", tests=4, right_tests=3, coverage=80.0, coverage_first=60.0),
            result("b", tests=6, right_tests=6, coverage=100.0, coverage_first=100.0),
            result("c"),
        ],
    )
    assert found["test_accuracy"] == pytest.approx(9 / 10)
    assert found["coverage"] == 90
    assert found["coverage_first"] == 80


def test_the_report_has_the_strategies_side_by_side(tmp_path: Path) -> None:
    results = [result(strategy=name, by_role=SPENT, volume=VOLUMES) for name in ("agentcoder", "single")]
    results += [result("b", strategy="single", passed=False, outcome="draft")]
    paths = write(tmp_path, "humaneval", results, ["2 tasks."])
    assert {path.name for path in paths} == {"report.json", "report.md", "pass_at_1.svg", "tokens.svg"}
    data = json.loads((tmp_path / "report.json").read_text())
    assert [one["strategy"] for one in data["strategies"]] == ["agentcoder", "single"]
    assert data["strategies"][0]["volume"]["functions_a_task"] == 4
    assert data["strategies"][0]["volume"]["characters_an_agent"] == 200
    text = (tmp_path / "report.md").read_text()
    assert "| b | - | fail (draft) |" in text
    assert "programmer | 2 | 900 | 100 |" in text
    assert "<svg" in (tmp_path / "pass_at_1.svg").read_text()
