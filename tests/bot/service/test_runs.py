"""Runs and their folders: found by name, held by one process, never half written."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.errors import BadInput
from bot.llm.budget import Limits
from bot.service.order import Ended, Order, is_run, new_run
from bot.service.runs import RunFolder, all_runs, begin, carried_on, find
from bot.task import Outcome, Task

TASK = Task("calc", "half(3) is wrong", "body", "0" * 40)


def started(state: Path, name: str, repository: Path = Path("calc")) -> RunFolder:
    order = Order(run=name, task=TASK, repository=repository, limits=Limits(), models={}, started=datetime.now(UTC))
    return begin(state, order)


def test_names_sort_by_time_and_are_safe_as_folders() -> None:
    name = new_run("../../etc: a “title” with /slashes/")
    assert is_run(name)
    assert "/" not in name
    assert not is_run("../20260101-000000-x")


def test_the_newest_or_the_named_run_is_found(tmp_path: Path) -> None:
    started(tmp_path, "20260101-000000-first-aaaa")
    second = started(tmp_path, "20260102-000000-second-bbbb")
    assert find(tmp_path, None) == second
    assert find(tmp_path, "first").name == "20260101-000000-first-aaaa"
    assert find(tmp_path, "20260102").order().task == TASK
    with pytest.raises(BadInput, match="more than one"):
        find(tmp_path, "2026010")
    with pytest.raises(BadInput, match="20260101-000000-first-aaaa"):
        find(tmp_path, "nothing")


@pytest.mark.parametrize("stopped", [False, True])
def test_only_what_has_not_ended_or_was_stopped_is_resumed(tmp_path: Path, stopped: bool) -> None:
    run = started(tmp_path, "20260101-000000-first-aaaa")
    assert find(tmp_path, None, resumable=True) == run
    run.keep(Ended(run=run.name, outcome=Outcome.DRAFT, reason="", stopped=stopped))
    assert run.result().outcome is Outcome.DRAFT
    if stopped:
        assert find(tmp_path, None, resumable=True) == run
    else:
        with pytest.raises(BadInput, match="no run to carry on"):
            find(tmp_path, None, resumable=True)


def test_a_damaged_result_does_not_keep_others_from_being_resumed(tmp_path: Path) -> None:
    good, bad = started(tmp_path, "20260101-000000-first-aaaa"), started(tmp_path, "20260102-000000-second-bbbb")
    (bad.path / "result.json").write_text('{"run": 3')
    assert find(tmp_path, None, resumable=True) == good


def test_a_run_of_the_service_is_not_resumed_here(tmp_path: Path) -> None:
    run = started(tmp_path, "12-7-l3", tmp_path / "mirrors" / "octo-widgets.git")
    with pytest.raises(BadInput, match="no run to carry on"):
        find(tmp_path, None, resumable=True)
    run.keep(Ended(run=run.name, outcome=Outcome.ERROR, reason="", stopped=True))
    with pytest.raises(BadInput, match="no run to carry on"):
        find(tmp_path, "12-7-l3", resumable=True)


def test_a_run_is_carried_on_once_with_all_that_those_before_it_had_paid_for(tmp_path: Path) -> None:
    run = started(tmp_path, "20260101-000000-first-aaaa")
    limits, texts = Limits(usd=9), []
    for number in range(3):
        run.transcript.write_text(f"transcript {number}")
        run.keep(Ended(run=run.name, outcome=Outcome.OVER_BUDGET, reason="", stopped=True))
        before, run = run, carried_on(tmp_path, run, limits, {"coder": "m"})
        texts.insert(0, f"transcript {number}")
        assert [one.read_text() for one in run.paid] == texts
        order = run.order()
        assert (order.task, order.limits, order.models) == (TASK, limits, {"coder": "m"})
        assert (order.run, order.continues) == (run.name, before.name)
        assert find(tmp_path, None, resumable=True) == run
        with pytest.raises(BadInput, match=f"goes on as {run.name}"):
            find(tmp_path, before.name, resumable=True)


def test_a_run_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    run = started(tmp_path, "20260101-000000-first-aaaa")
    with run.held(), pytest.raises(BadInput, match="still at work"), run.held():
        pass
    with run.held():
        pass


def test_a_damaged_order_is_said_to_be_one(tmp_path: Path) -> None:
    run = started(tmp_path, "20260101-000000-first-aaaa")
    (run.path / "order.json").write_text('{"run": 3')
    with pytest.raises(BadInput, match=r"order\.json"):
        run.order()
    assert [one.name for one in all_runs(tmp_path)] == [run.name]
