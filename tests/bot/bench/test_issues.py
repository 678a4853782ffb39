"""Real issues as a benchmark: the product's own run, then the tests of the real fix, which no request holds."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from bot.bench.functions import Laboratory
from bot.bench.issues import Case, attempt, grader, load, repository
from bot.errors import BadInput
from bot.llm.port import Completion, Request
from bot.llm.recorded import Recorded
from tests.bot.bench.test_functions import lab  # noqa: F401 - a fixture
from tests.fakes.stage import call, reply
from tests.journeys.harness import PROJECT, TESTS
from tests.journeys.harness import repository as committed

HIDDEN = "\n\ndef test_the_real_fix():\n    assert half(-7) == -3.5\n"
CASE = {
    "id": "calc-half",
    "repo": "someone/calc",
    "base_commit": "",
    "fix_commit": "",
    "issue_title": "half(3) is wrong",
    "issue_body": "`half(3)` gives 1, I expect 1.5.",
    "install": ["pip install -q pytest -e ."],
    "test_command": "python -m pytest -q tests",
    "report": "pytest",
    "test_files": ["tests/test_calc.py"],
    "fail_to_pass": ["tests/test_calc.py::test_the_real_fix"],
    "pass_to_pass_sample": ["tests/test_calc.py::test_even", "tests/test_other.py::test_sum"],
}


@pytest.fixture
def mirrors(tmp_path: Path) -> Path:
    """A folder of repositories in which calc's second commit is its real fix."""
    files = PROJECT | {"tests/test_other.py": "def test_sum():\n    assert 1 + 1 == 2\n"}
    return committed(tmp_path / "mirrors" / "someone" / "calc", files).parent.parent


@pytest.fixture
def case(mirrors: Path) -> Case:
    folder = mirrors / "someone" / "calc"
    base = revision(folder)
    (folder / "tests" / "test_calc.py").write_text(TESTS + HIDDEN)
    who = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    subprocess.run(["git", *who, "commit", "-qam", "two"], cwd=folder, check=True)
    return Case.model_validate(CASE | {"base_commit": base, "fix_commit": revision(folder)})


def revision(folder: Path) -> str:
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def script(new: str) -> dict[str, list[Completion]]:
    solution = {
        "decision": "change",
        "diagnosis": "integer division drops the half",
        "title": "Divide without rounding",
        "summary": "half divides without rounding.",
    }
    test = "\n\ndef test_odd():\n    assert half(3) == 1.5\n"
    return {
        "single-1": [
            reply(
                call("edit", path="calc.py", edits=[{"old": "number // 2", "new": new}]),
                call("edit", path="tests/test_calc.py", edits=[{"old": "== 2\n", "new": "== 2\n" + test}]),
                call("submit", **solution),
            )
        ]
    }


class Watched:
    """A model whose requests are kept."""

    def __init__(self, answers: dict[str, list[Completion]]) -> None:
        self._model = Recorded.script(answers)
        self.shown = ""

    def complete(self, request: Request) -> Completion:
        self.shown += "\n".join(message.content for message in request.messages)
        return self._model.complete(request)


@pytest.mark.parametrize(("new", "right"), [("number / 2", True), ("abs(number) / 2", False)])
def test_x9_a_case_is_judged_by_the_tests_of_the_real_fix(
    case: Case,
    mirrors: Path,
    lab: Laboratory,  # noqa: F811
    new: str,
    right: bool,
) -> None:
    from dataclasses import replace

    model = Watched(script(new))
    found = attempt(case, mirrors, "single", 0, replace(lab, model=model))
    assert found.outcome == "ready", found.detail
    assert found.passed is right
    assert found.detail.startswith("fixed: All pass." if right else "fixed: Not passing in the grader's run: tests/")
    assert "test_the_real_fix" not in model.shown
    assert "-3.5" not in model.shown


def test_the_grader_runs_the_named_files_alone(case: Case) -> None:
    recipe = grader(case, "base")
    assert recipe.test_command == "python -m pytest -q"
    assert recipe.setup == ("python3 -m venv ~/venv", "pip install -q pytest -e .")


@pytest.mark.parametrize("text", [None, '{"id": 1}', "no json"])
def test_a_folder_without_good_cases_is_named(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "one.json").write_text(text)
    with pytest.raises(BadInput, match=str(tmp_path)):
        load(tmp_path)


def test_cases_and_their_repositories_are_found(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(json.dumps(CASE | {"extra": "kept for others"}))
    assert [case.id for case in load(tmp_path)] == ["calc-half"]
    fetched = tmp_path / "someone+calc" / "repo"
    fetched.mkdir(parents=True)
    assert repository(tmp_path, "someone/calc") == fetched
    with pytest.raises(BadInput, match="clone it"):
        repository(tmp_path, "other/calc")
