"""A `Model` that plays back completions: a transcript's, or a script's. For tests, demonstrations and replays alike."""

from __future__ import annotations

import contextlib
import enum
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bot.errors import Diverged
from bot.llm.budget import steady
from bot.llm.port import Completion, Message, Model, Request, ToolCall, Usage
from bot.records import Completed
from bot.secrets_mask import Mask
from bot.transcript import read, requests

SHOWN_CHARS = 120
SCRIPT_USAGE = Usage(100, 10)


class Compare(enum.Enum):
    """What of a request must be as it was when its answer was recorded.

    What a tool or a test run said is never compared: it differs each time (durations, addresses, order), and whether
    it still leads to the same change is seen from the change itself.
    """

    STRICT = "strict"
    """Role, tools, the roles of the messages, own answers, and all before the first answer, durations apart."""
    CALLS = "calls"
    """The role, and that each tool which the answer calls is still offered. Prompts may have been reworded since."""


@dataclass(frozen=True)
class Exchange:
    """A completion and the request that it answered; a script knows none."""

    completion: Completion
    request: Request | None = None


class Recorded:
    """Answers the request of an agent and an index with the completion that is recorded under them."""

    def __init__(self, exchanges: Mapping[tuple[str, int], Exchange], compare: Compare = Compare.STRICT) -> None:
        self._exchanges = dict(exchanges)
        self._compare = compare
        self._mask = Mask()

    @classmethod
    def of_transcript(cls, path: Path, compare: Compare = Compare.STRICT) -> Recorded:
        """The completions of a transcript. Raises `BadInput` if it is none."""
        records = read(path)
        asked = requests(records)
        completed = [record for record in records if isinstance(record, Completed)]
        return cls(
            {(each.agent, each.index): Exchange(each.completion, asked[each.agent, each.index]) for each in completed},
            compare,
        )

    @classmethod
    def script(cls, answers: Mapping[str, Sequence[Completion]]) -> Recorded:
        """Agent -> its answers in order, as `answer` makes them."""
        return cls(
            {
                (agent, index): Exchange(_with_ids(completion, index))
                for agent, each in answers.items()
                for index, completion in enumerate(each)
            }
        )

    def complete(self, request: Request) -> Completion:
        """Raises `Diverged`, which names agent, request and what differs."""
        exchange = self._exchanges.get((request.agent, request.index))
        if exchange is None:
            raise Diverged(f"{_step(request)} is not in the record, which has {self._known(request.agent)}.")
        difference = self._difference(exchange, request)
        if difference:
            raise Diverged(f"{_step(request)} is not the recorded one: {difference}.")
        return exchange.completion

    def _known(self, agent: str) -> str:
        count = sum(1 for name, _ in self._exchanges if name == agent)
        agents = sorted({name for name, _ in self._exchanges})
        return f"{count} of {agent or 'an unnamed agent'}" if count else f"only {', '.join(agents) or 'nothing'}"

    def _difference(self, exchange: Exchange, now: Request) -> str | None:
        before = exchange.request
        if before is None or self._compare is Compare.CALLS:
            offered = {tool.name for tool in now.tools}
            missing = [call.name for call in exchange.completion.tool_calls if call.name not in offered]
            role = _differ("role", before.role, now.role) if before is not None else None
            # A script may call what is not there, to see what is said to that.
            return role or (f"its answer calls {', '.join(missing)}, not offered now" if missing and before else None)
        return (
            _differ("role", before.role, now.role)
            or _differ("tools", _tools(before), _tools(now))
            or _differ("messages", _shape(before), _shape(now))
            or self._opening(before, now)
            or _differ("own answers", _own(before), _own(now))
        )

    def _opening(self, before: Request, now: Request) -> str | None:
        for number, (old, new) in enumerate(zip(_first(before), _first(now), strict=True), 1):
            # The record is masked, what is asked now is not.
            pairs = zip(steady(old.content).splitlines(), steady(self._mask(new.content)).splitlines(), strict=False)
            for line, (was, now_is) in enumerate(pairs, 1):
                if was != now_is:
                    return _differ(f"message {number} ({new.role}), line {line}", was, now_is)
            lengths = (len(old.content.splitlines()), len(new.content.splitlines()))
            if lengths[0] != lengths[1]:
                return _differ(f"message {number} ({new.role}), number of lines", *map(str, lengths))
        return None


class PaidBefore:
    """A `Model` that gives what an earlier run paid for, and asks another model for the rest."""

    def __init__(self, paid: Sequence[Recorded], live: Model) -> None:
        """`paid` is looked through in order."""
        self._paid = paid
        self._live = live

    def complete(self, request: Request) -> Completion:
        """Raises what the other model raises. What is asked otherwise than before is asked anew."""
        for record in self._paid:
            with contextlib.suppress(Diverged):
                return record.complete(request)
        return self._live.complete(request)


def answer(
    text: str = "", *calls: tuple[str, Mapping[str, object] | str], usage: Usage = SCRIPT_USAGE, finish: str = "stop"
) -> Completion:
    """A completion for a script. Calls are (tool, arguments); arguments that are a text are passed on as they stand."""
    made = (
        ToolCall("", name, arguments if isinstance(arguments, str) else json.dumps(arguments))
        for name, arguments in calls
    )
    return Completion(text, tuple(made), usage, "script", 0.0, finish)


def _with_ids(completion: Completion, index: int) -> Completion:
    calls = (replace(call, id=f"call_{index}_{number}") for number, call in enumerate(completion.tool_calls))
    return replace(completion, tool_calls=tuple(calls))


def _step(request: Request) -> str:
    return f"Request {request.index + 1} of {request.agent or request.role}"


def _tools(request: Request) -> str:
    return ", ".join(sorted(tool.name for tool in request.tools))


def _shape(request: Request) -> str:
    return ", ".join(message.role for message in request.messages)


def _first(request: Request) -> list[Message]:
    return list(itertools.takewhile(lambda message: message.role != "assistant", request.messages))


def _own(request: Request) -> str:
    own = [message for message in request.messages if message.role == "assistant"]
    return "\n".join(Mask()(f"{message.content} {message.tool_calls}") for message in own)


def _differ(what: str, was: str, now: str) -> str | None:
    return None if was == now else f"{what} was {_short(was)} and is now {_short(now)}"


def _short(text: str) -> str:
    return repr(text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}…")
