"""AgentCoder's team on a repository: who sees what, what counts as a test, what becomes of a wrong one."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from bot.errors import OverBudget
from bot.llm.port import Completion, Request, ToolCall
from bot.publish.verdict import baseline
from bot.task import Task
from bot.team import evidence, feedback
from bot.team.delivery import Delivery
from bot.team.evidence import Assignment
from bot.team.loop import perform
from bot.team.steps import Check, Execute
from bot.team.strategies.agentcoder import ROUNDS, agentcoder, sampling
from bot.team.testbench import REDESIGNS
from repo_tools.patch import FileState
from repo_tools.tree import Tree
from sandbox.port import Result, TestOutcome, TestReport
from tests.fakes.memory_base import MemoryBase
from tests.fakes.stage import Stage, call, reply, report

CODE = "def half(number):\n    return number // 2\n"
TESTS = "from calc import half\n\n\ndef test_even():\n    assert half(4) == 2\n"
FILE = "tests/test_calc.py"
OLD, ODD, ZERO = f"{FILE}::test_even", f"{FILE}::test_odd", f"{FILE}::test_zero"
TASK = Task("calc", "half(3) is wrong", "half(3) gives 1, I expect 1.5. Half of zero stays zero.", "0" * 40)
CANARY = "canary_7f3a"

STEPS = {
    "decision": "change",
    "clarify": "half must divide without rounding",
    "method": "true division, constant cost",
    "pseudocode": "give the number divided by two",
    "title": "Divide without rounding",
    "summary": "half divides without rounding.",
}
ASSERTED = re.compile(r"def (test_\w+)\(\):\n    assert half\((.+?)\) == (.+)\n")


def entry(name: str = "test_odd", **other: Any) -> dict[str, Any]:
    return {
        "test": f"{FILE}::{name}",
        "kind": "basic",
        "sentence": "half(3) gives 1, I expect 1.5",
        "reason": "the reported case",
        "call": "half(3)",
        "expected": "1.5",
    } | other


ZERO_ENTRY = entry(
    "test_zero", kind="edge", sentence="Half of zero stays zero.", reason="the border", call="half(0)", expected="0"
)
DESIGN = {
    "tests": [entry(), ZERO_ENTRY],
    "not_applicable": {"large-scale": "the size of a number does not matter"},
    "fails_without": "half(3) is 1: AssertionError",
}


def edit(old: str, new: str) -> ToolCall:
    return call("edit", path="calc.py", edits=[{"old": old, "new": new}])


def add(*tests: tuple[str, str, str]) -> ToolCall:
    """An edit that appends tests (name, argument, expected)."""
    text = "".join(f"\n\ndef {name}():\n    assert half({given}) == {wanted}\n" for name, given, wanted in tests)
    return call("edit", path=FILE, edits=[{"old": "half(4) == 2\n", "new": "half(4) == 2\n" + text}])


RIGHT = reply(edit("number // 2", "number / 2"), call("submit", **STEPS))
BAD_CODE = reply(edit("number // 2", f"number // 2  # {CANARY}"), call("submit", **STEPS))
GOOD_TESTS = reply(add(("test_odd", "3", "1.5"), ("test_zero", "0", "0")), call("submit", **DESIGN))
GOOD = {"programmer-1": [RIGHT], "test-designer-1": [GOOD_TESTS]}


def really(tree: Tree, selection: tuple[str, ...]) -> TestReport:
    """What the tests in the tree say of its `half`, worked out rather than scripted."""
    space: dict[str, Any] = {}
    exec(tree.read("calc.py"), space)  # our own text, from this file
    passed, failed = [], {}
    for name, given, wanted in ASSERTED.findall(tree.read(FILE).decode()):
        test = f"{FILE}::{name}"
        if selection and not any(test.startswith(one) for one in selection):
            continue
        try:
            actual = space["half"](ast.literal_eval(given))
        except TypeError as error:
            failed[test] = f"tests/test_calc.py:9: in {name}\nE   {type(error).__name__}: {error}"
            continue
        if actual == eval(wanted):
            passed.append(test)
        else:
            failed[test] = f"{FILE}:9: in {name}\n    assert half({given}) == {wanted}\nE   assert {actual} == {wanted}"
    return report(passed, failed)


@pytest.fixture
def work() -> Assignment:
    tree = Tree(MemoryBase({"calc.py": FileState(CODE.encode()), FILE: FileState(TESTS.encode())}))
    return Assignment(TASK, tree, baseline(report([OLD])))


def played(stage: Stage, work: Assignment, strategy: Any = agentcoder, **options: Any) -> Delivery:
    delivery: Delivery = perform(strategy(work, **options), stage)
    return delivery


def seen(stage: Stage, agent: str) -> str:
    """Everything that an agent was shown."""
    return "\n".join(message.content for one in stage.requests if one.agent == agent for message in one.messages)


def test_programmer_designer_and_executor_deliver_a_proved_change(tmp_path: Path, work: Assignment) -> None:
    stage = Stage(tmp_path, GOOD, really)
    delivery = played(stage, work)
    assert stage.agents == ["programmer-1", "test-designer-1"]
    assert delivery.best is not None
    assert delivery.best.sound
    assert delivery.best.tree.read("calc.py") == CODE.replace("//", "/").encode()
    assert {test.id for test in delivery.best.verdict.own} == {ODD, ZERO}
    assert [proof.id for proof in delivery.best.verdict.proofs] == [ODD]


def test_ac1_the_four_steps_are_handed_over_apart_from_the_code_in_every_round(
    tmp_path: Path, work: Assignment
) -> None:
    scripts = GOOD | {"programmer-1": [BAD_CODE], "programmer-2": [reply(edit("//", "/"), call("submit", **STEPS))]}
    stage = Stage(tmp_path, scripts, really)
    delivery = played(stage, work)
    steps = {key: STEPS[key] for key in ("clarify", "method", "pseudocode")}
    assert [note.value for note in stage.notes if note.slot == "reasoning"] == [steps, steps]
    assert [note.round for note in stage.notes if note.slot == "change"] == [1, 2]
    assert all("clarify" in seen(stage, agent) for agent in ("programmer-1", "programmer-2"))
    assert delivery.best is not None
    assert delivery.best.sound


@pytest.mark.parametrize("missing", ["clarify", "method", "pseudocode"])
def test_ac1_a_programme_without_one_of_its_steps_is_not_taken(tmp_path: Path, work: Assignment, missing: str) -> None:
    short = {key: value for key, value in STEPS.items() if key != missing}
    first = reply(edit("number // 2", "number / 2"), call("submit", **short))
    stage = Stage(tmp_path, GOOD | {"programmer-1": [first, reply(call("submit", **STEPS))]}, really)
    played(stage, work)
    assert missing in next(text for who, name, text, ok in stage.answers if name == "submit" and not ok)


@pytest.mark.parametrize("strategy", [agentcoder, sampling])
def test_ac2_the_designer_never_sees_the_code_whatever_it_looks_at(
    tmp_path: Path, work: Assignment, strategy: Any
) -> None:
    """The canary is in the programmers' code; the designer reads the file, searches for it, runs and is asked again."""
    look = reply(call("read", path="calc.py"), call("search", pattern="canary"), call("run", command="git diff"))
    broken = reply(
        add(("test_odd", "3", "1.5"), ("test_zero", "0", "0")),
        call("submit", **(DESIGN | {"tests": [entry(), entry("test_missing")]})),
    )
    unable = "E   fixture 'database' not found"
    mended = call("edit", path=FILE, edits=[{"old": "half(3) == 1.5", "new": "half(3) == 3 / 2"}])
    scripts = {
        "programmer-1": [BAD_CODE],
        "programmer-2": [BAD_CODE if strategy is sampling else reply(edit("//", "/"), call("submit", **STEPS))],
        "programmer-3": [reply(edit("//", "/"), call("submit", **STEPS))],
        "test-designer-1": [look, broken, reply(call("submit", **DESIGN))],
        "test-designer-2": [look, reply(mended, call("submit", **DESIGN))],
    }

    def tests(tree: Tree, selection: tuple[str, ...]) -> TestReport:
        first = selection == (FILE,) and b"3 / 2" not in tree.read(FILE)
        return report([OLD], {ODD: unable}) if first else really(tree, selection)

    stage = Stage(tmp_path, scripts, tests)
    delivery = played(stage, work, strategy, **({"candidates": 2} if strategy is sampling else {}))
    designers = [ask for ask in stage.asks if ask.role.name == "test-designer"]
    assert [ask.agent for ask in designers] == ["test-designer-1", "test-designer-2"]
    assert "def half" in seen(stage, "test-designer-1")
    for ask in designers:
        assert CANARY not in seen(stage, ask.agent)
        assert ask.on.read("calc.py") == CODE.encode()
    assert CANARY in seen(stage, "programmer-3" if strategy is sampling else "programmer-2")
    assert delivery.best is not None
    assert delivery.best.sound


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"not_applicable": {}}, "there is no large-scale test"),
        ({"tests": [entry(), ZERO_ENTRY | {"kind": "basic"}]}, "there is no edge test"),
        ({"tests": [entry(sentence="half(5) should be 2.5"), ZERO_ENTRY]}, "not in the issue word for word"),
        ({"tests": [entry(), ZERO_ENTRY, entry("test_other")]}, "there is no such test"),
        ({"tests": [entry(), entry("test_even", kind="edge")]}, "test_zero is new and not in your list"),
        ({"tests": [entry(), ZERO_ENTRY | {"kind": "large-scale"}], "not_applicable": {"edge": "none"}}, "seconds"),
        (
            {"tests": [entry(), ZERO_ENTRY | {"kind": "large-scale", "seconds": 2}], "not_applicable": {"edge": "-"}},
            "nothing in it bounds its time",
        ),
    ],
)
def test_ac3_a_design_must_cover_each_kind_and_tie_each_test_to_the_issue(
    tmp_path: Path, work: Assignment, change: dict[str, Any], said: str
) -> None:
    first = reply(add(("test_odd", "3", "1.5"), ("test_zero", "0", "0")), call("submit", **(DESIGN | change)))
    stage = Stage(tmp_path, GOOD | {"test-designer-1": [first, reply(call("submit", **DESIGN))]}, really)
    delivery = played(stage, work)
    assert said in next(text for _, name, text, ok in stage.answers if name == "submit" and not ok)
    kinds = {one.kind for one in delivery.board.last("tests").tests}
    assert kinds | set(delivery.board.last("tests").not_applicable) == {"basic", "edge", "large-scale"}


