"""One agent: ask the model, do what it calls, until it submits or its replies are used up."""

from __future__ import annotations

import re
from dataclasses import replace

from bot.errors import NoProgress, OverBudget
from bot.llm.budget import BYTES_PER_TOKEN, Repeats, estimate_tokens
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
CUT = "\n[… the rest of this older result was dropped; call again for it]"
LATEST = 4
"""Messages at the end whose results are not older ones."""
CUT_MARK = 60
"""Characters of the mark where a text is cut in its middle."""


def converse(ask: Ask, effects: Effects, known_bad: frozenset[str] = frozenset()) -> Answer:
    """Let one role work. What it has written when it gets no further is in the answer.

    Raises what `effects` raises (budget, a dead sandbox or model), and `OverBudget` if its brief is too large.
    """
    desk = Desk(ask.role, ask.agent, ask.on, effects, known_bad, ask.objection, issue=ask.brief.get("issue", ""))
    tools = tools_of(ask.role)
    messages = list(opening(render(ask.role.opening or f"{ask.role.name}_brief", ask.brief), ask.role))
    prose, repeats = 0, Repeats()
    for left in range(ask.role.replies, 0, -1):
        if left == NUDGE_AT and ask.role.replies > NUDGE_AT:
            messages.append(Message("user", f"{left} replies are left. Finish, and submit what you have."))
        offered = tools if left > 1 else {"submit": tools["submit"]}
        specs = tuple(tool.spec for tool in offered.values())
        try:
            messages = fitted(messages, specs, ask.role)
        except OverBudget:
            if left == ask.role.replies:
                raise
            return Answer(None, desk.tree, "context")
        request = Request(ask.role.name, tuple(messages), specs, ask.agent, ask.role.replies - left)
        completion = unique(effects.complete(request))
        messages.append(Message("assistant", completion.text, completion.tool_calls))
        if not completion.tool_calls:
            prose += 1
            if prose == PROSE_LIMIT:
                return Answer(None, desk.tree, "prose")
            messages.append(Message("user", PROSE))
            continue
        prose, desk.unmet, circles = 0, [], False
        for call in completion.tool_calls:
            result = desk.call(offered, call)
            messages.append(Message("tool", result, tool_call_id=call.id))
            try:
                repeats.add(call.name, call.arguments, result)
            except NoProgress:
                circles = True
        if desk.submitted is not None:
            return Answer(desk.submitted, desk.tree, "submitted")
        if circles:
            return Answer(None, desk.tree, "circles")
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


def fitted(messages: list[Message], specs: tuple[ToolSpec, ...], role: Role) -> list[Message]:
    """`messages` so that the whole request, its tools included, is no larger than the role may make it.

    Older tool results are cut first, then the oldest exchanges go, at last the latest results are cut. Raises
    `OverBudget` if the opening alone is too large.
    """
    kept = list(messages)
    for position in range(len(kept) - LATEST):
        if _over(kept, specs, role) <= 0:
            return kept
        kept[position] = _shortened(kept[position])
    while _over(kept, specs, role) > 0 and len(starts := _exchanges(kept)) > 1:
        said = [] if kept[starts[0] - 1].content == DROPPED else [Message("user", DROPPED)]
        kept = [*kept[: starts[0]], *said, *kept[starts[1] :]]
    results = [len(message.content) for message in kept if message.role == "tool"]
    if results and (over := _over(kept, specs, role)) > 0:
        share = max(OLD_RESULT, (sum(results) - BYTES_PER_TOKEN * over) // len(results) - CUT_MARK)
        kept = [replace(m, content=middle(m.content, share)) if m.role == "tool" else m for m in kept]
    if (over := _over(kept, specs, role)) > 0:
        raise OverBudget(
            f"A request of the {role.name} cannot be made smaller than {role.request_tokens + over:,} tokens, more "
            f"than the {role.request_tokens:,} that it may hold: make the issue smaller."
        )
    return kept


def _over(messages: list[Message], specs: tuple[ToolSpec, ...], role: Role) -> int:
    return estimate_tokens(Request(role.name, tuple(messages), specs)) - role.request_tokens


def _shortened(message: Message) -> Message:
    if message.role != "tool" or len(message.content) <= OLD_RESULT + len(CUT):
        return message
    return replace(message, content=message.content[:OLD_RESULT] + CUT)


def _exchanges(messages: list[Message]) -> list[int]:
    """Where each begins: with what the model said."""
    return [number for number, message in enumerate(messages) if message.role == "assistant"]
