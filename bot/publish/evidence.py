"""The lists of a verdict as Markdown: what the tests showed, bounded, with counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bot.publish.sanitize import clip, code
from bot.publish.verdict import Counts, OwnTest, Verdict

ID_LIMIT = 160


def evidence(verdict: Verdict, shown: int) -> str:
    """The section's content: a table of the two runs of the suite, then each list that is not empty.

    In each list at most `shown` tests are named and the others counted.
    """
    lists = [line for heading, number, items in _lists(verdict) for line in _bounded(heading, number, items, shown)]
    return "\n".join([*_table(verdict.before, verdict.after), "", *lists]).rstrip()


def summary(verdict: Verdict) -> str:
    """The same in one line, for a title or a progress line."""
    parts = [
        f"{_tests(len(verdict.repaired), 'failed before and passes', 'failed before and pass')} now"
        if verdict.repaired
        else ""
    ]
    parts.append(
        f"{_tests(len(verdict.proofs), 'of its own fails', 'of its own fail')} without the change"
        if verdict.proofs
        else ""
    )
    parts.append(_tests(len(verdict.lost), "is lost", "are lost") if verdict.lost else "nothing that passed is lost")
    return ", ".join(part for part in parts if part)


def _table(before: Counts, after: Counts) -> list[str]:
    rows = [
        ("passed", before.passed, after.passed),
        ("failed", before.failed + before.errors, after.failed + after.errors),
        ("skipped", before.skipped, after.skipped),
    ]
    lines = ["| suite | before | with the change |", "| :-- | --: | --: |"]
    lines += [f"| {name} | {first:,} | {second:,} |" for name, first, second in rows]
    return [*lines, f"| took | {_took(before)} | {_took(after)} |"]


def _took(counts: Counts) -> str:
    return f"{counts.seconds:.0f} s" + ("" if counts.ended == "exit" else f", stopped ({counts.ended})")


def _lists(verdict: Verdict) -> Iterator[tuple[str, int, list[str]]]:
    proofs = {test.id: "" for test in verdict.proofs}
    gists = {test.id: code(clip(test.gist, ID_LIMIT)) for test in verdict.proofs}
    yield "New tests that pass with the change and fail without it", len(proofs), _grouped(proofs, gists)
    others = {test.id: f", {_state(test)}" for test in verdict.own if not test.proves}
    yield "Other new tests", len(others), _grouped(others)
    apart = set(verdict.unconnected)
    for heading, tests in (
        ("Failed before, pass now", verdict.repaired),
        ("Passed before, fail now", verdict.broken),
        ("Passed before, gone now", verdict.gone),
        ("Ran before, skipped or gone now", verdict.muted),
        ("New failures", verdict.new_failures),
        ("Failed before and still do", tuple(test for test in verdict.still_failing if test not in apart)),
        ("Want the network or a service, of which a test run has none, before and after", verdict.unconnected),
        ("Unsteady on the same code, left out", verdict.flaky),
        ("Not run with the change", verdict.not_run),
    ):
        yield heading, len(tests), _grouped(dict.fromkeys(tests, ""))


def _grouped(said: Mapping[str, str], examples: Mapping[str, str] | None = None) -> list[str]:
    """A line for each test; variants of one of which the same is said together, with an example of how they fail."""
    alike: dict[tuple[str, str], list[str]] = {}
    for test, text in said.items():
        alike.setdefault((test.partition("[")[0], text), []).append(test)
    lines = []
    for (name, text), tests in alike.items():
        many = len(tests) > 1
        shown = f"{_id(name)} ({len(tests):,} variants)" if many else _id(tests[0])
        example = (examples or {}).get(tests[0], "")
        without = f", without it{', for example' if many else ''}: {example}" if example else ""
        lines.append(f"{shown}{text}{without}")
    return lines


def _state(test: OwnTest) -> str:
    if not test.passes:
        return "does not pass with the change"
    if test.fails_without is None:
        return "passes; not run without the change"
    if not test.fails_without:
        return "passes with and without the change"
    return f"passes; without the change it fails for another reason: {code(clip(test.gist, ID_LIMIT))}"


def _bounded(heading: str, number: int, items: Sequence[str], shown: int) -> Iterator[str]:
    if not items:
        return
    if len(items) == 1:
        yield f"- {heading}: {items[0]}"
        return
    yield f"- {heading} ({number:,}):"
    yield from (f"  - {item}" for item in items[:shown])
    if len(items) > shown:
        yield f"  - and {len(items) - shown:,} more"


def _id(test: str) -> str:
    return code(clip(test, ID_LIMIT))


def _tests(number: int, one: str, many: str) -> str:
    return f"1 test {one}" if number == 1 else f"{number:,} tests {many}"
