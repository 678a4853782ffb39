"""A recording answers what it was asked, in any order of agents, and says at which step it is asked something else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bot.errors import Diverged
from bot.llm.port import Completion, Message, Request, ToolCall, ToolSpec
from bot.llm.recorded import Compare, PaidBefore, Recorded, answer
from bot.records import ToolUsed
from bot.secrets_mask import Mask
from bot.transcript import Transcript, read, requests
from tests.bot.test_transcript import MASK, START, conversation, perform

EDIT = ToolSpec("edit", "Edit.", {})
TOKEN = "ghp_" + "a1b2c3" * 6


def recorded(tmp_path: Path, compare: Compare = Compare.STRICT) -> Recorded:
    with Transcript(tmp_path / "t", MASK) as transcript:
        transcript.add(START)
        perform(transcript, "coder-1", 3)
        perform(transcript, "coder-2", 2)
    return Recorded.of_transcript(tmp_path / "t", compare)


def test_each_agent_gets_its_own_answers_in_any_order(tmp_path: Path) -> None:
    model = recorded(tmp_path)
    asked = [*conversation("coder-2", 2), *conversation("coder-1", 3)]
    for request, reply, _ in asked:
        assert model.complete(request) == reply


def test_a_run_that_goes_on_from_the_middle_is_answered(tmp_path: Path) -> None:
    model = recorded(tmp_path)
    request, reply, _ = conversation("coder-1", 3)[2]
    assert model.complete(request) == reply


def test_what_was_paid_before_is_given_and_only_the_rest_is_asked_for(tmp_path: Path) -> None:
    asked: list[Request] = []

    class Live:
        def complete(self, request: Request) -> Completion:
            asked.append(request)
            return answer("new")

    earlier = Recorded.script({"coder-3": [answer("from an earlier one")]})
    model = PaidBefore([recorded(tmp_path), earlier], Live())
    for request, reply, _ in conversation("coder-1", 3):
        assert model.complete(request) == reply
    assert model.complete(Request("coder", (), (), "coder-3")).text == "from an earlier one"
    assert asked == []
    request = conversation("coder-1", 3)[2][0]
    otherwise, more = _message(1, content="Mend it otherwise.")(request), replace(request, index=3)
    assert [model.complete(one).text for one in (otherwise, more)] == ["new", "new"]
    assert asked == [otherwise, more]


def _message(number: int, **changes: object) -> Callable[[Request], Request]:
    def change(request: Request) -> Request:
        messages = list(request.messages)
        messages[number] = replace(messages[number], **changes)  # type: ignore[arg-type]
        return replace(request, messages=tuple(messages))

    return change


CHANGES: dict[str, tuple[Callable[[Request], Request], str]] = {
    "one request more": (lambda r: replace(r, index=9), "Request 10 of coder-1 is not in the record, which has 3 of"),
    "another agent": (lambda r: replace(r, agent="tester"), "which has only coder-1, coder-2"),
    "role": (lambda r: replace(r, role="tester"), "Request 3 of coder-1 .*role was 'coder' and is now 'tester'"),
    "tools": (lambda r: replace(r, tools=(*r.tools, EDIT)), "tools was 'read' and is now 'edit, read'"),
    "one message less": (lambda r: replace(r, messages=r.messages[:-1]), "messages was"),
    "system prompt": (_message(0, content="You test."), r"message 1 \(system\), line 1 was 'You code.'"),
    "issue": (_message(1, content="Mend it.\nNow."), "number of lines was '1' and is now '2'"),
    "own answer": (_message(2, content="other"), "own answers was"),
    "own call": (_message(2, tool_calls=(ToolCall("c0", "read", "{}"),)), "own answers was"),
}


@pytest.mark.parametrize(("change", "said"), CHANGES.values(), ids=CHANGES.keys())
def test_what_differs_is_named_with_its_step(tmp_path: Path, change: Callable[[Request], Request], said: str) -> None:
    request = change(conversation("coder-1", 3)[2][0])
    with pytest.raises(Diverged, match=said):
        recorded(tmp_path).complete(request)


def test_what_tools_said_may_differ(tmp_path: Path) -> None:
    request = _message(3, content="1 failed in 0.3s")(conversation("coder-1", 3)[2][0])
    recorded(tmp_path).complete(request)


def test_durations_and_masked_secrets_in_the_opening_are_no_difference(tmp_path: Path) -> None:
    opening = "The suite: 3 failed in {} s. Token {}."
    first = Request("coder", (Message("user", opening.format("0.12", TOKEN)),), (), "c")
    with Transcript(tmp_path / "t", Mask()) as transcript:
        transcript.add(START)
        transcript.completion(first, answer("x"))
    again = Request("coder", (Message("user", opening.format("1.40", TOKEN)),), (), "c")
    assert Recorded.of_transcript(tmp_path / "t").complete(again).text == "x"


def test_reworded_prompts_pass_where_only_calls_are_compared(tmp_path: Path) -> None:
    model = recorded(tmp_path, Compare.CALLS)
    for request, reply, _ in conversation("coder-1", 3):
        assert (
            model.complete(replace(_message(0, content="New words.")(request), tools=(*request.tools, EDIT))) == reply
        )
    request = conversation("coder-2", 1)[0][0]
    with pytest.raises(Diverged, match="calls read, not offered now"):
        model.complete(replace(request, tools=(EDIT,)))
    with pytest.raises(Diverged, match="role"):
        model.complete(replace(request, role="tester"))


def test_a_script_is_answers_by_agent_with_ids_of_their_own() -> None:
    model = Recorded.script(
        {
            "coder-1": [
                answer("look", ("read", {"path": "a"}), ("read", {"path": "b"})),
                answer("", ("edit", "{broken")),
            ],
            "tester-1": [answer("fine")],
        }
    )
    request = Request("coder", (), (), "coder-1")
    first, second = model.complete(request), model.complete(replace(request, index=1))
    assert [call.arguments for call in (*first.tool_calls, *second.tool_calls)] == [
        '{"path": "a"}',
        '{"path": "b"}',
        "{broken",
    ]
    assert len({call.id for call in (*first.tool_calls, *second.tool_calls)}) == 3
    with pytest.raises(Diverged, match="Request 3 of coder-1 is not in the record, which has 2 of coder-1"):
        model.complete(replace(request, index=2))


def test_a_replayed_run_writes_the_same_transcript(tmp_path: Path) -> None:
    model = recorded(tmp_path)
    with Transcript(tmp_path / "again", MASK) as transcript:
        transcript.add(START)
        for agent, steps in (("coder-1", 3), ("coder-2", 2)):
            for request, _, used in conversation(agent, steps):
                transcript.completion(request, model.complete(request))
                transcript.add(ToolUsed.model_validate(used.model_dump()))
    assert requests(read(tmp_path / "again")) == requests(read(tmp_path / "t"))
    with Transcript.resume(tmp_path / "again", MASK) as transcript:
        transcript.add(START)
        perform(transcript, "coder-1", 3)
