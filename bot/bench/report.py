"""A benchmark's results for people and programs: Markdown, JSON and plots, the strategies side by side."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from bot.bench.results import TaskResult, pass_at_1
from bot.errors import BadInput
from bot.llm.budget import Spent


def summaries(results: Sequence[TaskResult]) -> list[dict[str, Any]]:
    """The figures of each strategy with each model, in the order of their first results."""
    groups: dict[tuple[str, str], list[TaskResult]] = {}
    for result in results:
        groups.setdefault((result.strategy, result.model), []).append(result)
    return [summary(strategy, model, group) for (strategy, model), group in groups.items()]


def summary(strategy: str, model: str, results: Sequence[TaskResult]) -> dict[str, Any]:
    """All that is reported of one strategy with one model. Shares are between 0 and 1, coverage is percent."""
    share, (low, high), tasks = pass_at_1(results)
    ready = [result for result in results if result.outcome == "ready"]
    spent = sum((result.spent for result in results), Spent())
    roles: dict[str, Spent] = {}
    for result in results:
        for role, one in result.by_role.items():
            roles[role] = roles.get(role, Spent()) + one
    tried = [result for result in results if result.tests]
    return {
        "strategy": strategy,
        "model": model,
        "tasks": tasks,
        "samples": len(results),
        "passed": sum(result.passed for result in results),
        "pass_at_1": share,
        "interval": [low, high],
        "ready": len(ready),
        "ready_and_right": sum(result.passed for result in ready),
        "errors": sum(result.outcome == "error" for result in results),
        "total": figures(spent, len(results)),
        "by_role": {role: figures(one, len(results)) for role, one in roles.items()},
        "seconds": sum(result.seconds for result in results),
        "seconds_sandbox": sum(result.seconds_sandbox for result in results),
        "largest_request": max((result.largest_request for result in results), default=0),
        "tests": sum(result.tests or 0 for result in tried),
        "test_accuracy": ratio(sum(result.right_tests or 0 for result in tried), sum(one.tests or 0 for one in tried)),
        "coverage_first": mean(result.coverage_first for result in results),
        "coverage": mean(result.coverage for result in results),
        "volume": volume(results),
        "guarded": sum(result.guarded for result in results),
    }


def figures(spent: Spent, count: int) -> dict[str, Any]:
    """What was spent in all, and per task the mean. The price is None if any call has none."""
    return {
        "calls": spent.calls,
        "tokens_in": spent.input,
        "tokens_out": spent.output,
        "model_seconds": spent.seconds,
        "usd": None if spent.unpriced else spent.usd,
        "calls_a_task": spent.calls / max(1, count),
        "tokens_a_task": spent.tokens / max(1, count),
    }


def volume(results: Iterable[TaskResult]) -> dict[str, Any]:
    """How much code and tests one agent wrote on average, and how much all of a task's agents together."""
    agents = [each for result in results for each in result.volume]
    tasks = [result for result in results if result.volume]
    return {
        "agents_a_task": len(agents) / max(1, len(tasks)),
        "functions_an_agent": mean(float(each.functions) for each in agents),
        "characters_an_agent": mean(float(each.characters) for each in agents),
        "tokens_an_agent": mean(float(each.tokens_out) for each in agents),
        "functions_a_task": mean(float(sum(each.functions for each in one.volume)) for one in tasks),
        "characters_a_task": mean(float(sum(each.characters for each in one.volume)) for one in tasks),
        "tokens_a_task": mean(float(sum(each.tokens_out for each in one.volume)) for one in tasks),
    }


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of those that are known."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def ratio(part: int, whole: int) -> float | None:
    """A share, if there is a whole."""
    return part / whole if whole else None


def write(folder: Path, suite: str, results: Sequence[TaskResult], notes: Sequence[str]) -> list[Path]:
    """`report.json`, `report.md` and the plots in `folder`; their paths. Raises `BadInput` without matplotlib."""
    found = summaries(results)
    data, text = folder / "report.json", folder / "report.md"
    data.write_text(json.dumps({"suite": suite, "notes": list(notes), "strategies": found}, indent=1) + "\n", "utf-8")
    plots = [plot(folder / f"{name}.svg", *what, found) for name, what in PLOTS.items()]
    text.write_text(markdown(suite, found, results, notes, [path.name for path in plots]), "utf-8")
    return [data, text, *plots]


def markdown(
    suite: str,
    found: Sequence[dict[str, Any]],
    results: Sequence[TaskResult],
    notes: Sequence[str],
    plots: Sequence[str],
) -> str:
    """The report for people."""
    parts = [f"# {suite}", *notes, *(f"![{name}]({name})" for name in plots)]
    parts += ["## Results", table(RESULTS, found), "## Cost", table(COST, found), "## Cost by role"]
    roles = [
        {"strategy": one["strategy"], "role": role, **spent} for one in found for role, spent in one["by_role"].items()
    ]
    parts += [table(ROLES, roles), "## Generated tests, judged by the reference solution", table(TESTS, found)]
    volumes = [{"strategy": one["strategy"], **one["volume"]} for one in found]
    parts += ["## Code and tests written", table(VOLUME, volumes), "## Tasks", tasks_table(results)]
    return "\n\n".join(parts) + "\n"


