"""From test reports before and after a change to what may be said of the change: ready, draft, or nothing to show."""

from __future__ import annotations

import enum
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from bot.publish.failures import Failure, FailureKind, is_right_reason, read_failure
from bot.publish.objection import Objection
from repo_tools.test_files import serves_tests
from sandbox.port import TestOutcome, TestReport
from sandbox.proving import out_of_reach

BAD = (TestOutcome.FAILED, TestOutcome.ERROR)


class Level(enum.StrEnum):
    """What the evidence is good for."""

    READY = "ready"
    DRAFT = "draft"
    NONE = "none"


@dataclass(frozen=True)
class Baseline:
    """The suite on the unchanged code. Tests whose two runs there differ are `flaky`: nobody is blamed for them.

    Of a suite that is too long, `sample` are the test files that were run, and `left_out` those that never are.
    """

    report: TestReport
    flaky: frozenset[str] = frozenset()
    sample: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def objections(self) -> tuple[Objection, ...]:
        """What speaks against every change that is judged by it."""
        if not self.left_out:
            return ()
        few, more = ", ".join(self.left_out[:8]), len(self.left_out) - 8
        text = (
            f"The whole suite takes longer than a run may. Of its {len(self.sample) + len(self.left_out)} test files, "
            f"the {len(self.sample)} nearest to the issue were run, and these were not: "
            f"{few}{f' and {more} more' if more > 0 else ''}."
        )
        return (Objection("", "a sample of the suite", text, blocks=False),)


def baseline(first: TestReport, again: TestReport | None = None) -> Baseline:
    """The baseline of one run and a second one of the same code, which may hold only the tests that failed."""
    second = again.tests if again else {}
    return Baseline(first, frozenset(test for test, now in second.items() if first.tests.get(test, now) != now))


@dataclass(frozen=True)
class Counts:
    """A test report in numbers."""

    passed: int
    failed: int
    errors: int
    skipped: int
    seconds: float
    exit_code: int | None
    ended: str


def count(report: TestReport) -> Counts:
    """Count the outcomes of a report."""
    outcomes = list(report.tests.values())
    return Counts(
        passed=outcomes.count(TestOutcome.PASSED),
        failed=outcomes.count(TestOutcome.FAILED),
        errors=outcomes.count(TestOutcome.ERROR),
        skipped=outcomes.count(TestOutcome.SKIPPED),
        seconds=report.result.seconds,
        exit_code=report.result.exit_code,
        ended=report.result.ended,
    )


@dataclass(frozen=True)
class OwnTest:
    """A test that the bot wrote, with the change and without it."""

    id: str
    passes: bool
    """With the change."""
    fails_without: bool | None
    """On the base with only the bot's tests added; None if it was not run there."""
    kind: FailureKind | None = None
    """How it fails without the change, if it does."""
    gist: str = ""
    """That failure in one line."""
    right_reason: bool = False

    @property
    def proves(self) -> bool:
        """Passes with the change and fails without it, for the reason that the issue gives."""
        return self.passes and self.fails_without is True and self.right_reason


@dataclass(frozen=True)
class Verdict:
    """What two runs of the suite, and the bot's own tests with and without the change, show. All lists are test ids."""

    level: Level
    reasons: tuple[str, ...]
    """What keeps the level from being higher, each a sentence; empty if ready."""
    before: Counts
    after: Counts
    repaired: tuple[str, ...] = ()
    """Failed before, pass now."""
    broken: tuple[str, ...] = ()
    """Passed before, fail now."""
    gone: tuple[str, ...] = ()
    """Passed before, not there now."""
    muted: tuple[str, ...] = ()
    """Passed before and skipped now, or failed before and skipped or gone now."""
    new_failures: tuple[str, ...] = ()
    """Fail now, and did not exist or were skipped before; not the bot's own."""
    still_failing: tuple[str, ...] = ()
    unconnected: tuple[str, ...] = ()
    """Of these, what wants the network or a service both times."""
    flaky: tuple[str, ...] = ()
    """Differed between two runs of the same code; left out of every other list."""
    not_run: tuple[str, ...] = ()
    """Known before the change, outside the selection that was run with it."""
    own: tuple[OwnTest, ...] = ()

    @property
    def lost(self) -> tuple[str, ...]:
        """What passed before and does not now, whether it fails or is gone."""
        return self.broken + self.gone

    @property
    def proofs(self) -> tuple[OwnTest, ...]:
        """The bot's own tests that show the change to be the cure."""
        return tuple(test for test in self.own if test.proves)


