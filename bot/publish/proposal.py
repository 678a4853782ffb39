"""The text of a pull request: branch, title and body, from what a run found, changed and measured."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.forge.port import Annotation
from bot.llm.budget import Spent
from bot.publish.blocks import block
from bot.publish.evidence import evidence, summary
from bot.publish.names import branch, pull_request_title
from bot.publish.sanitize import clip, code, fence, fitted, sentence
from bot.publish.template import Section, fill
from bot.publish.verdict import Level, Verdict
from bot.task import Task

BODY_CHARS = 60_000
"""Below GitHub's 65,536, so that a maintainer can still add to it."""
PROSE_CHARS = 1_500
ITEM_CHARS = 400
TITLE_CHARS = 200
TEMPLATE_CHARS = 500
"""Of the template's source, for each item that lists may have."""
LEAST_TRANSCRIPT = 500
SHOWN = 12
"""Of each list, unless the body would be too long."""
STATE, EVIDENCE = "state", "evidence"
"""The parts of the body that are brought up to date when it is revised."""
MINUS = "\u2212"


@dataclass(frozen=True)
class Changed:
    """One file of the change."""

    path: str
    added: int
    removed: int
    state: str = "changed"
    """`new`, `changed`, `deleted` or `moved`."""


@dataclass(frozen=True)
class Story:
    """What a run has to tell a maintainer. Its texts are a model's or a stranger's: they are made harmless here."""

    task: Task
    verdict: Verdict
    strategy: str
    title: str = ""
    diagnosis: str = ""
    """What was wrong and why; the first three sentences are shown."""
    changes: str = ""
    files: tuple[Changed, ...] = ()
    plan: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """What keeps it a draft whatever the tests say, each a sentence: the tester disagrees, the run was stopped."""
    doubts: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()
    """More that was measured, each a sentence: coverage of the changed lines, mutants."""
    notes: tuple[str, ...] = ()
    """What happened around the change, each a sentence: the base moved, hidden text was taken out of the issue."""
    spent: Mapping[str, Spent] = field(default_factory=dict)
    """By role."""
    models: Mapping[str, str] = field(default_factory=dict)
    """Role -> the name of its model."""
    minutes: float = 0.0
    transcript: str = ""
    """Condensed, plain text."""
    annotations: tuple[Annotation, ...] = ()
    closes: bool = True
    """Whether a closing keyword works: the pull request goes to the default branch of the issue's repository."""


@dataclass(frozen=True)
class CheckText:
    """What the check run on the change's commit says."""

    title: str
    summary: str
    text: str
    """The condensed transcript."""
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True)
class PullRequestText:
    """What a pull request is opened with."""

    branch: str
    title: str
    body: str
    draft: bool
    state: str = ""
    """The body's part that says why it is a draft."""
    evidence: str = ""
    """The body's part that says what was shown."""
    account: str = ""
    """What the change does, for a pull request that was there before."""
    check: CheckText | None = None


def propose(story: Story, *, template: str = "", taken: frozenset[str] = frozenset()) -> PullRequestText:
    """The text for `story`. `template` is the repository's pull request template; `taken` are branches that exist."""
    return PullRequestText(
        branch=branch(story.task, taken),
        title=pull_request_title(story.title, story.task),
        body=body(story, template),
        draft=_is_draft(story),
        state=_missing(story, SHOWN),
        evidence=_evidence(story, SHOWN),
        account=_account(story),
        check=_check(story),
    )


def body(story: Story, template: str = "") -> str:
    """The body, of at most `BODY_CHARS` characters. The transcript is cut first, then lists are shortened."""
    for shown in (SHOWN, 6, 3, 1):
        text = _without_transcript(story, template, shown)
        if len(text) <= BODY_CHARS:
            break
    return "\n\n".join(part for part in (text, _transcript(story.transcript, BODY_CHARS - len(text) - 2)) if part)


def cost_line(spent: Mapping[str, Spent], minutes: float) -> str:
    """What a run used, in one line."""
    total = sum(spent.values(), Spent())
    parts = [f"{minutes:.0f} min" if minutes >= 1 else f"{minutes * 60:.0f} s", f"{total.calls:,} model calls"]
    cached = f" ({total.cached_input:,} cached)" if total.cached_input else ""
    parts += [f"{total.input:,} tokens in{cached}", f"{total.output:,} out", _price(total)]
    return ", ".join(parts)


def cost_table(spent: Mapping[str, Spent], models: Mapping[str, str]) -> str:
    """What each role used, as a table; empty if none was asked."""
    rows = [
        " | ".join(
            (
                f"| {_cell(role)}",
                _cell(models.get(role, "unknown")),
                f"{one.calls:,} | {one.input:,} | {one.output:,}",
                f"{_price(one).removeprefix('price ')} |",
            )
        )
        for role, one in spent.items()
    ]
    table = [
        "| role | model | calls | tokens in | tokens out | price |",
        "| :-- | :-- | --: | --: | --: | --: |",
        *rows,
    ]
    return "\n".join(table) if rows else ""


