"""A transcript for people: on a terminal, and as one page that needs nothing but itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from rich import box
from rich.console import Console
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from bot.records import (
    Asked,
    CommandRun,
    Completed,
    Delivered,
    Posted,
    Record,
    RunEnded,
    RunStarted,
    StageChanged,
    Tested,
)
from bot.transcript_summary import (
    Compared,
    Cost,
    Turn,
    arguments,
    baseline_failures,
    board_text,
    colour,
    compared,
    costs,
    counts,
    failed,
    headline,
    one_line,
    printable,
    turns,
)

RESULT_LINES = 6
REPLY_LINES = 12
LISTED = 20
SHOWN_ABOVE = (RunStarted, Delivered, RunEnded)
"""What has a place of its own on the page, above the steps."""


def show(records: Sequence[Record], console: Console) -> None:
    """Print what happened, step by step, then the change, the tests and what it cost."""
    known_bad = baseline_failures(records)
    for told in turns(records):
        _show(told, console, known_bad)
    suites = compared(records)
    if suites:
        _show_tests(suites, console)
    table = Table(*Cost.HEADINGS, box=box.SIMPLE, title="What it used", title_justify="left")
    for column in table.columns[2:]:
        column.justify = "right"
    for row in costs(records):
        table.add_row(*(Text(cell) for cell in row.cells))
    console.print(table)


def _show(told: Record | Turn, console: Console, known_bad: frozenset[str]) -> None:
    match told:
        case RunStarted():
            lines = [headline(told), f"run {told.run}", _limits(told), *([told.note] if told.note else [])]
            console.print(Panel(Text(printable("\n".join(lines))), title="agent-fix", title_align="left"))
        case StageChanged():
            console.rule(Text(headline(told)), align="left", style="bold")
        case Asked():
            console.print(Text(headline(told, 400), style="dim"))
        case Turn():
            _show_turn(told, console)
        case Posted():
            console.print(Panel(Text(board_text(told.value)), title=Text(headline(told)), title_align="left"))
        case Tested():
            console.print(Text(headline(told), style=colour(told, known_bad)))
            for test, text in list(told.failures.items())[:LISTED]:
                style = "yellow" if test in known_bad else "red"
                console.print(Text(f"  {one_line(test, 200)}: {one_line(text, 200)}", style=style))
        case Delivered():
            console.rule(Text(headline(told)), align="left", style="bold")
            console.print(Syntax(printable(told.diff), "diff", word_wrap=True, background_color="default"))
        case RunEnded():
            console.print(Panel(Text(printable(told.text) or "-"), title=Text(told.outcome.value), title_align="left"))
        case _:
            console.print(Text(headline(told)))


def _show_turn(turn: Turn, console: Console) -> None:
    completed = turn.completed
    who = Text(f"{printable(completed.agent)}, reply {completed.index + 1}", style="bold cyan")
    console.print(who, Text(_used(completed), style="dim"))
    if completed.text.strip():
        console.print(Text(_head(completed.text, REPLY_LINES)))
    for call in completed.tool_calls:
        done = turn.results.get(call.id)
        console.print(Text(f"  → {printable(call.name)}", style="cyan" if done is None or done.ok else "red"))
        for name, value in arguments(call.arguments):
            head = _head(value, RESULT_LINES)
            console.print(Text(_indented(f"{name}: {head}" if name else head)))
        if done is not None:
            console.print(Text(_indented(_head(done.result, RESULT_LINES)), style="dim"))


def _show_tests(suites: Compared, console: Console) -> None:
    for title, tests, style in _lists(suites):
        if tests:
            console.print(Text(f"{title}: {len(tests)}", style=f"bold {style}"))
            for test in tests[:LISTED]:
                console.print(Text(f"  {one_line(test, 200)}", style=style))
            if len(tests) > LISTED:
                console.print(Text(f"  and {len(tests) - LISTED} more", style=style))


def _lists(suites: Compared) -> list[tuple[str, tuple[str, ...], str]]:
    return [
        ("Failed before and pass now", suites.mended, "green"),
        ("Passed before and fail now", suites.broken, "red"),
        ("Failing before and now", suites.failing, "yellow"),
        ("New tests", suites.new, "cyan"),
    ]


def _limits(started: RunStarted) -> str:
    limits = started.limits
    parts = [f"${limits.usd:g}"] if limits.usd is not None else []
    parts += [f"{limits.tokens:,} tokens"] if limits.tokens is not None else []
    parts += [f"{limits.calls} calls"] if limits.calls is not None else []
    parts += [f"{limits.minutes:g} minutes"] if limits.minutes is not None else []
    return f"{started.task.strategy}, at most {', '.join(parts)}" if parts else started.task.strategy


def _used(completed: Completed) -> str:
    usage = completed.usage
    cost = f", ${completed.usd:.4f}" if completed.usd is not None else ""
    cached = f" ({usage.cached_input:,} cached)" if usage.cached_input else ""
    return f"{usage.input:,} tokens in{cached}, {usage.output:,} out, {completed.seconds:.1f} s{cost}"


def _head(text: str, lines: int) -> str:
    kept = printable(text).strip("\n").splitlines()
    more = [f"[… {len(kept) - lines} lines more …]"] if len(kept) > lines else []
    return "\n".join([*kept[:lines], *more])


def _indented(text: str) -> str:
    return "\n".join(f"      {line}" for line in text.splitlines())


@dataclass(frozen=True)
class DiffLine:
    """A line of a diff and what kind it is: `add`, `del`, `hunk`, `file` or none."""

    text: str
    kind: str


def page(records: Sequence[Record]) -> str:
    """One HTML page. It loads nothing and runs nothing; everything in it that came from elsewhere is escaped."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(files("bot").joinpath("transcript_page.html").read_text("utf-8"))
    started = next((record for record in records if isinstance(record, RunStarted)), None)
    ended = next((record for record in reversed(records) if isinstance(record, RunEnded)), None)
    delivered = next((record for record in reversed(records) if isinstance(record, Delivered)), None)
    suites, known_bad = compared(records), baseline_failures(records)
    return template.render(
        started=started,
        limits=_limits(started) if started else "",
        ended=ended,
        outcome=ended.outcome.value if ended else "not ended",
        minutes=records[-1].clock / 60,
        costs=costs(records),
        headings=Cost.HEADINGS,
        runs=[_test_row(record, known_bad) for record in records if isinstance(record, Tested)],
        lists=_lists(suites) if suites else [],
        delivered=delivered,
        diff=[_diff_line(line) for line in printable(delivered.diff).splitlines()] if delivered else [],
        steps=[_step(each, known_bad) for each in turns(records) if not isinstance(each, SHOWN_ABOVE)],
        printable=printable,
    )


