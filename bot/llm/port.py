"""What a language model is to this project: messages and tools in, one completion out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol


@dataclass(frozen=True)
class ToolCall:
    """A model's wish to call a tool; `arguments` is the text it wrote, which may not be JSON."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Message:
    """One message of a conversation, in the terms of the chat completions API."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True)
class ToolSpec:
    """A tool as it is shown to a model; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class Request:
    """One request. `role` (analyst, coder, …) chooses the model and is what the budget counts by."""

    role: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    agent: str = ""
    """Who asks: a name that is unique within the run, such as `coder-2`."""
    index: int = 0
    """Which of this agent's requests it is, from 0. Together they name a completion for records and replays."""


@dataclass(frozen=True)
class Usage:
    """Tokens as the provider counted them; `cached_input` is a part of `input`."""

    input: int = 0
    output: int = 0
    cached_input: int = 0


@dataclass(frozen=True)
class Completion:
    """The answer to one request. `seconds` is wall time; `usd` is None for a model without a known price."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    usage: Usage
    model: str
    seconds: float
    finish: str = "stop"
    usd: float | None = None


class Model(Protocol):
    """Anything that completes. Errors: `bot.errors.ModelFailed` after the library's own retries."""

    def complete(self, request: Request) -> Completion:
        """Answer one request. Blocks."""
