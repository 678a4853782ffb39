"""A role that gets no further ends nothing: what it wrote counts, the others go on, and it is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.bot.team.test_self_collaboration import ADD_TEST, CHANGE, CODE, FIX, OLD, REVIEW
from tests.bot.team.test_session import DESIGN, HOLDS, REPRODUCED, SOLUTION, STEPS, WHOLE_SPAN, plan, played, submitted
from tests.fakes.stage import call, reply

CIRCLES = [reply(call("read", path="calc.py"))] * 3
SILENT = [reply(text="I am done.")] * 3
MOTHER = [reply(call("submit", **SOLUTION, code=WHOLE_SPAN))]
PROGRAM = call("submit", **(CHANGE | STEPS | {"decision": "change"}))
DESIGNED = [reply(ADD_TEST, call("submit", **DESIGN))]
PLANNED = {"analyst-1": plan("It rounds down."), "coder-1": submitted(FIX)}
TESTED = {"tester-1": [reply(ADD_TEST), reply(call("submit", **REVIEW))]}
FOUND = {"reproducer-1": REPRODUCED, "coder-1": submitted(FIX)}


@pytest.mark.parametrize("end", [CIRCLES, SILENT], ids=["in circles", "in prose"])
@pytest.mark.parametrize(
    ("strategy", "scripts", "silent", "wrote"),
    [
        ("self-collaboration", PLANNED, "tester-1", [ADD_TEST]),
        ("self-collaboration", PLANNED | TESTED, "coder-1", [FIX]),
        ("self-collaboration", PLANNED | TESTED, "analyst-1", []),
        ("team", FOUND, "challenger-1", []),
        ("team", FOUND | {"challenger-1": HOLDS}, "coder-1", [FIX]),
        ("team", FOUND | {"challenger-1": HOLDS}, "reproducer-1", [ADD_TEST]),
        ("single", {}, "single-1", [FIX, ADD_TEST]),
        ("agentcoder", {"test-designer-1": DESIGNED}, "programmer-1", [FIX]),
        ("agentcoder", {"programmer-1": [reply(FIX, PROGRAM)]}, "test-designer-1", [ADD_TEST]),
        ("self-organized", {"mother-0": MOTHER}, "reproducer-1", [ADD_TEST]),
    ],
)
def test_who_gets_no_further_loses_nothing_and_ends_nothing(
    tmp_path: Path, strategy: str, scripts: dict[str, Any], silent: str, wrote: list[Any], end: list[Any]
) -> None:
    first = [reply(*wrote)] if wrote else []
    delivery = played(tmp_path, strategy, scripts | {silent: [*first, *end]})
    assert (delivery.ended, delivery.stop) == ("done", None)
    assert delivery.best is not None
    assert delivery.best.sound
    assert delivery.best.tree.read("calc.py") == CODE.replace("//", "/").encode()
    role = silent.rpartition("-")[0]
    (said,) = [sentence for sentence in delivery.unfinished if f"The {role} got no further" in sentence]
    assert ("taken as it was" if wrote else "no word") in said or role == "reproducer"


@pytest.mark.parametrize("end", [CIRCLES, SILENT], ids=["in circles", "in prose"])
def test_code_is_proved_with_the_tests_that_are_there_if_nobody_writes_new_ones(tmp_path: Path, end: list[Any]) -> None:
    rest = {"tester-1": end, "coder-2": end, "tester-2": end}
    delivery = played(tmp_path, "self-collaboration", PLANNED | rest)
    assert delivery.stop is None
    assert delivery.best is not None
    assert delivery.best.round == 1
    assert delivery.best.verdict.after.passed == 1
    assert delivery.best.tree.read("calc.py") == CODE.replace("//", "/").encode()
    assert [sentence.split()[1] for sentence in delivery.unfinished] == ["tester", "coder"]


@pytest.mark.parametrize("end", [CIRCLES, SILENT], ids=["in circles", "in prose"])
@pytest.mark.parametrize("strategy", ["self-organized", "team"])
def test_all_that_got_no_further_is_said_where_nothing_came_of_it(
    tmp_path: Path, strategy: str, end: list[Any]
) -> None:
    scripts = {"mother-0": end, "reproducer-1": end, "coder-1": end}
    delivery = played(tmp_path, strategy, scripts)
    assert delivery.best is None
    assert delivery.ended == "stuck"
    last = "mother" if strategy == "self-organized" else "coder"
    assert {sentence.split()[1] for sentence in delivery.unfinished} == {"reproducer", last}


NAMED = plan("half is tested with even numbers alone.", regions=("tests/test_calc.py:1-5",))
ADDED = [reply(ADD_TEST, call("submit", **SOLUTION))]
NONE, AGAIN = {"tester-1": TESTED["tester-1"]}, {"tester-1": [reply(ADD_TEST), *SILENT]}


@pytest.mark.parametrize(
    ("strategy", "scripts", "asked"),
    [
        ("self-collaboration", NONE | {"analyst-1": plan("It rounds down.")}, False),
        ("self-collaboration", AGAIN | {"analyst-1": plan("It rounds down.")}, False),
        ("self-collaboration", NONE | {"analyst-1": SILENT}, False),
        ("self-collaboration", NONE | {"analyst-1": NAMED}, True),
        ("team", {"reproducer-1": REPRODUCED}, False),
        ("agentcoder", {"programmer-1": SILENT, "programmer-2": SILENT, "test-designer-1": DESIGNED}, False),
        ("single", {"single-1": [reply(ADD_TEST), *SILENT], "single-2": SILENT}, False),
        ("single", {"single-1": ADDED, "single-2": SILENT}, True),
    ],
)
def test_tests_alone_are_no_change_unless_they_are_asked_for(
    tmp_path: Path, strategy: str, scripts: dict[str, Any], asked: bool
) -> None:
    delivery = played(tmp_path, strategy, dict.fromkeys(("coder-1", "coder-2", "tester-2"), SILENT) | scripts)
    assert delivery.stop is None
    assert OLD in delivery.attempts[0].after.tests
    assert list(delivery.attempts[0].tree.patch.files) == ["tests/test_calc.py"]
    assert (delivery.best is not None) is asked
