"""A model's server that plays the parts of a recorded conversation, and counts what it is asked.

The parts are known by their role and by how far the role has come, not by the prompts' words, so that those may be
mended without a new recording. Each role asks for a model of its own name.
"""

from __future__ import annotations

import json
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.fakes.local_server import local_server
from tests.journeys.github.projects import Calls, Project

REVIEW = "Reviewers of the change ask"


@dataclass
class Player:
    """`before` is called with the number of each request before it is answered."""

    project: Project
    before: Callable[[int], None] = lambda number: None
    asked: list[str] = field(default_factory=list)
    """What each request said after its system prompt."""
    answered: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    """By what was said after the system prompt, role, and how far the role had come: what was paid for."""
    url: str = ""
    speaking: threading.Lock = field(default_factory=threading.Lock)
    """Held while an answer is sent; whoever holds it has the model fall silent."""

    def answer(self, body: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, str, int]]:
        """The next part of the role that asks, as OpenAI writes it, and its key."""
        brief = str(body["messages"][1]["content"])
        self.asked.append(brief)
        self.before(len(self.asked))
        about = "review" if REVIEW in brief else "issue"
        come = sum(message["role"] == "assistant" for message in body["messages"])
        calls = [
            {"id": f"c{come}-{at}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for at, (name, arguments) in enumerate(self._calls(body, about, come))
        ]
        message = {"role": "assistant", "content": "", "refusal": None, "tool_calls": calls}
        completion = {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 2000, "completion_tokens": 100, "total_tokens": 2100},
        }
        return completion, (brief, body["model"], come)

    def _calls(self, body: dict[str, Any], about: str, come: int) -> Calls:
        if self.project.improvise is not None:
            return self.project.improvise(body["model"], body["messages"])
        return self.project.parts[about][body["model"]][come]


@contextmanager
def player(project: Project) -> Iterator[Player]:
    """Serves the conversation about a project on a free port."""
    state = Player(project)
    with local_server(_handler(state)) as address:
        state.url = f"{address}/v1"
        yield state


def gone(connection: socket.socket) -> bool:
    """Whether the client was killed meanwhile. A write would not tell: it only fills a buffer."""
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def _handler(state: Player) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            return

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            completion, key = state.answer(body)
            data = json.dumps(completion).encode()
            with state.speaking:
                if gone(self.connection):
                    self.close_connection = True
                    return
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
                state.answered[key] += 1

    return Handler
