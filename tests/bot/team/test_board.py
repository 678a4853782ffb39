"""The blackboard is typed and append-only; roles can be switched off by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.publish.verdict import baseline
from bot.team.board import Board
from bot.team.evidence import Assignment
from bot.team.loop import perform
from bot.team.strategies import ABLATIONS, PLAYABLE, STRATEGIES
from repo_tools.tree import Tree
from tests.bot.team.test_self_collaboration import CHANGE, CODE, FIX, GOOD, OLD, TASK, TESTS, really
from tests.fakes.memory_base import MemoryBase
from tests.fakes.stage import Stage, call, reply, report


def test_nothing_on_the_board_is_ever_lost_or_changed() -> None:
    first = Board().put("plan", "one", 1)
    second = first.put("plan", "two", 2).put("review", None, 2)
    assert first.last("plan") == "one", "writing gives another board"
    assert second.last("plan") == "two"
    assert [(entry.slot, entry.value, entry.round) for entry in second.entries] == [
        ("plan", "one", 1),
        ("plan", "two", 2),
        ("review", None, 2),
    ]
    assert [entry.value for entry in second.all("plan")] == ["one", "two"]


def test_what_has_no_slot_is_not_written() -> None:
    with pytest.raises(KeyError, match="no slot thoughts"):
        Board().put("thoughts", "anything", 1)


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("self-collaboration:coder", ["coder-1"]),
        ("self-collaboration:analyst+coder", ["analyst-1", "coder-1"]),
        ("self-collaboration:coder+tester", ["coder-1", "tester-1"]),
        ("self-collaboration", ["analyst-1", "coder-1", "tester-1"]),
        ("single", ["single-1"]),
    ],
)
def test_each_team_of_the_ablation_has_a_name(tmp_path: Path, name: str, called: list[str]) -> None:
    tree = Tree(MemoryBase({"calc.py": CODE.encode(), "tests/test_calc.py": TESTS.encode()}))
    solution = CHANGE | {"decision": "change", "diagnosis": "It rounds down."}
    scripts: dict[str, Any] = GOOD | {
        "single-1": [reply(FIX, call("submit", **solution))],
        "single-2": [reply(call("submit", **solution))],
        "coder-2": [reply(call("submit", **CHANGE))],
    }
    stage = Stage(tmp_path, scripts, really)
    perform(PLAYABLE[name](Assignment(TASK, tree, baseline(report([OLD])))), stage)
    assert stage.agents[: len(called)] == called
    assert {agent.partition("-")[0] for agent in stage.agents} == {agent.partition("-")[0] for agent in called}


def test_no_repository_chooses_an_ablation() -> None:
    assert not set(ABLATIONS) & set(STRATEGIES)
