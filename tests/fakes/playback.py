"""A server that plays a recorded conversation back over HTTP and counts what it is asked."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from bot.llm.budget import steady
from bot.llm.port import Completion
from bot.records import Completed
from bot.transcript import read, requests
from tests.fakes.local_server import local_server

Key = tuple[str, int, int]
"""Role, which agent of that role (from 0, in the order in which they first asked), answers so far. What prompts say is
left out, so that they can be reworded without a new recording."""
ROLE = re.compile(r"^Your role: ([\w ]+)", re.MULTILINE)


@dataclass
class Playback:
    """`asked` counts the requests by key; `before` is called with each one. Those of the numbers in `refused` get none
    but an error for an answer."""

    answers: dict[Key, Completion]
    before: Callable[[int], None] = lambda number: None
    asked: Counter[Key] = field(default_factory=Counter)
    answered: Counter[Key] = field(default_factory=Counter)
    url: str = ""
    refused: set[int] = field(default_factory=set)
    briefs: dict[tuple[str, str], int] = field(default_factory=dict)

    def key_of(self, messages: list[dict[str, Any]]) -> Key:
        """What tells a request from others."""
        found = ROLE.search(str(messages[0].get("content")))
        assert found, "a request without a role"
        role, brief = found[1], steady(str(messages[1].get("content")))
        number = self.briefs.setdefault((role, brief), sum(known == role for known, _ in self.briefs))
        return role, number, sum(message["role"] == "assistant" for message in messages)

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """The recorded completion for a request, as OpenAI writes it."""
        key = self.key_of(body["messages"])
        self.asked[key] += 1
        self.before(sum(self.asked.values()))
        completion = self.answers[key]
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in completion.tool_calls
        ]
        message = {"role": "assistant", "content": completion.text, "refusal": None, "tool_calls": calls or None}
        usage = {"prompt_tokens": completion.usage.input, "completion_tokens": completion.usage.output}
        usage["total_tokens"] = sum(usage.values())
        return {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": completion.model,
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}],
            "usage": usage,
        }


@contextmanager
def playback(recording: Path) -> Iterator[Playback]:
    """Serves the completions of a transcript on a free port of this machine."""
    records = read(recording)
    asked = requests(records)
    state = Playback({})
    for each in records:
        if isinstance(each, Completed):
            messages = [{"role": one.role, "content": one.content} for one in asked[each.agent, each.index].messages]
            state.answers[state.key_of(messages)] = each.completion
    state.briefs.clear()
    with local_server(_handler(state)) as address:
        state.url = f"{address}/v1"
        yield state


def _handler(state: Playback) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            return

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            data = json.dumps(state.answer(body)).encode()
            refused = sum(state.asked.values()) in state.refused
            try:
                self.send_response(500 if refused else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
                self.wfile.flush()
            except OSError:
                return  # the client was killed meanwhile
            if not refused:
                state.answered[state.key_of(body["messages"])] += 1

    return Handler
