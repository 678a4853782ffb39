"""The names of what is published: a pull request's title and its branch."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

from bot.publish.sanitize import clip, title
from bot.task import Task

TITLE_LIMIT = 72
SLUG_LIMIT = 40
BRANCHES = "agent-fix/"

VERB_LIST = """
accept add allow avoid catch change check close convert correct count create decode detect drop encode escape
fix fold handle honor honour ignore include keep let load make match merge normalise normalize parse pass
prevent print quote raise read reject remove rename render replace report require reset resolve respect
restore return set show skip sort split stop store strip support treat unwrap update use validate warn wrap
write
"""
VERBS = frozenset(VERB_LIST.split())
IRREGULAR = {"made": "make", "wrote": "write", "caught": "catch", "kept": "keep", "threw": "throw", "has": "have"}


def pull_request_title(proposed: str, task: Task) -> str:
    """A title in the imperative of at most `TITLE_LIMIT` characters: the one proposed, else one from the issue."""
    wanted = title(proposed).rstrip(" .")
    words = wanted.split(" ", 1)
    if wanted:
        verb = _imperative(words[0])
        wanted = " ".join([verb[:1].upper() + verb[1:], *words[1:]])
    else:
        wanted = f"Fix: {title(task.title).rstrip(' .') or 'the reported defect'}"
    return clip(wanted, TITLE_LIMIT)


def slug(text: str) -> str:
    """`text` as a part of a branch name: lower-case ASCII letters, digits and single hyphens, never empty."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    whole = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    if len(whole) > SLUG_LIMIT:
        whole = whole[: SLUG_LIMIT + 1].rpartition("-")[0] or whole[:SLUG_LIMIT]
    return whole.strip("-") or "change"


def branch(task: Task, taken: Collection[str] = ()) -> str:
    """The branch of a task; if that name is `taken`, the next free one."""
    first = BRANCHES + (f"issue-{task.number}" if task.number is not None else slug(task.title))
    number, name = 1, first
    while name in taken:
        number += 1
        name = f"{first}-{number}"
    return name


def _imperative(word: str) -> str:
    """A verb that leads a title, in its plain form, if it is one that is known."""
    lower = word.lower()
    if lower in IRREGULAR:
        return IRREGULAR[lower]
    for ending in ("ing", "ied", "ies", "ed", "es", "s", "d"):
        if not lower.endswith(ending):
            continue
        stem = lower.removesuffix(ending)
        for verb in (stem, stem + "e", stem + "y", stem[:-1]):
            if verb in VERBS:
                return verb
    return word
