"""Function tasks: tiny repositories whose hidden tests nobody sees, worked on and judged in the real sandbox."""

from __future__ import annotations

import contextlib
import json
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import docker
import pytest

from bot import wiring
from bot.bench.functions import Laboratory, attempt
from bot.bench.guard import Guarded, HiddenTestShown
from bot.bench.tasks import BROKEN, FILE, TESTS, FunctionTask, load
from bot.errors import BadInput
from bot.llm.budget import Limits
from bot.llm.port import Completion, Message, Request
from bot.llm.recorded import Recorded
from bot.settings import load_settings
from repo_tools.index import Index
from sandbox.base_image import ensure
from sandbox.docker_engine import DockerSandbox
from tests.fakes.stage import call, reply

HEAD = 'def double(number: int) -> int:\n    """Give twice the number.\n\n    >>> double(2)\n    4\n    """\n'
HIDDEN = "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(-1234567890) == -2469135780\n"
ROW = {
    "task_id": "HumanEval/0",
    "prompt": HEAD,
    "entry_point": "double",
    "canonical_solution": "    if number == 0:\n        return 0\n    return number + number\n",
    "test": HIDDEN,
}


def written(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


@pytest.fixture
def task(tmp_path: Path) -> FunctionTask:
    return load("humaneval", written(tmp_path, ROW))[0]


def test_a_task_is_a_repository_with_a_stub_and_an_issue(task: FunctionTask) -> None:
    assert set(task.tree.entries()) == {FILE, TESTS}
    assert task.tree.read(FILE).decode() == HEAD + "    raise NotImplementedError\n"
    assert "Give twice the number." in task.task.body
    shown = task.task.title + task.task.body + "".join(task.tree.read(path).decode() for path in task.tree.entries())
    assert "2469135780" not in shown
    assert task.marker not in shown


def test_every_form_of_the_sets_is_read(tmp_path: Path) -> None:
    extended = ROW | {"task_id": "HumanEval/1", "test_case_list": "['assert double(7) == 14']"}
    broken = extended | {"task_id": next(iter(BROKEN["humaneval-et"]))}
    found = load("humaneval-et", written(tmp_path, extended, broken))
    assert [one.hidden for one in found] == ["assert double(7) == 14"]
    sentence = {
        "task_id": "3",
        "prompt": "Write a function to double.",
        "code": "def double(number):\n  return 2 * number",
        "test_imports": "[]",
        "test_list": "['assert double(1)==2', 'assert double(4)==8']",
    }
    told, hidden = (load("mbpp", written(tmp_path, sentence), shown)[0] for shown in (1, 0))
    assert told.public == 'def double(number):\n    """Write a function to double."""\n'
    assert "assert double(1)==2" in told.task.body
    assert "assert double(4)==8" not in told.task.body
    assert "assert" not in hidden.task.body
    moved = ROW | {"canonical_solution": "  return 2 * number\n"}
    compile(load("mbpp", written(tmp_path, moved))[0].canonical, FILE, "exec")


@pytest.mark.parametrize(("suite", "text"), [("mbpp", None), ("humaneval", "no json"), ("humaneval", '{"other": 1}')])
def test_what_cannot_be_read_is_said(tmp_path: Path, suite: str, text: str | None) -> None:
    path = None if text is None else tmp_path / "rows.jsonl"
    if path is not None and text is not None:
        path.write_text(text)
    with pytest.raises(BadInput, match="--data"):
        load(suite, path)


class Saying:
    """A model that says one thing."""

    def __init__(self, said: Completion) -> None:
        self._said = said

    def complete(self, request: Request) -> Completion:
        return self._said


def request(text: str) -> Request:
    return Request("programmer", (Message("user", text),))


@pytest.mark.parametrize(
    "text",
    [
        "assert candidate(-1234567890) == -2469135780",
        "assert candidate( -1234567890 )\n    == -2469135780",
        "the file says: 'assert candidate(-1234567890) == -2469135780'",
    ],
)
def test_x9_a_request_that_shows_a_hidden_test_is_never_sent(task: FunctionTask, text: str) -> None:
    guard = Guarded(Saying(reply()), task)
    with pytest.raises(HiddenTestShown):
        guard.complete(request(text))
    with pytest.raises(HiddenTestShown):
        guard.complete(request(f"# {task.marker}"))
    assert guard.requests == 0


def test_x9_what_is_public_or_the_model_s_own_is_no_leak(task: FunctionTask) -> None:
    own = call("edit", path=TESTS, edits=[{"old": "x", "new": "assert candidate(-1234567890) == -2469135780\n"}])
    guard = Guarded(Saying(reply(own)), task)
    guard.complete(request(task.task.body))
    guard.complete(request("E  assert candidate(-1234567890) == -2469135780"))
    assert guard.requests == 2


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Laboratory]:
    with contextlib.closing(docker.DockerClient()) as client:
        ensure(client)
    settings = load_settings(state_dir=tmp_path / "state")
    told = wiring.sandbox_settings(settings, f"test-{uuid.uuid4()}", "bench")
    with contextlib.closing(DockerSandbox(told)) as sandbox:
        yield Laboratory(
            model=Recorded.script({}),
            model_name="script",
            sandbox=sandbox,
            base_image=settings.base_image,
            index=Index.open(tmp_path / "index"),
            limits=Limits(calls=20, minutes=5),
            request_tokens=settings.request_tokens_for,
            price=lambda role, usage: None,
            folder=tmp_path / "out",
        )


