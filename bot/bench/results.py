"""One line for each task that was tried; a benchmark that was stopped goes on after the last of them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.errors import BadInput
from bot.llm.budget import Spent

FILE = "results.jsonl"


class Volume(BaseModel):
    """What one agent wrote."""

    model_config = ConfigDict(frozen=True)

    agent: str
    role: str
    calls: int
    tokens_out: int
    characters: int
    """Of code and tests, in its edits."""
    functions: int


class TaskResult(BaseModel):
    """What became of one task with one strategy and one model."""

    model_config = ConfigDict(frozen=True)

    suite: str
    task: str
    strategy: str
    model: str
    sample: int = 0
    passed: bool
    """By the hidden tests, in the sandbox."""
    outcome: str
    """`ready`, `draft`, `none`, `declined` or `error`: what the strategy itself made of it."""
    detail: str = ""
    rounds: int = 0
    seconds: float = 0.0
    seconds_sandbox: float = 0.0
    by_role: dict[str, Spent] = {}
    largest_request: int = 0
    """Estimated tokens."""
    tests: int | None = None
    """Generated tests, as they stood when they first ran; None if there were none."""
    right_tests: int | None = None
    """Those that pass with the reference solution."""
    coverage: float | None = None
    """Lines of the reference solution that they execute, in percent."""
    coverage_first: float | None = None
    """The same for the first five of them."""
    volume: tuple[Volume, ...] = ()
    guarded: int = 0
    """Requests that were searched for hidden tests."""

    @property
    def key(self) -> tuple[str, str, str, str, int]:
        """What is not tried twice."""
        return self.suite, self.task, self.strategy, self.model, self.sample

    @property
    def spent(self) -> Spent:
        """Of all roles."""
        return sum(self.by_role.values(), Spent())


def read(path: Path) -> list[TaskResult]:
    """The results in a file; of a task that was tried again the last one. Raises `BadInput`."""
    found: dict[tuple[str, str, str, str, int], TaskResult] = {}
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    for number, line in enumerate(lines, 1):
        try:
            result = TaskResult.model_validate_json(line)
        except ValidationError:
            if number == len(lines):
                break  # the line that a crash cut off
            raise BadInput(
                f"{path}, line {number} is no result of a benchmark: remove it, or name another --out."
            ) from None
        found[result.key] = result
    return list(found.values())


def append(path: Path, result: TaskResult) -> None:
    """Add a result; a line that a crash cut off is replaced."""
    with path.open("ab+") as file:
        file.seek(0)
        kept = file.read().rfind(b"\n") + 1
        file.truncate(kept)
        file.write(result.model_dump_json().encode() + b"\n")


def wilson(passed: float, tried: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's interval for a share, as shares; (0, 1) if nothing was tried."""
    if not tried:
        return 0.0, 1.0
    share, square = passed / tried, z * z
    middle = (share + square / (2 * tried)) / (1 + square / tried)
    half = z / (1 + square / tried) * math.sqrt(share * (1 - share) / tried + square / (4 * tried * tried))
    return max(0.0, middle - half), min(1.0, middle + half)


def pass_at_1(results: Iterable[TaskResult]) -> tuple[float, tuple[float, float], int]:
    """Mean share of passing samples over tasks, its interval by tasks (samples of one task are no new ones), tasks."""
    by_task: dict[str, list[bool]] = {}
    for result in results:
        by_task.setdefault(result.task, []).append(result.passed)
    shares = [sum(each) / len(each) for each in by_task.values()]
    mean = sum(shares) / len(shares) if shares else 0.0
    return mean, wilson(sum(shares), len(shares)), len(shares)
