"""A whole run as a transcript, with text in it that would like to be more than text."""

from __future__ import annotations

from bot import records as r
from bot.llm.budget import Limits
from bot.llm.port import Completion, Message, Request, ToolCall, ToolSpec, Usage
from bot.task import Comment, Outcome, Task
from bot.transcript import Transcript
from repo_tools.patch import FileState, Patch
from sandbox.port import Result, TestOutcome, TestReport

HOSTILE = "<script>alert(1)</script><img src=https://evil.example/x.png> [bold]m[/bold] {{ 7*7 }} \x1b[2J \u202e @all"
TOOLS = tuple(ToolSpec(name, f"To {name}.", {"type": "object"}) for name in ("read", "edit", "run_tests", "submit"))
TASK = Task(
    "example/shop",
    "The discount is rounded down twice <b>here</b>",
    f"`total(19.99, percent=15)` gives 16.98, not 16.99.\n\n```python\n>>> total(19.99, percent=15)\n```\n{HOSTILE}",
    "4f2a9c0d1e3b5a7c9d0e2f4a6b8c0d1e3f5a7b9c",
    12,
    (Comment("ann", "Since version 2."),),
)
DIFF = """\
diff --git a/shop/price.py b/shop/price.py
--- a/shop/price.py
+++ b/shop/price.py
@@ -10,5 +10,4 @@ def total(price, percent):
     off = price * percent / 100
-    off = math.floor(off * 100) / 100
-    return math.floor((price - off) * 100) / 100
+    return round(price - off, 2)  # <script>
"""


def report(**outcomes: str) -> TestReport:
    tests = {f"tests/test_price.py::test_{name}": TestOutcome(outcome) for name, outcome in outcomes.items()}
    bad = {test: f"E  assert 16.98 == 16.99\n{HOSTILE}" for test, outcome in tests.items() if outcome == "failed"}
    return TestReport(tests, bad, Result(1 if bad else 0, "2 failed in 0.31s" if bad else "ok", 1.4))


def turn(
    transcript: Transcript,
    agent: str,
    index: int,
    messages: tuple[Message, ...],
    text: str,
    *calls: tuple[str, str, str],
) -> tuple[Message, ...]:
    """One reply of an agent and what its calls (tool, arguments, result) gave; the conversation afterwards."""
    made = tuple(ToolCall(f"c{index}_{n}", name, arguments) for n, (name, arguments, _) in enumerate(calls))
    usage = Usage(3200 + 900 * index, 180, 2048 if index else 0)
    reply = Completion(text, made, usage, "gpt-5-mini-2025-08-07", 4.2, "tool_calls" if calls else "stop", 0.0021)
    role = agent.split("-", maxsplit=1)[0]
    transcript.completion(Request(role, messages, TOOLS, agent, index), reply)
    messages = (*messages, Message("assistant", text, made))
    for call, (name, _, result) in zip(made, calls, strict=True):
        ok = not result.startswith("Refused")
        transcript.add(r.ToolUsed(agent=agent, call_id=call.id, name=name, result=result, ok=ok))
        messages = (*messages, Message("tool", result, tool_call_id=call.id))
    return messages


def sample_run(transcript: Transcript) -> None:
    """Analyst, coder and tester, one round."""
    transcript.add(
        r.RunStarted(
            run="20261130-101112-discount-ab12",
            task=TASK,
            models={"analyst": "gpt-5-mini", "coder": "gpt-5-mini"},
            limits=Limits(3.0, 2_000_000, 120, 30.0),
            note="The model's words are a recording.",
        )
    )
    transcript.add(r.StageChanged(stage="environment"))
    transcript.add(r.StageChanged(stage="baseline", detail="3 tests"))
    transcript.add(r.Tested.of("baseline", report(total="failed", zero="passed", old="failed")))
    transcript.add(r.StageChanged(stage="team", detail="self-collaboration"))
    transcript.add(r.Asked(agent="analyst-1", role="analyst", shown={"issue": 210, "hints": 900}))
    start = (Message("system", "You are one of a team.\n" * 12), Message("user", f"The issue:\n{TASK.body}"))
    told = turn(
        transcript,
        "analyst-1",
        0,
        start,
        f"I look at where it is rounded. {HOSTILE}",
        ("read", '{"path": "shop/price.py", "first": 1, "last": 40}', "10  off = price * percent / 100\n11  off = ..."),
        ("search", '{"pattern": "floor"}', "shop/price.py:11\nshop/price.py:12"),
    )
    plan = {"decision": "change", "diagnosis": f"Rounded twice. {HOSTILE}", "subtasks": [{"title": "Round once"}]}
    turn(transcript, "analyst-1", 1, told, "", ("submit", '{"diagnosis": "Rounded twice."}', "Submitted."))
    transcript.add(
        r.Posted(slot="plan", round=1, value={**plan, "must_hold": ["total(19.99, 15) == 16.99"], "doubts": []})
    )
    transcript.add(r.Asked(agent="coder-1", role="coder", round=1, shown={"issue": 210, "plan": 120, "code": 400}))
    told = turn(
        transcript,
        "coder-1",
        0,
        start,
        "",
        (
            "edit",
            '{"path": "shop/price.py", "old": "off = x\\nreturn y", "new": "return <z>"}',
            "Refused: no such text.",
        ),
        ("edit", "{broken json", "Refused: the arguments are no JSON."),
    )
    transcript.add(
        r.CommandRun.of(f"python -c 'print(1)' # {HOSTILE}", Result(None, "…", 60.0, "timeout"), agent="coder-1")
    )
    transcript.add(r.Tested.of("check", report(total="passed"), selection=("t",), agent="coder-1"))
    turn(
        transcript,
        "coder-1",
        1,
        told,
        "Done.",
        ("run_tests", "{}", "1 passed in 0.2s"),
        ("submit", '{"summary": "x"}', "ok"),
    )
    transcript.add(r.StageChanged(stage="verified"))
    transcript.add(r.Tested.of("final", report(total="passed", zero="passed", old="failed", added="passed")))
    patch = Patch({"shop/price.py": FileState(b"x"), "tests/test_price.py": FileState(b"y")})
    transcript.add(r.Delivered(files=patch.to_json(), diff=DIFF))
    transcript.add(r.RunEnded(outcome=Outcome.FIXED, text="The discount is rounded once."))