def judge(
    base: Baseline,
    after: TestReport,
    *,
    own: Collection[str],
    own_without: TestReport | None,
    stated: str,
    again: TestReport | None = None,
    selection: Collection[str] = (),
    renames: Mapping[str, str] | None = None,
    objections: Sequence[Objection] = (),
) -> Verdict:
    """Compare the suite before and after a change, test by test.

    `own` names the bot's tests: ids, or files that stand for the tests in them that the base does not have or that
    come out differently there. `own_without` is their report on the base with only the test files added. `stated`
    is the issue's text and what the plan says of the failure. `again` is a second run with the change, of what
    failed in `after`. `selection` is what `after` was asked to run, empty for the whole suite. `renames` maps the
    old path of a moved test file to its new one.
    """
    selected = {name.rstrip("/") for name in selection}
    moved = {_moved(test, renames or {}): outcome for test, outcome in base.report.tests.items()}
    own_ids = _own_ids(own, moved, after, own_without)
    unstable = {test for test, now in again.tests.items() if now != after.tests.get(test, now)} if again else set()
    flaky = {_moved(test, renames or {}) for test in base.flaky} | unstable
    known = {test: was for test, was in moved.items() if test not in flaky and test not in own_ids}
    ran = {test: was for test, was in known.items() if not selected or _covered(test, selected)}
    changes = _compare(ran, after, flaky | own_ids)
    draft = Verdict(
        level=Level.DRAFT,
        reasons=(),
        before=count(base.report),
        after=count(after),
        flaky=tuple(sorted(flaky)),
        not_run=tuple(sorted(test for test, was in known.items() if test not in ran and was != TestOutcome.SKIPPED)),
        own=tuple(_own_test(test, after, own_without, stated) for test in sorted(own_ids)),
        unconnected=tuple(
            sorted(out_of_reach(base.report) & out_of_reach(after) & set(changes["still_failing"])),
        ),
        **changes,
    )
    return _levelled(draft, base.report, after, objections)


def score(verdict: Verdict) -> tuple[int, ...]:
    """An ordering of verified states, greater is better: level, fewest lost, most proofs, most own tests that pass."""
    return (
        (Level.NONE, Level.DRAFT, Level.READY).index(verdict.level),
        -len(verdict.lost) - len(verdict.muted),
        len(verdict.proofs),
        -len(verdict.new_failures),
        len(verdict.repaired),
        sum(test.passes for test in verdict.own),
        -sum(not test.passes for test in verdict.own),
        -len(verdict.reasons),
    )


def _moved(test: str, renames: Mapping[str, str]) -> str:
    path, colons, rest = test.partition("::")
    return renames.get(path, path) + colons + rest


def _covered(test: str, selectors: Collection[str]) -> bool:
    """Whether one of `selectors` (test ids, classes, files, folders; a set, if they are many) takes in `test`."""
    path, *rest = test.split("::")
    names = {test, test.partition("[")[0], path, *(parent.as_posix() for parent in PurePosixPath(path).parents)}
    names |= {"::".join([path, *rest[:length]]) for length in range(1, len(rest))}
    return any(name in selectors for name in names)


