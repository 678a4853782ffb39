"""The one comment that the bot keeps on an issue: where the run stands, and in the end how it ended."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from bot.llm.budget import Spent
from bot.publish.hidden_text import Removed, told
from bot.publish.outcomes import PRESENTATIONS
from bot.publish.proposal import cost_line
from bot.publish.sanitize import clip, code, fence, fitted, sentence
from bot.publish.verdict import Counts
from bot.task import Outcome

REASONS, REASON_CHARS, LOG_CHARS = 8, 500, 6_000
AGAIN = frozenset(Outcome) - {Outcome.FIXED}
"""After these a new start makes sense."""


@dataclass(frozen=True)
class Progress:
    """What is known of a run at one moment."""

    run: str
    stages: tuple[str, ...]
    """The names of all stages, in their order."""
    stage: str
    """The one that was reached."""
    detail: str = ""
    """What is going on in it: which role is at work, in which round."""
    before: Counts | None = None
    """The suite on the unchanged code."""
    now: Counts | None = None
    """The suite with the newest change."""
    spent: Mapping[str, Spent] = field(default_factory=dict)
    """By role."""
    minutes: float = 0.0
    removed: tuple[Removed, ...] = ()
    """What was taken out of the issue's text before a model read it."""
    outcome: Outcome | None = None
    """None while the run goes on."""
    reasons: tuple[str, ...] = ()
    """Why it ended so, each a sentence."""
    log: str = ""
    """What set-up or tests said, as far as it matters."""
    pull_request: int | None = None
    wished: datetime | None = None
    """When the run was asked for; None for what is said in place of a run."""


def progress_comment(progress: Progress) -> str:
    """The comment's text, well below GitHub's limit. The forge adds the tag by which it finds it again."""
    parts = [
        _heading(progress),
        reasons(progress),
        _log(progress.log),
        _trail(progress),
        tests_line(progress),
        _removed(progress),
        _next(progress.outcome),
        f"<sub>Run {code(clip(progress.run, 80))}: {cost_line(progress.spent, progress.minutes)}.</sub>",
        _memory(progress),
    ]
    return "\n\n".join(part for part in parts if part)


def answered(comment: str) -> tuple[str, datetime] | None:
    """The run that a comment of the bot's shows the end of, and when that was asked for; None if it shows none."""
    found = _ANSWERED.search(comment)
    return (found["run"], datetime.fromisoformat(found["wished"])) if found else None


_ANSWERED = re.compile(r"<!-- agent-fix:ended (?P<run>[a-z0-9-]+) (?P<wished>[0-9T:.+-]+) -->$")


def _memory(progress: Progress) -> str:
    """What outlives the database: which wish this is the answer to."""
    if progress.outcome is None or progress.wished is None:
        return ""
    return f"<!-- agent-fix:ended {progress.run} {progress.wished.isoformat()} -->"


def _heading(progress: Progress) -> str:
    if progress.outcome is None:
        doing = progress.detail.strip() or progress.stage
        return f"**At work**: {fitted(doing, REASON_CHARS, sentence)}"
    shown = PRESENTATIONS[progress.outcome]
    link = f" in #{progress.pull_request}" if progress.pull_request is not None else ""
    return f"**{shown.headline}**{link}. {shown.text}"


def _named(stage: str) -> str:
    return sentence(clip(stage, 80))


def _trail(progress: Progress) -> str:
    """The stages in a row, the one that was reached in bold; of a run that went through all of them, none."""
    if progress.outcome is not None and progress.stage == (progress.stages or ("",))[-1]:
        return ""
    return " → ".join(f"**{_named(one)}**" if one == progress.stage else _named(one) for one in progress.stages)


def reasons(progress: Progress) -> str:
    """Why a run ended so, as a list."""
    given = [one for one in progress.reasons if one.strip()]
    lines = [f"- {fitted(one, REASON_CHARS, sentence)}" for one in given[:REASONS]]
    if len(given) > REASONS:
        lines.append(f"- and {len(given) - REASONS:,} more")
    return "\n".join(lines)


def _log(log: str) -> str:
    if not log.strip():
        return ""
    shown = fitted(log, LOG_CHARS, fence)
    return f"<details>\n<summary>What set-up and tests said</summary>\n\n{shown}\n\n</details>"


def tests_line(progress: Progress) -> str:
    """The suite before and now, as far as it was run; empty if it was not."""
    found = [
        (name, counts) for name, counts in (("before", progress.before), ("with the change", progress.now)) if counts
    ]
    said = [f"{_numbers(counts)} {name}" for name, counts in found if counts is not None]
    return f"Tests: {'; '.join(said)}." if said else ""


def _numbers(counts: Counts) -> str:
    named = [("passed", counts.passed), ("failed", counts.failed + counts.errors), ("skipped", counts.skipped)]
    return ", ".join(f"{number:,} {name}" for name, number in named if number or name == "passed")


def _removed(progress: Progress) -> str:
    if not progress.removed:
        return ""
    lines = "\n".join(f"- {one}" for one in told(progress.removed))
    return f"Not seen by readers of the issue, and taken out before a model read it:\n\n{lines}"


def _next(outcome: Outcome | None) -> str:
    if outcome is None:
        return "To stop it, comment `/agent-fix stop` or take the label away."
    return "To start again, comment `/agent-fix retry`." if outcome in AGAIN else ""
