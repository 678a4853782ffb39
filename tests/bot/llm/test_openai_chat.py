"""The adapter against a real HTTP server: what goes out, what comes back, and what each failure says."""

from __future__ import annotations

import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from bot.errors import Cancelled, ModelFailed
from bot.llm.openai_chat import OpenAIChat, Server
from bot.llm.port import Completion, Message, Request, ToolCall, ToolSpec, Usage
from tests.fakes.chat_server import Answer, chat_server, error, reply

READ = ToolSpec("read", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}})
REQUEST = Request("coder", (Message("system", "You code."), Message("user", "Mend it.")), (READ,))


def ask(*answers: Answer, request: Request = REQUEST, **server: Any) -> tuple[Completion, list[dict[str, Any]]]:
    with chat_server(*answers) as running:
        chat = OpenAIChat(
            Server(running.url, "sk-test", **({"retries": 2} | server)), {"coder": "gpt-5-mini"}.__getitem__
        )
        return chat.complete(request), running.asked


def test_a_request_carries_the_roles_model_its_messages_and_its_tools() -> None:
    messages = (
        *REQUEST.messages,
        Message("assistant", "", (ToolCall("a1", "read", '{"path": "x.py"}'),)),
        Message("tool", "1  x = 1", tool_call_id="a1"),
        Message("assistant", ""),
    )
    _, asked = ask(reply(), request=Request("coder", messages, (READ,)))
    assert asked[0]["model"] == "gpt-5-mini"
    assert asked[0]["_key"] == "Bearer sk-test"
    assert asked[0]["tools"] == [
        {"type": "function", "function": {"name": "read", "description": "Read a file.", "parameters": READ.parameters}}
    ]
    assert asked[0]["messages"][2:] == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "a1", "type": "function", "function": {"name": "read", "arguments": '{"path": "x.py"}'}}
            ],
        },
        {"role": "tool", "content": "1  x = 1", "tool_call_id": "a1"},
        {"role": "assistant", "content": "(no answer)"},
    ]


def test_without_tools_none_are_sent() -> None:
    _, asked = ask(reply(), request=Request("coder", REQUEST.messages))
    assert "tools" not in asked[0]


def test_the_answers_text_calls_usage_and_price_are_counted_from_what_the_server_said() -> None:
    calls = [{"name": "read", "arguments": '{"path": "a"}'}, {"name": "read", "arguments": "{not json"}]
    done, _ = ask(reply("Looking.", calls, finish="tool_calls"))
    assert done.text == "Looking."
    assert done.tool_calls == (ToolCall("call_0", "read", '{"path": "a"}'), ToolCall("call_1", "read", "{not json"))
    assert done.usage == Usage(input=1000, output=20, cached_input=400)
    assert done.finish == "tool_calls"
    assert done.usd == pytest.approx(600 * 0.25e-6 + 400 * 0.025e-6 + 20 * 2e-6)
    assert 0 < done.seconds < 30


def test_a_model_without_a_price_has_none_and_missing_usage_counts_as_nothing() -> None:
    done, _ = ask(reply(model="house-made", usage=None), request=Request("coder", REQUEST.messages))
    assert done.usage == Usage()
    with chat_server(reply(model="house-made")) as running:
        assert OpenAIChat(Server(running.url, "k"), lambda role: "house-made").complete(REQUEST).usd is None


def test_what_a_server_does_not_count_was_not_free() -> None:
    done, _ = ask(reply(usage=None))
    assert (done.model, done.usd) == (ask(reply())[0].model, None)


def test_a_passing_failure_is_retried_by_the_library() -> None:
    done, asked = ask(error(500, "oops"), error(429, "slow down"), reply("third time"))
    assert (done.text, len(asked)) == ("third time", 3)


FAILURES = {
    "wrong key": (error(401, "Incorrect API key provided"), "OPENAI_API_KEY"),
    "no access": (error(403, "not for you"), "--model"),
    "unknown model": (error(404, "The model `x` does not exist", "model_not_found"), "--model"),
    "too long": (
        error(400, "This model's maximum context length is 8192", "context_length_exceeded"),
        "REQUEST_TOKENS",
    ),
    "too long, another provider": (error(400, "prompt is too long: 210000 tokens > 200000"), "REQUEST_TOKENS"),
    "too large": (error(413, "request entity too large"), "REQUEST_TOKENS"),
    "rate limit": (error(429, "Rate limit reached", "rate_limit_exceeded"), "run again later"),
    "no credit": (error(429, "You exceeded your current quota", "insufficient_quota"), "top it up"),
    "filter on the request": (error(400, "The response was filtered", "content_filter"), "content filter"),
    "filter on the answer": (reply(None, finish="content_filter"), "content filter"),
    "no tools": (error(400, "registry.example/m does not support tools"), "AGENT_FIX_TOOLS=text"),
    "server down": (error(503, "overloaded"), "try again later"),
    "bad request": (error(400, "bad temperature"), "bad temperature"),
    "no choice": (reply(choices=[]), "no answer at all"),
    "choices null, with an error": (reply(choices=None, error={"message": "upstream down"}), "upstream down"),
    "a message of null": (reply(choices=[{"index": 0, "message": None, "finish_reason": "stop"}]), "no answer at all"),
    "a web page": (Answer("<html>Welcome</html>", kind="text/html"), "/v1"),
    "broken JSON": (Answer("{broken"), "OPENAI_BASE_URL"),
    "bytes": (Answer("\udcff".encode("utf-8", "surrogateescape").decode("latin-1")), "OPENAI_BASE_URL"),
    "output used up": (reply("", finish="length"), "larger"),
    "too slow": (Answer({}, hang=20), "AGENT_FIX_REQUEST_SECONDS"),
}


