"""A package that is asked for arrives in the pull request, in several files and with its tests."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.bot.team.test_architect import DESIGN, FILES, PLAN
from tests.fakes.stage import call, reply
from tests.journeys.harness import PROJECT, repository, solve

ISSUE = ("Create a package shapes", "Create a package `shapes`: `area(Square(2))` is 4, and there is no `shapes` yet.")
TEST = "from shapes import Square, area\n\n\ndef test_area():\n    assert area(Square(2)) == 4\n"
CHANGE = {"title": "Add the package shapes", "summary": "shapes has squares and their areas."}
REVIEW = {
    "verdict": "passed",
    "fault": "none",
    "functionality": "ran the tests",
    "fails_without": "ModuleNotFoundError: No module named 'shapes': the issue says that there is no shapes yet",
}


def test_a_package_that_is_asked_for_comes_in_several_files(tmp_path: Path) -> None:
    created = [call("create", path=path, text=text) for path, text in FILES.items()]
    script = {
        "analyst-1": [reply(call("submit", **PLAN))],
        "architect-1": [reply(call("submit", **DESIGN))],
        "coder-1": [reply(*created, call("submit", **CHANGE))],
        "tester-1": [
            reply(call("create", path="tests/test_shapes.py", text=TEST), call("run_tests", tests=[])),
            reply(call("submit", **REVIEW)),
        ],
    }
    run = solve(tmp_path, repository(tmp_path / "calc", PROJECT), script, issue=ISSUE)
    assert run.ended.outcome == "fixed", run.ended.reason
    shown = ["git", "show", "--name-status", "--format=", run.ended.branch]
    told = subprocess.run(shown, cwd=run.repo, capture_output=True, text=True, check=True).stdout.split()
    new = [path for state, path in zip(told[::2], told[1::2], strict=True) if state == "A"]
    assert sorted(new) == sorted([*FILES, "tests/test_shapes.py"])
    body = Path(run.ended.pull_request).read_text("utf-8")
    assert "shapes/model.py" in body
    assert "Shapes as values" in body, "the design is shown"
    assert "run under the tests" in body or "do so under the tests" in body
