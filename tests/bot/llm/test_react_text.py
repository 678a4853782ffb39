"""A model that knows no tools is told of them in words, and what it writes is carried out as calls."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bot
from bot.llm.port import Completion, Message, Request, ToolCall, ToolSpec, Usage
from bot.llm.react_text import TextTools, as_text, parse

TEMPLATE = (Path(bot.__file__).parent / "prompts" / "text_tools.md").read_text("utf-8")
TOOLS = (
    ToolSpec("read", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}}),
    ToolSpec("run", "Run a command.", {"type": "object"}),
)


def instructions(tools: str) -> str:
    return TEMPLATE.replace("{{tools}}", tools)


@dataclass
class Typewriter:
    """A model that writes what it is given, and keeps what it was asked."""

    text: str
    asked: list[Request] = field(default_factory=list)

    def complete(self, request: Request) -> Completion:
        self.asked.append(request)
        return Completion(self.text, (), Usage(10, 5), "old", 1.0, "stop", 0.1)


def test_tools_calls_and_results_are_told_in_words() -> None:
    request = Request(
        "coder",
        (
            Message("system", "You code."),
            Message("user", "Mend it."),
            Message("assistant", "I look.", (ToolCall("a", "read", '{"path": "x"}'), ToolCall("b", "run", "{}"))),
            Message("tool", "1  x", tool_call_id="a"),
            Message("tool", "ok", tool_call_id="b"),
            Message("user", "3 replies are left."),
        ),
        TOOLS,
        "coder-1",
        1,
    )
    told = as_text(request, instructions)
    assert told.tools == () and (told.agent, told.index, told.role) == ("coder-1", 1, "coder")
    system, user, assistant, observation, nudge = told.messages
    assert system.content.startswith("You code.\n\n# Tools")
    assert "## read" in system.content and '{"type":"object","properties":{"path":{"type":"string"}}}' in system.content
    assert "{{" not in system.content
    assert user.content == "Mend it."
    assert assistant.content == 'I look.\n\nAction: read\nArguments: {"path": "x"}\nAction: run\nArguments: {}'
    assert observation == Message("user", "Observation of read:\n1  x\n\nObservation of run:\nok")
    assert nudge.content == "3 replies are left."


def test_without_a_system_message_there_is_one() -> None:
    told = as_text(Request("coder", (Message("user", "hello"),), TOOLS), instructions)
    assert [message.role for message in told.messages] == ["system", "user"]


def test_without_tools_nothing_is_told_or_read() -> None:
    model = Typewriter("Action: read\nArguments: {}")
    request = Request("coder", (Message("system", "s"), Message("user", "u")))
    assert TextTools(model, instructions).complete(request).tool_calls == ()
    assert model.asked == [request]


def test_what_the_model_writes_becomes_calls_with_ids_of_their_own() -> None:
    model = Typewriter('I look.\n\nAction: read\nArguments: {"path": "x"}\nAction: run\nArguments: {"command": "ls"}')
    first = TextTools(model, instructions).complete(Request("coder", (Message("user", "u"),), TOOLS))
    assert (first.text, first.finish, first.usage, first.usd) == ("I look.", "tool_calls", Usage(10, 5), 0.1)
    assert [(call.name, json.loads(call.arguments)) for call in first.tool_calls] == [
        ("read", {"path": "x"}),
        ("run", {"command": "ls"}),
    ]
    again = Request("coder", (Message("user", "u"), Message("assistant", "", first.tool_calls)), TOOLS)
    second = TextTools(model, instructions).complete(again)
    assert not {call.id for call in first.tool_calls} & {call.id for call in second.tool_calls}


WRITTEN = {
    "prose": ("The action: none is needed.", []),
    "no arguments": ("Action: run_tests", [("run_tests", "{}")]),
    "fenced": ('Action: read\nArguments:\n```json\n{"path": "x"}\n```\n', [("read", '{"path": "x"}')]),
    "bold": ('**Action:** `read`\n**Arguments:** {"path": "x"}', [("read", '{"path": "x"}')]),
    "action input": ('Action: read\nAction Input: {"path": "x"}', [("read", '{"path": "x"}')]),
    "line ends within a text": ('Action: run\nArguments: {"command": "a\nb"}', [("run", '{"command": "a\\nb"}')]),
    "an action within a text": (
        'Action: edit\nArguments: {"new": "x\nAction: rm\nArguments: {}"}\nAction: run\nArguments: {}',
        [("edit", '{"new": "x\\nAction: rm\\nArguments: {}"}'), ("run", "{}")],
    ),
    "no JSON": ("Action: edit\nArguments: {path: x\nAction: run\nArguments: {}", [("edit", "{path: x"), ("run", "{}")]),
    "no JSON in a fence": ("Action: edit\nArguments:\n```\npath=x\n```", [("edit", "path=x")]),
    "an observation of its own": (
        "Action: run\nArguments: {}\nObservation: all passed\nAction: submit\nArguments: {}",
        [("run", "{}")],
    ),
    "an unknown tool": ("Action: dance", [("dance", "{}")]),
}


@pytest.mark.parametrize(("text", "calls"), WRITTEN.values(), ids=WRITTEN.keys())
def test_replies_are_read_as_models_write_them(text: str, calls: list[tuple[str, str]]) -> None:
    _, made = parse(text, "c")
    assert [(call.name, call.arguments) for call in made] == calls


json_objects = st.dictionaries(st.text(), st.text() | st.integers() | st.lists(st.text()), max_size=4)
names = st.from_regex(r"[a-z_]{1,12}", fullmatch=True)


@given(st.sampled_from(["", "I think so."]), st.lists(st.tuples(names, json_objects), max_size=4))
def test_what_is_told_is_read_back(words: str, calls: list[tuple[str, dict[str, object]]]) -> None:
    made = tuple(ToolCall(f"c_{n}", name, json.dumps(value)) for n, (name, value) in enumerate(calls))
    request = Request("coder", (Message("assistant", words, made),))
    text, read = parse(as_text(request, instructions).messages[0].content, "c")
    assert text == words
    assert [(call.id, call.name, json.loads(call.arguments)) for call in read] == [
        (call.id, call.name, json.loads(call.arguments)) for call in made
    ]


@given(st.text())
def test_any_reply_can_be_read(text: str) -> None:
    parse(text, "c")
    parse(f"Action: read\nArguments: {text}", "c")


@pytest.mark.parametrize(
    "piece", [" ", "\n", "`", "Action: a\n", "Action: a\nArguments: ", "Observation\n", "[", '{"a":']
)
def test_a_model_that_runs_away_is_read_in_no_time(piece: str) -> None:
    text = "Action: read\nArguments:" + piece * (200_000 // len(piece))
    start = time.process_time()
    parse(text, "c")
    parse(piece * (200_000 // len(piece)), "c")
    assert time.process_time() - start < 5
