"""Hostile input of every kind ends in a named outcome, and leaves the repository as it was."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from bot.errors import ModelFailed
from bot.llm.budget import Limits, estimate_tokens
from bot.llm.port import Completion, Request
from bot.llm.recorded import Recorded, answer
from bot.service.effects import Seconds
from bot.task import Outcome
from tests.journeys.demo import agent_fix
from tests.journeys.harness import CODE, ISSUE, PROJECT, TESTS, repository, solve

PLAN = {
    "decision": "change",
    "diagnosis": "Integer division drops the half.",
    "subtasks": [{"title": "true division", "regions": ["calc.py:1-2"], "change": "divide without rounding"}],
    "must_hold": ["half(3) == 1.5"],
}
CHANGE = {"title": "Divide without rounding", "summary": "half divides without rounding."}
REVIEW = {
    "verdict": "passed",
    "fault": "none",
    "functionality": "ran the tests",
    "fails_without": "AssertionError: half(3) is 1 without the change",
}
FIX = ("edit", {"path": "calc.py", "edits": [{"old": "number // 2", "new": "number / 2"}]})
NEW_TEST = {"old": "half(4) == 2\n", "new": "half(4) == 2\n\n\ndef test_odd():\n    assert half(3) == 1.5\n"}
ADD_TEST = ("edit", {"path": "tests/test_calc.py", "edits": [NEW_TEST]})
GOOD = {
    "analyst-1": [answer("", ("submit", PLAN))],
    "coder-1": [answer("", FIX, ("submit", CHANGE))],
    "tester-1": [answer("", ADD_TEST, ("run_tests", {})), answer("", ("submit", REVIEW))],
}


def state_of(repo: Path) -> tuple[str, str]:
    """Work tree, index and head, as git sees them."""
    words = (["git", "status", "--porcelain"], ["git", "rev-parse", "HEAD"])
    out = [subprocess.run(word, cwd=repo, capture_output=True, text=True, check=True).stdout for word in words]
    return out[0], out[1]


def test_the_good_case_for_comparison_and_a_secret_that_is_repeated_in_it(tmp_path: Path) -> None:
    repo, token = repository(tmp_path / "repo", PROJECT), "ghp_" + "aB3" * 12
    script = GOOD | {
        "analyst-1": [
            answer("", ("submit", PLAN | {"diagnosis": f"It says {token}.", "doubts": [f"Is {token} real?"]}))
        ],
        "coder-1": [answer("", FIX, ("submit", CHANGE | {"summary": f"half divides; {token} is left out."}))],
    }
    run = solve(tmp_path, repo, script, issue=(ISSUE[0], f"{ISSUE[1]} My token is {token}."))
    assert run.ended.outcome is Outcome.FIXED, run.ended.reason
    assert run.ended.branch == "agent-fix/issue-7"
    assert "github-token masked" in run.ended.reason
    log = ["git", "log", "--format=%B", run.ended.branch]
    left = [path.read_text("utf-8") for path in (Path(run.ended.pull_request), run.transcript)]
    left += [
        run.ended.model_dump_json(),
        subprocess.run(log, cwd=repo, capture_output=True, text=True, check=True).stdout,
    ]
    assert [token in text for text in left] == [False] * 4


@pytest.mark.parametrize("issue", [("", ""), ("  ", "\n\n")])
def test_an_empty_issue_is_refused(tmp_path: Path, issue: tuple[str, str]) -> None:
    run = solve(tmp_path, repository(tmp_path / "repo", PROJECT), GOOD, issue=issue)
    assert run.ended.outcome is Outcome.REFUSED
    assert "empty" in run.ended.reason


def test_an_endless_issue_is_cut_and_worked_on(tmp_path: Path) -> None:
    class Seen(Recorded):
        largest = 0

        def complete(self, request: Request) -> Completion:
            Seen.largest = max(Seen.largest, estimate_tokens(request))
            return super().complete(request)

    script = Seen.script(GOOD)
    issue = (ISSUE[0], ISSUE[1] + "\n" + "the log goes on\n" * 12_500)
    run = solve(tmp_path, repository(tmp_path / "repo", PROJECT), script, issue=issue)
    assert run.ended.outcome is Outcome.FIXED, run.ended.reason
    assert 0 < Seen.largest < 20_000


def test_uncommitted_work_is_left_alone(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", PROJECT)
    (repo / "calc.py").write_text("half = None  # unfinished\n")
    (repo / "new.txt").write_text("mine\n")
    subprocess.run(["git", "add", "new.txt"], cwd=repo, check=True)
    before = state_of(repo)
    run = solve(tmp_path, repo, GOOD)
    assert run.ended.outcome is Outcome.FIXED
    assert state_of(repo) == before
    assert (repo / "calc.py").read_text() == "half = None  # unfinished\n"


@pytest.mark.parametrize(
    ("files", "outcome", "said"),
    [
        ({"calc.py": CODE}, Outcome.TESTS_UNRUNNABLE, "agent-fix.yml"),
        (
            PROJECT
            | {
                "pyproject.toml": PROJECT["pyproject.toml"].replace(
                    '"1.0"', '"1.0"\ndependencies = ["no-such-thing-at-all-zz"]'
                )
            },
            Outcome.ENVIRONMENT_FAILED,
            "no-such-thing-at-all-zz",
        ),
        (PROJECT | {"tests/test_calc.py": "import time\ntime.sleep(1000)\n"}, Outcome.TESTS_UNRUNNABLE, "timeout"),
        (
            PROJECT | {"tests/conftest.py": "import os\nwhile True:\n    os.write(1, b'x' * 1_000_000)\n"},
            Outcome.TESTS_UNRUNNABLE,
            "limit",
        ),
        (PROJECT | {"tests/conftest.py": "import os\nos.kill(-1, 9)\n"}, Outcome.TESTS_UNRUNNABLE, ""),
        (PROJECT | {"tests/test_calc.py": "raise SystemExit(0)\n"}, Outcome.TESTS_UNRUNNABLE, ""),
    ],
    ids=["no tests", "broken set-up", "never ends", "prints without end", "kills its container", "exits with 0"],
)
def test_a_project_that_cannot_be_tested(tmp_path: Path, files: dict[str, str], outcome: Outcome, said: str) -> None:
    repo = repository(tmp_path / "repo", files)
    before = state_of(repo)
    # What never ends is waited for in full, with each recipe that is tried.
    run = solve(tmp_path, repo, {}, seconds=Seconds(3 if said == "timeout" else 8, 8))
    assert run.ended.outcome is outcome, run.ended.reason
    assert said in run.ended.reason
    assert run.ended.calls == 0, "nothing is paid for a project whose tests cannot be run"
    assert state_of(repo) == before


def test_a_suite_that_leaves_a_daemon_behind_ends_all_the_same(tmp_path: Path) -> None:
    daemon = "import subprocess\nsubprocess.Popen(['sleep', '1000'], start_new_session=True)\n"
    run = solve(tmp_path, repository(tmp_path / "repo", PROJECT | {"tests/conftest.py": daemon}), GOOD)
    assert run.ended.outcome is Outcome.FIXED, run.ended.reason
    listed = ["docker", "ps", "-aq", "--filter", "label=agent-fix.run=20260101-000000-test-0000"]
    assert subprocess.run(listed, capture_output=True, text=True, check=True).stdout == ""


PROSE = [answer("I have thought about it and believe that all is well.")] * 20
CIRCLES = [answer("", ("search", {"pattern": "half"}))] * 20


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ({"analyst-1": PROSE, "coder-1": PROSE, "tester-1": PROSE}, Outcome.GAVE_UP),
        (
            GOOD
            | {
                "coder-1": [answer("", ("read", {"path": "calc.py", "first": n})) for n in range(1, 40)],
                "tester-1": PROSE,
            },
            Outcome.GAVE_UP,
        ),
        (dict.fromkeys(("analyst-1", "coder-1", "tester-1"), CIRCLES), Outcome.GAVE_UP),
        (GOOD | {"analyst-1": CIRCLES}, Outcome.FIXED),
        (
            GOOD
            | {
                "coder-1": [
                    answer("", ("create", {"path": ".git/hooks/post-checkout", "text": "touch /tmp/out"})),
                    answer("", ("create", {"path": "../outside.py", "text": "x"})),
                    answer("", ("create", {"path": "/etc/outside.py", "text": "x"})),
                    answer("", ("edit", {"path": "link.py", "edits": [{"old": "root", "new": "toor"}]})),
                    answer("", FIX, ("submit", CHANGE)),
                ]
            },
            Outcome.FIXED,
        ),
    ],
    ids=["prose alone", "never submits", "all go in circles", "the analyst goes in circles", "edits outside"],
)
def test_a_model_that_does_not_play_along(
    tmp_path: Path, script: dict[str, list[Completion]], outcome: Outcome
) -> None:
    repo = repository(tmp_path / "repo", PROJECT, commit=False)
    (repo / "link.py").symlink_to("/etc/passwd")
    repo = repository(repo, {})
    run = solve(tmp_path, repo, script)
    assert run.ended.outcome is outcome, run.ended.reason
    assert not (repo / ".git/hooks/post-checkout").exists()
    assert not (tmp_path / "outside.py").exists()
    if outcome is Outcome.FIXED:
        assert run.ended.files == ("calc.py", "tests/test_calc.py")


def test_a_model_that_deletes_the_failing_test_is_not_ready(tmp_path: Path) -> None:
    failing = TESTS + "\n\ndef test_odd():\n    assert half(3) == 1.5\n"
    repo = repository(tmp_path / "repo", PROJECT | {"tests/test_calc.py": failing})
    drop = (
        "edit",
        {
            "path": "tests/test_calc.py",
            "edits": [{"old": "\n\ndef test_odd():\n    assert half(3) == 1.5\n", "new": ""}],
        },
    )
    more = (
        "edit",
        {
            "path": "tests/test_calc.py",
            "edits": [{"old": "half(4) == 2\n", "new": "half(4) == 2\n    assert half(6) == 3\n"}],
        },
    )
    comment = ("edit", {"path": "calc.py", "edits": [{"old": "number // 2", "new": "number // 2  # halves"}]})
    script = {
        "analyst-1": [answer("", ("submit", PLAN))],
        **{f"coder-{n}": [answer("", *([comment] if n == 1 else []), ("submit", CHANGE))] for n in range(1, 5)},
        **{f"tester-{n}": [answer("", *([drop, more] if n == 1 else []), ("submit", REVIEW))] for n in range(1, 5)},
    }
    run = solve(tmp_path, repo, script)
    assert run.ended.outcome is not Outcome.FIXED
    assert "test_odd" in run.ended.reason


def test_the_budget_ends_a_run_before_it_is_passed(tmp_path: Path) -> None:
    run = solve(tmp_path, repository(tmp_path / "repo", PROJECT), GOOD, limits=Limits(calls=1, minutes=10))
    assert run.ended.outcome is Outcome.OVER_BUDGET
    assert run.ended.calls == 1


@pytest.mark.parametrize(("asked", "outcome"), [("coder-2", Outcome.DRAFT), ("coder-1", Outcome.ERROR)])
def test_a_model_that_fails_for_good_does_not_take_with_it_what_was_proved_before(
    tmp_path: Path, asked: str, outcome: Outcome
) -> None:
    blame = REVIEW | {"verdict": "failed", "fault": "code", "problems": ["half(-3) is not tested"]}
    played = Recorded.script(GOOD | {"tester-1": [*GOOD["tester-1"][:-1], answer("", ("submit", blame))]})

    class Failing:
        def complete(self, request: Request) -> Completion:
            if request.agent == asked:
                said = "The provider's account has no credit left."
                raise ModelFailed(f"{said} http://models.corp.example:8000 said so.", public=said)
            return played.complete(request)

    run = solve(tmp_path, repository(tmp_path / "repo", PROJECT), Failing())
    assert run.ended.outcome is outcome
    assert "no credit left. http://models.corp.example:8000" in run.ended.reason
    assert "no credit left" in run.ended.public
    assert "models.corp.example" not in run.ended.public
    assert bool(run.ended.branch) == (outcome is Outcome.DRAFT)
    if run.ended.branch:
        proposed = Path(run.ended.pull_request).read_text("utf-8")
        assert "was stopped before it was done: The provider's account" in proposed
        assert "models.corp.example" not in proposed


def test_without_an_engine_nothing_is_paid_and_the_next_move_is_named(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", PROJECT)
    words = ("run", "--repo", str(repo), "--title", "t", "--body", "b", "--json")
    nowhere = {"AGENT_FIX_DOCKER_HOST": "tcp://127.0.0.1:9"}
    out, err = agent_fix(*words, state=tmp_path / "s", more=nowhere).communicate(timeout=120)
    found = json.loads(out)
    assert found["outcome"] == "environment-failed", err
    assert found["calls"] == 0
    assert "engine" in found["reason"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--repo", "nowhere"), "no folder"),
        (("--repo", "empty"), "no commit"),
        (("--repo", "repo", "--base", "v9"), "v9"),
        (("--repo", "repo", "--base", "--upload-pack=x"), "no revision"),
    ],
)
def test_a_repository_that_cannot_be_used_is_refused_with_the_next_move(
    tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    repository(tmp_path / "repo", PROJECT)
    repository(tmp_path / "empty", {}, commit=False)
    process = agent_fix("run", *words, "--title", "t", "--body", "b", "--json", state=tmp_path / "s", cwd=tmp_path)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 11, err
    found = json.loads(out)
    assert found["outcome"] == "refused"
    assert said in found["reason"]