@pytest.mark.parametrize(("answer", "move"), FAILURES.values(), ids=FAILURES.keys())
def test_every_failure_names_the_next_move(answer: Answer, move: str) -> None:
    seconds = 0.3 if answer.hang else 30.0
    with pytest.raises(ModelFailed) as failed:
        ask(answer, seconds=seconds, retries=1)
    assert move in str(failed.value)


@pytest.mark.parametrize(("answer", "move"), FAILURES.values(), ids=FAILURES.keys())
def test_no_failure_tells_everyone_where_the_server_is_or_what_it_says(answer: Answer, move: str) -> None:
    if isinstance(answer.body, dict) and isinstance(answer.body.get("error"), dict):
        inside = {**answer.body["error"], "message": f"{answer.body['error']['message']} at models-7.corp.example"}
        answer = replace(answer, body={**answer.body, "error": inside})
    with chat_server(answer) as running:
        seconds = 0.3 if answer.hang else 30.0
        with pytest.raises(ModelFailed) as failed:
            OpenAIChat(Server(running.url, "k", seconds, 0), lambda role: "m").complete(REQUEST)
    assert not [said for said in ("127.0.0.1", "corp.example") if said in failed.value.public]
    assert failed.value.public in str(failed.value)
    assert ("corp.example" in str(failed.value)) is ("corp.example" in str(answer.body))
    assert pickle.loads(pickle.dumps(failed.value)).public == failed.value.public, "as when it is stored"


def test_half_a_character_in_a_file_does_not_stop_the_request() -> None:
    _, asked = ask(reply(), request=Request("coder", (Message("user", "a\udc80b"),)))
    assert asked[0]["messages"][0]["content"] == "a\\udc80b"


@pytest.mark.parametrize(
    "url", ["localhost:8399/v1", "", "http://", "http://[", "ftp://x", "http://no-such-host.invalid"]
)
def test_an_address_that_is_none_is_an_error_of_the_model(url: str) -> None:
    with pytest.raises(ModelFailed, match="OPENAI_BASE_URL"):
        OpenAIChat(Server(url, "k", retries=0), lambda role: "m").complete(REQUEST)


def test_no_key_is_said_before_anything_is_sent() -> None:
    with chat_server(reply()) as running:
        with pytest.raises(ModelFailed, match="OPENAI_API_KEY"):
            OpenAIChat(Server(running.url, None), lambda role: "m").complete(REQUEST)
        assert running.asked == []


def test_a_server_that_is_not_there_is_named() -> None:
    with chat_server(reply()) as running:
        url = running.url
    with pytest.raises(ModelFailed, match="cannot be reached") as failed:
        OpenAIChat(Server(url, "k", retries=0), lambda role: "m").complete(REQUEST)
    assert url in str(failed.value)
    assert "cannot be reached" in failed.value.public
    assert "127.0.0.1" not in failed.value.public


def test_an_empty_answer_is_an_answer_and_the_agent_decides() -> None:
    done, _ = ask(reply(""))
    assert (done.text, done.tool_calls) == ("", ())


def test_cancelling_from_another_thread_closes_the_request_at_once() -> None:
    cancel = threading.Event()
    with chat_server(Answer({}, hang=60)) as running, ThreadPoolExecutor(2) as pool:
        chat = OpenAIChat(Server(running.url, "k"), lambda role: "m", cancel)
        waiting = [pool.submit(chat.complete, REQUEST) for _ in range(2)]
        while len(running.asked) < 2:
            time.sleep(0.01)
        start = time.monotonic()
        cancel.set()
        for each in waiting:
            with pytest.raises(Cancelled):
                each.result(timeout=10)
        assert time.monotonic() - start < 2
        assert running.gone.wait(2), "the server still holds an open request"


def test_cancelling_ends_the_waiting_between_retries_too() -> None:
    cancel = threading.Event()
    slow = Answer({"error": {"message": "wait"}}, 429, headers={"retry-after": "50"})
    with chat_server(slow) as running, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(OpenAIChat(Server(running.url, "k"), lambda role: "m", cancel).complete, REQUEST)
        while not running.asked:
            time.sleep(0.01)
        cancel.set()
        with pytest.raises(Cancelled):
            waiting.result(timeout=2)


def test_several_threads_share_one_adapter() -> None:
    with chat_server(reply("a")) as running, ThreadPoolExecutor(8) as pool:
        chat = OpenAIChat(Server(running.url, "k"), lambda role: "m")
        done = list(pool.map(lambda _: chat.complete(REQUEST).text, range(8)))
    assert done == ["a"] * 8