def test_ac3_a_test_without_an_assertion_is_no_test(tmp_path: Path, work: Assignment) -> None:
    silent = call(
        "edit",
        path=FILE,
        edits=[
            {
                "old": "== 2\n",
                "new": "== 2\n\n\ndef test_odd():\n    half(3)\n\n\ndef test_zero():\n    assert half(0) == 0\n",
            }
        ],
    )
    mended = call("edit", path=FILE, edits=[{"old": "    half(3)\n", "new": "    assert half(3) == 1.5\n"}])
    script = [reply(silent, call("submit", **DESIGN)), reply(mended, call("submit", **DESIGN))]
    stage = Stage(tmp_path, GOOD | {"test-designer-1": script}, really)
    played(stage, work)
    assert "asserts nothing" in next(text for _, name, text, ok in stage.answers if name == "submit" and not ok)


def test_ac4_the_tests_stand_in_the_project_s_own_files_and_in_the_change(tmp_path: Path, work: Assignment) -> None:
    stage = Stage(tmp_path, GOOD, really)
    delivery = played(stage, work)
    assert delivery.best is not None
    assert set(delivery.best.tree.patch.files) == {"calc.py", FILE}
    assert delivery.best.tree.read(FILE).startswith(TESTS.encode())
    whole = [tree for tree, selection, _ in stage.checked if not selection]
    assert b"test_odd" in whole[-1].read(FILE), "they run with the project's own command"


