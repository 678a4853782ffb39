"""One agent: ask the model, do what it calls, until it submits or its replies are used up."""

from __future__ import annotations

import re
from dataclasses import replace

from bot.errors import OverBudget
from bot.llm.budget import Repeats, estimate_tokens
from bot.llm.port import Completion, Message, Request, ToolSpec
from bot.prompts import render
from bot.team.desk import Desk, Effects
from bot.team.roles import Role
from bot.team.steps import Answer, Ask
from bot.team.tools import tools_of
from bot.team.trim import middle

PROSE = "Nothing was called. You act only through tools; finish with `submit`."
PROSE_LIMIT = 3
NUDGE_AT = 3
DROPPED = "[Earlier exchanges were dropped to stay within the size of a request.]"
OLD_RESULT = 300
"""Characters that stay of an old tool result when a request would become too large."""


def converse(ask: Ask, effects: Effects, known_bad: frozenset[str] = frozenset()) -> Answer:
    """Let one role work. Raises `NoProgress`, and what `effects` raises: budget, a dead sandbox or model."""
    desk = Desk(ask.role, ask.agent, ask.on, effects, known_bad, ask.objection)
    tools = tools_of(ask.role)
    messages = list(opening(render(ask.role.opening or f"{ask.role.name}_brief", ask.brief), ask.role))
    prose, repeats = 0, Repeats()
    for left in range(ask.role.replies, 0, -1):
        if left == NUDGE_AT and ask.role.replies > NUDGE_AT:
            messages.append(Message("user", f"{left} replies are left. Finish, and submit what you have."))
        offered = tools if left > 1 else {"submit": tools["submit"]}
        specs = tuple(tool.spec for tool in offered.values())
        messages = within(fitted(messages, ask.role.request_tokens), specs, ask.role)
        request = Request(ask.role.name, tuple(messages), specs, ask.agent, ask.role.replies - left)
        completion = unique(effects.complete(request))
        messages.append(Message("assistant", completion.text, completion.tool_calls))
        if not completion.tool_calls:
            prose += 1
            if prose == PROSE_LIMIT:
                return Answer(None, desk.tree, "prose")
            messages.append(Message("user", PROSE))
            continue
        prose, desk.unmet = 0, []
        for call in completion.tool_calls:
            result = desk.call(offered, call)
            messages.append(Message("tool", result, tool_call_id=call.id))
            repeats.add(call.name, call.arguments, result)
        if desk.submitted is not None:
            return Answer(desk.submitted, desk.tree, "submitted")
    return Answer(None, desk.tree, "steps")


def opening(brief: str, role: Role | None = None) -> tuple[Message, ...]:
    """The first messages: what is the same for every run, so that a provider's cache serves it, then the brief."""
    system = (Message("system", render("team", {}) + "\n\n" + render(role.name, {})),) if role else ()
    return (*system, Message("user", re.sub(r"\n{3,}", "\n\n", brief).strip()))


def unique(completion: Completion) -> Completion:
    """The completion with every call's id unique: some servers repeat them, and answers are matched by id."""
    seen: set[str] = set()
    calls = []
    for position, call in enumerate(completion.tool_calls):
        calls.append(replace(call, id=f"{call.id}-{position}") if call.id in seen or not call.id else call)
        seen.add(calls[-1].id)
    return replace(completion, tool_calls=tuple(calls))


def size(messages: list[Message]) -> int:
    """Tokens of `messages`, estimated as a quarter of their characters."""
    return sum(len(m.content) + sum(len(c.arguments) + len(c.name) for c in m.tool_calls) for m in messages) // 4


def within(messages: list[Message], specs: tuple[ToolSpec, ...], role: Role) -> list[Message]:
    """`messages` so that the whole request, its tools included, is no larger than the role may make it.

    The oldest exchanges go first, then the last results are cut. Raises `OverBudget` if the opening alone is too large.
    """
    over = _over(messages, specs, role)
    starts = [number for number, message in enumerate(messages) if message.role == "assistant"]
    while over > 0 and len(starts) > 1:
        kept = messages[: starts[0]]
        kept += [] if kept[-1].content == DROPPED else [Message("user", DROPPED)]
        messages = kept + messages[starts[1] :]
        starts = [number for number, message in enumerate(messages) if message.role == "assistant"]
        over = _over(messages, specs, role)
    results = [number for number, message in enumerate(messages) if message.role == "tool"]
    if over > 0 and results:
        share = max(
            OLD_RESULT, sum(len(messages[n].content) for n in results) // len(results) - 4 * over // len(results) - 60
        )
        messages = [replace(m, content=middle(m.content, share)) if m.role == "tool" else m for m in messages]
        over = _over(messages, specs, role)
    if over > 0:
        raise OverBudget(
            f"A request of the {role.name} cannot be made smaller than {role.request_tokens + over:,} tokens, more "
            f"than the {role.request_tokens:,} that it may hold: make the issue smaller."
        )
    return messages


def _over(messages: list[Message], specs: tuple[ToolSpec, ...], role: Role) -> int:
    return estimate_tokens(Request(role.name, tuple(messages), specs)) - role.request_tokens


def fitted(messages: list[Message], limit: int) -> list[Message]:
    """`messages` within `limit` tokens: tool results are cut, the oldest first; the last four messages stay whole."""
    over = size(messages) - limit
    if over <= 0:
        return messages
    kept = []
    for position, message in enumerate(messages):
        if over > 0 and message.role == "tool" and position < len(messages) - 4 and len(message.content) > OLD_RESULT:
            cut = f"{message.content[:OLD_RESULT]}\n[… the rest of this older result was dropped; call again for it]"
            over -= (len(message.content) - len(cut)) // 4
            kept.append(replace(message, content=cut))
        else:
            kept.append(message)
    return kept
