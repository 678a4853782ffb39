"""Cutting texts for a model by rule: what matters stays, and what was cut is said."""

from __future__ import annotations

from sandbox.port import Result, TestOutcome, TestReport

TOOL_RESULT = 6_000
"""Characters of one tool result at the most."""
SHOWN_FAILURES = 6
FAILURE = 2_500
"""Characters of one failure at the most."""


def middle(text: str, limit: int) -> str:
    """The beginning and the end of `text`, at most about `limit` characters; ends matter more (errors stand there)."""
    if len(text) <= limit:
        return text
    head, tail = limit // 3, limit - limit // 3
    cut = text[head : len(text) - tail]
    return f"{text[:head]}\n[… {len(cut)} characters cut …]\n{text[len(text) - tail :]}"


def of_run(result: Result) -> str:
    """One command's outcome as a tool result."""
    late = f"stopped: it did not end in time, {result.seconds:.0f} seconds"
    how = {"exit": f"exit code {result.exit_code}", "timeout": late}.get(result.ended, f"stopped: {result.ended} limit")
    return f"[{how}]\n{middle(result.output, TOOL_RESULT).strip() or '(no output)'}"


def of_tests(report: TestReport, known_bad: frozenset[str]) -> str:
    """A test run as a tool result: counts, then each failure that is not known from before any change."""
    bad = report.having(TestOutcome.FAILED, TestOutcome.ERROR)
    fresh = sorted(bad - known_bad)
    lines = [counts(report)]
    if bad & known_bad:
        lines.append(
            f"{len(bad & known_bad)} of the failures also failed before any change; they are nobody's fault here."
        )
    shown: set[str] = set()
    for test in fresh[:SHOWN_FAILURES]:
        lines.append(failure(test, report, brief=name_of(test) in shown))
        shown.add(name_of(test))
    if len(fresh) > SHOWN_FAILURES:
        lines.append("also failing: " + ", ".join(fresh[SHOWN_FAILURES : SHOWN_FAILURES + 40]))
    if not report.tests or (not bad and report.result.exit_code != 0):
        lines.append(of_run(report.result))
    return "\n".join(lines)


def name_of(test: str) -> str:
    """The test without its parameters: variants of one test fail alike more often than not."""
    return test.partition("[")[0]


def failure(test: str, report: TestReport, *, brief: bool) -> str:
    """One failed test with what it said; `brief` for one whose like is shown already."""
    said = report.messages.get(test, "").strip()
    if brief:
        said = said.partition("\n")[0][:200]
    return f"--- {report.tests[test].value}: {test}\n{middle(said, FAILURE)}"


def counts(report: TestReport) -> str:
    """`12 passed, 1 failed (exit code 1)`."""
    numbers = {outcome: len(report.having(outcome)) for outcome in TestOutcome}
    said = ", ".join(f"{number} {outcome.value}" for outcome, number in numbers.items() if number)
    ended = "" if report.result.ended == "exit" else f", stopped: {report.result.ended}"
    return f"{said or 'no test ran'} (exit code {report.result.exit_code}{ended})"
