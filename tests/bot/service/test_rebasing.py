"""A revision is judged as the whole pull request is: from where that began; a change, on the newest commit as well."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.errors import TimedOut
from bot.publish.gate import Policy
from bot.publish.verdict import Baseline, Level, baseline
from bot.service.rebasing import as_a_whole, rebased
from bot.task import Task
from bot.team.delivery import Attempt
from bot.team.evidence import Assignment, prove
from bot.team.loop import perform
from repo_tools.checkout import Repository, open_local
from repo_tools.tree import Tree
from sandbox.errors import SandboxDied, SetupFailed
from sandbox.port import TestReport
from tests.fakes.git_repository import GitRepository
from tests.fakes.stage import Stage, report

WRONG, RIGHT = b"def half(n):\n    return n // 2\n", b"def half(n):\n    return n / 2\n"
TESTS = {"tests/test_old.py": b"def test_old():\n    assert half(4) == 2\n"}
NEW = {"tests/test_new.py": b"def test_new():\n    assert half(3) == 1.5\n"}
TASK = Task("calc", "half(3) is wrong", "half(3) gives 1, I expect 1.5", "0" * 40)
WHOLE = Baseline(report())
SAMPLE = replace(WHOLE, sample=("tests/test_old.py", "tests/test_gone.py"), left_out=("tests/test_endless.py",))


def suite(tree: Tree, selection: tuple[str, ...]) -> TestReport:
    """Runs the tests of a tree, which are this file's own texts."""
    passed, failed = [], {}
    for path in sorted(TESTS | NEW):
        if not tree.exists(path) or (selection and path not in selection):
            continue
        space: dict[str, Any] = {}
        exec(tree.read("calc.py") + tree.read(path), space)
        name = next(name for name in space if name.startswith("test_"))
        try:
            space[name]()
            passed.append(f"{path}::{name}")
        except AssertionError:
            failed[f"{path}::{name}"] = "E   assert 1 == 1.5"
    return report(passed, failed)


@pytest.fixture
def made(tmp_path: Path) -> GitRepository:
    there = GitRepository(tmp_path / "repository", {"calc.py": WRONG, **TESTS})
    there.git("branch", "fork")
    there.commit({"calc.py": RIGHT, "notes.txt": b"1\n", **NEW})
    return there


@pytest.fixture
def repository(made: GitRepository) -> Iterator[Repository]:
    with open_local(made.path) as opened:
        yield opened


def revised(
    repository: Repository, tmp_path: Path, *, given: Baseline = WHOLE, **files: bytes | None
) -> tuple[Attempt, Stage]:
    """A change to the head of the pull request, as the team proved it there."""
    stage = Stage(tmp_path / "index", {}, suite)
    head = Tree(repository.resolve())
    tree = head
    for path, data in files.items():
        name = path.replace("__", ".")
        tree = tree.without_file(name) if data is None else tree.with_file(name, data)
    known = replace(baseline(suite(head, ())), sample=given.sample, left_out=given.left_out)
    work = Assignment(TASK, head, known)
    verdict, after = perform(prove(work, tree, "", {}), stage, work.known_bad)
    return Attempt(1, tree, verdict, after), stage


def on(stage: Stage) -> Any:
    """What makes the effects on any tree."""
    return lambda _: stage


def test_a_word_that_needs_no_test_of_its_own_leaves_a_good_pull_request_good(
    repository: Repository, tmp_path: Path
) -> None:
    alone, stage = revised(repository, tmp_path, CHANGES=b"more\n", notes__txt=None)
    assert alone.verdict.level is Level.DRAFT
    whole = as_a_whole(alone, repository.resolve("fork"), TASK, Policy(), on(stage), given=WHOLE)
    assert whole.verdict.level is Level.READY
    assert [test.id for test in whole.verdict.proofs] == ["tests/test_new.py::test_new"]
    assert (whole.verdict.before.passed, whole.verdict.after.passed) == (1, 2)
    assert whole.tree is alone.tree


def test_what_undoes_the_cure_is_no_good_though_it_loses_nothing_that_was_there_before(
    repository: Repository, tmp_path: Path
) -> None:
    alone, stage = revised(repository, tmp_path, calc__py=WRONG)
    whole = as_a_whole(alone, repository.resolve("fork"), TASK, Policy(), on(stage), given=WHOLE)
    assert whole.verdict.level is not Level.READY
    assert any("does not pass with the change" in reason for reason in whole.verdict.reasons)


