"""Replaying recorded candidates and tests through the ranking rule: how often it picks a right one."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from bot.errors import BadInput
from bot.team.selection import Showing, ranked


class Recorded(BaseModel):
    """One task: the candidates' results. All are matrices of candidate by test, of 0 and 1."""

    model_config = ConfigDict(frozen=True)

    task: str = Field(alias="tid")
    generated: list[list[bool]] = Field(alias="B")
    examples: list[list[bool]] = Field(alias="V")
    sets: list[list[int]] = []
    """The generated tests, by the set in which they were written."""
    right: list[bool] = Field(alias="G")
    """Whether each candidate passes the hidden tests; no rule may look."""


@dataclass(frozen=True)
class Replayed:
    """Shares of tasks with a right candidate picked, by rule; `best_possible` has a right one at all."""

    tasks: int
    first: float
    vote_of_sets: float
    generated_alone: float
    examples_alone: float
    ranked: float
    best_possible: float


def load(path: Path) -> list[Recorded]:
    """The tasks of a JSON file, gzipped or not. Raises `BadInput`."""
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        return TypeAdapter(list[Recorded]).validate_python(json.loads(data))
    except (OSError, ValueError, ValidationError) as error:
        raise BadInput(
            f"{path} is no record of candidates (a list of objects with tid, B, V, sets, G): {error}"
        ) from None


def replay(tasks: Sequence[Recorded]) -> Replayed:
    """Pick a candidate for every task by each rule, and compare with the hidden tests."""
    return Replayed(
        tasks=len(tasks),
        first=_share(tasks, lambda task: 0),  # noqa: ARG005 - it looks at nothing
        vote_of_sets=_share(tasks, _vote),
        generated_alone=_share(tasks, lambda task: ranked([Showing(generated=row) for row in task.generated])[0]),
        examples_alone=_share(tasks, lambda task: ranked([Showing(examples=row) for row in task.examples])[0]),
        ranked=_share(tasks, lambda task: ranked(showings(task))[0]),
        best_possible=sum(any(task.right) for task in tasks) / max(1, len(tasks)),
    )


def showings(task: Recorded) -> list[Showing]:
    """What is known of each candidate."""
    return [Showing(examples, (), own) for examples, own in zip(task.examples, task.generated, strict=True)]


def _vote(task: Recorded) -> int:
    """AgentCoder's own rule: the candidate that passes most whole sets of tests."""
    passed: Any = [sum(all(row[test] for test in one) for one in task.sets if one) for row in task.generated]
    return max(range(len(passed)), key=lambda each: (passed[each], -each))


def _share(tasks: Sequence[Recorded], pick: Callable[[Recorded], int]) -> float:
    return sum(task.right[pick(task)] for task in tasks) / max(1, len(tasks))
