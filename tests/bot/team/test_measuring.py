"""What is measured of a change before it is shown: lines, parts, faults; and that measuring never spoils a change."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from bot.errors import OverBudget, TimedOut
from bot.publish.verdict import Level, baseline
from bot.task import Task
from bot.team.board import Board
from bot.team.delivery import Attempt, Delivery, Mark
from bot.team.evidence import Assignment, prove
from bot.team.loop import perform
from bot.team.measuring import measured
from bot.team.roles import Challenge, Reproduction
from bot.team.steps import Step
from bot.team.trials import MOST_PARTS
from repo_tools.tree import Tree
from sandbox.errors import SandboxDied
from sandbox.port import Lines, Result, TestReport
from tests.fakes.memory_base import MemoryBase
from tests.fakes.stage import Stage, report

FILE, OLD_FILE = "tests/test_calc.py", "tests/test_old.py"
CALC = "def half(number):\n    return number // 2\n\n\n\n\ndef double(number):\n    return number * 2\n"
FIXED = CALC.replace("//", "/")
FOUND = Reproduction(decision="reproduced", reason="half(3) is 1: AssertionError")
TASK = Task("calc", "half(3) is wrong", "half(3) gives 1, I expect 1.5", "0" * 40)
BASE = {"calc.py": CALC, OLD_FILE: "def test_old():\n    assert double(2) == 4\n"}
NEW_TEST = {FILE: "def test_odd():\n    assert half(3) == 1.5\n"}


@dataclass
class Project:
    """Runs the tests of a tree, which are this file's own texts, and tells which lines of `calc.py` ran."""

    seconds: float = 1.0
    ran: Mapping[str, Lines] | None = None
    spent: BaseException | None = None
    left: int = 1_000
    selections: list[tuple[str, ...]] = field(default_factory=list)

    def tests(self, tree: Tree, selection: tuple[str, ...]) -> TestReport:
        self.left -= 1
        if self.left < 0 and self.spent is not None:
            raise self.spent
        space: dict[str, Any] = {}
        passed, failed = [], {}
        for path in (FILE, OLD_FILE):
            if not tree.exists(path) or (selection and not any(path in one for one in selection)):
                continue
            try:
                exec(tree.read("calc.py") + b"\n" + tree.read(path), space)
                (name,) = (name for name in space if name.startswith("test_"))
                space.pop(name)()
                passed.append(f"{path}::{name}")
            except (AssertionError, NameError) as error:
                failed[f"{path}::{name}"] = f"AssertionError: assert 1 == 1.5 {error!r}"
                space.clear()
        found = report(passed, failed)
        return replace(found, result=replace(found.result, seconds=self.seconds))

    def lines(self, tree: Tree, selection: tuple[str, ...]) -> Mapping[str, Lines] | None:
        self.selections.append(selection)
        return self.ran


def ran(*lines: int, able: int = 20) -> dict[str, Lines]:
    return {"calc.py": Lines(frozenset(range(1, able)), frozenset(lines))}


def delivered(
    folder: Path,
    after: Mapping[str, str],
    project: Project,
    *,
    stop: OverBudget | None = None,
    calc: str = CALC,
    needless: tuple[str, ...] = (),
    commands: Callable[[Tree, str], Result] = lambda tree, command: Result(0, "", 0.1),
    sample: tuple[str, ...] = (),
) -> tuple[Delivery, Stage]:
    base = Tree(MemoryBase({path: text.encode() for path, text in (BASE | {"calc.py": calc}).items()}))
    work = Assignment(TASK, base, replace(baseline(project.tests(base, ())), sample=sample))
    tree = base
    for path, text in after.items():
        tree = tree.with_file(path, text.encode())

    def team(work: Assignment) -> Generator[Step, Any, Delivery]:
        verdict, after = yield from prove(work, tree, FOUND.reason, {})
        board = Board().put("reproduction", FOUND, 1)
        challenge = Challenge(verdict="holds", unneeded=list(needless))
        return Delivery(Attempt(1, tree, verdict, after, challenge=challenge), None, board, stop=stop)

    stage = Stage(folder, {}, project.tests, commands, lines=project.lines)
    found: Delivery = perform(measured(team)(work), stage)
    return found, stage


def said(delivery: Delivery) -> str:
    assert delivery.best is not None
    return "\n".join(delivery.best.measured)


def test_lines_that_no_test_runs_are_named(tmp_path: Path) -> None:
    more = FIXED.replace(
        "    return number / 2", "    if number > 10:\n        return number / 2\n    return number / 2"
    )
    delivery, _ = delivered(tmp_path, NEW_TEST | {"calc.py": more}, Project(ran=ran(1, 2, 4)))
    assert "2 of 3 changed lines run under the tests; not: `calc.py:3`." in said(delivery)
    assert delivery.best is not None
    assert Mark("calc.py", 3, 3, "No test runs this.") in delivery.best.marks


def test_all_lines_run(tmp_path: Path) -> None:
    project = Project(ran=ran(1, 2))
    delivery, _ = delivered(tmp_path, NEW_TEST | {"calc.py": FIXED}, project)
    assert "All changed lines that can run (1) do so under the tests." in said(delivery)
    assert project.selections == [(FILE,)], "all run already under the new tests: the suite is not run for it"