def _price(spent: Spent) -> str:
    if spent.unpriced == spent.calls:
        return "price not known" if spent.calls else "$0.00"
    return f"${spent.usd:.2f}" + (f" and {spent.unpriced:,} calls of unknown price" if spent.unpriced else "")


def _without_transcript(story: Story, template: str, shown: int) -> str:
    sections = [
        Section("why", "What was wrong", fitted(_first_sentences(story.diagnosis), PROSE_CHARS)),
        Section("link", "", _link(story)),
        Section("what", "What changed", _changes(story, shown)),
        Section("evidence", "Evidence", block(EVIDENCE, _evidence(story, shown))),
        Section("doubts", "Not certain", _items([*story.doubts, *story.notes], shown)),
    ]
    main = fill(template, [section for section in sections if section.text], TEMPLATE_CHARS * shown)
    parts = [block(STATE, _missing(story, shown)), main, _footer(story), _how(story, shown)]
    return "\n\n".join(part for part in parts if part)


def _is_draft(story: Story) -> bool:
    return story.verdict.level is not Level.READY or bool(story.missing)


def _missing(story: Story, shown: int) -> str:
    if not _is_draft(story):
        return ""
    reasons = _items([*story.verdict.reasons, *story.missing], shown)
    return f"**This is a draft.** What a ready pull request would need and this one lacks:\n\n{reasons}"


def _first_sentences(text: str, number: int = 3) -> str:
    if "```" in text or "~~~" in text:
        return text
    return " ".join(re.split(r"(?<=[.!?])\s+(?=[A-Z`\"'(\[*])", text.strip())[:number])


def _changes(story: Story, shown: int) -> str:
    files = [f"- {code(clip(one.path, 200))}, {_size(one)}" for one in story.files[:shown]]
    if len(story.files) > shown:
        files.append(f"- and {len(story.files) - shown:,} more files")
    return "\n\n".join(part for part in (fitted(story.changes, 2 * PROSE_CHARS), "\n".join(files)) if part)


def _size(one: Changed) -> str:
    if one.state == "deleted":
        return "deleted"
    lines = f"+{one.added:,} {MINUS}{one.removed:,}"
    return lines if one.state == "changed" else f"{one.state}, {lines}"


def _evidence(story: Story, shown: int) -> str:
    return "\n".join(part for part in (evidence(story.verdict, shown), _items(list(story.measured), shown)) if part)


def _items(texts: list[str], shown: int) -> str:
    texts = list(dict.fromkeys(text for text in texts if text.strip()))
    lines = [f"- {fitted(text, ITEM_CHARS, sentence)}" for text in texts[:shown]]
    if len(texts) > shown:
        lines.append(f"- and {len(texts) - shown:,} more")
    return "\n".join(lines)


def _link(story: Story) -> str:
    if story.task.number is None:
        return ""
    return f"{'Closes' if story.closes else 'For'} #{story.task.number}"


def _account(story: Story) -> str:
    """What a revision did: its own files, and what it took."""
    cost = f"<sub>{cost_line(story.spent, story.minutes)}.</sub>"
    parts = [_changes(story, SHOWN), _items([*story.doubts, *story.notes], SHOWN), cost]
    return "\n\n".join(part for part in parts if part)


def _check(story: Story) -> CheckText:
    draft = _is_draft(story)
    title = f"{'Draft' if draft else 'Ready'}: {summary(story.verdict)}"
    parts = [_missing(story, SHOWN), _evidence(story, SHOWN), _footer(story)]
    said = "\n\n".join(part for part in parts if part)
    return CheckText(clip(title, TITLE_CHARS), said, _transcript(story.transcript, BODY_CHARS), story.annotations)


def _footer(story: Story) -> str:
    made = f"Made by agent-fix ({sentence(clip(story.strategy, 80))}) on {code(story.task.base_commit[:10])}"
    return f"<sub>{made}: {cost_line(story.spent, story.minutes)}.</sub>"


def _how(story: Story, shown: int) -> str:
    """The fold with the plan and what each role used."""
    content = [_items(list(story.plan), shown), cost_table(story.spent, story.models)]
    return _folded("Plan and cost", "\n\n".join(part for part in content if part))


def _cell(name: str) -> str:
    """A name in a table: a bar would end its cell, even in a code span."""
    return code(clip(name, 80).replace("|", "/"))


def _transcript(text: str, room: int) -> str:
    if not text.strip() or room < LEAST_TRANSCRIPT:
        return ""
    shown = fitted(text, room - 100, lambda part: fence(part, "text"))
    return _folded("Transcript, condensed", shown)


def _folded(title: str, content: str) -> str:
    return f"<details>\n<summary>{title}</summary>\n\n{content}\n\n</details>" if content else ""
