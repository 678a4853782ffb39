"""What a run did, step by step, in the words of its own records: for whoever asks why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from bot.publish.comment import Progress, reasons, tests_line
from bot.publish.outcomes import PRESENTATIONS
from bot.publish.proposal import cost_line, cost_table
from bot.publish.sanitize import clip, code, fitted, sentence
from bot.records import Posted, Record, Tested
from bot.task import Outcome
from bot.transcript_summary import counts

STEP_CHARS = 400
STEPS = 40
"""Steps that are kept of a run; of more, those in the middle are not."""
SHOWN = 24
MEASURING = ("a fault put", "which changed lines", "the change without")
"""How the reasons begin of test runs that measure a change."""
SLOTS = {
    "executed": "The issue's own code, on the unchanged project",
    "reproduction": "Tests written from the issue",
    "review": "The tester's report",
    "verification": "What was executed",
    "challenge": "Attempt to refute it",
    "dispute": "Dispute about a test",
    "ruling": "Ruling on a test",
}
"""How entries of the board are called; the others by their own names."""
DECISIONS = {
    "change": "to change something",
    "no_change_needed": "that nothing needs to be changed",
    "cannot_reproduce": "that what is described cannot be reproduced",
    "reproduced": "that the tests show what the issue describes",
}


@dataclass(frozen=True)
class Step:
    """One thing that was done or decided."""

    what: str
    said: str


@dataclass(frozen=True)
class Account:
    """A run as it is explained: what was asked, and the last that is known of it."""

    progress: Progress
    steps: tuple[Step, ...] = ()
    caller: str = ""
    at: datetime | None = None
    strategy: str = ""
    branch: str = ""
    models: Mapping[str, str] = field(default_factory=dict)


def step_of(record: Record) -> Step | None:
    """What a record tells, None if it is of no moment to somebody who asks why."""
    if isinstance(record, Tested):
        if record.why.startswith(MEASURING):
            return None  # what came of all of them together is told
        seen = f"{counts(record)} in {record.seconds:.0f} s"
        return Step(_tested(record), seen if record.ended == "exit" else f"{seen}, {record.ended}")
    if not isinstance(record, Posted):
        return None
    what, said = SLOTS.get(record.slot, record.slot.capitalize()), record.value
    what += f", round {record.round}" if record.round > 1 else ""
    if isinstance(said, dict):
        said = _of_submission(said)
    elif isinstance(said, list):
        said = " ".join(map(str, said))
    # A change is followed by its diff, which the pull request shows.
    text = str(said).split("\n--- ")[0].strip()
    if record.slot == "executed":
        ran = text.replace("\n-> ", " -> ").splitlines()
        text = "; ".join(line for line in ran if not line.endswith("-> (nothing printed)"))
    return Step(what, clip(text, STEP_CHARS)) if text and not text.startswith("--- ") else None


def kept(steps: tuple[Step, ...], step: Step) -> tuple[Step, ...]:
    """`steps` with one more, still no more than `STEPS`."""
    whole = (*steps, step)
    return whole if len(whole) <= STEPS else (*whole[: STEPS // 4], *whole[STEPS // 4 + 1 :])


def explanation(now: Account | None, before: tuple[Account, ...] = (), *, command: str, label: str) -> str:
    """The answer to `explain`: the newest run in full, each one before it in a line."""
    if now is None:
        return (
            f"Nothing is stored here of a run for this. Set the label {code(label)}, or say `{command}`, to begin "
            "one. What earlier runs did stands in their pull requests, and as git notes (`refs/notes/agent-fix`) at "
            "their commits."
        )
    progress = now.progress
    parts = [
        _state(progress),
        _asked(now),
        _section("What happened", _steps(now.steps)),
        _section("Why", _why(progress)),
        _section("What it cost", _cost(now)),
        _section("Next", _next(progress, command)),
        _section("Before that", "\n".join(_line(one) for one in before[:8])),
        "<sub>Put together from what is stored of the run; no model was asked.</sub>",
    ]
    return "\n\n".join(part for part in parts if part)


def _tested(record: Tested) -> str:
    role = record.agent.rpartition("-")[0]
    if not role:
        return "The suite on the unchanged code" if record.why == "baseline" else record.why.capitalize()
    some = ", ".join(record.selection[:2]) + (
        f" and {len(record.selection) - 2:,} more" if record.selection[2:] else ""
    )
    without = ", without the change" if "without the change" in record.why else ""
    return f"The {role} ran {some or 'the whole suite'}{without}"


def _of_submission(said: Mapping[str, object]) -> str:
    """The sentences of what a role handed over, its decision or verdict first."""
    found = [f"Decided {DECISIONS.get(str(said['decision']), said['decision'])}."] if "decision" in said else []
    found += [f"{str(said['verdict']).capitalize()}."] if "verdict" in said else []
    for name in ("diagnosis", "reason", "functionality", "counterexample", "evidence", "ruling"):
        found += [str(said[name])] if said.get(name) else []
    problems = said.get("problems")
    found += [str(one) for one in problems] if isinstance(problems, list) else []
    return " ".join(found) or "; ".join(f"{name}: {value}" for name, value in said.items() if value)


def _section(title: str, text: str) -> str:
    return f"**{title}**\n\n{text}" if text else ""


def _state(progress: Progress) -> str:
    if progress.outcome is None:
        detail = f": {fitted(progress.detail, STEP_CHARS, sentence)}" if progress.detail.strip() else ""
        return f"The run is at work: **{sentence(progress.stage)}**{detail}."
    link = f" The pull request is #{progress.pull_request}." if progress.pull_request is not None else ""
    return f"The run ended: **{PRESENTATIONS[progress.outcome].headline}**.{link}"


def _asked(now: Account) -> str:
    if not now.caller or now.at is None:
        return ""
    removed = len(now.progress.removed)
    hidden = f" {removed:,} hidden part{'s were' if removed != 1 else ' was'} taken out of it." if removed else ""
    return (
        f"Asked for by {code(now.caller)} at {now.at:%Y-%m-%d %H:%M} UTC, on the text as it stood then.{hidden} "
        f"Strategy {code(now.strategy)}, for the branch {code(now.branch)}."
    )


def _steps(steps: tuple[Step, ...]) -> str:
    left = len(steps) - SHOWN
    shown = steps if left <= 0 else (*steps[: SHOWN // 2], *steps[-SHOWN // 2 :])
    lines = [f"1. {sentence(one.what)}: {fitted(one.said, STEP_CHARS + 100, sentence)}" for one in shown]
    if left > 0:
        lines.insert(SHOWN // 2, f"1. ({left:,} more)")
    return "\n".join(lines)


def _why(progress: Progress) -> str:
    meaning = PRESENTATIONS[progress.outcome].meaning if progress.outcome else ""
    return "\n\n".join(part for part in (meaning, reasons(progress), tests_line(progress)) if part)


def _cost(now: Account) -> str:
    line = f"{cost_line(now.progress.spent, now.progress.minutes)}."
    table = cost_table(now.progress.spent, now.models)
    return f"{line}\n\n{table}" if table else line


def _next(progress: Progress, command: str) -> str:
    if progress.outcome is None:
        return f"It goes on by itself. `{command} stop` ends it; taking the label away or closing the issue does, too."
    move = PRESENTATIONS[progress.outcome].move
    if progress.outcome is Outcome.FIXED or progress.pull_request is not None:
        return f"{move} `{command} revise …` on the pull request has it changed."
    return f"{move} `{command} retry` begins anew."


def _line(one: Account) -> str:
    outcome = one.progress.outcome
    ended = PRESENTATIONS[outcome].headline if outcome else "at work"
    first = f": {fitted(one.progress.reasons[0], 200, sentence)}" if one.progress.reasons else ""
    return f"- {code(one.progress.run)}, {ended.lower()}{first} ({cost_line(one.progress.spent, one.progress.minutes)})"
