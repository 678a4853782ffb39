"""What a transcript says, in short: the values that its views show.

What models and repositories wrote is made printable here, once for all views.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.llm.budget import Spent
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
    Stopped,
    Tested,
    ToolUsed,
)
from bot.transcript import spent_by_role
from sandbox.port import TestOutcome

UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
"""Controls, which may move a terminal's cursor, and marks of direction, which may show a text as another."""

BAD = (TestOutcome.FAILED, TestOutcome.ERROR)
TOTAL = "all"


def printable(text: str) -> str:
    """`text` with what cannot be seen written out; line ends are newlines."""
    lines = text.replace("\r\n", "\n")
    return UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), lines)


def one_line(text: str, limit: int) -> str:
    """`text` on one line of at most `limit` characters."""
    flat = " ".join(printable(text).split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


@dataclass(frozen=True)
class Cost:
    """What one role used, as it is shown."""

    role: str
    models: str
    calls: str
    input: str
    cached: str
    output: str
    usd: str
    seconds: str

    HEADINGS = ("role", "model", "calls", "tokens in", "cached", "out", "cost", "seconds")

    @property
    def cells(self) -> tuple[str, ...]:
        """In the order of `HEADINGS`."""
        return self.role, self.models, self.calls, self.input, self.cached, self.output, self.usd, self.seconds


def costs(records: Iterable[Record]) -> list[Cost]:
    """One row a role, and one for all of them."""
    kept = list(records)
    spent = spent_by_role(kept)
    models: dict[str, dict[str, None]] = {role: {} for role in spent}
    for record in kept:
        if isinstance(record, Completed):
            models[record.role][record.model] = None
    rows = [_cost(role, ", ".join(models[role]), each) for role, each in spent.items()]
    return [*rows, _cost(TOTAL, "", sum(spent.values(), Spent()))]


def _cost(role: str, models: str, spent: Spent) -> Cost:
    return Cost(
        printable(role),
        printable(models),
        f"{spent.calls:,}",
        f"{spent.input:,}",
        f"{spent.cached_input:,}",
        f"{spent.output:,}",
        money(spent),
        f"{spent.seconds:,.1f}",
    )


def money(spent: Spent) -> str:
    """US dollars; says so where the price of some or all calls is not known."""
    if spent.calls and spent.unpriced == spent.calls:
        return "price unknown"
    return f"${spent.usd:.3f}" + (f" + {spent.unpriced} calls of unknown price" if spent.unpriced else "")


def counts(tested: Tested) -> str:
    """Such as `12 passed, 1 failed`."""
    parts = [f"{len(tested.outcomes[each])} {each.value}" for each in TestOutcome if tested.outcomes.get(each)]
    return ", ".join(parts) or "no test ran"


def failed(tested: Tested) -> frozenset[str]:
    """The tests that failed or had an error."""
    return frozenset(test for each in BAD for test in tested.outcomes.get(each, ()))


def baseline_failures(records: Iterable[Record]) -> frozenset[str]:
    """What failed in the first run of the whole suite, before anything was changed."""
    first = next((record for record in records if isinstance(record, Tested) and not record.selection), None)
    return failed(first) if first else frozenset()


def colour(tested: Tested, known_bad: frozenset[str]) -> str:
    """`green`; `yellow` if only what failed before the change fails; `red`."""
    if tested.good:
        return "green"
    return "yellow" if failed(tested) and failed(tested) <= known_bad else "red"


@dataclass(frozen=True)
class Compared:
    """The whole suite at the start and at the end of a run, by test id."""

    mended: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()
    """In both."""
    new: tuple[str, ...] = ()


def compared(records: Iterable[Record]) -> Compared | None:
    """The first and the last run of the whole suite; None if there are no two."""
    suites = [record for record in records if isinstance(record, Tested) and not record.selection]
    if len(suites) < 2:
        return None
    before, after = (_by_test(suite) for suite in (suites[0], suites[-1]))
    bad = {test for test, outcome in after.items() if outcome in BAD}
    was_bad = {test for test, outcome in before.items() if outcome in BAD}
    passed = {test for test, outcome in after.items() if outcome is TestOutcome.PASSED}
    return Compared(
        mended=tuple(sorted(was_bad & passed)),
        broken=tuple(sorted(bad & before.keys() - was_bad)),
        failing=tuple(sorted(bad & was_bad)),
        new=tuple(sorted(after.keys() - before.keys())),
    )


def _by_test(tested: Tested) -> dict[str, TestOutcome]:
    return {test: outcome for outcome, tests in tested.outcomes.items() for test in tests}


@dataclass(frozen=True)
class Turn:
    """One completion with what came of its tool calls."""

    completed: Completed
    results: Mapping[str, ToolUsed] = field(default_factory=dict)
    """Tool call id -> what was done."""


def turns(records: Sequence[Record]) -> list[Record | Turn]:
    """The records, each completion together with the tool calls that followed from it."""
    told: list[Record | Turn] = []
    open_turns: dict[str, dict[str, ToolUsed]] = {}
    for record in records:
        if isinstance(record, Completed):
            open_turns[record.agent] = {}
            told.append(Turn(record, open_turns[record.agent]))
        elif isinstance(record, ToolUsed) and record.agent in open_turns:
            open_turns[record.agent][record.call_id] = record
        else:
            told.append(record)
    return told


def arguments(text: str) -> list[tuple[str, str]]:
    """A tool call's arguments as (name, value) for people; one pair without a name if they are no JSON object."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        return [("", printable(text))]
    return [(printable(str(name)), printable(_written(each))) for name, each in value.items()]


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def board_text(value: Any, indent: str = "") -> str:
    """A board entry as indented lines, empty parts left out."""
    if isinstance(value, dict):
        parts = [(f"{printable(str(name)).replace('_', ' ')}:", each) for name, each in value.items()]
    elif isinstance(value, list):
        parts = [("-", each) for each in value]
    else:
        return printable(str(value)).replace("\n", f"\n{indent}")
    lines = []
    for head, each in parts:
        if each in ("", None, [], {}):
            continue
        nested = isinstance(each, dict | list)
        text = board_text(each, indent + "  ")
        if nested and head == "-":
            lines.append(f"{indent}- {text.lstrip()}")
        else:
            lines.append(f"{indent}{head}\n{text}" if nested else f"{indent}{head} {text}")
    return "\n".join(lines)


def headline(record: Record | Turn, limit: int = 200) -> str:  # noqa: PLR0911 - a table of kinds
    """One line about a record."""
    match record:
        case Turn():
            return _turn(record, limit)
        case RunStarted():
            task = record.task
            number = f"#{task.number}" if task.number is not None else ""
            return one_line(f"{task.repository}{number} at {task.base_commit[:12]}: {task.title}", limit)
        case StageChanged():
            return one_line(f"{record.stage}{': ' + record.detail if record.detail else ''}", limit)
        case Asked():
            shown = ", ".join(f"{part} {size:,}" for part, size in record.shown.items())
            return one_line(f"{record.agent} begins" + (f"; shown in tokens: {shown}" if shown else ""), limit)
        case CommandRun():
            ended = f"exit code {record.exit_code}" if record.ended == "exit" else f"stopped: {record.ended}"
            return one_line(f"$ {record.command} → {ended}, {record.seconds:.1f} s", limit)
        case Tested():
            part = f"{len(record.selection)} selected" if record.selection else "whole suite"
            return one_line(f"tests, {record.why} ({part}): {counts(record)}, {record.seconds:.1f} s", limit)
        case Stopped():
            return one_line(f"{record.step} was stopped: {record.text}", limit)
        case Posted():
            return one_line(f"{record.slot}, round {record.round}", limit)
        case Delivered():
            return f"the change: {len(record.files)} file{'' if len(record.files) == 1 else 's'}"
        case RunEnded():
            return one_line(f"{record.outcome.value}: {record.text}" if record.text else record.outcome.value, limit)
        case _:
            return one_line(f"{record.agent} {record.kind}", limit)


def _turn(turn: Turn, limit: int) -> str:
    completed = turn.completed
    calls = ", ".join(_call(call.id, call.name, call.arguments, turn.results) for call in completed.tool_calls)
    said = one_line(completed.text, limit // 2)
    done = " → ".join(part for part in (said, calls) if part) or "said nothing"
    return one_line(f"{completed.agent}, reply {completed.index + 1}: {done}", limit)


def _call(call_id: str, name: str, text: str, results: Mapping[str, ToolUsed]) -> str:
    first = one_line(arguments(text)[0][1], 60) if text.strip() not in ("", "{}") else ""
    refused = call_id in results and not results[call_id].ok
    return f"{name}({first})" + (" refused" if refused else "")


BOARD_LINES = 16
"""Of one entry, when it is condensed: a plan fits, a diff, which stands elsewhere, does not."""

CONDENSED_KINDS = (StageChanged, Turn, CommandRun, Tested, Stopped, Posted, RunEnded)


def condensed(records: Sequence[Record], limit_chars: int) -> str:
    """The transcript as plain text of at most `limit_chars` characters, with the costs by role at its end.

    Steps are shortened before any is left out; if they still do not fit, those in the middle are.
    """
    table = "\n".join(_aligned([Cost.HEADINGS, *(row.cells for row in costs(records))]))
    if len(table) >= limit_chars:
        return table[:limit_chars]
    room = limit_chars - len(table) - 2
    told = [each for each in turns(records) if isinstance(each, CONDENSED_KINDS)]
    for width in (400, 200, 120, 80):
        lines = [line for each in told for line in _condensed(each, width)]
        if sum(len(line) + 1 for line in lines) <= room:
            break
    return "\n".join([*_fitting(lines, room), "", table])[:limit_chars]


def _condensed(told: Record | Turn, width: int) -> list[str]:
    if isinstance(told, StageChanged):
        return [f"== {headline(told, width)}"]
    if isinstance(told, Posted):
        body = [line for line in board_text(told.value).splitlines() if line.strip()]
        more = [f"    [… {len(body) - BOARD_LINES} lines more …]"] if len(body) > BOARD_LINES else []
        kept = [f"    {_indent(line)}{one_line(line, width)}" for line in body[:BOARD_LINES]]
        return [f"[{headline(told, width)}]", *kept, *more]
    return [f"  {headline(told, width)}"]


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" "))]


def _fitting(lines: list[str], room: int) -> list[str]:
    if sum(len(line) + 1 for line in lines) <= room:
        return lines
    head: list[str] = []
    tail: list[str] = []
    left, front, back = room - 40, 0, len(lines)
    while front < back:
        first = len(head) <= len(tail)
        line = lines[front] if first else lines[back - 1]
        if len(line) + 1 > left:
            break
        left -= len(line) + 1
        (head if first else tail).append(line)
        front, back = (front + 1, back) if first else (front, back - 1)
    return [*head, f"  [… {back - front} lines left out …]", *reversed(tail)]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
