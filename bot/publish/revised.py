"""The body of a pull request that was revised: what it stands for now, and what each revision did."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.publish.blocks import block, content, replaced
from bot.publish.proposal import BODY_CHARS, EVIDENCE, STATE
from bot.publish.sanitize import code

REVISIONS = "revisions"
HEADING = "## Revisions"
TRANSCRIPT = re.compile(
    r"<details>\r?\n<summary>Transcript, condensed</summary>\s+(?P<ticks>`{3,})text\r?\n.*?\n(?P=ticks)\s+</details>",
    re.DOTALL,
)
"""As `bot.publish.proposal` folds it; the check run and the git note have it, too."""


@dataclass(frozen=True)
class Revised:
    """What a revision brings to the body; the texts are made harmless already."""

    commit: str
    asked_by: str
    state: str
    """Why the pull request is a draft; empty if it is not."""
    evidence: str
    """Of the pull request as a whole."""
    account: str
    """What was changed."""


def was_draft(body: str) -> bool:
    """Whether the body says that the bot made a draft of it: then the bot may take that back."""
    return bool(content(body, STATE))


def revised_body(body: str, it: Revised) -> str:
    """`body` brought up to date. A part that somebody took out is told with the revision instead."""
    entry = [f"**{code(it.commit[:10])}**, asked for by {code(it.asked_by)}:\n\n{it.account}"]
    for name, text in ((STATE, it.state), (EVIDENCE, it.evidence)):
        if content(body, name) is None:
            entry.append(text)
        else:
            body = replaced(body, name, text)
    new = "\n\n".join(part for part in entry if part)
    before = content(body, REVISIONS)
    if before is None:
        start, end = _after_evidence(body)
        return _fitting(start, end, [HEADING, new])
    start, _, end = replaced(body, REVISIONS, "\0").partition(block(REVISIONS, "\0"))
    return _fitting(start, end, [before, new])


def _after_evidence(body: str) -> tuple[str, str]:
    """The body before and after where revisions are told: below the evidence, or else at the end."""
    shown = content(body, EVIDENCE)
    if shown is None:
        return f"{body.rstrip()}\n\n", ""
    start, part, end = body.partition(block(EVIDENCE, shown))
    return f"{start}{part}\n\n", end


def _fitting(start: str, end: str, entries: list[str]) -> str:
    """The whole; if it would be too long, without what earlier revisions did, then without the first transcript."""
    whole = start + block(REVISIONS, "\n\n".join(entries)) + end
    if len(whole) > BODY_CHARS:
        whole = start + block(REVISIONS, f"{HEADING}\n\n{entries[-1]}") + end
    return whole if len(whole) <= BODY_CHARS else TRANSCRIPT.sub("", whole)
