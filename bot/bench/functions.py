"""One function task with one strategy: the same loop, effects and sandbox as for an issue, then the hidden tests."""

from __future__ import annotations

import json
import threading
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from bot.bench.guard import Guarded, HiddenTestShown
from bot.bench.results import TaskResult
from bot.bench.tasks import FILE, FilesBase, FunctionTask
from bot.bench.volume import largest, volumes
from bot.errors import AgentFixError
from bot.llm.budget import Limits, Meter, Price
from bot.llm.port import Model
from bot.publish.verdict import baseline
from bot.records import Delivered, RunStarted
from bot.service.effects import RunEffects, Seconds
from bot.service.story import sandbox_seconds
from bot.team.briefs import diff
from bot.team.delivery import Delivery
from bot.team.designs import code_of
from bot.team.evidence import Assignment, test_files
from bot.team.loop import perform
from bot.team.scout import scout
from bot.team.strategies import PLAYABLE
from bot.transcript import Transcript, read
from repo_tools.index import Index
from repo_tools.tree import Tree
from sandbox.errors import SandboxError
from sandbox.port import Environment, Recipe, Sandbox, TestOutcome, TestReport

HIDDEN_SECONDS = 60.0
FIRST = 5
COVERAGE = (
    "python -m coverage run --include={file} -m pytest -q {tests} > /dev/null 2>&1; python -m coverage json -q -o -"
)

T = TypeVar("T")


@dataclass(frozen=True)
class Laboratory:
    """What tasks are tried with."""

    model: Model
    model_name: str
    sandbox: Sandbox
    base_image: str
    index: Index
    limits: Limits
    request_tokens: Callable[[str], int]
    price: Price
    folder: Path
    """Where transcripts are kept."""

    @cached_property
    def environment(self) -> Environment:
        """The environment of all function tasks; each task's files are put into its containers."""
        return self.sandbox.prepare(recipe(self.base_image), Tree(FilesBase({"README": b"One function to write.\n"})))

    def transcript(self, *names: str) -> Path:
        """A file for the transcript of one try; one that a try without a result left is removed."""
        path = self.folder / "transcripts" / f"{'-'.join(names).replace('/', '-')}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        return path


def recipe(base_image: str) -> Recipe:
    """The set-up that all function tasks share."""
    return Recipe(
        base_image=base_image,
        setup=("python3 -m venv ~/venv", "~/venv/bin/pip install --quiet pytest coverage"),
        test_command="python -m pytest",
        reporter="pytest",
        env={"PYTHONDONTWRITEBYTECODE": "1"},
    )


def attempt(task: FunctionTask, suite: str, strategy: str, sample: int, lab: Laboratory) -> TaskResult:
    """Let `strategy` work on the task and judge what it delivers. What fails on the way is a result too."""
    path = lab.transcript(suite, task.id, strategy, str(sample))
    guard = Guarded(lab.model, task)
    delivery: Delivery | None = None
    outcome, detail = "error", ""
    with Transcript(path, lambda text: text) as transcript:
        meter = Meter(lab.limits, clock=lambda: transcript.seconds, price=lab.price)
        transcript.add(RunStarted(run=path.stem, task=task.task, models={}, limits=lab.limits))
        try:
            delivery = _worked(task, strategy, _effects(lab, task, guard, transcript, meter))
            outcome, detail = _outcome(delivery)
        except HiddenTestShown:
            raise  # no result of this benchmark would be worth anything
        except (AgentFixError, SandboxError) as error:
            detail = str(error)
        except Exception as error:  # noqa: BLE001 - one task's defect does not end the benchmark
            detail = "".join(traceback.format_exception(error))[-2000:]
        seconds = meter.seconds
        if delivery is not None and delivery.best is not None:
            patch = delivery.best.tree.patch
            transcript.add(Delivered(files=patch.to_json(), diff=diff(delivery.best.tree, 200_000)))
    records = read(path)
    measured = measure(task, delivery, lab) if delivery is not None else {}
    return TaskResult(
        suite=suite,
        task=task.id,
        strategy=strategy,
        model=lab.model_name,
        sample=sample,
        outcome=outcome,
        detail=detail,
        seconds=seconds,
        seconds_sandbox=sandbox_seconds(records),
        by_role=meter.by_role,
        largest_request=largest(records),
        volume=volumes(records),
        guarded=guard.requests,
        **({"passed": False} | measured),
    )


