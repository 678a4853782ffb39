"""A real HTTP server that answers chat completions as it is told, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.fakes.local_server import local_server


@dataclass
class Answer:
    """One HTTP answer; `hang` waits that many seconds first, or until the client goes away."""

    body: Any
    status: int = 200
    kind: str = "application/json"
    hang: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class ChatServer:
    """`answers` are given in turn, the last one for ever. `asked` are the bodies of the requests."""

    answers: list[Answer]
    asked: list[dict[str, Any]] = field(default_factory=list)
    gone: threading.Event = field(default_factory=threading.Event)
    """Set when a client closed its connection while it waited."""
    url: str = ""


def reply(
    text: str | None = "done", calls: list[dict[str, Any]] | None = None, *, finish: str = "stop", **more: Any
) -> Answer:
    """A completion as OpenAI writes it; `calls` are {"name", "arguments"}."""
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
    if calls:
        message["tool_calls"] = [
            {"id": f"call_{i}", "type": "function", "function": call} for i, call in enumerate(calls)
        ]
    body = {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-5-mini-2025-08-07",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": 1000,
            "completion_tokens": 20,
            "total_tokens": 1020,
            "prompt_tokens_details": {"cached_tokens": 400},
        },
    }
    return Answer(body | more)


def error(status: int, message: str, code: str | None = None) -> Answer:
    """An error as OpenAI writes it; the client is told to retry at once where it retries."""
    body = {"error": {"message": message, "type": "x", "param": None, "code": code}}
    return Answer(body, status, headers={"retry-after-ms": "1"})


@contextmanager
def chat_server(*answers: Answer) -> Iterator[ChatServer]:
    """Serves `answers` on a free port of this machine."""
    state = ChatServer(list(answers))
    with local_server(_handler(state)) as address:
        state.url = f"{address}/v1"
        yield state


def _handler(state: ChatServer) -> Callable[..., BaseHTTPRequestHandler]:
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            return

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                state.asked.append(body | {"_path": self.path, "_key": self.headers.get("Authorization")})
                answer = state.answers.pop(0) if len(state.answers) > 1 else state.answers[0]
            if answer.hang and not self._wait(answer.hang):
                return
            data = answer.body.encode() if isinstance(answer.body, str) else json.dumps(answer.body).encode()
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.kind)
            self.send_header("Content-Length", str(len(data)))
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def _wait(self, seconds: float) -> bool:
            """True after `seconds`; False as soon as the client has closed the connection."""
            end = time.monotonic() + seconds
            self.connection.settimeout(0.05)
            while time.monotonic() < end:
                try:
                    if self.connection.recv(1) == b"":
                        state.gone.set()
                        self.close_connection = True
                        return False
                except TimeoutError:
                    continue
            self.connection.settimeout(None)
            return True

    return Handler
