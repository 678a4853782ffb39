"""What is written stands, whole and once; what is read is what was written; what differs is named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot import records as r
from bot.errors import BadInput, Diverged
from bot.llm.budget import Limits
from bot.llm.port import Completion, Message, Request, ToolCall, ToolSpec, Usage
from bot.secrets_mask import Mask
from bot.task import Comment, Outcome, Task
from bot.transcript import Transcript, read, requests, spent_by_role
from repo_tools.patch import FileState, Patch
from sandbox.port import Result, TestOutcome, TestReport

SECRET = "sk-test-secret-value"
MASK = Mask([SECRET])
READ = ToolSpec("read", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}})
TASK = Task("o/r", "It breaks", "When I …", "c0ffee", 7, (Comment("ann", "me too"),))
START = r.RunStarted(run="r1", task=TASK, models={"coder": "m"}, limits=Limits(usd=3.0))
REPORT = TestReport(
    {"t::a": TestOutcome.PASSED, "t::b": TestOutcome.FAILED}, {"t::b": "assert 1 == 2"}, Result(1, "log", 0.5)
)
PATCH = Patch({"a.py": FileState(b"x = 1\r\n", 0o100755), "b\u00e9.py": None, "bin": FileState(bytes(range(256)))})


def completion(text: str = "", *calls: ToolCall) -> Completion:
    return Completion(text, calls, Usage(10, 2, 4), "m-1", 0.5, "stop", 0.01)


def conversation(agent: str, steps: int) -> list[tuple[Request, Completion, r.ToolUsed]]:
    """An agent that reads a file `steps` times."""
    messages: tuple[Message, ...] = (Message("system", "You code."), Message("user", "Mend it."))
    made = []
    for index in range(steps):
        call = ToolCall(f"c{index}", "read", '{"path": "a.py"}')
        reply = completion(f"step {index}", call)
        result = f"{index}  x = 1"
        request = Request("coder", messages, (READ,), agent, index)
        made.append((request, reply, r.ToolUsed(agent=agent, call_id=call.id, name="read", result=result)))
        messages = (*messages, Message("assistant", reply.text, (call,)), Message("tool", result, (), call.id))
    return made


def perform(transcript: Transcript, agent: str = "coder", steps: int = 3) -> None:
    for request, reply, used in conversation(agent, steps):
        transcript.completion(request, reply)
        transcript.add(used)


def whole_run(transcript: Transcript) -> None:
    """Every kind of record."""
    transcript.add(START)
    transcript.add(r.StageChanged(stage="baseline", detail="2 tests"))
    transcript.add(r.Asked(agent="coder", role="coder", round=1, tree="abc", shown={"issue": 200, "plan": 40}))
    perform(transcript)
    transcript.add(r.CommandRun.of("ls", Result(0, "a.py", 0.1), agent="coder"))
    transcript.add(r.Tested.of("check", REPORT, selection=("t",)))
    transcript.add(r.Stopped(agent="coder", step="run coder 2", error="TimedOut", text="The minutes are spent."))
    transcript.add(r.Posted(slot="plan", round=1, value={"diagnosis": "off by one", "subtasks": [1, None, True]}))
    transcript.add(r.Delivered(files=PATCH.to_json(), diff="-x\n+y"))
    transcript.add(r.RunEnded(outcome=Outcome.FIXED, text="done", spent=spent_by_role(read(transcript.path))))


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    with Transcript(tmp_path / "new" / "run.jsonl", MASK) as transcript:
        whole_run(transcript)
    records = read(transcript.path)
    assert [type(record) for record in records][:3] == [r.RunStarted, r.StageChanged, r.Asked]
    first, patch, end = records[0], records[-2], records[-1]
    assert isinstance(first, r.RunStarted) and first.task == TASK and first.limits == Limits(usd=3.0)
    assert isinstance(patch, r.Delivered) and patch.patch == PATCH
    assert isinstance(end, r.RunEnded) and end.spent["coder"].calls == 3 and end.spent["coder"].usd == 0.03
    tested = next(record for record in records if isinstance(record, r.Tested))
    assert tested.outcomes == {TestOutcome.PASSED: ("t::a",), TestOutcome.FAILED: ("t::b",)}
    assert not tested.good and tested.failures == {"t::b": "assert 1 == 2"}
    assert all(record.at is not None for record in records)
    assert (transcript.path.stat().st_mode & 0o777) == 0o600


def test_requests_are_stored_as_differences_and_put_together_again(tmp_path: Path) -> None:
    with Transcript(tmp_path / "t", MASK) as transcript:
        transcript.add(START)
        perform(transcript, "coder-1", 5)
        perform(transcript, "coder-2", 2)
    records = read(transcript.path)
    expected = [
        request for agent, steps in (("coder-1", 5), ("coder-2", 2)) for request, *_ in conversation(agent, steps)
    ]
    assert list(requests(records).values()) == expected
    text = transcript.path.read_text()
    assert text.count("You code.") == 2, "a prompt is stored once for each agent"
    assert text.count("Read a file.") == 2, "so are the tools"
    assert text.count("0  x = 1") == 2, "a result that the next request repeats is stored once"


messages = st.builds(
    Message,
    st.sampled_from(["system", "user", "assistant", "tool"]),
    st.text(max_size=5),
    st.lists(st.builds(ToolCall, st.sampled_from("ab"), st.just("read"), st.text(max_size=3)), max_size=2).map(tuple),
    st.none() | st.sampled_from("ab"),
)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.lists(messages, max_size=4), st.booleans(), st.text(max_size=4)), max_size=5))
def test_any_conversation_comes_back_even_when_an_agent_rewrites_its_past(
    tmp_path_factory: pytest.TempPathFactory, turns: list[Any]
) -> None:
    path = tmp_path_factory.mktemp("t") / "t"
    asked = [
        Request("coder", tuple(given_messages), (READ,) if tools else (), "c", index)
        for index, (given_messages, tools, _) in enumerate(turns)
    ]
    with Transcript(path, Mask()) as transcript:
        transcript.add(START)
        for request, (_, _, result) in zip(asked, turns, strict=True):
            transcript.completion(request, completion("ok", ToolCall("a", "read", "{}")))
            transcript.add(r.ToolUsed(agent="c", call_id="a", name="read", result=result))
    assert list(requests(read(path)).values()) == asked


def test_no_secret_reaches_the_file(tmp_path: Path) -> None:
    with Transcript(tmp_path / "t", MASK) as transcript:
        transcript.add(START)
        transcript.completion(
            Request("coder", (Message("user", f"key {SECRET}"),), (), "c"),
            completion(f"it is {SECRET}", ToolCall("a", "run", json.dumps({"command": f"echo {SECRET}"}))),
        )
        transcript.add(r.Posted(slot="plan", value={f"{SECRET}": [f"x{SECRET}"]}))
        transcript.add(r.Tested.of("check", TestReport({f"t[{SECRET}]": TestOutcome.PASSED}, {}, Result(0, "", 1))))
    assert SECRET not in transcript.path.read_text()
    assert "masked]" in transcript.path.read_text()
    read(transcript.path)


def test_half_a_character_is_written_out(tmp_path: Path) -> None:
    with Transcript(tmp_path / "t", MASK) as transcript:
        transcript.add(START)
        transcript.completion(Request("coder", (Message("user", "a\udc80"),), (), "c"), completion("b\ud83d"))
        transcript.add(r.Posted(slot="x", value={"a": ["\udc80"]}))
    assert requests(read(transcript.path))["c", 0].messages[0].content == "a\\udc80"


@pytest.mark.parametrize("after", range(14))
def test_a_resumed_run_adds_only_what_is_missing(tmp_path: Path, after: int) -> None:
    with Transcript(tmp_path / "whole", MASK) as transcript:
        whole_run(transcript)
    lines = transcript.path.read_bytes().splitlines(keepends=True)
    cut = tmp_path / "cut"
    cut.write_bytes(b"".join(lines[:after]) + (lines[after][:20] if after < len(lines) else b""))
    with Transcript.resume(cut, MASK) as resumed:
        whole_run(resumed)
    assert [_steady(line) for line in cut.read_bytes().splitlines()] == [_steady(line) for line in lines]
    assert cut.read_bytes().startswith(b"".join(lines[:after]))


def _steady(line: bytes) -> dict[str, Any]:
    return {name: value for name, value in json.loads(line).items() if name not in ("at", "clock")}


def test_the_clock_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = tmp_path / "t"
    with Transcript(path, MASK) as transcript:
        transcript.add(START)
    line = json.loads(path.read_text())
    path.write_text(json.dumps(line | {"clock": 500.0}) + "\n")
    with Transcript.resume(path, MASK) as resumed:
        assert 500 <= resumed.seconds < 510


def test_agents_side_by_side_may_come_in_another_order(tmp_path: Path) -> None:
    path = tmp_path / "t"
    with Transcript(path, MASK) as transcript:
        transcript.add(START)
        perform(transcript, "a", 2)
        perform(transcript, "b", 2)
    size = path.stat().st_size
    with Transcript.resume(path, MASK) as resumed:
        resumed.add(START)
        perform(resumed, "b", 2)
        perform(resumed, "a", 2)
    assert path.stat().st_size == size


def test_another_way_is_named_by_line_agent_and_field(tmp_path: Path) -> None:
    path = tmp_path / "t"
    with Transcript(path, MASK) as transcript:
        transcript.add(START)
        perform(transcript, "coder-1", 2)
    with Transcript.resume(path, MASK) as resumed:
        resumed.add(START)
        request, reply, used = conversation("coder-1", 2)[0]
        resumed.completion(request, reply)
        with pytest.raises(
            Diverged, match=r"coder-1 .* line 3 \(tool\): result was \"0  x = 1\" and is now \"0  x = 2\""
        ):
            resumed.add(used.model_copy(update={"result": "0  x = 2"}))


def test_many_threads_write_whole_lines(tmp_path: Path) -> None:
    with Transcript(tmp_path / "t", MASK) as transcript:
        transcript.add(START)
        threads = [threading.Thread(target=perform, args=(transcript, f"coder-{n}", 5)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    records = read(transcript.path)
    assert len(records) == 1 + 8 * 10
    assert len(requests(records)) == 40


def test_a_killed_process_leaves_every_record_that_add_had_returned(tmp_path: Path) -> None:
    program = (
        "import os, pathlib, signal, sys\n"
        "from tests.bot.test_transcript import MASK, START, perform\n"
        "from bot.transcript import Transcript\n"
        f"transcript = Transcript(pathlib.Path({str(tmp_path / 't')!r}), MASK)\n"
        "transcript.add(START); perform(transcript)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", program], cwd=root, check=False)
    assert len(read(tmp_path / "t")) == 7
    with Transcript.resume(tmp_path / "t", MASK) as resumed:
        resumed.add(START)
        perform(resumed)
    assert len(read(tmp_path / "t")) == 7


def test_a_watcher_sees_every_record_also_the_ones_that_were_there(tmp_path: Path) -> None:
    seen: list[str] = []
    with Transcript(tmp_path / "t", MASK, watch=lambda record: seen.append(record.kind)) as transcript:
        whole_run(transcript)
    again: list[str] = []
    with Transcript.resume(tmp_path / "t", MASK, watch=lambda record: again.append(record.kind)) as transcript:
        whole_run(transcript)
    assert again == seen and len(seen) == 15


def test_one_file_has_one_writer(tmp_path: Path) -> None:
    with Transcript(tmp_path / "t", MASK) as transcript:
        transcript.add(START)
        with pytest.raises(BadInput, match="another process"):
            Transcript.resume(tmp_path / "t", MASK)
    with pytest.raises(BadInput, match="resume"):
        Transcript(tmp_path / "t", MASK)


def _line(**more: Any) -> str:
    return json.dumps(START.model_dump(mode="json") | more) + "\n"


BROKEN = {
    "not there": (None, "cannot be read"),
    "empty": ("", "no record"),
    "another file": ('{"a": 1}\n', "no transcript"),
    "a list": ("[]\n", "line 1"),
    "no JSON in the middle": (_line() + "{broken\n" + _line(), "line 2"),
    "an unknown kind": (_line() + '{"kind": "dance"}\n', "line 2"),
    "a wrong field": (_line() + '{"kind": "stage", "stage": "x", "stagee": "y"}\n', "line 2.*stagee"),
    "a newer format": (_line(format=r.FORMAT + 1, news=True), "newer version"),
}


@pytest.mark.parametrize(("text", "said"), BROKEN.values(), ids=BROKEN.keys())
def test_a_file_that_cannot_be_used_says_why(tmp_path: Path, text: str | None, said: str) -> None:
    path = tmp_path / "t"
    if text is not None:
        path.write_text(text)
    with pytest.raises(BadInput, match=said):
        read(path)
    if text:
        with pytest.raises(BadInput, match=said):
            Transcript.resume(path, MASK)
        assert path.read_text() == text, "a file that is refused is not touched"


def test_a_full_disk_leaves_no_half_record(tmp_path: Path) -> None:
    program = (
        "import pathlib, resource, signal\n"
        "from tests.bot.test_transcript import MASK, START\n"
        "from bot import records as r\n"
        "from bot.transcript import Transcript, read\n"
        f"path = pathlib.Path({str(tmp_path / 't')!r})\n"
        "transcript = Transcript(path, MASK)\n"
        "transcript.add(START)\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 50,) * 2)\n"
        "try:\n    transcript.add(r.StageChanged(stage='x' * 200))\n"
        "except OSError as error:\n    print('said:', error)\n"
        "assert path.read_bytes().endswith(b'\\n') and len(read(path)) == 1\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "make room" in done.stdout


def test_the_schema_describes_what_is_written(tmp_path: Path) -> None:
    schema = r.json_schema()
    kinds = {schema["$defs"][ref["$ref"].rsplit("/")[-1]]["properties"]["kind"]["const"] for ref in schema["oneOf"]}
    with Transcript(tmp_path / "t", MASK) as transcript:
        whole_run(transcript)
    assert kinds == {record.kind for record in read(transcript.path)}
    json.dumps(schema)


def test_long_texts_are_cut_in_the_middle() -> None:
    text = "a" * 100_000 + "end"
    cut = r.CommandRun.of("x", Result(0, text, 1.0)).output
    assert len(cut) < r.OUTPUT_CHARS + 100
    assert cut.endswith("aend") and "characters left out" in cut
    assert os.linesep in cut
