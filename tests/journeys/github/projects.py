"""What the bot works on in the journeys: files, an issue, and a recorded conversation about it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.bench.made_projects import Player, project
from bot.llm.port import Message, Request, ToolCall
from tests.journeys.demo import DEMO, ISSUE

Calls = list[tuple[str, dict[str, Any]]]
"""The tools that one completion calls."""
CONVERSATION = Path(__file__).parent / "conversation.json"


@dataclass(frozen=True)
class Project:
    """`parts`: what about -> role -> its completions. `settings` are the bot's."""

    files: Mapping[str, bytes]
    title: str
    body: str
    parts: Mapping[str, Mapping[str, list[Calls]]]
    settings: Mapping[str, str] = field(default_factory=dict)
    improvise: Callable[[str, list[dict[str, Any]]], Calls] | None = None
    """Model and messages -> what it calls, in place of `parts`, which then only name the roles."""

    @property
    def whole(self) -> int:
        """The requests of one run on the issue."""
        return sum(len(part) for part in self.parts["issue"].values())

    @property
    def roles(self) -> set[str]:
        """Everyone who is asked."""
        return {role for part in self.parts.values() for role in part}


def hourglass() -> Project:
    """The bundled project: three roles, containers."""
    folder = DEMO / "project"
    title, _, body = ISSUE.read_text("utf-8").strip().partition("\n")
    return Project(
        {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()},
        title,
        body.strip(),
        json.loads(CONVERSATION.read_text("utf-8")),
        {"AGENT_FIX_STRATEGY": "self-collaboration"},
    )


SIZE = "size() { echo 1; }\n"
SUITE = """\
. ./size.sh
check() { if [ "$2" = "$3" ]; then echo "ok - $0::$1"; else echo "not ok - $0::$1"; echo "# $2"; fi; }
check "one widget" "$(size one)" 1
"""


def widgets() -> Project:
    """A project whose run costs next to nothing, for many runs: one role, two completions, plain processes."""
    fix = {"old": "echo 1", "new": "echo $#"}
    test = {"old": '(size one)" 1\n', "new": '(size one)" 1\ncheck "two widgets" "$(size one two)" 2\n'}
    edits: Calls = [
        ("edit", {"path": "size.sh", "edits": [fix]}),
        ("edit", {"path": "tests/test_size.sh", "edits": [test]}),
    ]
    said = {
        "decision": "change",
        "diagnosis": "size() answers 1 without looking at what it was given.",
        "title": "Count the widgets that are given",
        "summary": "size() counts its arguments.",
    }
    return Project(
        {
            "size.sh": SIZE.encode(),
            "tests/test_size.sh": SUITE.encode(),
            ".github/agent-fix.yml": b"environment:\n  test: sh tests/test_size.sh\n  reporter: tap\n",
        },
        "Two widgets have the size of one",
        "`size one two` prints 1; it should print 2.",
        {"issue": {"single": [edits, [("submit", said)]]}},
        {"AGENT_FIX_STRATEGY": "single", "AGENT_FIX_SANDBOX": "local"},
    )


RUNNER = """\
import importlib, pathlib, sys, traceback

sys.path.insert(0, ".")
for file in sorted(pathlib.Path("tests").glob("test_*.py")):
    module = importlib.import_module(f"tests.{file.stem}")
    for name in [name for name in vars(module) if name.startswith("test_")]:
        try:
            getattr(module, name)()
            print(f"ok - {file}::{name}")
        except Exception as error:
            print(f"not ok - {file}::{name}")
            for line in traceback.format_exc().splitlines():
                print(f"# {line}")
"""


def units(functions: int) -> Project:
    """A project with an issue for an organization of agents, whose parts are played by rule, in plain processes."""
    made = project(functions * 60, functions)
    by_rule = Player()

    def improvise(role: str, messages: list[dict[str, Any]]) -> Calls:
        said = tuple(
            Message(
                one["role"],
                str(one.get("content") or ""),
                tuple(
                    ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"])
                    for call in one.get("tool_calls") or ()
                ),
                one.get("tool_call_id"),
            )
            for one in messages
        )
        completion = by_rule.complete(Request(role, said))
        return [(call.name, json.loads(call.arguments)) for call in completion.tool_calls]

    settings = b"environment:\n  test: python3 tests/runner.py\n  reporter: tap\n"
    return Project(
        {**made.files, "tests/runner.py": RUNNER.encode(), ".github/agent-fix.yml": settings},
        made.task.title,
        made.task.body,
        {"issue": {"mother": [], "child": [], "reproducer": []}},
        {"AGENT_FIX_STRATEGY": "self-organized", "AGENT_FIX_SANDBOX": "local"},
        improvise,
    )
