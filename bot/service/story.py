"""From what a run found to what is told of it: the pull request's text, and the result that is kept."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, replace
from pathlib import Path

from bot.errors import public
from bot.llm.budget import Meter
from bot.publish.gate import Policy, objections
from bot.publish.pointers import pointers
from bot.publish.proposal import Changed, CheckText, PullRequestText, Story, propose
from bot.publish.sanitize import commit_message
from bot.records import CommandRun, Completed, Record, Tested
from bot.secrets_mask import masked
from bot.service.order import Ended, Order
from bot.task import Outcome
from bot.team.delivery import Attempt, Delivery
from bot.team.evidence import test_files
from bot.transcript import Transcript, read
from bot.transcript_summary import condensed
from repo_tools.tree import Base, Tree

TRANSCRIPT_CHARS = 40_000
TEMPLATES = re.compile(r"(?:\.github/|docs/)?pull_request_template(?:\.md|\.txt)?", re.IGNORECASE)


@dataclass(frozen=True)
class Published:
    """Where a change is to be found."""

    branch: str
    commit: str
    where: str
    """The pull request's address, or the file with its text."""


def proposal(
    order: Order,
    delivery: Delivery,
    best: Attempt,
    meter: Meter,
    transcript: Transcript,
    *,
    policy: Policy,
    moved: str = "",
) -> PullRequestText:
    """The pull request's text, without secrets; `moved` is what is to be said of a base that moved on meanwhile."""
    told = story(order, delivery, best, meter, transcript.path, policy)
    if moved:
        told = replace(told, notes=(*told.notes, moved), task=replace(told.task, base_commit=best.tree.base.id))
    text = propose(told, template=template(best.tree.base))
    return replace(masked(text, transcript.mask), branch=text.branch)


def story(  # noqa: PLR0917 - what there is to tell of
    order: Order, delivery: Delivery, best: Attempt, meter: Meter, transcript: Path, policy: Policy
) -> Story:
    """Everything that a maintainer is told of a change."""
    plan, change, review, records = delivery.plan, best.change, best.review, read(transcript)
    doubts = [*(plan.doubts if plan else ()), *(change.doubts if change else ())]
    if change is not None and change.plan_fault:
        doubts.append(f"The coder found the plan wrong: {change.plan_fault}")
    if review is not None and review.verdict == "failed":
        doubts += review.problems
    reproduction = delivery.board.last("reproduction")
    changed = (review.changed_tests if review else "") or (getattr(reproduction, "changed_tests", "") or "")
    if changed:
        doubts.append(f"An existing test was changed: {changed}")
    if best.challenge is not None:
        doubts += [*best.challenge.doubts, *([best.challenge.counterexample] if best.refuted else [])]
        doubts += [f"A reader finds that the issue does not need this: {part}" for part in best.challenge.unneeded]
    return Story(
        task=order.task,
        verdict=best.verdict,
        strategy=order.task.strategy,
        title=change.title if change else order.task.title,
        diagnosis=plan.diagnosis if plan else "",
        changes=change.summary if change else "",
        files=changed_files(best.tree),
        plan=planned(delivery),
        doubts=tuple(doubts),
        measured=best.measured,
        notes=notes(order, delivery),
        spent=meter.by_role,
        models=models_asked(records),
        minutes=meter.seconds / 60,
        transcript=condensed(records, TRANSCRIPT_CHARS),
        annotations=pointers(
            best.tree, best.verdict, best.after, objections(best.tree, test_files(best.tree), policy), best.marks
        ),
        closes=order.closes,
    )


def planned(delivery: Delivery) -> tuple[str, ...]:
    """The plan's steps, and the files that an architect designed."""
    plan, design = delivery.plan, delivery.board.last("architecture")
    steps = [f"{task.title}: {task.change}" for task in plan.subtasks] if plan else []
    return (*steps, *(f"New file {file.path}: {file.purpose}" for file in (design.files if design else ())))


def message(order: Order, best: Attempt, text: PullRequestText) -> str:
    """The commit's message: what the change does, and which issue it is for."""
    about = f"\n\n{commit_message(best.change.summary)}" if best.change else ""
    link = f"\n\nFor #{order.task.number}" if order.task.number else ""
    return f"{text.title}{about}{link}\n"


def template(base: Base) -> str:
    """The repository's own pull request template; empty if it has none."""
    found = next((path for path in sorted(base.entries()) if TEMPLATES.fullmatch(path)), None)
    return base.read(found).decode("utf-8", "replace") if found else ""


def notes(order: Order, delivery: Delivery) -> tuple[str, ...]:
    """What happened around the change, each a sentence."""
    said = list(order.notes)
    if order.recording is not None:
        said.append("The model's words in this run are a recording, played back.")
    if order.continues:
        said.append(f"This run carries on {order.continues}: what that one had paid for was not asked for again.")
    said += delivery.unfinished
    if delivery.stop is not None:
        said.append(f"The run was stopped before it was done: {public(delivery.stop)}")
    return tuple(said)


def changed_files(tree: Tree) -> tuple[Changed, ...]:
    """The files of a change with their sizes."""
    base, found = tree.base.entries(), []
    for path, state in sorted(tree.patch.files.items()):
        old = tree.base.read(path) if path in base else b""
        new = state.data if state is not None else b""
        before, after = (data.decode("latin-1").splitlines() for data in (old, new))
        # Not `ndiff`: it compares within lines, and of hundreds that are alike comes to no end.
        parts = difflib.SequenceMatcher(None, before, after).get_opcodes()
        changed = [part for part in parts if part[0] != "equal"]
        added, removed = sum(part[4] - part[3] for part in changed), sum(part[2] - part[1] for part in changed)
        kind = "deleted" if state is None else "changed" if path in base else "new"
        found.append(Changed(path, added, removed, kind))
    return tuple(found)


def ended(
    order: Order,
    outcome: Outcome,
    reason: str,
    *,
    meter: Meter,
    transcript: Path,
    delivery: Delivery | None = None,
    published: Published | None = None,
    check: CheckText | None = None,
    stopped: bool = False,
    posted: str = "",
) -> Ended:
    """The result of a run as it is kept and printed."""
    best = delivery.best if delivery else None
    total = meter.total
    return Ended(
        run=order.run,
        outcome=outcome,
        reason=reason,
        posted=posted if posted != reason else "",
        branch=published.branch if published else "",
        commit=published.commit if published else "",
        pull_request=published.where if published else "",
        transcript=transcript,
        files=tuple(sorted(best.tree.patch.files)) if best else (),
        fixed_tests=best.verdict.repaired if best else (),
        new_tests=tuple(test.id for test in best.verdict.own) if best else (),
        evidence=check.summary if check else "",
        annotations=check.annotations if check else (),
        stopped=stopped,
        rounds=len(delivery.attempts) if delivery else 0,
        calls=total.calls,
        tokens_in=total.input,
        tokens_out=total.output,
        usd=None if total.unpriced else total.usd,
        seconds=meter.seconds,
        seconds_model=total.seconds,
        seconds_sandbox=sandbox_seconds(read(transcript)),
    )


def models_asked(records: tuple[Record, ...]) -> dict[str, str]:
    """Role -> the models that answered it, by the names that they gave themselves."""
    found: dict[str, dict[str, None]] = {}
    for record in records:
        if isinstance(record, Completed):
            found.setdefault(record.role, {})[record.model] = None
    return {role: ", ".join(names) for role, names in found.items()}


def sandbox_seconds(records: tuple[Record, ...]) -> float:
    """How long the commands and tests of a run took."""
    return sum(record.seconds for record in records if isinstance(record, Tested | CommandRun))