def _own_ids(
    own: Collection[str], before: Mapping[str, TestOutcome], after: TestReport, without: TestReport | None
) -> set[str]:
    """The tests that `own` stands for; a name that stands for none that ran stands for itself, unless it is a
    file that serves tests and holds none: that it did not pass would be no true word.

    Some runners name no files (Go, Rust, TAP, ctest): what is new and under none of the names is then the tests of
    those names that no test is under.
    """
    alone = without.tests if without else {}
    ran = {*after.tests, *alone}
    named = {name: {test for test in ran if _covered(test, [name])} for name in own}
    fresh = ran - set(before) - set().union(*named.values())
    ids: set[str] = set()
    for name, found in named.items():
        covered = found or fresh
        changed = {test for test in covered if test not in before or alone.get(test, before[test]) != before[test]}
        exact = {name} & covered
        ids |= exact | changed or ({name} if not covered and not serves_tests(name.partition("::")[0]) else set())
    files_that_failed = {test for test in ids if any(other.startswith(test + "::") for other in ids)}
    return ids - files_that_failed


def _compare(ran: Mapping[str, TestOutcome], after: TestReport, aside: Collection[str]) -> dict[str, tuple[str, ...]]:
    lists: dict[str, list[str]] = {
        name: [] for name in ("repaired", "broken", "gone", "muted", "new_failures", "still_failing")
    }
    fewer = _parameter_sets_that_shrank(ran, after)
    for test, was in ran.items():
        now = after.tests.get(test)
        if now is None and "[" in test and test.partition("[")[0] not in fewer:
            continue  # the same test under new parameters: its ids follow the data that the patch changed
        if was in BAD:
            name = {TestOutcome.PASSED: "repaired", TestOutcome.SKIPPED: "muted", None: "muted"}.get(
                now, "still_failing"
            )
        elif was == TestOutcome.PASSED:
            name = {TestOutcome.PASSED: "", TestOutcome.SKIPPED: "muted", None: "gone"}.get(now, "broken")
        else:
            name = "new_failures" if now in BAD else ""
        if name:
            lists[name].append(test)
    lists["new_failures"] += [test for test in after.having(*BAD) if test not in ran and test not in aside]
    return {name: tuple(sorted(tests)) for name, tests in lists.items()}


def _parameter_sets_that_shrank(ran: Mapping[str, TestOutcome], after: TestReport) -> set[str]:
    """Parametrised tests of which fewer variants pass now than passed before."""
    before_passed, now_passed = _variants(ran), _variants(after.tests)
    return {
        test
        for test in {one.partition("[")[0] for one in ran}
        if now_passed.get(test, 0) < max(1, before_passed.get(test, 0))
    }


def _variants(tests: Mapping[str, TestOutcome]) -> dict[str, int]:
    passed: dict[str, int] = {}
    for test, outcome in tests.items():
        if "[" in test and outcome == TestOutcome.PASSED:
            name = test.partition("[")[0]
            passed[name] = passed.get(name, 0) + 1
    return passed


def _own_test(test: str, after: TestReport, without: TestReport | None, stated: str) -> OwnTest:
    passes = after.tests.get(test) == TestOutcome.PASSED
    then = without.tests.get(test) if without else None
    if without is None or then in (TestOutcome.PASSED, TestOutcome.SKIPPED):
        return OwnTest(test, passes, None if without is None else False)
    failure = read_failure(without.messages.get(test, "")) if then else _not_loaded(test, without)
    if failure is None:
        return OwnTest(test, passes, None)
    return OwnTest(test, passes, True, failure.kind, failure.gist, is_right_reason(failure, stated))


def _not_loaded(test: str, report: TestReport) -> Failure | None:
    """Why a test has no outcome in `report`, if the report tells."""
    file = test.partition("::")[0]
    if file in report.messages:
        return read_failure(report.messages[file], collected=False)
    if report.result.ended != "exit":
        return Failure(FailureKind.TIMEOUT, f"the run was stopped ({report.result.ended})")
    if report.tests or report.result.exit_code == 0:
        return None
    return read_failure(report.result.output, collected=False)


def _levelled(draft: Verdict, before: TestReport, after: TestReport, objections: Sequence[Objection]) -> Verdict:
    worthless = _why_nothing(draft, before, after, objections)
    reasons = worthless + _why_draft(draft, before, after, objections)
    level = Level.NONE if worthless else Level.DRAFT if reasons else Level.READY
    return replace(draft, level=level, reasons=tuple(reasons))