def _effects(lab: Laboratory, task: FunctionTask, model: Model, transcript: Transcript, meter: Meter) -> RunEffects:
    return RunEffects(
        steps=directly,
        model=model,
        sandbox=lab.sandbox,
        environment=replace(lab.environment, base=task.tree),
        transcript=transcript,
        meter=meter,
        index=lab.index,
        request_tokens=lab.request_tokens,
        seconds=Seconds(tests=120.0, command=60.0),
        cancel=threading.Event(),
    )


def directly(name: str, work: Callable[[], T]) -> T:  # noqa: ARG001 - `bot.service.effects.Steps` without storage
    """A step that is not stored: a task that was interrupted is tried again from its start."""
    return work()


def _worked(task: FunctionTask, strategy: str, effects: RunEffects) -> Delivery:
    tree, issue = task.tree, task.task
    base = baseline(effects.test("executor", tree, (), "baseline"))
    seen = scout(effects.view(tree), issue)
    work = Assignment(issue, tree, base, seen.hints, seen.examples, seen.supports, seen.changelog, seen.rules)
    delivery: Delivery = perform(PLAYABLE[strategy](work), effects, work.known_bad)
    return delivery


def _outcome(delivery: Delivery) -> tuple[str, str]:
    best = delivery.best
    if best is None:
        return ("declined" if delivery.ended == "declined" else "none"), str(delivery.stop or "")
    level = "ready" if best.sound else "draft" if best.verdict.level.value == "ready" else best.verdict.level.value
    return level, "\n".join([*best.verdict.reasons, *([str(delivery.stop)] if delivery.stop else [])])


def measure(task: FunctionTask, delivery: Delivery, lab: Laboratory) -> dict[str, Any]:
    """The hidden tests on what was delivered; the generated tests on the reference solution."""
    found: dict[str, Any] = {"rounds": len(delivery.attempts)}
    if delivery.best is not None:
        found["passed"] = passes(task, delivery.best.tree, lab)
    first = delivery.attempts[0].tree if delivery.attempts else None
    if first is None or not test_files(first):
        return found
    return found | judged_tests(task, first, lab)


def passes(task: FunctionTask, tree: Tree, lab: Laboratory) -> bool:
    """Whether the solution in `tree` passes the hidden tests, which are there in this one run alone."""
    if not tree.exists(FILE):
        return False
    program = task.solved(tree.read(FILE).decode("utf-8", "replace"))
    with_tests = code_of(tree).with_file("hidden_check.py", program.encode())
    result = lab.sandbox.run(lab.environment, with_tests, "python hidden_check.py", seconds=HIDDEN_SECONDS)
    return result.exit_code == 0 and task.marker in result.output


def judged_tests(task: FunctionTask, tree: Tree, lab: Laboratory) -> dict[str, Any]:
    """Test accuracy and line coverage of the tests in `tree`, with the reference solution in the place of the code."""
    reference = tree.only(test_files(tree)).with_file(FILE, task.canonical.encode())
    report: TestReport = lab.sandbox.test(
        lab.environment, reference, selection=tuple(sorted(test_files(tree))), seconds=HIDDEN_SECONDS
    )
    own = [test for test in report.tests if not test.endswith("::test_is_there") and "::" in test]
    passed = report.having(TestOutcome.PASSED)
    return {
        "tests": len(own),
        "right_tests": sum(test in passed for test in own),
        "coverage": covered(reference, own, lab),
        "coverage_first": covered(reference, own[:FIRST], lab),
    }


def covered(tree: Tree, tests: Iterable[str], lab: Laboratory) -> float | None:
    """Percent of the lines of the solution that `tests` execute; None if it cannot be measured."""
    names = " ".join(f"'{test}'" for test in tests)
    if not names:
        return None
    command = COVERAGE.format(file=FILE, tests=names)
    result = lab.sandbox.run(lab.environment, tree, command, seconds=HIDDEN_SECONDS)
    try:
        return float(json.loads(result.output)["totals"]["percent_covered"])
    except (ValueError, KeyError, TypeError):
        return None
