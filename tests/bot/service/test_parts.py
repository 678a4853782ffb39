"""Strategies beside each other as workflows: at the same time, the same in any order, paid for once."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bot.errors import AgentFixError, OverBudget
from bot.records import Delivered
from bot.service.parts import Packing
from bot.transcript import read
from repo_tools.checkout import open_local
from repo_tools.patch import Patch
from repo_tools.tree import Tree
from sandbox.errors import SandboxDied
from tests.fakes.git_repository import GitRepository

KILLED = 9


def performed(folder: Path, *words: str) -> tuple[int, dict[str, Any]]:
    """One process of the run: its exit code, and how the run ended if it did."""
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "tests.bot.service.parts_program", str(folder), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, KILLED), done.stderr
    return done.returncode, json.loads(done.stdout) if done.stdout else {}


def told(folder: Path) -> list[str]:
    """All that a transcript says, without its times."""
    records = read(folder / "transcript.jsonl")
    return [record.model_copy(update={"at": None, "clock": 0.0}).model_dump_json() for record in records]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing disturbed."""
    folder = tmp_path_factory.mktemp("whole")
    _, ended = performed(folder)
    assert ended["outcome"] == "fixed"
    assert ended["at_once"] > 2, "its agents were not at work at the same time"
    return folder


def test_parts_are_shown_while_they_are_at_work_and_once(whole: Path) -> None:
    shown = [line.split(" ", 2) for line in (whole / "watched").read_text().splitlines()]
    asked = [line.split()[0] for line in (whole / "asked").read_text().splitlines()]
    completions = [agent for _, kind, agent in shown if kind == "completion"]
    assert sorted(completions) == sorted(asked)
    began = {agent: int(number) for number, kind, agent in shown if kind == "asked"}
    assert sum(number < len(asked) for number in began.values()) > 5, "all was shown at the end only"


def test_beside_each_other_or_one_after_the_other_all_is_the_same(tmp_path: Path, whole: Path) -> None:
    _, ended = performed(tmp_path / "in turn", "--in-turn")
    assert ended == {"outcome": "fixed", "reason": "", "at_once": 1}
    patches = [
        [record.files for record in read(folder / "transcript.jsonl") if isinstance(record, Delivered)]
        for folder in (whole, tmp_path / "in turn")
    ]
    assert patches[0] == patches[1] != [{}]
    assert sorted(told(whole)) == sorted(told(tmp_path / "in turn"))


def test_killed_again_and_again_nothing_is_paid_twice_and_the_record_is_the_same(tmp_path: Path, whole: Path) -> None:
    total = len((whole / "asked").read_text().splitlines())
    folder, codes = tmp_path / "killed", []
    for kill_at in (4, total - 4):
        code, _ = performed(folder, "--kill-at", str(kill_at))
        codes.append(code)
    _, ended = performed(folder)
    assert codes == [KILLED] * 2
    assert ended["outcome"] == "fixed"
    answered = Counter((folder / "answered").read_text().splitlines())
    assert max(answered.values()) == 1, "an answer that was stored was asked for again"
    assert set(answered) == set((whole / "answered").read_text().splitlines())
    assert told(folder) == told(whole)
    last = (folder / "watched").read_text().rpartition(" run \n")[2].splitlines()
    shown = Counter(line.split(" ", 2)[2] for line in last if " completion " in line)
    assert shown == Counter(line.split()[0] for line in answered), "not each once in the process that ended it"


def test_a_part_that_has_spent_its_share_ends_the_run_with_what_it_has(tmp_path: Path) -> None:
    _, ended = performed(tmp_path / "poor", "--calls", "10")
    assert ended["outcome"] == "over-budget"
    assert "model calls of this run are used" in ended["reason"]
    asked = Counter(line.split()[0] for line in (tmp_path / "poor" / "asked").read_text().splitlines())
    assert asked["mother-0"] == 2
    assert asked["reproducer-1"] == 3, "5 of 10 are each one's share"
    assert sum(asked.values()) <= 10


def test_values_travel_with_their_commits_by_name(tmp_path: Path) -> None:
    made = GitRepository(tmp_path / "repo", {"a.py": b"x = 1\n"})
    with open_local(made.path) as repository:
        commit = repository.resolve()
        tree = Tree(commit).with_file("b.py", b"y\n")
        text = Packing().pack({"tree": tree, "others": [tree, 3]})
        assert len(text) < 2_000
        found = Packing(repository.resolve).unpack(text)
        assert found["tree"].patch == tree.patch
        assert found["tree"].read("a.py") == b"x = 1\n"
        with pytest.raises(KeyError, match="not known here"):
            Packing().unpack(text)


class Odd(Exception):
    """An error that pickle writes and cannot read."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


@pytest.mark.parametrize("error", [OverBudget("no more"), SandboxDied("gone"), Odd(1, 2), ValueError(Patch)])
def test_an_error_of_a_part_is_raised_where_it_is_waited_for(error: Exception) -> None:
    packing = Packing()
    found = packing.unpack(packing.packed_error(error))
    assert isinstance(found, Exception)
    assert str(error) in str(found)
    assert not isinstance(error, AgentFixError) or type(found) is type(error)
