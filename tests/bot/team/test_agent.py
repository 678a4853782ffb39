"""One agent: bad calls get an answer that helps, and every conversation ends."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bot.errors import OverBudget
from bot.llm.budget import estimate_tokens
from bot.llm.port import Completion, Message, Request, ToolCall, ToolSpec, Usage
from bot.team.agent import PROSE_LIMIT, converse, fitted
from bot.team.roles import ANALYST, CHALLENGER, CODER, FIXER, REPRODUCER, SINGLE, Change, Role
from bot.team.steps import Answer, Ask
from repo_tools.patch import FileState
from repo_tools.tree import Tree
from sandbox.port import Result, TestReport
from tests.fakes.memory_base import MemoryBase
from tests.fakes.stage import Stage, call, reply, report

TREE = Tree(MemoryBase({"a.py": FileState(b"x = 1\ny = 2\n"), "tests/test_a.py": FileState(b"def test(): pass\n")}))
BRIEF = {place: f"the {place}" for place in CODER.reads}
FIX = call("edit", path="a.py", edits=[{"old": "x = 1", "new": "x = 3"}])
DONE = call("submit", title="Set x to three", summary="x is 3")


def coder(tmp_path: Path, *script: Completion) -> tuple[Answer, Stage]:
    stage = Stage(tmp_path, {"coder-1": script}, lambda tree, selection: report(["t"]))
    return converse(Ask(CODER, TREE, BRIEF, "coder-1"), stage), stage


def raw(name: str, arguments: str) -> Completion:
    return Completion("", (ToolCall("c", name, arguments),), Usage(), "script", 0.0)


def test_many_calls_in_one_reply_are_done_in_order(tmp_path: Path) -> None:
    again = call("edit", path="a.py", edits=[{"old": "x = 3", "new": "x = 4"}])
    answer, stage = coder(tmp_path, reply(FIX, again, call("read", path="a.py"), DONE))
    assert answer.ended == "submitted"
    assert isinstance(answer.submitted, Change)
    assert answer.tree.read("a.py") == b"x = 4\ny = 2\n"
    assert "x = 4" in stage.answers[2][2]
    assert len(stage.requests) == 1


@pytest.mark.parametrize(
    ("bad", "helps"),
    [
        (raw("edit", '{"path": "a.py", "edits": [{"old": "x'), "not valid JSON"),
        (raw("edit", '{"path": "a.py"}'), "edits: Field required"),
        (raw("edit", "[1]"), "do not fit"),
        (raw("read", '{"path": "a.py", "lines": 3}'), "lines"),
        (raw("teleport", "{}"), "there is no tool 'teleport'"),
        (raw("read", '{"path": "b.py"}'), "b.py"),
        (raw("search", '{"pattern": "("}'), "not a regular expression"),
        (reply(call("edit", path="../a.py", edits=[{"old": "x", "new": "y"}])), "../a.py"),
        (reply(call("create", path="/etc/x", text="y")), "/etc/x"),
        (reply(call("create", path=".git/hooks/post-checkout", text="y")), ".git"),
        (reply(call("edit", path="a.py", edits=[{"old": "x = 1", "new": "x = ("}])), "syntax"),
        (reply(call("edit", path="a.py", edits=[{"old": "x = 9", "new": "x = 3"}])), "x = 1"),
        (reply(DONE), "nothing is changed yet"),
    ],
)
def test_a_bad_call_is_answered_with_what_would_work(tmp_path: Path, bad: Completion, helps: str) -> None:
    answer, stage = coder(tmp_path, bad, reply(FIX, DONE))
    _, _, text, ok = stage.answers[0]
    assert not ok
    assert helps in text
    assert answer.submitted is not None
    assert answer.tree.read("a.py") == b"x = 3\ny = 2\n"


@pytest.mark.parametrize("role", [CODER, FIXER], ids=["coder", "fixer"])
def test_tests_that_are_there_already_are_no_change_of_the_code(tmp_path: Path, role: Role) -> None:
    tested = TREE.with_file("tests/test_a.py", b"def test(): assert x == 3\n")
    places = {place: f"the {place}" for place in role.reads}
    for words, taken in [({}, False), ({"plan_fault": "it is not there"}, True), ({"wrong_tests": "test"}, True)]:
        said = call("submit", title="Set x to three", summary="x is 3", **words)
        stage = Stage(tmp_path, {"one": [reply(said), reply(FIX, DONE)]}, lambda tree, selection: report(["t"]))
        answer = converse(Ask(role, tested, places, "one"), stage)
        assert stage.answers[0][3] is taken
        assert answer.ended == "submitted"
        assert (answer.tree == tested) is taken


def test_a_submission_beside_a_refused_edit_is_not_taken(tmp_path: Path) -> None:
    missing = call("edit", path="a.py", edits=[{"old": "z = 1", "new": "z = 2"}])
    answer, stage = coder(tmp_path, reply(FIX, missing, DONE), reply(DONE))
    assert "edit was refused" in stage.answers[2][2]
    assert answer.ended == "submitted"


TESTS_RUN = call("run_tests")
COMMAND = call("run", command="python check.py")


@pytest.mark.parametrize("check", [TESTS_RUN, COMMAND], ids=["tests", "command"])
@pytest.mark.parametrize("good", [True, False])
def test_a_submission_beside_a_run_is_taken_unseen_only_if_the_run_went_well(
    tmp_path: Path, check: ToolCall, good: bool
) -> None:
    stage = Stage(
        tmp_path,
        {"coder-1": [reply(FIX, check, DONE), reply(DONE)]},
        lambda tree, selection: report(["t"]) if good else report(failed={"t": "assert 1 == 2"}),
        lambda tree, command: Result(0 if good else 1, "said", 0.1),
    )
    answer = converse(Ask(CODER, TREE, BRIEF, "coder-1"), stage)
    assert answer.ended == "submitted"
    assert len(stage.requests) == (1 if good else 2)


@pytest.mark.parametrize("role", [ANALYST, CHALLENGER], ids=["analyst", "challenger"])
def test_who_only_looks_has_to_see_what_was_executed_before_a_word_on_it_counts(tmp_path: Path, role: Role) -> None:
    verdict = (
        {"verdict": "holds"} if role is CHALLENGER else {"decision": "no_change_needed", "diagnosis": "it is right"}
    )
    submit = call("submit", **verdict)
    stage = Stage(tmp_path, {"one": [reply(COMMAND, submit), reply(submit)]}, lambda tree, selection: report(["t"]))
    answer = converse(Ask(role, TREE, {place: f"the {place}" for place in role.reads}, "one"), stage)
    assert answer.ended == "submitted"
    assert len(stage.requests) == 2
    assert "not seen yet" in stage.answers[1][2]


def test_failures_from_before_any_change_do_not_stand_in_the_way_of_a_submission(tmp_path: Path) -> None:
    stage = Stage(
        tmp_path, {"coder-1": [reply(FIX, TESTS_RUN, DONE)]}, lambda tree, selection: report(["t"], {"old": "broken"})
    )
    answer = converse(Ask(CODER, TREE, BRIEF, "coder-1"), stage, frozenset({"old"}))
    assert answer.ended == "submitted"


def test_tests_can_be_run_without_the_change_and_fail_there_as_they_should(tmp_path: Path) -> None:
    def tests(tree: Tree, _: tuple[str, ...]) -> TestReport:
        good = b"x = 3" in tree.read("a.py")
        assert b"assert x == 3" in tree.read("tests/test_a.py")
        return report(["t"]) if good else report(failed={"t": "assert 1 == 3"})

    both = reply(FIX, TEST, call("run_tests", without_change=True), TESTS_RUN, SOLVED)
    stage = Stage(tmp_path, {"single-1": [both]}, tests)
    answer = converse(Ask(SINGLE, TREE, {place: f"the {place}" for place in SINGLE.reads}, "single-1"), stage)
    assert answer.ended == "submitted"
    assert ["1 failed" in text for _, name, text, _ in stage.answers if name == "run_tests"] == [True, False]


SOLVED = call(
    "submit", decision="change", diagnosis="x is one and must be three", title="Set x to three", summary="x is 3"
)
TEST = call("edit", path="tests/test_a.py", edits=[{"old": "pass", "new": "assert x == 3"}])
RED = call("submit", decision="reproduced", reason="x is 1, which the issue says is wrong")


IDLE = call("edit", path="tests/test_a.py", edits=[{"old": "pass", "new": "pass  # x == 3"}])


@pytest.mark.parametrize(
    ("first", "then", "says"),
    [
        (reply(TEST, RED), reply(TESTS_RUN, RED), "did not run"),
        (reply(TESTS_RUN, TEST, RED), reply(TESTS_RUN, RED), "did not run"),
        (reply(IDLE, TESTS_RUN, RED), reply(TEST, TESTS_RUN, RED), "no test failed"),
        (reply(TEST, TESTS_RUN, RED), None, ""),
    ],
    ids=["not run", "run before the last edit", "passing", "failing"],
)
def test_a_reproduction_is_taken_only_after_its_tests_were_seen_to_fail(
    tmp_path: Path, first: Completion, then: Completion | None, says: str
) -> None:
    def tests(tree: Tree, _: tuple[str, ...]) -> TestReport:
        red = b"assert x == 3" in tree.read("tests/test_a.py")
        return report(failed={"t": "assert 1 == 3"}) if red else report(["t"])

    stage = Stage(tmp_path, {"reproducer-1": [first, *([then] if then else [])]}, tests)
    brief = {place: f"the {place}" for place in REPRODUCER.reads}
    answer = converse(Ask(REPRODUCER, TREE, brief, "reproducer-1"), stage)
    assert answer.ended == "submitted"
    refused = [text for _, name, text, ok in stage.answers if name == "submit" and not ok]
    assert len(refused) == (1 if then else 0)
    assert all(says in text for text in refused)


OTHER = "AttributeError: 'int' object has no attribute 'items'"
NAMED = call(
    "submit", decision="reproduced", reason="The status is taken for the headers: an AttributeError is raised."
)


@pytest.mark.parametrize(
    ("issue", "failure", "then"),
    [
        ("Wrong values or IndexError", OTHER, [reply(NAMED)]),
        ("Wrong values or IndexError", OTHER, [reply(TEST, TESTS_RUN, RED)]),
        ("Wrong values", OTHER, []),
        ("An AttributeError is raised", OTHER, []),
        ("Wrong values or IndexError", "assert 1 == 3", []),
        ("Wrong values", "ImportError: cannot import name 'brand_new' from 'a'", [reply(TEST, TESTS_RUN, RED)]),
        ("Wrong values", "fixture 'nowhere' not found", [reply(TEST, TESTS_RUN, RED)]),
        ("Give it a name", "ImportError: cannot import name 'brand_new' from 'a'", [reply(RED)]),
    ],
)
def test_a_reproduction_whose_tests_fail_for_what_neither_issue_nor_reason_names_is_asked_once_for_why(
    tmp_path: Path, issue: str, failure: str, then: list[Completion]
) -> None:
    def tests(tree: Tree, _: tuple[str, ...]) -> TestReport:
        return report(failed={"t": "assert 1 == 3" if b"assert x == 3" in tree.read("tests/test_a.py") else failure})

    stage = Stage(tmp_path, {"reproducer-1": [reply(IDLE, TESTS_RUN, RED), *map(unidled, then)]}, tests)
    brief = {place: f"the {place}" for place in REPRODUCER.reads} | {"issue": issue}
    answer = converse(Ask(REPRODUCER, TREE, brief, "reproducer-1"), stage)
    assert answer.ended == "submitted"
    assert len(stage.requests) == 1 + len(then)
    refused = [text for _, name, text, ok in stage.answers if name == "submit" and not ok]
    assert [failure in text for text in refused] == [True] * len(then)


def unidled(completion: Completion) -> Completion:
    """A test that follows the one of `IDLE`."""
    again = call("edit", path="tests/test_a.py", edits=[{"old": "pass  # x == 3", "new": "assert x == 3"}])
    return reply(*(again if one == TEST else one for one in completion.tool_calls))


def test_prose_is_answered_and_ends_at_last(tmp_path: Path) -> None:
    answer, stage = coder(tmp_path, *[reply(text="I think that …")] * (PROSE_LIMIT + 1))
    assert answer.ended == "prose"
    assert answer.submitted is None
    assert len(stage.requests) == PROSE_LIMIT
    assert "act only through tools" in stage.requests[-1].messages[-1].content


def test_replies_are_limited_with_a_nudge_and_then_nothing_but_submit(tmp_path: Path) -> None:
    looks = [reply(call("read", path="a.py", first=n + 1)) for n in range(CODER.replies)]
    answer, stage = coder(tmp_path, *looks)
    assert answer.ended == "steps"
    assert len(stage.requests) == CODER.replies
    assert any("3 replies are left" in message.content for message in stage.requests[-3].messages)
    assert [tool.name for tool in stage.requests[-1].tools] == ["submit"]


def test_what_a_model_repeats_without_result_ends_and_what_it_wrote_is_handed_over(tmp_path: Path) -> None:
    answer, stage = coder(tmp_path, reply(FIX), *[reply(call("read", path="a.py"))] * 10)
    assert (answer.ended, answer.submitted) == ("circles", None)
    assert len(stage.requests) == 4
    assert answer.tree.read("a.py") != TREE.read("a.py")


def test_a_reply_that_repeats_and_hands_over_has_handed_over(tmp_path: Path) -> None:
    look = call("read", path="a.py")
    answer, _ = coder(tmp_path, reply(FIX, look), reply(look), reply(look, DONE))
    assert answer.ended == "submitted"


def test_what_no_longer_fits_into_a_request_ends_it_and_what_was_written_is_handed_over(tmp_path: Path) -> None:
    small = replace(CODER, request_tokens=6_000)
    large = call("create", path="b.py", text="x = 1\n" * 8_000)
    stage = Stage(tmp_path, {"coder-1": [reply(FIX), reply(large)]}, lambda tree, selection: report(["t"]))
    answer = converse(Ask(small, TREE, BRIEF, "coder-1"), stage)
    assert (answer.ended, answer.submitted) == ("context", None)
    assert sorted(answer.tree.patch.files) == ["a.py", "b.py"]


def test_the_analyst_has_no_tool_that_writes() -> None:
    assert not {"edit", "create", "rename", "delete"} & set(ANALYST.tools)


def test_repeated_call_ids_are_told_apart(tmp_path: Path) -> None:
    twice = Completion("", (ToolCall("same", "read", '{"path": "a.py"}'),) * 2, Usage(), "script", 0.0)
    _, stage = coder(tmp_path, twice, reply(FIX, DONE))
    ids = [message.tool_call_id for message in stage.requests[1].messages if message.role == "tool"]
    assert len(set(ids)) == 2
    asked = next(message for message in stage.requests[1].messages if message.tool_calls)
    assert [one.id for one in asked.tool_calls] == ids


@pytest.mark.parametrize("sign", ["x", "é", "界"], ids=["one byte", "two bytes", "three bytes"])
@pytest.mark.parametrize("described", [0, 4_000], ids=["small tools", "large tools"])
def test_old_tool_results_are_cut_when_a_request_grows_too_large(sign: str, described: int) -> None:
    """No exchange is dropped for it, be it other scripts or the tools that make it too large."""
    messages = [Message("system", "s"), Message("user", "u")]
    for number in range(20):
        messages += [Message("assistant", "", (ToolCall(f"{number}", "read", "{}"),))]
        messages += [Message("tool", f"{number} " + sign * 2_000, tool_call_id=f"{number}")]
    tools = (ToolSpec("read", "d" * 4 * described, {}),)
    whole = estimate_tokens(Request("coder", tuple(messages), tools))
    limit = whole - described // 2 if described else whole // 2
    cut = fitted(messages, tools, replace(CODER, request_tokens=limit))
    assert estimate_tokens(Request("coder", tuple(cut), tools)) <= limit
    assert cut[-4:] == messages[-4:]
    assert cut[:2] == messages[:2]
    assert "was dropped" in cut[3].content
    assert [m.role for m in cut] == [m.role for m in messages]
    assert fitted(cut, tools, replace(CODER, request_tokens=limit)) == cut


def test_no_result_grows_by_being_cut() -> None:
    tools = [Message("tool", "x" * size) for size in (340, 9_000, 10, 10)]
    messages = [Message("user", "u"), Message("assistant", "a"), *tools, *[Message("user", "more")] * 3]
    whole = estimate_tokens(Request("coder", tuple(messages)))
    cut = fitted(messages, (), replace(CODER, request_tokens=whole - 100))
    assert [position for position, now in enumerate(cut) if now != messages[position]] == [3]


def test_a_request_is_never_larger_than_its_role_allows(tmp_path: Path) -> None:
    small = replace(CODER, request_tokens=6_000)
    reads = [reply(*[call("run", command=f"print {round_} {n}") for n in range(6)]) for round_ in range(5)]
    stage = Stage(
        tmp_path,
        {"coder-1": [*reads, reply(FIX, DONE)]},
        lambda tree, selection: report(["t"]),
        lambda tree, command: Result(0, f"{command} " + "x" * 9_000, 1.0),
    )
    converse(Ask(small, TREE, BRIEF, "coder-1"), stage)
    assert len(stage.requests) == 6
    for request in stage.requests:
        assert estimate_tokens(request) <= 6_000
        assert request.messages[:2] == stage.requests[0].messages[:2]
        called = [one.id for message in request.messages for one in message.tool_calls]
        answered = [message.tool_call_id for message in request.messages if message.role == "tool"]
        assert called == answered, "no result without its call"
    assert any("dropped" in message.content for message in stage.requests[-1].messages if message.role == "user")
    with pytest.raises(OverBudget, match="than the 100 that it may hold"):
        converse(Ask(replace(CODER, request_tokens=100), TREE, BRIEF, "coder-1"), stage)


def test_a_run_is_shown_with_how_it_ended(tmp_path: Path) -> None:
    stage = Stage(
        tmp_path,
        {"coder-1": [reply(call("run", command="sleep 1000")), reply(FIX, DONE)]},
        lambda tree, selection: report(["t"]),
        lambda tree, command: Result(None, "y" * 100_000 + "the end", 120, "timeout"),
    )
    converse(Ask(CODER, TREE, BRIEF, "coder-1"), stage)
    text = stage.answers[0][2]
    assert text.startswith("[stopped: it did not end in time, 120 seconds]")
    assert text.endswith("the end")
    assert len(text) < 12_000


def test_tools_are_described_without_noise(tmp_path: Path) -> None:
    _, stage = coder(tmp_path, reply(FIX, DONE))
    shown = json.dumps([dict(tool.parameters) for tool in stage.requests[0].tools])
    assert '"title": "' not in shown.replace('"title": {"', "")
    edit = next(tool for tool in stage.requests[0].tools if tool.name == "edit")
    assert edit.description.startswith("Replace exact texts")
    assert set(edit.parameters["required"]) == {"path", "edits"}
