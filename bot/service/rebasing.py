"""A change judged from another base: on the newest commit of its branch, or together with its pull request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from bot.errors import TimedOut, public
from bot.publish.gate import Policy
from bot.publish.sanitize import clip
from bot.publish.verdict import Baseline, Level, Verdict, baseline, score
from bot.service.effects import RunEffects
from bot.task import Task
from bot.team.delivery import Attempt
from bot.team.evidence import Assignment, prove
from bot.team.loop import perform
from repo_tools.changes import Conflict, patch_between, rebase
from repo_tools.checkout import Commit
from repo_tools.errors import NameRefused
from repo_tools.patch import FileState
from repo_tools.tree import Tree
from sandbox.errors import SandboxDied, SetupFailed
from sandbox.port import TestReport


@dataclass(frozen=True)
class Rebased:
    """The change as it is to be published, and what is to be said of its base: a sentence, or nothing."""

    attempt: Attempt
    said: str


def as_a_whole(
    best: Attempt,
    fork: Commit,
    task: Task,
    policy: Policy,
    effects_on: Callable[[Tree], RunEffects],
    *,
    given: Baseline,
) -> Attempt:
    """`best`, a change to a pull request, judged as that whole pull request is: against the commit it starts from.

    That it is no worse than the pull request was would not say that the pull request is good. `given` is what it was
    judged by so far.
    """
    try:
        tree = Tree(fork)
        for path, state in _all_of(best.tree, fork).items():
            if state is not None:
                tree = tree.with_file(path, state.data, state.mode)
            elif tree.exists(path):
                tree = tree.without_file(path)
        verdict, after = _judged(tree, task, policy, effects_on(Tree(fork)), given)
    except (SetupFailed, NameRefused, TimedOut, SandboxDied) as error:
        said = f"Judged against the pull request as it was, not as a whole: {clip(public(error), 200)}"
        if best.verdict.level is Level.READY:
            return replace(best, verdict=replace(best.verdict, level=Level.DRAFT, reasons=(said,)))
        return replace(best, measured=(*best.measured, said))
    return replace(best, verdict=verdict, after=after)


def _all_of(tree: Tree, fork: Commit) -> dict[str, FileState | None]:
    """What a pull request changed before, and what `tree` changes on its head."""
    head = fork.repository.resolve(tree.base.id)
    return {**patch_between(fork, head).files, **tree.patch.files}


def _judged(tree: Tree, task: Task, policy: Policy, effects: RunEffects, given: Baseline) -> tuple[Verdict, TestReport]:
    """The suite on the base of `tree`, or as much of it as `given` is of, and what that shows of `tree`."""
    base = Tree(tree.base)
    # A sample of which nothing is there yet must not become the whole suite, which is too long.
    sample = tuple(path for path in given.sample if base.exists(path)) or given.sample
    before = effects.test("executor", base, sample, "the suite on the base")
    there = replace(baseline(before), sample=given.sample, left_out=given.left_out)
    work = Assignment(replace(task, base_commit=tree.base.id), base, there, policy=policy)
    judged: tuple[Verdict, TestReport] = perform(prove(work, tree, "", {}), effects, work.known_bad)
    return judged


def rebased(
    best: Attempt,
    newest: Commit,
    task: Task,
    policy: Policy,
    effects_on: Callable[[Tree], RunEffects],
    *,
    given: Baseline,
) -> Rebased:
    """`best` on `newest`, if it merges cleanly and is proved no worse there; else as it was, judged by `given`."""
    short = newest.id[:10]
    merged = rebase(best.tree, newest)
    if isinstance(merged, Conflict):
        where = ", ".join(merged.paths[:5])
        return Rebased(best, f"The base branch moved on to {short} meanwhile and conflicts with this in {where}.")
    if not merged.patch:
        return Rebased(best, f"The base branch moved on to {short} meanwhile, which brings the same change.")
    try:
        verdict, after = _judged(merged, task, policy, effects_on(Tree(newest)), given)
    except SetupFailed as error:
        return Rebased(best, f"The base branch moved on to {short} meanwhile, which cannot be set up: {public(error)}")
    except (TimedOut, SandboxDied) as error:
        return Rebased(
            best, f"The base branch moved on to {short} meanwhile; this was not verified there: {public(error)}"
        )
    if score(verdict) < score(best.verdict):
        why = " ".join(verdict.reasons[:2])
        return Rebased(best, f"The base branch moved on to {short} meanwhile, where this does not hold: {why}")
    there = replace(best, tree=merged, verdict=verdict, after=after, marks=())
    return Rebased(
        there, f"The base branch moved on to {short} meanwhile: this was rebased onto it and verified again."
    )
