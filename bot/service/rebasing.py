"""A change brought to where its branch is now: rebased once and verified again, or left where it was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from bot.publish.gate import Policy
from bot.publish.verdict import baseline, score
from bot.service.effects import RunEffects
from bot.task import Task
from bot.team.delivery import Attempt
from bot.team.evidence import Assignment, prove
from bot.team.loop import perform
from repo_tools.changes import Conflict, rebase
from repo_tools.checkout import Commit
from repo_tools.tree import Tree
from sandbox.errors import SetupFailed


@dataclass(frozen=True)
class Rebased:
    """The change as it is to be published, and what is to be said of its base: a sentence, or nothing."""

    attempt: Attempt
    said: str


def rebased(
    best: Attempt, newest: Commit, task: Task, policy: Policy, effects_on: Callable[[Tree], RunEffects]
) -> Rebased:
    """`best` on `newest`, if it merges cleanly and is proved no worse there; else as it was."""
    short = newest.id[:10]
    merged = rebase(best.tree, newest)
    if isinstance(merged, Conflict):
        where = ", ".join(merged.paths[:5])
        return Rebased(best, f"The base branch moved on to {short} meanwhile and conflicts with this in {where}.")
    if not merged.patch:
        return Rebased(best, f"The base branch moved on to {short} meanwhile, which brings the same change.")
    try:
        effects = effects_on(Tree(newest))
    except SetupFailed as error:
        return Rebased(best, f"The base branch moved on to {short} meanwhile, which cannot be set up: {error}")
    before = effects.test("executor", Tree(newest), (), "the suite on the newer base")
    work = Assignment(replace(task, base_commit=newest.id), Tree(newest), baseline(before), policy=policy)
    verdict, after = perform(prove(work, merged, "", {}), effects, work.known_bad)
    if score(verdict) < score(best.verdict):
        why = " ".join(verdict.reasons[:2])
        return Rebased(best, f"The base branch moved on to {short} meanwhile, where this does not hold: {why}")
    there = replace(best, tree=merged, verdict=verdict, after=after)
    return Rebased(
        there, f"The base branch moved on to {short} meanwhile: this was rebased onto it and verified again."
    )
