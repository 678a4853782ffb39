"""What a run delivers is told in the words by which it was made, however the run ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.errors import OverBudget
from bot.llm.port import Completion, Request
from bot.publish.verdict import Baseline, Level, baseline
from bot.team.delivery import Delivery
from bot.team.evidence import Assignment
from bot.team.loop import perform
from bot.team.strategies import STRATEGIES
from repo_tools.patch import FileState
from repo_tools.tree import Tree
from tests.bot.team.test_self_collaboration import ADD_TEST, CHANGE, CODE, FIX, OLD, REVIEW, TASK, TESTS, really
from tests.fakes.memory_base import MemoryBase
from tests.fakes.stage import Stage, call, reply, report

FOUND = reply(call("submit", decision="reproduced", reason="half(3) is 1: AssertionError"))
REPRODUCED = [reply(ADD_TEST, call("run_tests")), FOUND]
SOLUTION = CHANGE | {"decision": "change", "diagnosis": "It rounds down, says the first."}
NOTHING = {"decision": "no_change_needed", "diagnosis": "It is as documented, says the second.", "summary": "nothing"}
WRONG = call("edit", path="calc.py", edits=[{"old": "number // 2", "new": "number // 2 + number % 2"}])
BACK = call("edit", path="calc.py", edits=[{"old": "number // 2 + number % 2", "new": "number // 2"}])
BLAMED = [reply(ADD_TEST), reply(call("submit", **(REVIEW | {"verdict": "failed", "fault": "plan"})))]


def plan(diagnosis: str, decision: str = "change", regions: tuple[str, ...] = ("calc.py:1-2",)) -> list[Completion]:
    tasks = [{"title": "true division", "regions": regions, "change": "divide"}] if decision == "change" else []
    return [reply(call("submit", decision=decision, diagnosis=diagnosis, subtasks=tasks))]


def submitted(*calls: Any, **words: Any) -> list[Completion]:
    return [reply(*calls, call("submit", **(CHANGE | words)))]


class Stopped(Stage):
    """The money is spent as soon as somebody is asked who has no script."""

    def __init__(self, folder: Path, scripts: Mapping[str, Any]) -> None:
        super().__init__(folder, scripts, really)
        self._scripted = frozenset(scripts)

    def complete(self, request: Request) -> Completion:
        if request.agent not in self._scripted:
            raise OverBudget("spent")
        return super().complete(request)


WHOLE = baseline(report([OLD]))


def played(folder: Path, strategy: str, scripts: Mapping[str, Any], base: Baseline = WHOLE) -> Delivery:
    tree = Tree(MemoryBase({"calc.py": FileState(CODE.encode()), "tests/test_calc.py": FileState(TESTS.encode())}))
    delivery: Delivery = perform(STRATEGIES[strategy](Assignment(TASK, tree, base)), Stopped(folder, scripts))
    return delivery


@pytest.mark.parametrize(
    ("strategy", "scripts", "ended", "said"),
    [
        ("single", {"single-1": [reply(WRONG, call("submit", **SOLUTION))]}, "stopped", SOLUTION["diagnosis"]),
        (
            "single",
            {
                "single-1": [reply(WRONG, call("submit", **SOLUTION))],
                "single-2": [reply(BACK, call("submit", **(CHANGE | NOTHING)))],
            },
            "declined",
            SOLUTION["diagnosis"],
        ),
        (
            "self-collaboration",
            {
                "analyst-1": plan("It rounds, says the first."),
                "coder-1": submitted(WRONG),
                "tester-1": BLAMED,
                "analyst-2": plan("It rounds, says the second."),
            },
            "stopped",
            "It rounds, says the first.",
        ),
        (
            "self-collaboration",
            {
                "analyst-1": plan("It rounds, says the first."),
                "coder-1": submitted(WRONG),
                "tester-1": BLAMED,
                "analyst-2": plan("It is as documented.", "no_change_needed"),
            },
            "declined",
            "It rounds, says the first.",
        ),
        ("team", {"reproducer-1": REPRODUCED, "coder-1": submitted(WRONG, cause="A typo.")}, "stopped", "A typo."),
        (
            "team",
            {
                "reproducer-1": REPRODUCED,
                "coder-1": submitted(FIX, cause="A typo."),
                "challenger-1": [reply(call("submit", verdict="holds"))],
            },
            "done",
            "A typo.",
        ),
        (
            "team",
            {
                "reproducer-1": REPRODUCED,
                "coder-1": submitted(WRONG),
                "analyst-1": plan("It rounds everywhere.", regions=tuple(f"part{n}.py:1-9" for n in range(9))),
                "mother-0": [
                    reply(
                        call(
                            "submit",
                            **(SOLUTION | {"diagnosis": "It rounds, says the root."}),
                            code=[{"span": "calc.py::half", "text": "def half(number):\n    return 7\n"}],
                        )
                    )
                ],
            },
            "stopped",
            "It rounds everywhere.",
        ),
    ],
    ids=[
        "an agent that was stopped",
        "an agent that declines later",
        "a plan that was not followed any more",
        "an analyst who declines later",
        "a team that was stopped before it had a plan",
        "a coder of few words",
        "an organization that made it worse",
    ],
)
def test_what_is_delivered_is_told_in_the_words_by_which_it_was_made(
    tmp_path: Path, strategy: str, scripts: dict[str, Any], ended: str, said: str
) -> None:
    delivery = played(tmp_path, strategy, scripts)
    assert delivery.ended == ended
    assert delivery.best is not None
    assert delivery.best.round == 1
    assert delivery.plan is not None
    assert delivery.plan.diagnosis == said
    assert delivery.board.all("change"), "the board is handed over"


DISPUTED = {"wrong_tests": "test_odd asserts what nobody asked for"}
STEPS = {"clarify": "half must divide", "method": "true division", "pseudocode": "give number / 2"}


@pytest.mark.parametrize(
    ("strategy", "scripts"),
    [
        ("self-collaboration", {"analyst-1": plan("It rounds."), "coder-1": submitted(FIX)}),
        ("self-collaboration", {"analyst-1": plan("It rounds."), "coder-1": submitted(FIX, plan_fault="It is not.")}),
        ("team", {"reproducer-1": REPRODUCED, "coder-1": submitted(FIX, **DISPUTED)}),
        ("agentcoder", {"programmer-1": submitted(FIX, **STEPS, decision="change")}),
    ],
    ids=["before it is tested", "before it is planned anew", "before disputed tests are seen again", "before tests"],
)
def test_code_that_was_handed_over_when_the_money_ended_is_proved(
    tmp_path: Path, strategy: str, scripts: dict[str, Any]
) -> None:
    delivery = played(tmp_path, strategy, scripts)
    assert isinstance(delivery.stop, OverBudget)
    assert len(delivery.attempts) == 1
    assert delivery.best is not None
    assert delivery.best.verdict.after.failed == 0
    assert delivery.best.change is not None
    assert delivery.best.tree.read("calc.py") == CODE.replace("//", "/").encode()


WHOLE_SPAN = [{"span": "calc.py::half", "text": "def half(number):\n    return number / 2\n"}]
DESIGN = {
    "tests": [
        {
            "test": "tests/test_calc.py::test_odd",
            "kind": "basic",
            "sentence": "half(3) gives 1, I expect 1.5",
            "reason": "as the issue says",
            "call": "half(3)",
            "expected": "1.5",
        }
    ],
    "not_applicable": {"edge": "there is none", "large-scale": "one division"},
    "fails_without": "half(3) is 1: AssertionError",
}
HOLDS = [reply(call("submit", verdict="holds"))]


@pytest.mark.parametrize(
    ("strategy", "scripts"),
    [
        ("single", {"single-1": [reply(FIX, ADD_TEST, call("submit", **SOLUTION))]}),
        (
            "self-collaboration",
            {
                "analyst-1": plan("It rounds down."),
                "coder-1": submitted(FIX),
                "tester-1": [reply(ADD_TEST), reply(call("submit", **REVIEW))],
            },
        ),
        ("team", {"reproducer-1": REPRODUCED, "coder-1": submitted(FIX), "challenger-1": HOLDS}),
        (
            "agentcoder",
            {
                "programmer-1": [reply(FIX, call("submit", **(CHANGE | STEPS | {"decision": "change"})))],
                "test-designer-1": [reply(ADD_TEST, call("submit", **DESIGN))],
            },
        ),
        (
            "self-organized",
            {"mother-0": [reply(call("submit", **SOLUTION, code=WHOLE_SPAN))], "reproducer-1": REPRODUCED},
        ),
    ],
)
def test_no_strategy_goes_on_where_only_a_person_can_say_more(
    tmp_path: Path, strategy: str, scripts: dict[str, Any]
) -> None:
    """The suite is too long to be run whole, which no other code would change."""
    sample = replace(WHOLE, sample=("tests/test_calc.py",), left_out=("tests/test_slow.py",))
    delivery = played(tmp_path, strategy, scripts, sample)
    assert (delivery.ended, delivery.stop) == ("done", None)
    assert delivery.best is not None
    assert delivery.best.verdict.level is Level.DRAFT
    assert len(delivery.attempts) == 1
