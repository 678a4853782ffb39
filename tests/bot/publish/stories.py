"""Stories told in the golden files. Run as a module, this writes the files anew; read the difference before you commit.

python -m tests.bot.publish.stories
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from bot.llm.budget import Spent
from bot.publish.objection import Objection
from bot.publish.proposal import Changed, PullRequestText, Story, propose
from bot.publish.verdict import baseline, judge
from bot.task import Task
from sandbox.port import Result, TestOutcome, TestReport

GOLDEN = Path(__file__).parent / "golden"
ASSERTION = "E   assert ['a.b', 'c'] == ['a', 'b.c']\n\ntests/test_split.py:31: AssertionError"
NEW, GUARD = "tests/test_split.py::test_quoted_dot", "tests/test_split.py::test_escape_survives[a\\.b]"
OLD = "tests/test_split.py::test_dotted"

TEMPLATE = """<!-- Thank you! Please fill this in. -->
## Description

Please describe your change.

## Type of change

- [ ] Bug fix
- [ ] New feature

## How has this been tested?

## Deployment

Deployments happen on Mondays, ask @acme/releases.

## Checklist

- [ ] I have read the [guidelines](CONTRIBUTING.md)
"""


def report(tests: Mapping[str, TestOutcome], seconds: float) -> TestReport:
    bad = [test for test, outcome in tests.items() if outcome is TestOutcome.FAILED]
    return TestReport(tests, dict.fromkeys(bad, ASSERTION), Result(1 if bad else 0, "", seconds))


PASSED, FAILED, SKIPPED = TestOutcome.PASSED, TestOutcome.FAILED, TestOutcome.SKIPPED
BEFORE = {
    **{f"tests/test_core.py::test_{number}": PASSED for number in range(1411)},
    "tests/test_net.py::test_dns": FAILED,
    "tests/test_win.py::test_path": SKIPPED,
    OLD: FAILED,
}
AFTER = {**BEFORE, OLD: PASSED, NEW: PASSED, GUARD: PASSED}
SPENT = {
    "analyst": Spent(3, 11_200, 410, 6_000, 0.021, 0, 20.0),
    "coder": Spent(5, 18_400, 1_200, 9_000, 0.048, 0, 44.0),
    "tester": Spent(3, 9_100, 700, 4_100, 0.02, 0, 23.0),
}

READY = Story(
    task=Task(
        "acme/dotted", "split() breaks quoted names", "…", "0123456789abcdef0123456789abcdef01234567", number=218
    ),
    verdict=judge(
        baseline(report(BEFORE, 12.3)),
        report(AFTER, 13.1),
        own=[NEW, GUARD],
        own_without=report({NEW: FAILED, GUARD: PASSED}, 0.4),
        stated="a dot inside quotes is taken for a separator",
    ),
    strategy="self-collaboration",
    title="Fixed splitting of quoted names that contain a dot.",
    diagnosis='`split()` looked for the next `.` without regard to quotes, so `"a.b".c` was cut inside the quotes. '
    "The scanner forgot at each part that it stood inside quotes. Names without quotes were not affected. And so on.",
    changes="The scanner now carries its quote state over the whole name.",
    files=(
        Changed("dotted/split.py", 14, 6),
        Changed("tests/test_split.py", 1022, 0, "new"),
        Changed("dotted/_old.py", 0, 88, "deleted"),
    ),
    plan=("Carry the quote state through `_scan` in `dotted/split.py`.",),
    doubts=("Single quotes are treated like double quotes; the documentation does not say whether they should be.",),
    measured=("Coverage of the changed lines: 13 of 14.",),
    spent=SPENT,
    models=dict.fromkeys(SPENT, "some-model"),
    minutes=6.4,
    transcript="analyst  read dotted/split.py 1-80\ncoder    edit dotted/split.py (2 places)\n",
)

DRAFT = replace(
    READY,
    task=replace(READY.task, number=None),
    verdict=judge(
        baseline(report(BEFORE, 12.3), report({"tests/test_net.py::test_dns": PASSED}, 2.0)),
        report({**AFTER, **{f"tests/test_core.py::test_{number}": FAILED for number in range(20)}}, 13.1),
        own=[NEW],
        own_without=report({NEW: PASSED}, 0.4),
        stated="a dot inside quotes is taken for a separator",
        objections=[
            Objection("setup.cfg", "manifest", "`setup.cfg` was changed, though the issue is not about it.", False)
        ],
    ),
    title="",
    plan=(),
    doubts=(),
    measured=(),
    transcript="",
    spent={},
    minutes=0.2,
    notes=("The base moved while the bot worked; the change is on the old base.",),
)

TEXTS: dict[str, PullRequestText] = {
    "ready": propose(READY),
    "draft": propose(DRAFT),
    "template": propose(READY, template=TEMPLATE),
}


def as_file(text: PullRequestText) -> str:
    return f"branch: {text.branch}\ntitle: {text.title}\ndraft: {text.draft}\n\n{text.body}\n"


if __name__ == "__main__":
    for name, text in TEXTS.items():
        (GOLDEN / f"{name}.md").write_text(as_file(text), "utf-8")