def _test_row(tested: Tested, known_bad: frozenset[str]) -> dict[str, Any]:
    part = f"{len(tested.selection)} selected" if tested.selection else "whole suite"
    failing = [(test, tested.failures.get(test, "")) for test in sorted(failed(tested))]
    return {
        "at": f"{tested.clock / 60:.1f}",
        "why": tested.why,
        "part": part,
        "counts": counts(tested),
        "colour": colour(tested, known_bad),
        "seconds": f"{tested.seconds:.1f}",
        "failing": [(printable(test), printable(text)) for test, text in failing],
        "output": printable(tested.output),
    }


def _diff_line(line: str) -> DiffLine:
    kinds = {"+++": "file", "---": "file", "diff": "file", "@@": "hunk", "+": "add", "-": "del"}
    return DiffLine(line, next((kind for start, kind in kinds.items() if line.startswith(start)), ""))


def _step(told: Record | Turn, known_bad: frozenset[str]) -> dict[str, Any]:
    """What the template needs of one step."""
    record = told.completed if isinstance(told, Turn) else told
    step: dict[str, Any] = {
        "kind": record.kind,
        "agent": printable(record.agent),
        "clock": f"{record.clock / 60:.1f}",
        "headline": headline(told),
        "body": "",
        "colour": "",
    }
    match told:
        case Turn(completed=completed):
            step |= {
                "used": _used(completed),
                "index": completed.index + 1,
                "model": printable(completed.model),
                "text": printable(completed.text).strip(),
                "finish": completed.finish,
                "prompt": [(each.role, printable(each.content)) for each in completed.messages if each.content],
                "calls": [_call(call, told) for call in completed.tool_calls],
            }
        case Tested():
            step |= {"colour": colour(told, known_bad), "body": printable(told.output)}
        case CommandRun():
            step |= {"colour": "" if told.ended == "exit" else "red", "body": printable(told.output)}
        case Posted():
            step |= {"body": board_text(told.value)}
    return step


def _call(call: Any, turn: Turn) -> dict[str, Any]:
    done = turn.results.get(call.id)
    return {
        "name": printable(call.name),
        "arguments": arguments(call.arguments),
        "result": printable(done.result) if done else None,
        "ok": done is None or done.ok,
        "first": one_line(arguments(call.arguments)[0][1], 80) if call.arguments.strip() not in ("", "{}") else "",
        "lines": len(done.result.splitlines()) if done else 0,
    }