def test_a_runner_that_cannot_tell_is_said_to_be_one(tmp_path: Path) -> None:
    delivery, _ = delivered(tmp_path, NEW_TEST | {"calc.py": FIXED}, Project())
    assert "was not measured" in said(delivery)


def test_a_part_that_nothing_needs_is_shown_and_stays(tmp_path: Path) -> None:
    wordy = FIXED.replace("number * 2", "[number][0] * 2")
    delivery, _ = delivered(tmp_path, NEW_TEST | {"calc.py": wordy}, Project(ran=ran(1, 2, 7, 8)))
    assert delivery.best is not None
    assert delivery.best.tree.read("calc.py").decode() == wordy, "that no test tells is not that it is needless"
    assert "Of the 2 parts of the change, no test fails without `calc.py:8`." in said(delivery)
    assert delivery.best.marks == (Mark("calc.py", 8, 8, "No test fails without this part."),)


def test_what_a_reader_finds_needless_and_nothing_needs_is_taken_out_and_the_rest_proved_again(tmp_path: Path) -> None:
    top = '"""Halves."""\n\n\n\n\n'
    wordy = "import re\n" + top + FIXED.replace("number * 2", "re.sub('', '', str()) or number * 2")
    told = ("`calc.py:14`: double was right", "calc.py:8: so was this", "the whole style")
    after, project = NEW_TEST | {"calc.py": wordy}, Project(ran=ran(1, 2, 7, 8))
    delivery, stage = delivered(tmp_path, after, project, calc=top + CALC, needless=told)
    assert delivery.best is not None
    assert delivery.best.tree.read("calc.py").decode() == top + FIXED, "with the import that served it alone"
    assert delivery.best.challenge is not None
    left = ["calc.py:7: so was this", "the whole style"]
    assert delivery.best.challenge.unneeded == left, "what is gone is no doubt any more, and the rest has moved"
    assert delivery.best.verdict.level is Level.READY
    assert "nothing fails without it: `calc.py:1`, `calc.py:14` as it was." in said(delivery)
    last = [
        tree.read("calc.py").decode() for tree, selection, why in stage.checked if why.startswith("the whole suite")
    ]
    assert last[-1] == top + FIXED, "what is delivered was executed as it is"
    assert delivery.board.last("measured") == list(delivery.best.measured)


def test_what_stands_below_a_part_that_is_taken_out_is_told_of_where_it_stands_then(tmp_path: Path) -> None:
    top = '"""Halves."""\n\n\n\n\n'
    wordy = "SCALE = 1\nOTHER = 2\n" + top + FIXED.replace("number * 2", "[number][0] * 2")
    after, project = NEW_TEST | {"calc.py": wordy}, Project(ran=ran(1, 2))
    told = ("calc.py:1-2: nothing uses them",)
    delivery, _ = delivered(tmp_path, after, project, calc=top + CALC, needless=told)
    assert delivery.best is not None
    now = delivery.best.tree.read("calc.py").decode().splitlines()
    assert "OTHER = 2" not in now
    line = now.index("    return [number][0] * 2") + 1
    assert Mark("calc.py", line, line, "No test fails without this part.") in delivery.best.marks
    assert f"no test fails without `calc.py:{line}`" in said(delivery)


RENAMED = "SCALE = 2\n" + CALC.replace("number * 2", "number * SCALE")
RENAMING = RENAMED.replace("SCALE", "FACTOR").replace("//", "/")


def test_what_another_test_of_the_project_needs_stays(tmp_path: Path) -> None:
    project = Project(ran=ran(*range(20)))
    delivery, stage = delivered(tmp_path, NEW_TEST | {"calc.py": RENAMING}, project, calc=RENAMED)
    assert "Without any one of the 2 parts of the change, tests fail." in said(delivery)
    assert [selection for _, selection, why in stage.checked if "the change without calc.py:9" in why] == [(FILE,), ()]


def test_if_less_of_it_is_not_proved_the_whole_change_is_delivered(tmp_path: Path) -> None:
    """The suite is too slow to run for each part: the proof of the rest then shows what is lost without this one."""
    project = Project(seconds=70.0, ran=ran(*range(20)))
    delivery, stage = delivered(
        tmp_path, NEW_TEST | {"calc.py": RENAMING}, project, calc=RENAMED, needless=("calc.py:9",)
    )
    assert delivery.best is not None
    assert delivery.best.sound
    assert delivery.best.tree.read("calc.py").decode() == RENAMING
    assert "no test that was run fails without `calc.py:9`" in said(delivery)
    executed = {tree.read("calc.py").decode() for tree, selection, _ in stage.checked if not selection}
    assert RENAMING.replace("number * FACTOR", "number * SCALE") in executed