Columns = dict[str, str]
"""Key -> heading."""
RESULTS: Columns = {
    "strategy": "Strategy",
    "model": "Model",
    "tasks": "Tasks",
    "samples": "Tries",
    "passed": "Passed",
    "pass_at_1": "pass@1",
    "interval": "95 % interval",
    "ready": "Called ready",
    "ready_and_right": "of these right",
    "errors": "Errors",
}
COST: Columns = {
    "strategy": "Strategy",
    "calls": "Calls",
    "tokens_in": "Tokens in",
    "tokens_out": "Tokens out",
    "usd": "US dollars",
    "calls_a_task": "Calls a task",
    "tokens_a_task": "Tokens a task",
    "seconds": "Seconds",
    "seconds_sandbox": "in the sandbox",
    "largest_request": "Largest request (tokens, estimated)",
}
ROLES: Columns = {
    "strategy": "Strategy",
    "role": "Role",
    "calls": "Calls",
    "tokens_in": "Tokens in",
    "tokens_out": "Tokens out",
    "model_seconds": "Seconds",
    "usd": "US dollars",
}
TESTS: Columns = {
    "strategy": "Strategy",
    "tests": "Tests",
    "test_accuracy": "Right",
    "coverage_first": "Line coverage, first five",
    "coverage": "Line coverage, all",
}
VOLUME: Columns = {
    "strategy": "Strategy",
    "agents_a_task": "Agents a task",
    "functions_an_agent": "Functions an agent",
    "characters_an_agent": "Characters an agent",
    "tokens_an_agent": "Tokens an agent",
    "functions_a_task": "Functions a task",
    "characters_a_task": "Characters a task",
    "tokens_a_task": "Tokens a task",
}
SHARES = {"pass_at_1", "interval", "test_accuracy"}
PERCENT = {"coverage", "coverage_first"}


def table(columns: Columns, lines: Sequence[dict[str, Any]]) -> str:
    """A Markdown table; what is not known is a dash."""
    head = f"| {' | '.join(columns.values())} |\n|{' --- |' * len(columns)}"
    flat = [{**line.get("total", {}), **line} for line in lines]
    return "\n".join([head, *(f"| {' | '.join(cell(key, line.get(key)) for key in columns)} |" for line in flat)])


def cell(key: str, value: Any) -> str:
    """One value for people."""
    if value is None:
        return "-"
    if isinstance(value, list):
        return f"{100 * value[0]:.1f} to {100 * value[1]:.1f} %"
    if key in SHARES:
        return f"{100 * value:.1f} %"
    if key in PERCENT:
        return f"{value:.1f} %"
    if isinstance(value, str):
        return value
    return f"{value:,.4g}" if isinstance(value, float) and value < 100 else f"{value:,.0f}"


def tasks_table(results: Sequence[TaskResult]) -> str:
    """Each task with each strategy: whether it passed, and what the strategy thought of it."""
    strategies = list(dict.fromkeys(result.strategy for result in results))
    lines = [f"| Task | {' | '.join(strategies)} |", f"|{' --- |' * (len(strategies) + 1)}"]
    for task in dict.fromkeys(result.task for result in results):
        cells = []
        for strategy in strategies:
            own = [one for one in results if one.task == task and one.strategy == strategy]
            cells.append(", ".join(f"{'pass' if one.passed else 'fail'} ({one.outcome})" for one in own) or "-")
        lines.append(f"| {task} | {' | '.join(cells)} |")
    return "\n".join(lines)


PLOTS = {"pass_at_1": ("pass@1 (%)", "pass_at_1"), "tokens": ("tokens a task", "tokens_a_task")}
"""File -> what its axis says, and the figure."""


def plot(path: Path, label: str, key: str, found: Sequence[dict[str, Any]]) -> Path:
    """A bar for each strategy as an SVG file; shares with their intervals. Raises `BadInput` without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise BadInput("Plots need matplotlib: `pip install agent-fix[bench]`.") from None
    figure = Figure(figsize=(1.6 + 1.2 * len(found), 3.2), layout="constrained")
    axes = figure.subplots()
    names = [f"{one['strategy']}\n{one['model']}" for one in found]
    if key in SHARES:
        heights = [100 * one[key] for one in found]
        errors = [[100 * abs(one[key] - one["interval"][side]) for one in found] for side in (0, 1)]
        axes.bar(names, heights, yerr=errors, capsize=4)
        axes.set_ylim(0, 100)
    else:
        axes.bar(names, [one["total"][key] for one in found])
    axes.set_ylabel(label)
    figure.savefig(path, format="svg", metadata={"Date": None})
    return path
