"""What a person sees while a run is at work: a live panel on a terminal, plain lines elsewhere."""

from __future__ import annotations

import threading
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from bot.llm.budget import Limits, Spent
from bot.records import (
    Asked,
    CommandRun,
    Completed,
    Posted,
    Record,
    RunEnded,
    RunStarted,
    StageChanged,
    Stopped,
    Tested,
    ToolUsed,
)
from bot.transcript_summary import printable

SHOWN_LINES = 8


class Progress:
    """Watches a transcript (`Transcript(watch=…)`) and shows it. Use as a context manager."""

    def __init__(self, console: Console, limits: Limits) -> None:
        self._console = console
        self._limits = limits
        self._lock = threading.Lock()
        self._spent = Spent()
        self._clock = 0.0
        self._stage = "starting"
        self._worker = ""
        self._before = ""
        self._now = ""
        self._lines: list[str] = []
        self._live = Live(console=console, get_renderable=self._panel, refresh_per_second=4, transient=True)

    def __enter__(self) -> Progress:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def __call__(self, record: Record) -> None:
        """Take one record in."""
        with self._lock:
            line = self._taken(record)
            if line is None:
                return
            line = printable(line)
            self._lines = [*self._lines, line][-SHOWN_LINES:]
            if not self._console.is_terminal:
                self._console.print(Text(f"{self._used()}  {line}"), soft_wrap=True)

    def _taken(self, record: Record) -> str | None:  # noqa: PLR0911 - a table of kinds
        match record:
            case RunStarted():
                return f"run {record.run}" + (f" ({record.note})" if record.note else "")
            case StageChanged():
                self._stage, self._worker = record.stage, ""
                return f"{record.stage}{': ' + record.detail if record.detail else ''}"
            case Asked():
                self._worker = record.agent
                return f"{record.agent} begins ({sum(record.shown.values()):,} tokens of briefing)"
            case Completed():
                self._spent += Spent.of(record.completion)
                calls = ", ".join(call.name for call in record.tool_calls) or "prose"
                return f"{record.agent} replies: {calls}"
            case ToolUsed(ok=False):
                return f"{record.agent}: {record.name} refused"
            case Tested():
                return self._tested(record)
            case CommandRun():
                return f"{record.agent} ran: {record.command.splitlines()[0][:70] if record.command else ''}"
            case Stopped():
                return f"{record.agent or 'the environment'}: {record.text}"
            case Posted(slot="verification"):
                return f"round {record.round}: {str(record.value).splitlines()[0][:140]}"
            case RunEnded():
                self._stage = record.outcome.value
        return None

    def _tested(self, record: Tested) -> str:
        said = ", ".join(f"{len(tests)} {outcome.value}" for outcome, tests in record.outcomes.items()) or "no test ran"
        if record.why == "baseline":
            self._before = said
        else:
            self._now = said
        return f"tests ({record.why}): {said} in {record.seconds:.1f} s"

    def _used(self) -> str:
        return f"[{self._stage}] {self._spent.calls} calls, {self._spent.tokens:,} tokens, {money(self._spent)}"

    def _panel(self) -> RenderableType:
        with self._lock:
            table = Table.grid(padding=(0, 2))
            table.add_row("stage", Text(self._stage, style="bold"), "at work", self._worker or "-")
            table.add_row("tests before", self._before or "-", "now", self._now or "-")
            table.add_row("spent", limits_line(self._spent, self._limits), "", "")
            return Group(table, *(Text(line, style="dim", overflow="ellipsis", no_wrap=True) for line in self._lines))


def money(spent: Spent) -> str:
    """What was spent in dollars, or that it is not known."""
    if spent.unpriced == spent.calls and spent.calls:
        return "price not known"
    return f"${spent.usd:.3f}" + (f" and {spent.unpriced} calls of unknown price" if spent.unpriced else "")


def limits_line(spent: Spent, limits: Limits) -> str:
    """Calls, tokens and money against their limits."""
    parts = [
        f"{spent.calls}/{limits.calls} calls" if limits.calls else f"{spent.calls} calls",
        f"{spent.tokens:,}/{limits.tokens:,} tokens" if limits.tokens else f"{spent.tokens:,} tokens",
        money(spent) + (f"/${limits.usd:g}" if limits.usd else ""),
        f"at most {limits.minutes:g} minutes" if limits.minutes else "",
    ]
    return ", ".join(part for part in parts if part)
