"""Tools for models that know none: written into the prompt, and read from the reply (ReAct). No I/O of its own."""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from bot.llm.port import Completion, Message, Model, Request, ToolCall, ToolSpec

_DECORATION = r"[ \t>*#`]*"
"""What models put around a word to make it stand out."""

ACTION = re.compile(
    rf"^{_DECORATION}Action{_DECORATION}:{_DECORATION}(?P<name>[\w.-]+).*$", re.MULTILINE | re.IGNORECASE
)
ARGUMENTS = re.compile(r"[\s>*#`]*(?:Arguments|Action Input)[ \t*`]*:[\s*]*(?:```\w*\s)?\s*", re.IGNORECASE)
OBSERVATION = re.compile(rf"^{_DECORATION}Observation\b", re.MULTILINE | re.IGNORECASE)
DECODER = json.JSONDecoder(strict=False)
"""Takes line ends within strings, which models write though JSON has them escaped."""


class TextTools:
    """A `Model` that has tools, made of one that has not."""

    def __init__(self, model: Model, instructions: Callable[[str], str]) -> None:
        """`instructions` makes the part of the prompt that explains how to call, from a list of the tools."""
        self._model = model
        self._instructions = instructions

    def complete(self, request: Request) -> Completion:
        """Raises what the other model raises."""
        completion = self._model.complete(as_text(request, self._instructions))
        if not request.tools:
            return completion
        text, calls = parse(completion.text, f"call_{len(request.messages)}")
        return replace(completion, text=text, tool_calls=calls, finish="tool_calls" if calls else completion.finish)


def as_text(request: Request, instructions: Callable[[str], str]) -> Request:
    """The request without tools: they, the calls so far and their results are told in words."""
    messages: list[Message] = []
    names: dict[str, str] = {}
    for message in request.messages:
        names |= {call.id: call.name for call in message.tool_calls}
        if message.role == "assistant":
            messages.append(Message("assistant", _told(message)))
        elif message.role == "tool":
            said = f"Observation of {names.get(message.tool_call_id or '', 'the action')}:\n{message.content}"
            # Roles that do not take turns are refused by several servers.
            if messages and messages[-1].role == "user":
                messages[-1] = Message("user", f"{messages[-1].content}\n\n{said}")
            else:
                messages.append(Message("user", said))
        else:
            messages.append(message)
    if request.tools:
        told = instructions("\n\n".join(_listed(tool) for tool in request.tools))
        first = messages[0] if messages and messages[0].role == "system" else None
        head = Message("system", f"{first.content}\n\n{told}" if first else told)
        messages = [head, *(messages[1:] if first else messages)]
    return replace(request, messages=tuple(messages), tools=())


def parse(text: str, prefix: str) -> tuple[str, tuple[ToolCall, ...]]:
    """A reply's words before its first action, and its calls, with ids that begin with `prefix`.

    Arguments that are no JSON are passed on as they stand: whoever carries out the call says what is wrong with them.
    """
    calls: list[ToolCall] = []
    action = first = ACTION.search(text)
    observations = [found.start() for found in OBSERVATION.finditer(text)]
    while action is not None:
        arguments, end = _arguments(text, action.end(), observations)
        calls.append(ToolCall(f"{prefix}_{len(calls)}", action["name"], arguments))
        action = ACTION.search(text, end)
        # What a model makes up as an observation, and does upon it, is worth nothing.
        if action is not None and _first_after(end, observations, len(text)) < action.start():
            break
    return text[: first.start()].strip() if first else text, tuple(calls)


def _arguments(text: str, start: int, observations: Sequence[int]) -> tuple[str, int]:
    label = ARGUMENTS.match(text, start)
    if label is None:
        return "{}", start
    try:
        value, end = DECODER.raw_decode(text, label.end())
    except (ValueError, RecursionError):
        following = ACTION.search(text, label.end())
        end = _first_after(label.end(), observations, len(text))
        end = min(end, following.start()) if following else end
        return text[label.end() : end].strip().removesuffix("```").rstrip(), end
    return json.dumps(value, ensure_ascii=False), end


def _first_after(position: int, positions: Sequence[int], otherwise: int) -> int:
    place = bisect.bisect_left(positions, position)
    return positions[place] if place < len(positions) else otherwise


def _told(message: Message) -> str:
    calls = (f"Action: {call.name}\nArguments: {call.arguments}" for call in message.tool_calls)
    return "\n\n".join(part for part in (message.content, "\n".join(calls)) if part)


def _listed(tool: ToolSpec) -> str:
    return f"## {tool.name}\n\n{tool.description}\nArguments, as a JSON schema: {_compact(dict(tool.parameters))}"


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
