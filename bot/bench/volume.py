"""How much each agent wrote, and the largest request that any of them sent: read from a transcript."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from bot.bench.results import Volume
from bot.llm.budget import estimate_tokens
from bot.llm.port import ToolCall
from bot.records import Completed, Record
from bot.transcript import requests

FUNCTION = re.compile(r"^\s*(?:async\s+)?(?:def|func|fn|function)\s+\w", re.MULTILINE)


def volumes(records: Iterable[Record]) -> tuple[Volume, ...]:
    """One entry for each agent, in the order of their first words; `child-2~3` is `child-2` asked once more."""
    by_agent: dict[str, list[Completed]] = {}
    for record in records:
        if isinstance(record, Completed):
            by_agent.setdefault(record.agent.partition("~")[0], []).append(record)
    return tuple(_volume(agent, said) for agent, said in by_agent.items())


def _volume(agent: str, said: list[Completed]) -> Volume:
    text = "\n".join(part for one in said for call in one.tool_calls for part in written(call))
    return Volume(
        agent=agent,
        role=said[0].role,
        calls=len(said),
        tokens_out=sum(one.usage.output for one in said),
        characters=len(text),
        functions=len(FUNCTION.findall(text)),
    )


def written(call: ToolCall) -> list[str]:
    """The texts that a call puts into files."""
    try:
        value: Any = json.loads(call.arguments)
    except ValueError:
        return []
    if not isinstance(value, dict):
        return []
    if call.name == "submit":  # agents of an organization hand over their code with their submission
        return [text for one in objects(value, "code") for text in _texts(one)]
    return _texts(value) if call.name in ("create", "edit") else []


def _texts(value: Mapping[str, Any]) -> list[str]:
    text = value.get("text")
    return [*([text] if isinstance(text, str) else []), *(str(one.get("new", "")) for one in objects(value, "edits"))]


def objects(value: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """The objects in a list that stands under `key`."""
    found = value.get(key)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def largest(records: Iterable[Record]) -> int:
    """Estimated tokens of the largest request."""
    return max((estimate_tokens(request) for request in requests(records).values()), default=0)
