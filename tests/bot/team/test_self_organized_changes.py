"""The modification phase: who changes after a failure, what is taken back, how the tree grows and shrinks."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.bench.made_projects import Player, mended, project, shown
from bot.llm.port import Completion, Request, ToolCall
from bot.publish.verdict import baseline
from bot.team.evidence import Assignment
from bot.team.loop import perform
from bot.team.strategies.self_organized import self_organized
from sandbox.port import Result
from tests.bot.team.test_self_organized import Organized, agents, solved
from tests.fakes.stage import call, reply

Change = Callable[[Request, dict[str, Any]], dict[str, Any]]


class Edited(Player):
    """Plays by rule, but what it submits goes through a function first."""

    def __init__(self, change: Change) -> None:
        super().__init__()
        self._change = change

    def complete(self, request: Request) -> Completion:
        completion = super().complete(request)
        calls = [
            ToolCall(one.id, one.name, json.dumps(self._change(request, json.loads(one.arguments))))
            if one.name == "submit"
            else one
            for one in completion.tool_calls
        ]
        return replace(completion, tool_calls=tuple(calls))


def forgetful(times: dict[str, int], forgotten: Callable[[int], int]) -> Change:
    """Child 2 leaves the offset out of the result of its first `forgotten(n)` functions when asked for the nth time."""

    def change(request: Request, value: dict[str, Any]) -> dict[str, Any]:
        if request.role != "child" or not request.agent.startswith("child-2"):
            return value
        times["child-2"] = times.get("child-2", 0) + 1
        spans = list(shown(request.messages[1].content))
        code = []
        for number, (span, text) in enumerate(spans):
            whole = mended(span, text)
            full = text
            for edit in whole.get("edits", []):  # type: ignore[attr-defined]
                full = full.replace(edit["old"], edit["new"])
            if number < forgotten(times["child-2"]):
                full = full.replace(" + offset", "")
            code.append({"span": span, "text": full})
        return value | {"code": code}

    return change


def asked_after_generation(stage: Organized) -> list[str]:
    return [ask.agent for ask in stage.asks if "~" in ask.agent]


def test_one_faulty_leaf_changes_alone(tmp_path: Path) -> None:
    stage, delivery = solved(tmp_path, project(2_000, 12), Edited(forgetful({}, lambda n: 1 if n == 1 else 0)))
    assert delivery.best is not None
    assert delivery.best.sound
    assert [attempt.verdict.level.value for attempt in delivery.attempts] == ["draft", "ready"]
    assert asked_after_generation(stage) == ["mother-0~3", "child-2~2"]
    told = [entry.value for entry in delivery.board.all("agent") if entry.value["kind"] == "told"]
    assert [one["agent"] for one in told] == ["0", "2"]
    assert "Cause: The offset is taken and not added." in told[1]["value"]
    brief = next(ask.brief for ask in stage.asks if ask.agent == "child-2~2")
    assert "AssertionError: assert scale_" in brief["observation"]


def test_a_change_that_makes_it_worse_is_taken_back(tmp_path: Path) -> None:
    lost = {1: 1, 2: 4, 3: 0}
    stage, delivery = solved(tmp_path, project(2_000, 12), Edited(forgetful({}, lambda n: lost[n])))
    failing = [sum(not test.passes for test in attempt.verdict.own) for attempt in delivery.attempts]
    assert failing == [1, 4, 0]
    assert delivery.best is not None
    assert delivery.best.sound
    back = [entry.value for entry in delivery.board.all("agent") if entry.value["kind"] == "rolled back"]
    assert [one["agent"] for one in back] == ["0"]
    third = next(ask.brief for ask in stage.asks if ask.agent == "child-2~3")
    assert third["code"].count("+ offset") == 3, "it goes on from the better state"
    mother = next(ask.brief for ask in stage.asks if ask.agent == "mother-0~4")
    assert "taken back" in mother["tried"]


def test_the_best_state_is_delivered_if_nothing_better_comes(tmp_path: Path) -> None:
    lost = {1: 1, 2: 4, 3: 3, 4: 2}
    stage, delivery = solved(tmp_path, project(2_000, 12), Edited(forgetful({}, lambda n: lost[n])))
    assert delivery.best is not None
    assert delivery.best.round == 1
    assert not delivery.best.sound
    proved = {repr(sorted(tree.patch.to_json().items())) for tree, selection, _ in stage.checked if not selection}
    for attempt in delivery.attempts:
        assert repr(sorted(attempt.tree.patch.to_json().items())) in proved, "a state that was never executed"


def test_a_child_whose_check_passes_stays_as_it_is(tmp_path: Path) -> None:
    def change(request: Request, value: dict[str, Any]) -> dict[str, Any]:
        if "cause" in value:
            value["directions"].append(
                {"part": "1", "direction": "Perhaps this one as well, who knows.", "check": "grep -q offset units/a.py"}
            )
        return forget(request, value)

    forget = forgetful({}, lambda n: 1 if n == 1 else 0)
    stage, delivery = solved(tmp_path, project(2_000, 12), Edited(change))
    assert delivery.best is not None
    assert delivery.best.sound
    assert asked_after_generation(stage) == ["mother-0~3", "child-2~2"]
    checked = [entry.value for entry in delivery.board.all("agent") if entry.value["kind"] == "checked"]
    assert [(one["agent"], one["value"]["passes"]) for one in checked] == [("1", True)]


def test_a_child_in_no_trace_is_not_changed_on_a_guess(tmp_path: Path) -> None:
    refusals = []

    def change(request: Request, value: dict[str, Any]) -> dict[str, Any]:
        if "cause" in value and len(request.messages) == 2:
            value["directions"].append({"part": "3", "direction": "Perhaps this one as well, who knows."})
        elif "cause" in value:
            refusals.append(request.messages[-1].content)
        return forget(request, value)

    forget = forgetful({}, lambda n: 1 if n == 1 else 0)
    stage, _ = solved(tmp_path, project(2_000, 12), Edited(change))
    assert "no trace leads to child 3" in refusals[0]
    assert asked_after_generation(stage) == ["mother-0~3", "child-2~2"]


def test_a_mother_gives_a_missing_part_to_a_new_child_and_drops_a_needless_one(tmp_path: Path) -> None:
    made = project(2_000, 12)
    last = max((path, name) for name, path in made.functions.items())

    def change(request: Request, value: dict[str, Any]) -> dict[str, Any]:
        span = f"{last[0]}::{last[1]}"
        if "parts" in value:
            value["parts"][-1]["spans"].remove(span)
            signature = value["parts"][-1]["signatures"].pop(span)
            value["parts"].append(
                {
                    "spans": [f"{last[0]}::unneeded"],
                    "signatures": {f"{last[0]}::unneeded": "def unneeded() -> int:"},
                    "specification": "Gives 1, for nobody to use.",
                }
            )
            kept.update({"span": span, "signature": signature})
        elif "cause" in value and "is an orphan" in request.messages[1].content.split("<data earlier rounds")[0]:
            value["directions"] = [{"part": "4", "action": "drop", "direction": "Nobody needs it."}]
        elif "cause" in value:
            new = {"part": "new", "action": "add", "spans": [span], "signatures": {span: kept["signature"]}}
            value["directions"] = [
                new | {"direction": "Give this function the keyword-only offset, added to its result."}
            ]
        elif request.role == "child" and "unneeded" in request.messages[1].content:
            return {"code": [{"span": f"{last[0]}::unneeded", "text": "def unneeded() -> int:\n    return 1"}]}
        return value

    kept: dict[str, str] = {}
    stage, delivery = solved(tmp_path, made, Edited(change))
    assert delivery.best is not None
    assert delivery.best.sound
    assert b"unneeded" not in delivery.best.tree.read(last[0])
    assert agents(stage) == {"0", "1", "2", "3", "4", "5"}
    dropped = [entry.value for entry in delivery.board.all("agent") if entry.value["kind"] == "dropped"]
    assert dropped[0]["value"]["child"] == "4"


def test_what_nobody_mends_is_still_proved_and_shown(tmp_path: Path) -> None:
    def change(request: Request, value: dict[str, Any]) -> dict[str, Any]:
        if "cause" in value:
            return {"cause": "I do not know why it is so.", "wrong_tests": ""}
        if request.agent.startswith("child-2"):
            return {"code": []}
        return value

    _, delivery = solved(tmp_path, project(2_000, 12), Edited(change))
    assert delivery.ended == "stuck"
    assert delivery.best is not None
    assert [attempt.tree for attempt in delivery.attempts] == [delivery.best.tree]
    assert delivery.best.change is not None
    assert "child 2 handed over nothing: its places are as they were." in delivery.best.change.doubts
    results = [entry.value for entry in delivery.board.all("agent") if entry.value["kind"] == "result"]
    assert {one["agent"] for one in results} >= {"0", "2"}


def test_an_interface_that_cannot_work_is_agreed_on_anew(tmp_path: Path) -> None:
    made = project(2_000, 12)
    pleas = []

    def change(request: Request, value: dict[str, Any]) -> dict[str, Any]:
        if "parts" in value:
            signatures = value["parts"][1]["signatures"]
            value["parts"][1]["signatures"] = {
                span: text.replace("offset=0", "offset") for span, text in signatures.items()
            }
        elif "cause" in value:
            pleas.append(request.messages[1].content)
            spans = [span for span in made.functions if span in request.messages[1].content]
            right = {
                f"{made.functions[name]}::{name}": f"def {name}(value, *, offset=0):"
                for name in spans
                if f"def {name}(value, *, offset):" in request.messages[1].content
            }
            value["directions"] = [
                {"part": "2", "direction": "The offset has to be 0 by default, as you say.", "signatures": right}
            ]
        elif request.agent == "child-2":
            return {"plea": "Callers give no offset, so it must be 0 by default: `*, offset=0`."}
        return value

    stage, delivery = solved(tmp_path, made, Edited(change))
    assert "Callers give no offset" in pleas[0]
    assert delivery.best is not None
    assert delivery.best.sound
    assert len(delivery.attempts) == 1, "what cannot be right is not tested"
    assert asked_after_generation(stage) == ["mother-0~3", "child-2~2"]


def test_a_test_that_the_root_holds_to_be_wrong_is_judged_by_who_wrote_it(tmp_path: Path) -> None:
    def change(request: Request, value: dict[str, Any]) -> dict[str, Any]:
        if "cause" in value:
            return {"cause": "The test is wrong, not the code.", "wrong_tests": "test_scale_1 asserts the unasked"}
        return forget(request, value)

    forget = forgetful({}, lambda n: 1)
    stage, _ = solved(tmp_path, project(2_000, 12), Edited(change))
    again = next(ask for ask in stage.asks if ask.agent == "reproducer-2")
    assert "test_scale_1 asserts the unasked" in again.brief["objections"]
    assert not any(path.startswith("units/") for path in again.on.patch.files), "it does not see the change"


def test_a_test_that_a_mother_below_the_root_holds_to_be_wrong_is_judged_once(tmp_path: Path) -> None:
    said = "test_scale_1 asserts what nobody asked for"
    times: dict[str, int] = {}

    def change(request: Request, value: dict[str, Any]) -> dict[str, Any]:
        if request.role == "child" and request.agent in {"child-1.1", "child-2.1"}:
            code = [{"span": span, "text": text} for span, text in shown(request.messages[1].content)]
            for one in code:
                one["text"] = one["text"].replace("(value):", "(value, *, offset=0):")
            return value | {"code": code}
        if "cause" in value:
            who = request.agent.partition("~")[0]
            times[who] = times.get(who, 0) + 1
            if who == "mother-1" and times[who] == 1:
                return {"cause": "The test is wrong, not the code.", "wrong_tests": said}
            if who == "mother-0":
                wanted = {1: "1", 2: "2", 3: "1"}[times[who]]
                value["directions"] = [one for one in value["directions"] if one["part"] == wanted]
        return value

    stage, delivery = solved(tmp_path, project(4_000, 60), Edited(change))
    asks = [ask for ask in stage.asks if ask.role.name == "reproducer"]
    assert [ask.agent for ask in asks] == ["reproducer-1", "reproducer-2"]
    assert said in asks[1].brief["objections"]
    assert [entry.value for entry in delivery.board.all("dispute")] == [said]
    assert delivery.best is not None
    assert delivery.best.sound, "the test stood, and the code was mended"


class Alone(Edited):
    """A root that writes all by itself, anew after each failure."""

    def complete(self, request: Request) -> Completion:
        if request.role != "mother":
            return super().complete(request)
        name, value = self.skeleton(request.messages)[0]
        return reply(call(name, **(self._change(request, value) if name == "submit" else value)))


@pytest.mark.parametrize(("lost", "best"), [({1: 1, 2: 0}, 2), ({1: 1, 2: 2, 3: 2, 4: 2}, 1)], ids=["better", "worse"])
def test_who_writes_anew_is_taken_at_the_words_for_what_is_delivered(
    tmp_path: Path, lost: dict[int, int], best: int
) -> None:
    times = iter(lost)

    def change(request: Request, value: dict[str, Any]) -> dict[str, Any]:
        if request.role != "mother":
            return value
        number = next(times)
        for one in value["code"][: lost[number]]:
            one["text"] = one["text"].replace(" + offset", "")
        words = {"title": f"Give an offset, try {number}", "diagnosis": f"No offset, says try {number}."}
        return value | words | {"doubts": [f"doubt {number}"]}

    _, delivery = solved(tmp_path, project(2_000, 2), Alone(change))
    assert delivery.best is not None and delivery.best.change is not None and delivery.plan is not None
    assert delivery.best.round == best
    assert delivery.best.change.title == f"Give an offset, try {best}"
    assert delivery.best.change.cause == delivery.plan.diagnosis == f"No offset, says try {best}."
    assert delivery.plan.doubts == [f"doubt {best}"]
    told = [entry.value.diagnosis for entry in delivery.board.all("skeleton")]
    assert told == [f"No offset, says try {number}." for number in lost]


def test_a_skeleton_that_cannot_be_imported_is_made_anew(tmp_path: Path) -> None:
    made = project(2_000, 12)
    stage = Organized(tmp_path, made, Player(), lambda names: None)
    seen = []

    def commands(tree: Any, command: str) -> Result:
        seen.append((tree, command))
        broken = any(b"offset=0" in tree.read(path) for path in tree.patch.files) and len(seen) == 1
        return Result(1 if broken else 0, "units.a: NameError: name 'Text' is not defined" if broken else "", 0.1)

    stage._commands = commands
    work = Assignment(made.task, made.tree, baseline(made.report(made.tree, ())))
    delivery = perform(self_organized(work), stage)
    assert delivery.best is not None
    assert delivery.best.sound
    assert "importlib.import_module" in seen[0][1]
    skeleton = seen[0][0]
    for name, path in made.functions.items():
        text = skeleton.read(path).decode()
        compile(text, path, "exec")
        assert f"def {name}(value, *, offset=0):" in text
        assert f"return value * {name.rpartition('_')[2]}\n" in text, "no body has changed yet"
    again = next(request for request in stage.requests if request.agent == "mother-0~2")
    assert "NameError: name 'Text' is not defined" in again.messages[1].content


def test_what_says_that_nothing_has_to_be_changed_ends_there(tmp_path: Path) -> None:
    class Declining(Player):
        def complete(self, request: Request) -> Completion:
            if request.role == "mother":
                return reply(
                    call(
                        "submit",
                        decision="no_change_needed",
                        diagnosis="It is as it should be already.",
                        title="Nothing to be done",
                        summary="The offset is there.",
                    )
                )
            return super().complete(request)

    _, delivery = solved(tmp_path, project(1_000, 4), Declining())
    assert delivery.best is None
    assert delivery.ended == "declined"