@pytest.mark.parametrize(
    ("agent", "forbidden"), [("programmer-1", add(("test_x", "1", "0.5"))), ("test-designer-1", edit("//", "/"))]
)
def test_ac4_nobody_writes_the_other_s_files(tmp_path: Path, work: Assignment, agent: str, forbidden: ToolCall) -> None:
    stage = Stage(tmp_path, GOOD | {agent: [reply(forbidden), *GOOD[agent]]}, really)
    delivery = played(stage, work)
    assert [who for who, _, _, ok in stage.answers if not ok] == [agent]
    assert delivery.best is not None
    assert delivery.best.sound


def test_ac5_the_executor_is_code(work: Assignment) -> None:
    """It wants nothing but runs, and its modules know no model."""
    tree = work.tree.with_file("calc.py", b"def half(number):\n    return number / 2\n")
    proving: Generator[Any, Any, Any] = evidence.prove(work, tree, "", {})
    wanted = next(proving)
    with pytest.raises(StopIteration) as end:
        while True:
            assert isinstance(wanted, Check | Execute)
            wanted = proving.send(report([OLD]))
    assert end.value.value[1].good
    for module in (evidence, feedback):
        names = {
            name
            for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text()))
            for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [])
        }
        assert not any(name.startswith("bot.llm") for name in names)


