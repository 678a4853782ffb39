"""Where one agent works: its tree, its tools, its limits. The only place where a tool call becomes an effect."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import BaseModel, ValidationError

from bot.llm.port import Completion, Request, ToolCall, ToolSpec
from bot.team.roles import Role, Submission
from bot.team.steps import no_objection
from repo_tools.tree import Tree
from repo_tools.view import View
from sandbox.port import Result, TestReport


class Effects(Protocol):
    """Everything that an agent can cause outside of its own values. Each call is a durable step."""

    def complete(self, request: Request) -> Completion:
        """One paid completion."""

    def run(self, agent: str, tree: Tree, command: str) -> Result:
        """One shell command on a copy of `tree`."""

    def test(
        self, agent: str, tree: Tree, selection: tuple[str, ...], reason: str, watch: tuple[str, ...] = ()
    ) -> TestReport:
        """One test run on a copy of `tree`; the report tells which lines of the files `watch` ran."""

    def called(self, agent: str, call: ToolCall, result: str, ok: bool) -> None:
        """A tool call was answered; for the record."""

    def view(self, tree: Tree) -> View:
        """The index, answering for `tree`."""


class ToolRefused(Exception):
    """A tool call that cannot be done; the text is written for the model and names what would work."""


@dataclass
class Desk:
    """The state of one agent at work; made for one `Ask` and thrown away after it."""

    role: Role
    agent: str
    tree: Tree
    effects: Effects
    known_bad: frozenset[str] = frozenset()
    objection: Callable[[Any, Tree], str] = no_objection
    submitted: Submission | None = None
    unmet: list[str] = field(default_factory=list)
    """What did not go well in the current reply, in words: a submission beside it is not taken."""
    issue: str = ""
    """The issue as it is shown to the role, if it is."""
    tested: tuple[Tree, Mapping[str, str]] | None = None
    """The tree of the last test run, and what failed there that did not before any change: id -> its text."""
    asked_why: bool = False
    """Whether the role was asked what its failing tests have to do with the issue."""

    began: Tree = field(init=False)

    def __post_init__(self) -> None:
        """Keep what it began with."""
        self.began = self.tree

    def call(self, tools: Mapping[str, Tool], call: ToolCall) -> str:
        """Carry out one call and answer with the text for the model; errors are answers too."""
        try:
            text, ok = self._carry_out(tools, call), True
        except ToolRefused as refusal:
            self.unmet.append(f"{call.name} was refused")
            text, ok = f"error: {refusal}", False
        self.effects.called(self.agent, call, text, ok)
        return text

    def _carry_out(self, tools: Mapping[str, Tool], call: ToolCall) -> str:
        tool = tools.get(call.name)
        if tool is None:
            raise ToolRefused(f"there is no tool {call.name!r} here. Your tools: {', '.join(tools)}.")
        return tool.do(self, parse(tool.arguments, call.arguments))


@dataclass(frozen=True)
class Tool:
    """A tool: its arguments as a pydantic model (whose docstring describes it) and what it does at a desk."""

    name: str
    arguments: type[BaseModel]
    do: Callable[[Desk, Any], str]

    @property
    def spec(self) -> ToolSpec:
        """As it is shown to a model."""
        schema = self.arguments.model_json_schema()
        schema.pop("description", None)
        return ToolSpec(self.name, " ".join((self.arguments.__doc__ or "").split()), plain(schema))


NEEDLESS = frozenset({"title", "additionalProperties", "default", "minLength", "minimum", "minItems", "$defs"})
"""What pydantic puts into a schema and a model need not read: it costs tokens with every request."""


def plain(schema: Any, shared: Mapping[str, Any] | None = None) -> Any:
    """A JSON schema in as few words as say it: references put in place, no titles, no `or null`.

    What is left out is still checked when a call comes in.
    """
    if isinstance(schema, list):
        return [plain(item, shared) for item in schema]
    if not isinstance(schema, dict):
        return schema
    shared = shared or schema.get("$defs", {})
    if "$ref" in schema:
        return plain(shared[schema["$ref"].rpartition("/")[2]], shared)
    if "anyOf" in schema:
        kept = [one for one in schema["anyOf"] if one != {"type": "null"}]
        if len(kept) == 1:
            return plain({**kept[0], **{key: value for key, value in schema.items() if key != "anyOf"}}, shared)
    return {
        key: {name: plain(item, shared) for name, item in value.items()}
        if key == "properties"
        else plain(value, shared)
        for key, value in schema.items()
        if key not in NEEDLESS
    }


def parse(model: type[BaseModel], text: str) -> BaseModel:
    """Arguments as a model wrote them. Raises `ToolRefused` with the place of the fault."""
    try:
        value = json.loads(text or "{}", strict=False)
    except json.JSONDecodeError as error:
        near = text[max(0, error.pos - 30) : error.pos + 30]
        raise ToolRefused(
            f"the arguments are not valid JSON: {error.msg} at character {error.pos}, near {near!r}. Send it again."
        ) from None
    try:
        return model.model_validate(value)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(str(part) for part in fault['loc']) or 'arguments'}: {fault['msg']}"
            for fault in error.errors()[:6]
        )
        raise ToolRefused(f"the arguments do not fit: {faults}. Send the call again.") from None
