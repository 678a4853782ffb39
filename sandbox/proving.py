"""From candidate recipes to one that was proved by running the project's tests with it."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sandbox.detect.files import Files
from sandbox.detect.repairs import ENVIRONMENT, repaired
from sandbox.detect.submodules import unfetched
from sandbox.errors import SandboxUnavailable, SetupFailed, TestsUnrunnable
from sandbox.port import Environment, Recipe, Sandbox, Snapshot, TestOutcome, TestReport
from sandbox.setups import OUT_OF_REACH

SUITE_SECONDS = 900.0
MOST_WAYS = 6
"""Each can take minutes: more of them are better spent on writing the recipe by hand."""
MOST_REPAIRS = 12
"""In one search. A suite that stops at the first import that it misses names one lack at a time."""
TOLERATED = 0.02
"""Share of failing tests that says nothing against an environment: suites meet no network and odd machines."""

TELLING = re.compile(
    r"error|fail|not found|no such|cannot|can't|could not|unable|unknown|unrecognized|denied|missing|requires|conflict|"
    r"no solution|exit code|killed|\bE  ",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Attempt:
    """A recipe that was tried and not taken."""

    recipe: Recipe
    stage: str
    """`base image`, `setup` or `tests`."""
    reason: str
    lines: tuple[str, ...]
    """The lines of the log that matter."""


@dataclass(frozen=True)
class Proof:
    """A recipe, the environment that it made, what the project's tests said there, and what was tried before."""

    recipe: Recipe
    environment: Environment
    report: TestReport
    failures: tuple[Attempt, ...] = ()
    whole: bool = True
    """False if the suite was ended by a limit: the report is of the tests until then."""


def prove(
    sandbox: Sandbox,
    snapshot: Snapshot,
    recipes: Sequence[Recipe],
    *,
    seconds: float = SUITE_SECONDS,
    on_attempt: Callable[[str], None] = lambda _: None,
) -> Proof:
    """Try recipes in order until one gives a sound test run; else take the one by which most tests passed.

    A recipe whose log shows a known lack is tried again with that added, and again with what shows then, before the
    next one. `seconds` limits one run of the suite; `on_attempt` is told of each step in a line for people.

    Raises `SetupFailed` if no set-up succeeded, `TestsUnrunnable` if there was no recipe or none led to a passing test,
    `SandboxUnavailable` if no engine or no base image of any recipe can be had, `SandboxDied`, `SandboxStopped`.
    """
    search = _Search(sandbox, snapshot, seconds, on_attempt, list(recipes))
    while search.waiting and (search.repairing or search.ways < MOST_WAYS):
        proof = search.step()
        if proof:
            return proof
    return search.best()


@dataclass
class _Search:
    """One search for a recipe that works."""

    sandbox: Sandbox
    snapshot: Snapshot
    seconds: float
    on_attempt: Callable[[str], None]
    waiting: list[Recipe]
    tried: list[Recipe] = field(default_factory=list)
    failures: list[Attempt] = field(default_factory=list)
    ways: int = 0
    repairs: int = 0
    repairing: bool = False
    """Whether the next recipe is the last one with something added."""
    proofs: list[Proof] = field(default_factory=list)
    """Those in which tests passed, though something speaks against them."""

    def step(self) -> Proof | None:
        """Try the next recipe; a proof if it is sound."""
        recipe, repairing = self.waiting.pop(0), self.repairing
        self.repairing = False
        if self.proofs and recipe.reporter == "exit-code":
            return None  # a report of many tests, some of which fail, tells more than one that all is well
        self.tried.append(recipe)
        self.ways += not repairing
        self.on_attempt(f"set-up by {recipe.sources.get('setup', 'a recipe')}")
        try:
            environment = self.sandbox.prepare(recipe, self.snapshot)
        except SandboxUnavailable as error:
            self.failures.append(Attempt(recipe, "base image", first_line(str(error)), ()))
        except SetupFailed as error:
            self._failed(recipe, "setup", first_line(str(error)), error.log)
        except ValueError as error:  # words of it cannot be what they stand for
            self.failures.append(Attempt(recipe, "setup", first_line(str(error)), ()))
        else:
            self.on_attempt("running the whole suite")
            report = self.sandbox.test(environment, self.snapshot, seconds=self.seconds)
            problem = lack(report)
            if not problem:
                return Proof(recipe, environment, report, tuple(self.failures))
            if report.having(TestOutcome.PASSED):
                self.proofs.append(Proof(recipe, environment, report, whole=report.result.ended == "exit"))
            log = "\n".join([*report.messages.values(), report.result.output])
            self._failed(recipe, "tests", problem, log, report.result.ended)
        return None

    def _failed(self, recipe: Recipe, stage: str, reason: str, log: str, ended: str = "exit") -> None:
        self.failures.append(Attempt(recipe, stage, reason, telling_lines(log)))
        better = repaired(recipe, log, Files(self.snapshot), ended)
        if better and better not in self.tried and self.repairs < MOST_REPAIRS:
            self.repairs += 1
            self.repairing = True
            self.waiting.insert(0, better)

    def best(self) -> Proof:
        """The proof with the most tests that passed. Raises what `prove` raises."""
        if self.proofs:
            most = max(self.proofs, key=lambda proof: (proof.whole, len(proof.report.having(TestOutcome.PASSED))))
            others = [attempt for attempt in self.failures if attempt.recipe is not most.recipe or not most.whole]
            return replace(most, failures=tuple(others))
        told = told_failures(self.failures)
        stages = {attempt.stage for attempt in self.failures}
        if not self.failures:
            raise TestsUnrunnable(
                "no test suite was found: no manifest, test file or CI file of a known kind. "
                "Say how the tests run in .github/agent-fix.yml"
            )
        if stages == {"base image"}:
            raise SandboxUnavailable(self.failures[0].reason)
        if "tests" not in stages:
            raise SetupFailed(f"no set-up succeeded; say how it is done in .github/agent-fix.yml\n{told}", told)
        raise TestsUnrunnable(f"no test could be run; say how it is done in .github/agent-fix.yml\n{told}")