def _why_nothing(draft: Verdict, before: TestReport, after: TestReport, objections: Sequence[Objection]) -> list[str]:
    reasons = [f"The change may not be published: {one.text}" for one in objections if one.blocks]
    if before.having(TestOutcome.PASSED) and not after.having(TestOutcome.PASSED):
        return [*reasons, f"No test passes with the change; the run says: {_gist_of(after)}"]
    if draft.lost and not draft.repaired and not draft.proofs:
        reasons.append("The change loses tests and nothing shows that it mends anything.")
    return reasons


def _why_draft(draft: Verdict, before: TestReport, after: TestReport, objections: Sequence[Objection]) -> list[str]:
    lists = (
        (draft.broken, "passed before the change and {fail} now"),
        (draft.gone, "passed before the change and {is} gone now"),
        (draft.muted, "{is} skipped or gone now, though {it} ran before the change"),
        (draft.new_failures, "{is} new with the change and {fail}"),
        (draft.not_run, "{was} not run with the change"),
    )
    reasons = [_sentence(tests, text) for tests, text in lists if tests]
    reasons += _about_runs(before, after)
    reasons += _about_own_tests(draft)
    return reasons + [one.text for one in objections if not one.blocks]


def _about_runs(before: TestReport, after: TestReport) -> list[str]:
    reasons = []
    if not before.having(TestOutcome.PASSED):
        reasons.append("No test passed before the change, so nothing is known of what it may break.")
    elif before.result.ended != "exit":
        reasons.append(f"The suite was stopped before it ended on the unchanged code ({before.result.ended}).")
    if after.result.ended != "exit":
        reasons.append(f"The suite was stopped before it ended with the change ({after.result.ended}).")
    elif not after.having(*BAD) and after.result.exit_code not in (0, _exit_code_of_its_own(before)):
        reasons.append(f"No test fails, but the test command ends with exit code {after.result.exit_code}.")
    return reasons


def _exit_code_of_its_own(report: TestReport) -> int | None:
    """How the command ends whatever its tests do, such as for want of coverage; 0 where failures account for it."""
    return 0 if report.having(*BAD) else report.result.exit_code


def _about_own_tests(draft: Verdict) -> list[str]:
    if not draft.own:
        return ["The change comes without a test of its own."]
    reasons = []
    failing = tuple(test.id for test in draft.own if not test.passes)
    if failing:
        reasons.append(_sentence(failing, "{is} new and {does} not pass with the change"))
    unsteady = tuple(test.id for test in draft.own if test.id in draft.flaky)
    if unsteady:
        reasons.append(_sentence(unsteady, "{is} new and did not end the same way twice"))
    if not draft.proofs:
        reasons.append(_why_unproven(draft.own))
    return reasons


def _why_unproven(own: Sequence[OwnTest]) -> str:
    if all(test.fails_without is None for test in own):
        return "The new tests were not run without the change."
    wrong = [test for test in own if test.fails_without and not test.right_reason]
    if wrong:
        return f"Without the change the new tests fail for another reason than the one stated: {wrong[0].gist}"
    if any(test.fails_without for test in own):
        return "The new tests that fail without the change do not pass with it either."
    return "The new tests pass without the change too, so they do not show that it mends anything."


def _sentence(tests: Sequence[str], text: str) -> str:
    one = len(tests) == 1
    words = {"is": "is", "was": "was", "it": "it", "fail": "fails", "does": "does"}
    many = {"is": "are", "was": "were", "it": "they", "fail": "fail", "does": "do"}
    more = f" and {len(tests) - 3} more" if len(tests) > 3 else ""
    names = ", ".join(f"`{test}`" for test in tests[:3])
    return f"{len(tests)} test{'' if one else 's'} {text.format(**(words if one else many))}: {names}{more}."


def _gist_of(report: TestReport) -> str:
    if report.result.ended != "exit":
        return f"stopped ({report.result.ended})."
    texts = list(report.messages.values()) or [report.result.output]
    return read_failure(texts[0], collected=False).gist