def test_a_change_is_delivered_as_it_was_if_time_runs_out_while_it_is_measured(tmp_path: Path) -> None:
    project = Project(ran=ran(1, 2), spent=TimedOut("spent"), left=5)
    delivery, _ = delivered(tmp_path, NEW_TEST | {"calc.py": FIXED}, project)
    assert delivery.stop is None
    assert delivery.best is not None
    assert delivery.best.sound
    assert "ended early" in said(delivery)


def test_a_change_is_delivered_as_it_was_if_its_container_is_lost_while_it_is_measured(tmp_path: Path) -> None:
    project = Project(ran=ran(1, 2), spent=SandboxDied("gone"), left=5)
    delivery, _ = delivered(tmp_path, NEW_TEST | {"calc.py": FIXED}, project)
    assert delivery.stop is None
    assert delivery.best is not None
    assert delivery.best.sound
    assert "ended early: its container was lost" in said(delivery)


def test_a_container_that_is_lost_before_the_change_is_proved_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(SandboxDied, match="gone"):
        delivered(tmp_path, NEW_TEST | {"calc.py": FIXED}, Project(spent=SandboxDied("gone"), left=1))


def test_nothing_is_measured_after_the_money_is_spent(tmp_path: Path) -> None:
    delivery, _ = delivered(tmp_path, NEW_TEST | {"calc.py": FIXED}, Project(), stop=OverBudget("spent"))
    assert delivery.best is not None
    assert delivery.best.measured == ()


def test_of_a_draft_the_lines_are_told_and_nothing_is_taken_out(tmp_path: Path) -> None:
    wordy = FIXED.replace("number * 2", "[number][0] * 2")
    project = Project(ran=ran(1, 2, 7, 8))
    delivery, _ = delivered(tmp_path, {"calc.py": wordy}, project, needless=("calc.py:8",))
    assert delivery.best is not None
    assert delivery.best.verdict.level is Level.DRAFT
    assert delivery.best.tree.read("calc.py").decode() == wordy
    assert said(delivery).startswith("All changed lines")


def test_the_number_of_parts_that_are_tried_is_bounded(tmp_path: Path) -> None:
    gap = "\n" * 6
    many = CALC + gap + gap.join(f"X{number} = {number}" for number in range(20)) + "\n"
    after = NEW_TEST | {"calc.py": many.replace("//", "/").replace(" = ", " = 1 + ")}
    delivery, stage = delivered(tmp_path, after, Project(ran=ran(1, 2)), calc=many)
    tried = {why for _, _, why in stage.checked if why.startswith("the change without") and "under" not in why}
    assert len(tried) <= MOST_PARTS
    assert f"Of {MOST_PARTS} of the 21 parts" in said(delivery)


def test_measuring_ends_when_its_own_time_is_spent(tmp_path: Path) -> None:
    _, stage = delivered(tmp_path, NEW_TEST | {"calc.py": FIXED}, Project(seconds=130.0, ran=ran(1, 2)))
    assert [why for _, _, why in stage.checked].count("a fault put into line 2") == 1


def test_a_new_file_that_nothing_needs_is_shown_and_stays(tmp_path: Path) -> None:
    after = NEW_TEST | {"calc.py": FIXED, "more.py": "def unused():\n    return 1\n"}
    delivery, _ = delivered(tmp_path, after, Project(ran=ran(1, 2)))
    assert delivery.best is not None
    assert delivery.best.tree.exists("more.py")
    assert "no test fails without `more.py`" in said(delivery)


@pytest.mark.parametrize("path", ["CHANGES.md", "docs/use.md", "calc.pyi"])
def test_words_and_stubs_are_not_tried(tmp_path: Path, path: str) -> None:
    delivery, stage = delivered(
        tmp_path, NEW_TEST | {"calc.py": FIXED, path: "def half(n): ...\n"}, Project(ran=ran(1, 2))
    )
    assert delivery.best is not None
    assert delivery.best.tree.exists(path)
    assert not [why for _, _, why in stage.checked if why.startswith("the change without")]


def test_what_raises_on_drawn_inputs_since_the_change_is_told(tmp_path: Path) -> None:
    typed = CALC.replace("half(number)", "half(number: int)")

    def commands(tree: Tree, command: str) -> Result:
        error = "TypeError" if b"number / 2" in tree.read("calc.py") else ""
        return Result(0, f'agent-fix-fuzz:[[["number=3", ""], ["number=0", "{error}"]]]', 0.1)

    after, project = NEW_TEST | {"calc.py": typed.replace("//", "/")}, Project(ran=ran(1, 2))
    delivery, _ = delivered(tmp_path, after, project, calc=typed, commands=commands)
    assert "`half(number=0)` raised nothing before the change and ends in `TypeError` now" in said(delivery)


def test_a_suite_that_is_too_long_for_a_run_is_not_run_to_measure_either(tmp_path: Path) -> None:
    wordy = FIXED.replace("number * 2", "[number][0] * 2")
    project = Project(ran=ran(1, 2, 7))
    delivery, stage = delivered(tmp_path, NEW_TEST | {"calc.py": wordy}, project, sample=(OLD_FILE,))
    assert all(selection for _, selection, _ in stage.checked)
    assert all(project.selections)
    assert "no test that was run fails without `calc.py:8`" in said(delivery)