def test_ac5_ac6_what_failed_goes_back_with_actual_expected_and_trace(tmp_path: Path, work: Assignment) -> None:
    scripts = GOOD | {
        "programmer-1": [reply(edit("number // 2", "number // 2 + 1"), call("submit", **STEPS))],
        "programmer-2": [reply(edit("number // 2 + 1", "number / 2"), call("submit", **STEPS))],
    }
    stage = Stage(tmp_path, scripts, really)
    delivery = played(stage, work)
    told = seen(stage, "programmer-2")
    assert "actual: 2; the test wants 1.5" in told
    assert f"{FILE}:9: in test_odd" in told
    assert "checks: half(3) gives 1, I expect 1.5" in told
    assert f"--- {OLD} (the project's own)" in told, "what the project's tests say comes back too"
    assert "+    return number // 2 + 1" in told, "what failed is shown, so that it is not tried again"
    assert delivery.best is not None
    assert delivery.best.round == 2
    assert delivery.best.sound


def test_ac6_after_five_rounds_the_best_so_far_is_delivered_as_a_draft(tmp_path: Path, work: Assignment) -> None:
    texts = ["number // 2", "number // 2 + 0", "None", "number + 1", "number + 2", "number + 3", "number + 4"]
    scripts: dict[str, Any] = dict(GOOD)
    for number, (old, new) in enumerate(itertools.pairwise(texts), 1):
        scripts[f"programmer-{number}"] = [reply(edit(f"return {old}\n", f"return {new}\n"), call("submit", **STEPS))]
    for number in range(1, 8):  # the tests stand: their value is derived again and is the same
        scripts[f"arbiter-{number}"] = [reply(call("submit", derivation="3 / 2", settled=True, expected="1.5"))]
    stage = Stage(tmp_path, scripts, really)
    delivery = played(stage, work)
    assert [agent for agent in stage.agents if agent.startswith("programmer")] == [
        f"programmer-{number}" for number in range(1, ROUNDS + 1)
    ]
    assert delivery.best is not None
    assert delivery.best.round == 1, "the only one that keeps the project's tests"
    assert not delivery.best.sound
    executed = {tree.read("calc.py").decode() for tree, selection, _ in stage.checked if not selection}
    assert {f"def half(number):\n    return {text}\n" for text in texts[1:6]} <= executed, "the last one too"