def lack(report: TestReport) -> str:
    """What speaks against the environment in which this report was made; empty if nothing does."""
    passed = report.having(TestOutcome.PASSED)
    bad = report.having(TestOutcome.FAILED, TestOutcome.ERROR)
    if report.result.ended != "exit":
        return f"the suite was ended by its {report.result.ended} limit after {report.result.seconds:.0f} s"
    if not passed:
        return "no test passed"
    if len(bad) <= TOLERATED * len(report.tests):
        return ""
    suspicious = [test for test in bad if ENVIRONMENT.search(report.messages.get(test, ""))]
    if suspicious:
        return f"{len(suspicious)} of {len(report.tests)} tests fail for want of something, such as {min(suspicious)}"
    return f"{len(bad)} tests fail and {len(passed)} pass" if len(bad) > len(passed) else ""


def remarks(proof: Proof) -> list[str]:
    """What is to be known of a proof beside its numbers, for people: what fails, what was not run, what is missing."""
    report = proof.report
    ended = f"only a part of the suite was run: its {report.result.ended} limit ended it"
    found = [commonest(report), "" if proof.whole else ended, *unfetched(proof.environment.log)]
    return [line for line in found if line]


def commonest(report: TestReport) -> str:
    """How many tests fail, and what most of them say last; empty if none does."""
    bad = report.having(TestOutcome.FAILED, TestOutcome.ERROR)
    if not bad:
        return ""
    ends = Counter(
        (report.messages.get(test, "").strip().splitlines() or ["nothing"])[-1].strip()[:200] for test in bad
    )
    said, number = ends.most_common(1)[0]
    apart = len(out_of_reach(report))
    wanting = f"; {apart} for want of the network or a service" if apart else ""
    return f"{len(bad)} of {len(report.tests)} tests fail, {number} of them with: {said}{wanting}"


def out_of_reach(report: TestReport) -> frozenset[str]:
    """The failed tests that say themselves that they wanted the network or a service; a sandbox has neither."""
    return frozenset(
        test
        for test in report.having(TestOutcome.FAILED, TestOutcome.ERROR)
        if OUT_OF_REACH.search(_said(report.messages.get(test, "")))
    )


def _said(message: str) -> str:
    """What a failure says itself; where it is marked as pytest does, without the code that its traceback shows."""
    rows = [row for row in message.splitlines() if row.strip()]
    marked = [row for row in rows if row.startswith("E ")]
    return "\n".join([*marked, *rows[-1:]]) if marked else message


def telling_lines(log: str, most: int = 12) -> tuple[str, ...]:
    """The lines of a log that explain a failure: those with a telling word, one of each kind, the last ones."""
    rows = [row.rstrip()[:300] for row in log.splitlines() if row.strip()]
    telling = [row for row in rows if TELLING.search(row)] or rows
    kinds = {re.sub(r"\S*[/\d]\S*", "", row): row for row in reversed(telling)}
    return tuple(reversed(list(kinds.values())[:most]))


def first_line(text: str) -> str:
    """The first line of a message."""
    return next((row.strip() for row in text.splitlines() if row.strip()), "")


def told_failures(failures: Sequence[Attempt]) -> str:
    """What was tried and why it was not taken, for people. Of a recipe and its repairs, the last one."""
    blocks = []
    repaired_later = {
        id(one) for one, after in itertools.pairwise(failures) if _repaired_by(one.recipe.sources, after.recipe.sources)
    }
    last = [attempt for attempt in failures if id(attempt) not in repaired_later]
    for number, attempt in enumerate(last, 1):
        how = attempt.recipe.sources.get("setup", "a recipe")
        repair = attempt.recipe.sources.get("repair")
        head = f"{number}. {how}{f', with {repair}' if repair else ''}: {attempt.reason}"
        blocks.append("\n".join([head, *(f"     {line}" for line in attempt.lines)]))
    return "\n".join(blocks)


def _repaired_by(sources: Mapping[str, str], after: Mapping[str, str]) -> bool:
    """Whether `after` are the sources of the same recipe with something added."""
    before, now = sources.get("repair", ""), after.get("repair", "")
    return before != now and now.startswith(before) and {**sources, "repair": ""} == {**after, "repair": ""}
