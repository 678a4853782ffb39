"""Real issues as benchmark: a run as it is done for users, then the project's own tests for the real fix.

A case is a JSON file: `id`, `repo`, `base_commit`, `fix_commit`, `issue_title`, `issue_body`, and for the grader
`install`, `test_command`, `report`, `test_files`, `fail_to_pass`, `pass_to_pass_sample`. The grader's tests are taken
from the fix commit and run in a sandbox of their own; no request ever holds them.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.bench.functions import Laboratory, directly
from bot.bench.results import TaskResult
from bot.bench.volume import largest, volumes
from bot.errors import BadInput
from bot.publish.proposal import PullRequestText
from bot.records import Delivered
from bot.service.effects import Seconds
from bot.service.job import Job, Workshop
from bot.service.order import Ended, Order
from bot.task import Outcome, Task
from bot.transcript import Transcript, read, spent_by_role
from repo_tools.checkout import Repository, open_local
from repo_tools.tree import Tree
from sandbox.errors import SandboxError
from sandbox.memory import RecipeMemory
from sandbox.port import Recipe, TestOutcome

LEVELS = {Outcome.FIXED: "ready", Outcome.DRAFT: "draft", Outcome.NO_CHANGE_NEEDED: "declined"}
LEVELS |= {Outcome.NOT_REPRODUCED: "declined", Outcome.ERROR: "error", Outcome.ENVIRONMENT_FAILED: "none"}
SECONDS = Seconds(tests=900.0, command=120.0)


class Case(BaseModel):
    """One issue of a project with the commits before and after its real fix."""

    model_config = ConfigDict(frozen=True)

    id: str
    repo: str
    base_commit: str
    fix_commit: str
    issue_title: str
    issue_body: str
    install: list[str]
    test_command: str
    report: str
    test_files: list[str]
    fail_to_pass: list[str]
    pass_to_pass_sample: list[str] = []
    language: str = "python"


def load(folder: Path) -> list[Case]:
    """The cases of a folder, by name. Raises `BadInput`."""
    paths = sorted(folder.glob("*.json")) if folder.is_dir() else []
    if not paths:
        raise BadInput(f"{folder} holds no cases: name a folder with one JSON file a case.")
    found = []
    for path in paths:
        try:
            found.append(Case.model_validate_json(path.read_bytes()))
        except ValidationError as error:
            raise BadInput(f"{path} is no case: {error}") from None
    return found


def repository(mirrors: Path, repo: str) -> Path:
    """Where the repository of a case is. Raises `BadInput`."""
    places = [mirrors / repo.replace("/", "+") / "repo", mirrors / repo, mirrors / f"{repo}.git"]
    for place in places:
        if place.is_dir():
            return place
    raise BadInput(f"{repo} is not in {mirrors}: clone it there as {places[1]}.")


class Nowhere:
    """A `bot.service.job.Publisher` that is never asked: benchmark runs publish nothing."""

    def publish(self, order: Order, tree: Tree, text: PullRequestText, message: str) -> Any:
        """Raises always."""
        raise NotImplementedError("a benchmark publishes nothing")


def attempt(case: Case, mirrors: Path, strategy: str, sample: int, lab: Laboratory) -> TaskResult:
    """One run on the case, and the grader's word on what it delivered."""
    path = lab.transcript("issues", case.id, strategy, str(sample))
    place = repository(mirrors, case.repo)
    with open_local(place) as checkout:
        commit = checkout.resolve(case.base_commit)
        ended = run(checkout, order_of(case, commit.id, strategy, place, lab), path, lab)
        records = read(path)
        delivered = next((record for record in reversed(records) if isinstance(record, Delivered)), None)
        passed, detail = False, ended.reason
        if delivered is not None:
            passed, said = graded(case, checkout, Tree(commit, delivered.patch), lab)
            detail = f"{said}\n{detail}"
    return TaskResult(
        suite="issues",
        task=case.id,
        strategy=strategy,
        model=lab.model_name,
        sample=sample,
        passed=passed,
        outcome=LEVELS.get(ended.outcome, "none"),
        detail=f"{ended.outcome}: {detail}"[:4000],
        rounds=ended.rounds,
        seconds=ended.seconds,
        seconds_sandbox=ended.seconds_sandbox,
        by_role=spent_by_role(records),
        largest_request=largest(records),
        volume=volumes(records),
    )


