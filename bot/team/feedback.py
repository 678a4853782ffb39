"""What execution tells the programmer: each failing test, what it checks and why, the values, and where it failed."""

from __future__ import annotations

import re

from bot.prompts import block
from bot.publish.failures import read_failure
from bot.team import trim
from bot.team.briefs import diff
from bot.team.delivery import Attempt
from bot.team.designs import code_of
from bot.team.disputes import Ruling
from bot.team.testing_roles import TestDesign

SHOWN = 6
TRACE_CHARS = 2_400
COMPARED = re.compile(r"^(?:AssertionError: )?assert (?P<actual>.+?) (?:==|is) (?P<expected>.+)$")


def failing_own(attempt: Attempt) -> list[str]:
    """The generated tests that fail in an attempt."""
    return [test.id for test in attempt.verdict.own if not test.passes]


def feedback(attempt: Attempt, design: TestDesign | None, rulings: list[Ruling]) -> str:
    """The executed result of the last state, and how disputes about tests ended."""
    own = failing_own(attempt)
    others = [*attempt.verdict.broken, *attempt.verdict.new_failures]
    lines = [f"Executed: {trim.counts(attempt.after)}.", *attempt.verdict.reasons]
    for test in [*others, *own][:SHOWN]:
        lines += ["", *failure(test, attempt.after.messages.get(test, ""), design if test in own else None)]
    if len(own) + len(others) > SHOWN:
        lines.append("also failing: " + ", ".join([*others, *own][SHOWN:]))
    if attempt.after.result.ended != "exit":
        lines.append(trim.of_run(attempt.after.result)[-TRACE_CHARS:])
    lines += [ruling.told for ruling in rulings]
    return block("what was executed on your last state", "\n".join(lines))


def failure(test: str, message: str, design: TestDesign | None) -> list[str]:
    """One failing test: its purpose if it was designed, the values, an excerpt of the trace."""
    entry = design.of(test) if design else None
    lines = [
        f"--- {test} " + (f"(new, {entry.kind})" if entry else "(the project's own)" if design is None else "(new)")
    ]
    if entry is not None:
        lines += [f"checks: {entry.sentence}", f"because: {entry.reason}", f"call: {entry.call}"]
        lines.append(f"expected: {entry.expected}")
    said = read_failure(message).gist if message else "no text; it did not end by itself or could not be loaded"
    compared = COMPARED.match(said)
    lines.append(
        f"actual: {compared['actual']}; the test wants {compared['expected']}" if compared else f"actual: {said}"
    )
    return [*lines, "trace:", trim.middle(excerpt(message), TRACE_CHARS)] if message else lines


def excerpt(message: str) -> str:
    """A failure text without the lines at its beginning that stand in its trace once more."""
    lines = message.strip().splitlines()
    traced = {line[1:].strip() for line in lines if re.match(r"E\s", line)}
    first = next((number for number, line in enumerate(lines) if line.strip() not in {*traced, ""}), 0)
    return "\n".join(lines[first:])


def history(attempts: list[Attempt]) -> str:
    """The earlier states in short, so that what failed is not tried again."""
    parts = [
        f"Round {attempt.round}: {'; '.join(attempt.verdict.reasons)}\n{diff(code_of(attempt.tree), 6_000)}"
        for attempt in attempts
    ]
    return block("your rounds so far; the files are as the last one left them", "\n\n".join(parts)) if parts else ""