STEPS = {
    "decision": "change",
    "clarify": "give twice the number",
    "method": "one multiplication",
    "pseudocode": "multiply by two",
    "title": "Implement double",
    "summary": "double multiplies by two.",
}
NEW_TESTS = "\n\ndef test_example():\n    assert double(2) == 4\n\n\ndef test_zero():\n    assert double(0) == 1\n"
DESIGN = {
    "tests": [
        {"kind": "basic", "test": f"{TESTS}::test_example", "sentence": "double(2)\n    4", "expected": "4"},
        {"kind": "edge", "test": f"{TESTS}::test_zero", "sentence": "Give twice the number.", "expected": "1"},
    ],
    "not_applicable": {"large-scale": "the size of a number does not matter"},
    "fails_without": "it raises NotImplementedError",
}


def script(body: str) -> dict[str, list[Completion]]:
    """A programmer who writes `body`, a designer with a wrong test, which is disputed and taken out."""
    tests = [one | {"reason": "as it says", "call": "double(0)"} for one in DESIGN["tests"]]  # type: ignore[operator,union-attr]
    edit = call("edit", path=FILE, edits=[{"old": "raise NotImplementedError", "new": body}])
    add = call("edit", path=TESTS, edits=[{"old": "callable(double)\n", "new": "callable(double)\n" + NEW_TESTS}])
    dispute = STEPS | {"disputed": [{"test": f"{TESTS}::test_zero", "why": "twice zero is zero"}]}
    derived = [reply(call("submit", derivation="twice zero", settled=True, expected="0"))]
    return {
        "programmer-1": [reply(edit, call("submit", **STEPS))],
        "test-designer-1": [reply(add, call("submit", **(DESIGN | {"tests": tests})))],
        "programmer-2": [reply(call("submit", **dispute))],
        "arbiter-1": derived,
        "arbiter-2": derived,
    }


def test_ac8_ac9_x9_a_task_is_worked_on_and_judged_in_the_sandbox(task: FunctionTask, lab: Laboratory) -> None:
    """Right code and a planted wrong test; then wrong code that its own tests like: the hidden tests see it."""
    right = replace(lab, model=Recorded.script(script("return number * 2")))
    found = attempt(task, "humaneval", "agentcoder", 0, right)
    assert (found.passed, found.outcome, found.detail) == (True, "ready", "")
    assert found.guarded == found.spent.calls == 5
    assert (found.tests, found.right_tests) == (2, 1), "as they stood before the wrong one was taken out"
    assert found.coverage == 100
    assert {one.role: one.functions for one in found.volume}["test-designer"] == 2
    assert found.largest_request > 500
    wrong = replace(right, model=Recorded.script(script("return abs(number) * 2")))
    found = attempt(task, "humaneval", "agentcoder", 1, wrong)
    assert (found.passed, found.outcome) == (False, "ready")
    nobody = replace(right, model=Recorded.script({}))
    found = attempt(task, "humaneval", "agentcoder", 2, nobody)
    assert (found.passed, found.outcome) == (False, "error")
    assert "programmer-1" in found.detail
