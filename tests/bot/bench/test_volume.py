"""How much each agent wrote, by whichever tool it hands its code over."""

from __future__ import annotations

import pytest

from bot.bench.volume import volumes, written
from bot.llm.port import Usage
from bot.records import Completed
from tests.fakes.stage import call

HALF = "def half(number):\n    return number / 2\n"


@pytest.mark.parametrize(
    ("name", "arguments", "texts"),
    [
        ("create", {"path": "a.py", "text": HALF}, [HALF]),
        ("edit", {"path": "a.py", "edits": [{"old": "x", "new": "y"}, {"old": "", "new": HALF}]}, ["y", HALF]),
        (
            "submit",
            {"code": [{"span": "a.py::half", "text": HALF}, {"span": "b", "edits": [{"new": "z"}]}]},
            [HALF, "z"],
        ),
        ("submit", {"title": "no code", "summary": HALF}, []),
        ("run", {"command": HALF}, []),
        ("edit", {"edits": "none"}, []),
        ("submit", {"code": ["none", 1]}, []),
    ],
)
def test_what_a_call_writes(name: str, arguments: dict[str, object], texts: list[str]) -> None:
    assert written(call(name, **arguments)) == texts


def test_each_agent_is_counted_alone() -> None:
    def said(agent: str, number: int) -> Completed:
        wrote = call("create", path=f"{number}.py", text=HALF)
        return Completed(
            agent=agent,
            role="coder",
            index=number,
            kept=0,
            messages=(),
            text="",
            tool_calls=(wrote,),
            usage=Usage(10, 5),
            model="m",
            seconds=1.0,
            finish="stop",
            usd=None,
        )

    found = volumes([said("coder-1", 0), said("child-2", 0), said("coder-1", 1), said("child-2~2", 2)])
    assert [(one.agent, one.calls, one.functions, one.characters, one.tokens_out) for one in found] == [
        ("coder-1", 2, 2, 2 * len(HALF) + 1, 10),
        ("child-2", 2, 2, 2 * len(HALF) + 1, 10),
    ]