def test_ac7_candidates_are_ranked_by_examples_then_the_project_s_tests_then_generated(
    tmp_path: Path, work: Assignment
) -> None:
    """One candidate keeps the example and breaks a generated test, another the other way round; the example counts."""
    one = reply(edit("number // 2", "number / 2 if number else None"), call("submit", **STEPS))
    two = reply(edit("number // 2", "number // 2 + 0"), call("submit", **STEPS))
    scripts = {
        "programmer-1": [two],
        "programmer-2": [one],
        "programmer-3": [reply(call("submit", **(STEPS | {"decision": "no_change_needed"})))],
        "test-designer-1": [GOOD_TESTS],
        "programmer-4": [reply(edit(" if number else None", ""), call("submit", **STEPS))],
    }
    stage = Stage(tmp_path, scripts, really)
    delivery = played(stage, work, sampling, candidates=3)
    ranking = next(note.value for note in stage.notes if note.slot == "ranking")
    assert ranking == {"order": [1, 0], "scores": [[0, 1, 1], [1, 1, 0]]}
    assert "if number else None" in seen(stage, "programmer-4"), "the best of them goes on"
    assert delivery.best is not None
    assert delivery.best.sound


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([reply(call("read", path="calc.py"))] * 9, [RIGHT]),
        ([reply(text="I think.")] * 9, [reply(edit("number // 2", "number / 2")), *[reply(text="Done.")] * 9]),
        (
            [reply(call("submit", **(STEPS | {"decision": "no_change_needed"})))],
            [reply(edit("number // 2", "number / 2")), *[reply(text="Done.")] * 9],
        ),
    ],
    ids=["one goes in circles", "none hands over", "one declines and one does not hand over"],
)
def test_ac7_what_one_candidate_made_is_not_lost_by_how_another_ends(
    tmp_path: Path, work: Assignment, first: list[Completion], second: list[Completion]
) -> None:
    scripts = {"programmer-1": first, "programmer-2": second, "test-designer-1": [GOOD_TESTS]}
    delivery = played(Stage(tmp_path, scripts, really), work, sampling, candidates=2)
    assert delivery.best is not None
    assert delivery.best.sound
    assert delivery.stop is None


@pytest.mark.parametrize("poor", ["programmer-1", "programmer-2", "test-designer-1"])
def test_ac7_what_others_made_is_not_lost_when_the_share_of_one_is_spent(
    tmp_path: Path, work: Assignment, poor: str
) -> None:
    class Poor(Stage):
        def complete(self, request: Request) -> Completion:
            if request.agent in (poor, "programmer-3"):
                raise OverBudget("spent")
            return super().complete(request)

    scripts = {"programmer-1": [RIGHT], "programmer-2": [RIGHT], "test-designer-1": [GOOD_TESTS]}
    delivery = played(Poor(tmp_path, scripts, really), work, sampling, candidates=2)
    assert delivery.best is not None
    assert delivery.best.tree.read("calc.py") == CODE.replace("//", "/").encode()
    assert delivery.best.sound is (poor != "test-designer-1")
    assert any("its share of the money was spent" in said for said in delivery.unfinished)


def test_ac7_when_no_candidate_can_be_paid_for_it_is_said(tmp_path: Path, work: Assignment) -> None:
    class Poor(Stage):
        def complete(self, request: Request) -> Completion:
            raise OverBudget("spent")

    delivery = played(Poor(tmp_path, {}, really), work, sampling, candidates=2)
    assert (delivery.best, delivery.ended) == (None, "stopped")
    assert isinstance(delivery.stop, OverBudget)


