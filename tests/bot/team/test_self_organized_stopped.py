"""Money or time ends while an organization is at work: what its agents have written is put together and proved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.bench.made_projects import Player, mended, project, shown
from bot.errors import OverBudget, TimedOut
from bot.llm.port import Completion, Request
from bot.publish.verdict import Level, baseline
from bot.service.job import decided
from bot.task import Outcome
from bot.team.evidence import Assignment
from bot.team.loop import perform
from bot.team.strategies.self_organized import self_organized
from tests.bot.team.test_self_organized import Organized, solved
from tests.bot.team.test_self_organized_changes import Change, Edited

ENDS = [OverBudget("the money is spent"), TimedOut("the minutes are spent")]


class Ending:
    """Answers until an agent is asked that a rule names; from then on nobody is answered."""

    def __init__(self, end: Exception, ends: Callable[[str], bool], model: Any = None) -> None:
        self._end, self._ends, self._model = end, ends, model or Player()
        self._over = False

    def complete(self, request: Request) -> Completion:
        self._over = self._over or self._ends(request.agent)
        if self._over:
            raise self._end
        completion: Completion = self._model.complete(request)
        return completion


@pytest.mark.parametrize("end", ENDS, ids=lambda end: type(end).__name__)
@pytest.mark.parametrize(("functions", "last"), [(12, "child-3"), (60, "child-2.2")], ids=["children", "grandchildren"])
def test_what_was_written_when_it_ended_is_proved_once_and_shown_as_a_draft(
    tmp_path: Path, end: Exception, functions: int, last: str
) -> None:
    made = project(4_000, functions)
    stage, delivery = solved(tmp_path, made, Ending(end, lambda agent: agent == last))
    assert last in stage.agents
    assert (delivery.ended, delivery.stop) == ("stopped", end)
    assert len(delivery.attempts) == 1
    best = delivery.best
    assert best is not None
    assert 0 < len(best.tree.patch.files) < len(set(made.functions.values())), "a part of it is written"
    assert best.verdict.level is Level.DRAFT
    assert best.change is not None
    assert "handed over nothing: its places are as they were" in best.change.doubts[0]
    outcome, reason = decided(delivery)
    assert outcome is Outcome.DRAFT
    assert str(end) in reason
    wrote = {one.value["agent"] for one in delivery.board.all("agent") if one.value["kind"] == "wrote"}
    assert "1" in {agent.partition(".")[0] for agent in wrote}, "it is on record"


def wrong(said: str) -> Change:
    """Children 2 and 3, when they are asked first, hand over the code as it was, or without its ` + offset`."""

    def change(request: Request, value: dict[str, Any]) -> dict[str, Any]:
        if request.agent not in ("child-2", "child-3"):
            return value
        code = []
        for span, text in shown(request.messages[1].content):
            full = text
            for edit in mended(span, text)["edits"] if said else ():
                full = full.replace(edit["old"], edit["new"].replace(said, ""))
            code.append({"span": span, "text": full})
        return value | {"code": code}

    return change


@pytest.mark.parametrize("end", ENDS, ids=lambda end: type(end).__name__)
@pytest.mark.parametrize(
    ("said", "last", "rounds"),
    [
        (" + offset", "mother-0~3", [1]),
        (" + offset", "child-2~2", [1]),
        (" + offset", "child-3~2", [1, 2]),
        ("", "mother-0~3", [2]),
        ("", "child-2~2", [2]),
        ("", "child-3~2", [2]),
    ],
)
def test_corrections_that_were_made_when_it_ended_are_proved_and_nothing_is_proved_twice(
    tmp_path: Path, end: Exception, said: str, last: str, rounds: list[int]
) -> None:
    """With a text that breaks what was agreed on, the first round proves nothing."""
    ending = Ending(end, lambda agent: agent == last, Edited(wrong(said)))
    stage, delivery = solved(tmp_path, project(2_000, 12), ending)
    assert last in stage.agents
    assert (delivery.ended, delivery.stop) == ("stopped", end)
    assert [attempt.round for attempt in delivery.attempts] == rounds
    assert delivery.best is delivery.attempts[-1]
    passing = [sum(test.passes for test in attempt.verdict.own) for attempt in delivery.attempts]
    assert passing == sorted(set(passing)), "the last one is the best"


def test_where_the_sandbox_cannot_be_used_any_more_nothing_is_claimed(tmp_path: Path) -> None:
    end, made = TimedOut("the minutes are spent"), project(2_000, 12)

    class Late(Organized):
        def test(self, *args: Any, **options: Any) -> Any:
            raise end

    stage = Late(tmp_path, made, Ending(end, lambda agent: agent == "child-2"), lambda names: None)
    work = Assignment(made.task, made.tree, baseline(made.report(made.tree, ())))
    delivery = perform(self_organized(work), stage)
    assert (delivery.ended, delivery.stop, delivery.best) == ("stopped", end, None)
    assert decided(delivery)[0] is Outcome.TIMED_OUT