def test_where_the_beginning_cannot_be_set_up_any_more_it_is_said(repository: Repository, tmp_path: Path) -> None:
    alone, _ = revised(repository, tmp_path, CHANGES=b"more\n")

    def broken(_: Tree) -> Any:
        raise SetupFailed("no such package", "log")

    whole = as_a_whole(alone, repository.resolve("fork"), TASK, Policy(), broken, given=WHOLE)
    assert whole.verdict is alone.verdict
    assert "not as a whole: no such package" in whole.measured[-1]


def test_what_was_not_judged_as_a_whole_is_not_ready(repository: Repository, tmp_path: Path) -> None:
    alone, _ = revised(repository, tmp_path, CHANGES=b"more\n")
    good = replace(alone, verdict=replace(alone.verdict, level=Level.READY, reasons=()))

    def fails(_: Tree) -> Any:
        raise TimedOut("the time is spent")

    whole = as_a_whole(good, repository.resolve("fork"), TASK, Policy(), fails, given=WHOLE)
    assert whole.verdict.level is Level.DRAFT
    assert "not as a whole: the time is spent" in "".join(whole.verdict.reasons)
    assert whole.verdict.after == good.verdict.after


@pytest.fixture
def moved(made: GitRepository) -> str:
    """A branch that moved on from the commit at which the work began."""
    made.git("checkout", "-q", "-b", "moved")
    made.commit({"more.txt": b"1\n"})
    made.git("checkout", "-q", "-")
    return "moved"


Again = Callable[[Attempt, Repository, Any, Baseline], tuple[Attempt, str]]


def whole_of(alone: Attempt, repository: Repository, effects_on: Any, given: Baseline) -> tuple[Attempt, str]:
    whole = as_a_whole(alone, repository.resolve("fork"), TASK, Policy(), effects_on, given=given)
    return whole, "".join(whole.measured)


def on_newest(alone: Attempt, repository: Repository, effects_on: Any, given: Baseline) -> tuple[Attempt, str]:
    found = rebased(alone, repository.resolve("moved"), TASK, Policy(), effects_on, given=given)
    return found.attempt, found.said


@pytest.mark.usefixtures("moved")
@pytest.mark.parametrize("again", [whole_of, on_newest])
def test_of_a_suite_that_is_too_long_the_same_sample_is_run_and_the_rest_is_told(
    repository: Repository, tmp_path: Path, again: Again
) -> None:
    alone, stage = revised(repository, tmp_path, calc__py=RIGHT + b"\n", given=SAMPLE)
    attempt, _ = again(alone, repository, on(stage), SAMPLE)
    assert attempt.verdict is not alone.verdict
    assert all(selection for _, selection, _ in stage.checked)
    assert [selection for _, selection, why in stage.checked if why == "the suite on the base"] == [
        ("tests/test_old.py",)
    ]
    assert any("tests/test_endless.py" in reason for reason in attempt.verdict.reasons)


@pytest.mark.usefixtures("moved")
@pytest.mark.parametrize("again", [whole_of, on_newest])
def test_a_sample_of_which_nothing_is_there_does_not_become_the_whole_suite(
    repository: Repository, tmp_path: Path, again: Again
) -> None:
    alone, stage = revised(repository, tmp_path, calc__py=RIGHT + b"\n", given=SAMPLE)
    again(alone, repository, on(stage), replace(SAMPLE, sample=("tests/test_gone.py",)))
    assert all(selection for _, selection, why in stage.checked if why == "the suite on the base")


@pytest.mark.usefixtures("moved")
@pytest.mark.parametrize("again", [whole_of, on_newest])
@pytest.mark.parametrize("error", [TimedOut("the time is spent"), SandboxDied("the container was killed")])
@pytest.mark.parametrize("runs", [0, 1])
def test_what_was_proved_is_not_lost_if_it_cannot_be_judged_again(
    repository: Repository, tmp_path: Path, again: Again, error: Exception, runs: int
) -> None:
    alone, _ = revised(repository, tmp_path, CHANGES=b"more\n")
    left = iter(range(runs))

    def fails(tree: Tree, selection: tuple[str, ...]) -> TestReport:
        if next(left, None) is None:
            raise error
        return suite(tree, selection)

    attempt, said = again(alone, repository, on(Stage(tmp_path / "another", {}, fails)), WHOLE)
    assert (attempt.tree, attempt.verdict) == (alone.tree, alone.verdict)
    assert str(error) in said