def test_ac7_when_all_candidates_see_nothing_to_change_there_is_no_change(tmp_path: Path, work: Assignment) -> None:
    declined = reply(call("submit", **(STEPS | {"decision": "cannot_reproduce"})))
    scripts = {"programmer-1": [declined], "programmer-2": [declined], "test-designer-1": [GOOD_TESTS]}
    delivery = played(Stage(tmp_path, scripts, really), work, sampling, candidates=2)
    assert delivery.ended == "declined"
    assert delivery.best is None
    assert delivery.plan is not None
    assert delivery.plan.decision == "cannot_reproduce"


WRONG = add(("test_odd", "3", "1.5"), ("test_zero", "0", "1"))
WRONG_DESIGN = DESIGN | {"tests": [entry(), ZERO_ENTRY | {"expected": "1"}]}


def derived(value: str, *, settled: bool = True) -> list[Completion]:
    return [reply(call("submit", derivation="zero stays zero", settled=settled, expected=value))]


def test_ac9_a_planted_wrong_test_is_disputed_and_quarantined_and_the_code_stays_right(
    tmp_path: Path, work: Assignment
) -> None:
    dispute = STEPS | {"disputed": [{"test": ZERO, "why": "the issue says that half of zero stays zero"}]}
    scripts = {
        "programmer-1": [RIGHT],
        "test-designer-1": [reply(WRONG, call("submit", **WRONG_DESIGN))],
        "programmer-2": [reply(call("submit", **dispute))],
        "arbiter-1": derived("0"),
        "arbiter-2": derived("0.0"),
    }
    stage = Stage(tmp_path, scripts, really)
    delivery = played(stage, work)
    assert delivery.best is not None
    assert delivery.best.sound
    assert delivery.best.tree.read("calc.py") == CODE.replace("//", "/").encode()
    assert b"test_zero" not in delivery.best.tree.read(FILE)
    assert b"test_odd" in delivery.best.tree.read(FILE)
    assert delivery.best.change is not None
    assert "expected 1; derived again from the issue it is 0" in delivery.best.change.doubts[0], "shown to the reviewer"
    assert stage.agents.count("arbiter-3") == 0, "two of three agree"


def test_ac9_the_arbiter_sees_neither_code_nor_value(tmp_path: Path, work: Assignment) -> None:
    dispute = STEPS | {"disputed": [{"test": ZERO, "why": f"my code says {CANARY}"}]}
    scripts = {
        "programmer-1": [reply(edit("number // 2", f"number / 2  # {CANARY}"), call("submit", **STEPS))],
        "test-designer-1": [
            reply(
                add(("test_odd", "3", "1.5"), ("test_zero", "0", "987654")),
                call("submit", **(DESIGN | {"tests": [entry(), ZERO_ENTRY | {"expected": "987654"}]})),
            )
        ],
        "programmer-2": [reply(call("submit", **dispute))],
        "arbiter-1": derived("0"),
        "arbiter-2": derived("0"),
    }
    stage = Stage(tmp_path, scripts, really)
    played(stage, work)
    for agent in ("arbiter-1", "arbiter-2"):
        assert "half(0)" in seen(stage, agent)
        assert CANARY not in seen(stage, agent)
        assert "987654" not in seen(stage, agent)
        request = next(one for one in stage.requests if one.agent == agent)
        assert [tool.name for tool in request.tools] == ["submit"]


def test_ac9_a_right_test_stands_against_its_dispute(tmp_path: Path, work: Assignment) -> None:
    dispute = STEPS | {"disputed": [{"test": ODD, "why": "rounding is what people expect of integers"}]}
    scripts = GOOD | {
        "programmer-1": [BAD_CODE],
        "programmer-2": [reply(call("submit", **dispute))],
        "programmer-3": [reply(edit("//", "/"), call("submit", **STEPS))],
        "arbiter-1": derived("1.5"),
        "arbiter-2": derived("1.5"),
    }
    stage = Stage(tmp_path, scripts, really)
    delivery = played(stage, work)
    assert f"{ODD} stands" in seen(stage, "programmer-3")
    assert delivery.best is not None
    assert delivery.best.sound
    assert b"test_odd" in delivery.best.tree.read(FILE)


