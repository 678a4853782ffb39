"""Going through a benchmark's tries: those that have a result are left out, each new result is on the disk at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.bench.results import FILE, TaskResult, append, read
from bot.errors import BadInput


@dataclass(frozen=True)
class Try:
    """One task with one strategy, for one more time."""

    task: str
    strategy: str
    sample: int


def tries(tasks: Sequence[str], strategies: Sequence[str], samples: int) -> list[Try]:
    """All of them, task by task, so that a benchmark that is stopped early still compares the strategies."""
    return [Try(task, name, sample) for task in tasks for name in strategies for sample in range(samples)]


def chosen(known: Mapping[str, object], wanted: str, limit: int | None) -> list[str]:
    """The tasks to try, by name. Raises `BadInput` for one that is not there."""
    names = [name.strip() for name in wanted.split(",") if name.strip()]
    unknown = [name for name in names if name not in known]
    if unknown:
        some = ", ".join(list(known)[:3])
        raise BadInput(f"There is no task {unknown[0]!r} among the {len(known)}, which are named like {some}.")
    return (names or list(known))[:limit]


def go(
    suite: str,
    model: str,
    wanted: Sequence[Try],
    out: Path,
    *,
    resume: bool,
    attempt: Callable[[Try], TaskResult],
    say: Callable[[str], None],
) -> list[TaskResult]:
    """Make every try that has no result yet (or only an error), and give all results of the suite.

    Raises `BadInput` if there are results already and nobody said to go on after them.
    """
    path = out / FILE
    if path.exists() and not resume:
        raise BadInput(f"{path} has results already: go on after them with --resume, or name another --out.")
    done = {result.key for result in read(path) if result.outcome != "error"}
    for number, one in enumerate(wanted, 1):
        if (suite, one.task, one.strategy, model, one.sample) in done:
            continue
        result = attempt(one)
        append(path, result)
        mark = "pass" if result.passed else "fail"
        spent = result.spent
        say(
            f"{number}/{len(wanted)} {one.task} {one.strategy}: {mark} ({result.outcome}), "
            f"{spent.calls} calls, {spent.tokens:,} tokens, {result.seconds:.0f} s"
        )
    return [result for result in read(path) if result.suite == suite]
