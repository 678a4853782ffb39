"""The default team: who is asked follows from what was executed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.publish.verdict import Level, baseline
from bot.task import Task
from bot.team.delivery import Delivery
from bot.team.evidence import Assignment
from bot.team.loop import perform
from bot.team.measuring import measured
from bot.team.strategies.team import team
from repo_tools.patch import FileState
from repo_tools.tree import Tree
from sandbox.port import Result
from tests.bot.team.test_self_collaboration import ADD_TEST, CODE, FIX, OLD, TASK, TESTS, WRONG, really
from tests.fakes.memory_base import MemoryBase
from tests.fakes.stage import Stage, call, reply, report

CHANGE = {"title": "Divide without rounding", "cause": "It rounds.", "summary": "half divides without rounding."}
FOUND = {"decision": "reproduced", "reason": "half(3) is 1: AssertionError"}
HOLDS = {"verdict": "holds"}
REFUTED = {"verdict": "refuted", "counterexample": "half(5) must be 2.5 and is 3"}
PLAN = {
    "decision": "change",
    "diagnosis": "Integer division drops the half.",
    "subtasks": [{"title": "true division", "regions": ["calc.py:1-2"], "change": "divide without rounding"}],
}
MEND = call("edit", path="calc.py", edits=[{"old": "number // 2 + 1", "new": "number / 2"}])
GOOD = {
    "reproducer-1": [reply(ADD_TEST, call("run_tests")), reply(call("submit", **FOUND))],
    "coder-1": [reply(FIX, call("submit", **CHANGE))],
    "challenger-1": [reply(call("submit", **HOLDS))],
}


@pytest.fixture
def work() -> Assignment:
    tree = Tree(MemoryBase({"calc.py": FileState(CODE.encode()), "tests/test_calc.py": FileState(TESTS.encode())}))
    return Assignment(TASK, tree, baseline(report([OLD])))


def played(stage: Stage, work: Assignment) -> Delivery:
    delivery: Delivery = perform(measured(team)(work), stage)
    return delivery


def shown(stage: Stage, agent: str) -> str:
    return "\n".join(
        message.content for request in stage.requests if request.agent == agent for message in request.messages
    )


def test_a_small_issue_needs_no_plan(tmp_path: Path, work: Assignment) -> None:
    stage = Stage(tmp_path, GOOD, really)
    delivery = played(stage, work)
    assert stage.agents == ["reproducer-1", "coder-1", "challenger-1"]
    assert delivery.best is not None
    assert delivery.best.sound
    assert delivery.plan is not None
    assert delivery.plan.diagnosis == "It rounds."


def test_the_reproducer_works_on_the_unchanged_project_and_never_sees_the_change(
    tmp_path: Path, work: Assignment
) -> None:
    canary = call(
        "edit", path="calc.py", edits=[{"old": "number // 2", "new": "number // 2 + 1  # canary-in-the-diff"}]
    )
    dispute = CHANGE | {"wrong_tests": "test_odd asserts what nobody asked for"}
    scripts: dict[str, Any] = GOOD | {
        "coder-1": [reply(canary, call("submit", **dispute))],
        "reproducer-2": [reply(call("submit", **FOUND))],
        "coder-2": [
            reply(
                call("edit", path="calc.py", edits=[{"old": "number // 2 + 1", "new": "number / 2"}]),
                call("submit", **CHANGE),
            )
        ],
    }
    stage = Stage(tmp_path, scripts, really)
    played(stage, work)
    assert "reproducer-2" in stage.agents
    for ask in stage.asks:
        if ask.role.name == "reproducer":
            assert ask.on.read("calc.py") == CODE.encode()
            assert "canary" not in shown(stage, ask.agent)
    assert "asserts what nobody asked for" in shown(stage, "reproducer-2")


def test_planning_comes_after_a_first_failure(tmp_path: Path, work: Assignment) -> None:
    scripts = GOOD | {
        "coder-1": [reply(WRONG, call("submit", **CHANGE))],
        "analyst-1": [reply(call("submit", **PLAN))],
        "coder-2": [reply(MEND, call("submit", **CHANGE))],
    }
    stage = Stage(tmp_path, scripts, really)
    delivery = played(stage, work)
    assert stage.agents == ["reproducer-1", "coder-1", "analyst-1", "coder-2", "challenger-1"]
    assert delivery.best is not None
    assert delivery.best.sound


def test_what_a_reader_refutes_is_not_ready_until_it_is_mended(tmp_path: Path, work: Assignment) -> None:
    scripts = GOOD | {
        "challenger-1": [reply(call("submit", **REFUTED))],
        "reproducer-2": [reply(call("submit", **FOUND))],
        "analyst-1": [reply(call("submit", **PLAN))],
        "coder-2": [reply(call("submit", **CHANGE))],
        "challenger-2": [reply(call("submit", **REFUTED))],
        "reproducer-3": [reply(call("submit", **FOUND))],
    }
    stage = Stage(tmp_path, scripts, really)
    delivery = played(stage, work)
    assert "half(5) must be 2.5" in shown(stage, "coder-2")
    assert delivery.best is not None
    assert not delivery.best.sound
    assert delivery.ended == "stuck"


def test_a_coder_who_finds_the_plan_wrong_calls_the_analyst(tmp_path: Path, work: Assignment) -> None:
    fault = CHANGE | {"plan_fault": "there is no division in double"}
    scripts = GOOD | {
        "coder-1": [reply(WRONG, call("submit", **CHANGE))],
        "analyst-1": [reply(call("submit", **PLAN))],
        "coder-2": [reply(call("submit", **fault))],
        "analyst-2": [reply(call("submit", **PLAN))],
        "coder-3": [reply(MEND, call("submit", **CHANGE))],
    }
    stage = Stage(tmp_path, scripts, really)
    delivery = played(stage, work)
    assert stage.agents == [
        "reproducer-1", "coder-1", "analyst-1", "coder-2", "analyst-2", "coder-3", "challenger-1"
    ]  # fmt: skip
    assert "there is no division in double" in shown(stage, "analyst-2")
    assert delivery.best is not None
    assert delivery.best.sound


def test_no_tests_are_asked_for_that_no_round_would_use(tmp_path: Path, work: Assignment) -> None:
    texts = ["number // 2", "number / 2", "number / 2.0", "number / 2.00"]
    scripts: dict[str, Any] = {"reproducer-1": GOOD["reproducer-1"]}
    for n in (1, 2, 3):
        edit = call("edit", path="calc.py", edits=[{"old": texts[n - 1] + "\n", "new": texts[n] + "\n"}])
        scripts |= {
            f"coder-{n}": [reply(edit, call("submit", **CHANGE))],
            f"challenger-{n}": [reply(call("submit", **REFUTED))],
            f"reproducer-{n + 1}": [reply(call("submit", **FOUND))],
            f"analyst-{n}": [reply(call("submit", **PLAN))],
        }
    stage = Stage(tmp_path, scripts, really)
    delivery = played(stage, work)
    assert [attempt.refuted for attempt in delivery.attempts] == [True] * 3
    assert stage.agents[-2:] == ["coder-3", "challenger-3"]
    assert stage.agents.count("reproducer-4") == 0


@pytest.mark.parametrize("decision", ["no_change_needed", "cannot_reproduce"])
def test_what_cannot_be_reproduced_ends_before_anything_is_changed(
    tmp_path: Path, work: Assignment, decision: str
) -> None:
    declined = {"decision": decision, "reason": "half is documented to round down"}
    stage = Stage(tmp_path, {"reproducer-1": [reply(call("submit", **declined))]}, really)
    delivery = played(stage, work)
    assert delivery.best is None
    assert delivery.plan is not None
    assert delivery.plan.decision == decision


def test_faults_put_into_the_change_show_what_the_tests_are_worth(tmp_path: Path, work: Assignment) -> None:
    stage = Stage(tmp_path, GOOD, really)
    delivery = played(stage, work)
    assert delivery.best is not None
    assert delivery.best.measured[-1].startswith("Of 3 small faults put into the changed lines")
    assert any("a fault put into line 2" in reason for _, _, reason in stage.checked)


def test_the_code_of_the_issue_is_run_before_and_after(tmp_path: Path, work: Assignment) -> None:
    body = "```python\n>>> half(3)\n1.5\n```"
    task = Task("calc", TASK.title, body, TASK.base_commit)
    ran = []

    def commands(tree: Tree, command: str) -> Result:
        ran.append(tree.read("calc.py"))
        got = "1.5" if b"number / 2" in ran[-1] else "1"
        return Result(0, f'noise\nagent-fix-examples:[["half(3)\\n", "1.5\\n", "{got}\\n"]]\n', 0.1)

    stage = Stage(tmp_path, GOOD, really, commands)
    delivery = played(stage, Assignment(task, work.tree, work.baseline))
    assert ran == [CODE.encode(), CODE.replace("//", "/").encode()]
    assert "-> 1\n   the issue shows: 1.5" in shown(stage, "reproducer-1")
    assert delivery.best is not None
    assert "gave `1` and gives `1.5` now" in delivery.best.measured[0]


def test_a_weakness_that_the_change_brings_goes_back_to_the_coder_and_stays_a_draft_until_it_is_mended(
    tmp_path: Path, work: Assignment
) -> None:
    weak = call("edit", path="calc.py", edits=[{"old": "number // 2", "new": "eval(f'{number} / 2')"}])
    mend = call("edit", path="calc.py", edits=[{"old": "eval(f'{number} / 2')", "new": "number / 2"}])
    scripts = GOOD | {
        "coder-1": [reply(weak, call("submit", **CHANGE))],
        "analyst-1": [reply(call("submit", **PLAN))],
        "coder-2": [reply(mend, call("submit", **CHANGE))],
    }
    stage = Stage(tmp_path, scripts, really)
    delivery = played(stage, work)
    first = delivery.attempts[0].verdict
    assert first.level is Level.DRAFT
    assert "`calc.py:2` may be a weakness (bandit B307)" in first.reasons[0]
    assert "may be a weakness" in shown(stage, "coder-2")
    assert delivery.best is not None
    assert delivery.best.sound


def test_what_is_more_than_one_agent_can_hold_goes_on_to_an_organization_with_the_same_tests(
    tmp_path: Path, work: Assignment
) -> None:
    many = [f"calc.py:{n}-{n}" for n in (1, 2)] + [f"part{n % 4}.py:{n}-{n}" for n in range(1, 9)]
    large = PLAN | {"subtasks": [{"title": "everywhere", "regions": many, "change": "divide without rounding"}]}
    skeleton = {
        "decision": "change",
        "diagnosis": "Integer division drops the half.",
        "title": "Divide without rounding",
        "summary": "half divides.",
        "code": [{"span": "calc.py::half", "text": "def half(number):\n    return number / 2\n"}],
    }
    scripts = GOOD | {
        "coder-1": [reply(WRONG, call("submit", **CHANGE))],
        "analyst-1": [reply(call("submit", **large))],
        "mother-0": [reply(call("submit", **skeleton))],
    }
    stage = Stage(tmp_path, scripts, really)
    delivery = played(stage, work)
    assert stage.agents == ["reproducer-1", "coder-1", "analyst-1", "mother-0"]
    assert "everywhere" in shown(stage, "mother-0"), "the plan is not made in vain"
    assert delivery.best is not None
    assert delivery.best.sound
    assert [proof.id for proof in delivery.best.verdict.proofs] == ["tests/test_calc.py::test_odd"]
    assert len(delivery.attempts) == 2
    assert delivery.board.last("skeleton") is not None
    assert delivery.board.last("reproduction") is not None
