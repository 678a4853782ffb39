"""Ranking candidates: the order of trust, and the replay of recorded ones."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from bot.bench.selection import load, replay
from bot.errors import BadInput
from bot.team.selection import Showing, ranked

ONE = {  # the right candidate keeps the example and fails a wrong generated test
    "tid": "one",
    "sets": [[0, 1], [2]],
    "B": [[1, 1, 1], [1, 0, 0]],
    "V": [[0, 1], [1, 1]],
    "G": [False, True],
    "C": [1, 0, 0],
}
TWO = {  # without examples the generated tests decide
    "tid": "two",
    "sets": [[0], [1]],
    "B": [[0, 0], [1, 0], [1, 1]],
    "V": [[], [], []],
    "G": [False, False, True],
}
NONE = {"tid": "none", "sets": [[0]], "B": [[1]], "V": [[1]], "G": [False]}


@pytest.mark.parametrize(
    ("showings", "best"),
    [
        ([Showing([True], [True], [True]), Showing([True], [True], [True])], 0),
        ([Showing([False], [True] * 9, [True] * 9), Showing([True], [False] * 9, [False] * 9)], 1),
        ([Showing([True], [False], [True] * 9), Showing([True], [True], [False] * 9)], 1),
        ([Showing((), (), [True, False]), Showing((), (), [True, True])], 1),
    ],
)
def test_examples_come_before_the_project_s_tests_and_these_before_generated_ones(
    showings: list[Showing], best: int
) -> None:
    assert ranked(showings)[0] == best


def test_a_replay_counts_how_often_each_rule_picks_a_right_candidate(tmp_path: Path) -> None:
    path = tmp_path / "recorded.json.gz"
    path.write_bytes(gzip.compress(json.dumps([ONE, TWO, NONE]).encode()))
    found = replay(load(path))
    assert found.tasks == 3
    assert found.first == 0
    assert found.ranked == found.best_possible == pytest.approx(2 / 3)
    assert found.vote_of_sets == found.generated_alone == found.examples_alone == pytest.approx(1 / 3)


@pytest.mark.parametrize("value", [{}, [{"tid": "x"}], "text"])
def test_what_is_no_record_is_named(tmp_path: Path, value: Any) -> None:
    path = tmp_path / "other.json"
    path.write_text(json.dumps(value))
    with pytest.raises(BadInput, match=r"other\.json"):
        load(path)