def run(checkout: Repository, order: Order, path: Path, lab: Laboratory) -> Ended:
    """The run itself: the product's own job, which publishes nothing."""
    shop = Workshop(
        model=lab.model,
        sandbox=lab.sandbox,
        index=lab.index,
        publisher=Nowhere(),
        recipes=RecipeMemory(lab.folder / "recipes"),
        request_tokens=lab.request_tokens,
        price=lab.price,
        seconds=SECONDS,
        base_image=lab.base_image,
        cancel=threading.Event(),
    )
    with Transcript(path, lambda text: text) as transcript:
        return Job(order, checkout.resolve(order.task.base_commit), shop, directly, transcript).carry_out()


def order_of(case: Case, commit: str, strategy: str, place: Path, lab: Laboratory) -> Order:
    """What the run is asked to do."""
    return Order(
        run=f"bench-{case.id}-{strategy}",
        task=Task(case.repo, case.issue_title, case.issue_body, commit, strategy=strategy),
        repository=place,
        limits=lab.limits,
        models={},
        started=datetime.now(UTC),
        publish=False,
    )


def graded(case: Case, checkout: Repository, tree: Tree, lab: Laboratory) -> tuple[bool, str]:
    """Whether the project's tests for the real fix pass on `tree`, and what speaks against it."""
    fix = Tree(checkout.resolve(case.fix_commit))
    for path in case.test_files:
        tree = tree.with_file(path, fix.read(path), fix.mode(path)) if fix.exists(path) else tree.without_file(path)
    try:
        base = checkout.resolve(case.base_commit)
        found = RecipeMemory(lab.folder / "recipes").recall(case.repo, Tree(base), base.submodules())
        # A case names Python's set-up; other languages need a toolchain, which the run itself has found.
        own = grader(case, lab.base_image)
        environment = lab.sandbox.prepare(own if case.language == "python" or found is None else found, Tree(base))
        report = lab.sandbox.test(environment, tree, selection=judging(case, tree), seconds=SECONDS.tests)
    except SandboxError as error:
        return False, f"The grader could not run: {error}"
    passed = report.having(TestOutcome.PASSED)
    missing = [test for test in (*case.fail_to_pass, *case.pass_to_pass_sample) if not _among(test, passed)]
    return not missing, f"Not passing in the grader's run: {', '.join(missing[:5])}" if missing else "All pass."


def judging(case: Case, tree: Tree) -> list[str]:
    """The files whose tests judge a case: those of the fix, and those of the sample of what must go on passing."""
    named = {test.partition("::")[0] for test in (*case.fail_to_pass, *case.pass_to_pass_sample) if "::" in test}
    return sorted({*case.test_files, *(path for path in named if tree.exists(path))})


def grader(case: Case, base_image: str) -> Recipe:
    """The case's own way to set up and test."""
    python = case.language == "python"
    setup = ("python3 -m venv ~/venv", *case.install) if python else tuple(case.install)
    return Recipe(base_image=base_image, setup=setup, test_command=runner(case), reporter=case.report)


def runner(case: Case) -> str:
    """The test command without the tests that it names: the grader's files stand in their place."""
    words = case.test_command.split()
    kept = [word for word in words if word.rstrip("/") not in {path.split("/")[0] for path in case.test_files}]
    return " ".join(word for word in kept if word not in case.test_files)


def _among(test: str, passed: Sequence[str] | frozenset[str]) -> bool:
    """Whether a test of the case is among those that passed; parameters that hold addresses or the like may differ."""
    return test in passed or any(one.partition("[")[0] == test for one in passed)