def test_ac9_a_test_that_two_programs_fail_is_questioned_without_being_asked(tmp_path: Path, work: Assignment) -> None:
    scripts = {
        "programmer-1": [RIGHT],
        "test-designer-1": [reply(WRONG, call("submit", **WRONG_DESIGN))],
        "programmer-2": [reply(edit("number / 2", "0.5 * number"), call("submit", **STEPS))],
        "arbiter-1": derived("", settled=False),
        "arbiter-2": derived("", settled=False),
    }
    stage = Stage(tmp_path, scripts, really)
    delivery = played(stage, work)
    assert stage.agents == ["programmer-1", "test-designer-1", "programmer-2", "arbiter-1", "arbiter-2"]
    assert delivery.best is not None
    assert delivery.best.sound
    assert delivery.board.last("ruling").finding == "unsettled"


def test_ac9_tests_that_cannot_run_are_made_anew_a_bounded_number_of_times(tmp_path: Path, work: Assignment) -> None:
    again = reply(call("submit", **DESIGN))
    scripts = GOOD | {f"test-designer-{number}": [again] for number in range(2, 9)}

    def tests(tree: Tree, selection: tuple[str, ...]) -> TestReport:
        found = really(tree, selection)
        if ZERO not in found.tests:
            return found
        unable = {ZERO: "E   fixture 'database' not found"}
        outcomes = dict(found.tests) | {ZERO: TestOutcome.ERROR}
        return TestReport(outcomes, dict(found.messages) | unable, Result(1, "", 0.1))

    stage = Stage(tmp_path, scripts, tests)
    delivery = played(stage, work)
    assert [agent for agent in stage.agents if agent.startswith("test")] == [
        f"test-designer-{number}" for number in range(1, REDESIGNS + 2)
    ]
    assert "fixture 'database' not found" in seen(stage, "test-designer-2")
    assert delivery.best is not None
    assert b"test_zero" not in delivery.best.tree.read(FILE)
    assert delivery.best.change is not None
    assert "cannot run" in delivery.best.change.doubts[0]


@pytest.mark.parametrize("decision", ["no_change_needed", "cannot_reproduce"])
def test_the_programmer_may_decide_against_a_change(tmp_path: Path, work: Assignment, decision: str) -> None:
    script = {"programmer-1": [reply(call("submit", **(STEPS | {"decision": decision})))]}
    delivery = played(Stage(tmp_path, script, really), work)
    assert delivery.ended == "declined"
    assert delivery.plan is not None
    assert delivery.plan.decision == decision


def test_the_same_code_again_is_refused_unless_a_test_is_disputed(tmp_path: Path, work: Assignment) -> None:
    again = reply(call("submit", **STEPS))
    scripts = GOOD | {
        "programmer-1": [BAD_CODE],
        "programmer-2": [again, reply(edit("//", "/"), call("submit", **STEPS))],
    }
    stage = Stage(tmp_path, scripts, really)
    played(stage, work)
    assert "the code is as it was" in next(text for _, _, text, ok in stage.answers if not ok)


def test_when_the_budget_is_spent_the_best_so_far_is_delivered(tmp_path: Path, work: Assignment) -> None:
    class Poor(Stage):
        def complete(self, request: Request) -> Completion:
            if request.agent == "programmer-2":
                raise OverBudget("spent")
            return super().complete(request)

    delivery = played(Poor(tmp_path, GOOD | {"programmer-1": [BAD_CODE]}, really), work)
    assert isinstance(delivery.stop, OverBudget)
    assert delivery.best is not None
    assert delivery.best.round == 1
