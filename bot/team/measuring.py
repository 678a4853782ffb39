"""What is measured of a change before it is shown, at no cost in tokens.

The issue's own code before and after it; which of its lines run under the tests; whether anything fails without each
of its parts; whether it raises where it did not; whether the tests notice small faults put into it. A part without
which nothing fails is shown; it is taken out if a fresh reader of the issue found it needless, too.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from functools import wraps
from typing import Any

from bot.errors import TimedOut
from bot.publish.verdict import Level
from bot.team import examples, fuzz
from bot.team.board import Board
from bot.team.delivery import Attempt, Delivery, Mark
from bot.team.evidence import Assignment, prove
from bot.team.hunks import named, retold, standing
from bot.team.mutants import mutants
from bot.team.session import settled
from bot.team.steps import Execute, Note, Step
from bot.team.trials import Parts, Trials, lines_run, listed_parts, marked, parts, told_lines
from repo_tools.tree import Tree
from sandbox.errors import SandboxDied
from sandbox.port import Result

Team = Callable[[Assignment], Generator[Step, Any, Delivery]]


def measured(team: Team) -> Team:
    """`team`, with what it delivers measured, unless it ran out of money or time or there is nothing to show."""

    @wraps(team)
    def whole(work: Assignment) -> Generator[Step, Any, Delivery]:
        delivery = yield from team(work)
        best = delivery.best
        if best is None or delivery.stop is not None or best.verdict.level is Level.NONE:
            return delivery
        said: list[str] = []
        trials = Trials(work, best)
        try:
            yield from _measure(trials, delivery, said)
        except TimedOut:
            said.append("The measuring of this change ended early: the time of the run was spent.")
        except SandboxDied:
            said.append("The measuring of this change ended early: its container was lost.")
        told = [sentence for sentence in said if sentence]
        yield Note("measured", told, best.round)
        board = delivery.board.put("measured", told, best.round)
        return replace(
            delivery, best=replace(trials.best, measured=tuple(told), marks=tuple(trials.marks)), board=board
        )

    return whole


def _measure(trials: Trials, delivery: Delivery, said: list[str]) -> Generator[Step, Any, None]:
    """More of a change that is proved than of a draft. `trials.best` is what is to be delivered at the end."""
    work, best = trials.work, trials.best
    said.append((yield from _examples(work, best.tree, delivery.before)))
    lines = yield from lines_run(trials, best.tree)
    if not trials.own or not settled(work, best):
        said.append(told_lines(best.tree, lines))
        trials.marks += marked(best.tree, lines)
        return
    found = yield from parts(trials)
    if found.spare:
        smaller = yield from _without_spare(trials, found, _stated(delivery.board))
        if smaller is None:
            found = replace(found, idle=(*found.idle, *found.spare))
        else:
            trials.best = smaller
            found = replace(found, idle=tuple(standing(one, found.spare) for one in found.idle))
            lines = yield from lines_run(trials, smaller.tree)
            taken = listed_parts(found.spare)
            said.append(f"Taken out, since a reader found it needless and nothing fails without it: {taken} as it was.")
    said.append(told_lines(trials.best.tree, lines))
    said.append(found.told)
    said.append((yield from _drawn(work.tree, trials.best.tree)))
    trials.marks += marked(trials.best.tree, lines)
    which = "No test" if found.whole else "No test in the changed files"
    trials.marks += [
        Mark(one.path, one.first, max(one.first, one.last), f"{which} fails without this part.") for one in found.idle
    ]
    said.append((yield from _faults(trials)))


def _examples(work: Assignment, tree: Tree, before: tuple[examples.Ran, ...]) -> Generator[Step, Any, str]:
    """What the change does to the issue's own code."""
    found = examples.blocks(work.task.body)
    if not found or not examples.is_python(work.tree):
        return ""
    if not before:
        result: Result = yield Execute(work.tree, examples.command(found))
        before = examples.outcomes(result)
    result = yield Execute(tree, examples.command(found))
    return examples.compared(before, examples.outcomes(result))


def _drawn(base: Tree, tree: Tree) -> Generator[Step, Any, str]:
    """Whether changed functions raise on drawn inputs on which they did not."""
    found = fuzz.targets(tree)
    if not found:
        return ""
    result: Result = yield Execute(base, fuzz.command(found))
    before = fuzz.outcomes(result, len(found))
    if not any(before):
        return ""
    result = yield Execute(tree, fuzz.command(found))
    return fuzz.compared(found, before, fuzz.outcomes(result, len(found)))


def _without_spare(trials: Trials, found: Parts, stated: str) -> Generator[Step, Any, Attempt | None]:
    """The change without what is spare, if it is proved to be as good."""
    best = trials.best
    if found.tree is None:
        return None
    verdict, after = yield from prove(trials.work, found.tree, stated, {})
    challenge = best.challenge
    if challenge is not None:
        left = [text for text in challenge.unneeded if not any(named(part, [text]) for part in found.spare)]
        said = {"unneeded": left, "doubts": challenge.doubts}
        moved = {name: [retold(text, found.spare) for text in texts] for name, texts in said.items()}
        challenge = challenge.model_copy(update=moved)
    smaller = replace(best, tree=found.tree, verdict=verdict, after=after, challenge=challenge)
    return smaller if verdict.level is best.verdict.level and smaller.sound is best.sound else None


def _stated(board: Board) -> str:
    """Why the new tests should fail without the change, as whoever wrote them said it."""
    said = [board.last(slot) for slot in ("reproduction", "review", "tests")]
    return "\n".join(str(getattr(one, "reason", "") or getattr(one, "fails_without", "")) for one in said)


def _faults(trials: Trials) -> Generator[Step, Any, str]:
    """Whether the tests in the changed files notice small faults put into the changed lines."""
    survived, killed = [], 0
    for mutant in mutants(trials.best.tree):
        if trials.over:
            break
        if (yield from trials.fails(mutant.tree, f"a fault put into line {mutant.line}", trials.own)):
            killed += 1
        else:
            survived.append(f"`{mutant.before[:60]}` as `{mutant.after[:60]}` in {mutant.path}:{mutant.line}")
    if not killed and not survived:
        return ""
    made = killed + len(survived)
    text = f"Of {made} small faults put into the changed lines, the tests in the changed files notice {killed}"
    return text + (f"; not: {survived[0]}." if survived else ".")
