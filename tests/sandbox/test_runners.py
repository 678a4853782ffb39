"""Each runner's results, read from what it really left (`tests/data/runners`), and reports that are none."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.docker_engine import DockerSandbox
from sandbox.port import Environment, Recipe, Result, TestOutcome, TestReport
from sandbox.report import REPORTERS, report, reporter
from sandbox.runners.base import Asked
from sandbox.runners.junit import cases
from tests.data.runners.projects import PROJECTS
from tests.sandbox.conftest import PROJECT

PASSED, FAILED, ERROR, SKIPPED = TestOutcome.PASSED, TestOutcome.FAILED, TestOutcome.ERROR, TestOutcome.SKIPPED
RECORDS = Path(__file__).parent.parent / "data" / "runners"

JEST = {
    "test/a.test.js::suite (a) passes": PASSED,
    "test/a.test.js::suite (a) fails $(b)": FAILED,
    "test/a.test.js::suite (a) is skipped": SKIPPED,
    "test/a.test.js::alone": PASSED,
    "test/b.test.js::alone": PASSED,
    "broken/broken.test.js": ERROR,
}
WHOLE = {
    "automake": {
        "broken": PASSED,
        "fails": FAILED,
        "left": SKIPPED,
        "passes": PASSED,
        "inner/hard": ERROR,
        "inner/passes": PASSED,
    },
    "cargo": {
        "src/lib.rs::tests::later": SKIPPED,
        "src/lib.rs::tests::panics": PASSED,
        "src/lib.rs::tests::sum": FAILED,
        "src/lib.rs::tests::zero": PASSED,
        "tests/whole.rs::zero": PASSED,
        "Doc-tests sums::src/lib.rs - add (line 1)": PASSED,
    },
    "ctest": {"passes": PASSED, "fails+(1)": FAILED, "left": SKIPPED},
    "go": {
        "example.org/sums::TestAdd": FAILED,
        "example.org/sums::TestZero": PASSED,
        "example.org/sums::TestZero/a_b": PASSED,
        "example.org/sums::TestZero/c/d": PASSED,
        "example.org/sums::TestSkip": SKIPPED,
        "example.org/sums/broken": ERROR,
        "example.org/sums/crash": ERROR,
    },
    "jest": JEST,
    "junit-console": {
        "org.NewTest#holds": PASSED,
        "org.SumsTest#adds": FAILED,
        "org.SumsTest#breaks": ERROR,
        "org.SumsTest#keepsZero": PASSED,
        "org.SumsTest#later": SKIPPED,
        "src/test/java/org/LackingTest.java": ERROR,
    },
    "meson": {
        "sums / passes": PASSED,
        "sums:odd / fails $(b)": FAILED,
        "sums / left": SKIPPED,
        "sums / points > 1 one": PASSED,
        "sums / points > 2 two": FAILED,
    },
    "minitest": {
        "SumsTest#test_add": FAILED,
        "SumsTest#test_error": ERROR,
        "SumsTest#test_later": SKIPPED,
        "SumsTest#test_zero": PASSED,
    },
    "mocha": {name: outcome for name, outcome in JEST.items() if "broken" not in name},
    "node": {
        "test/a.test.js::passes": PASSED,
        "test/a.test.js::fails # at > odd": FAILED,
        "test/a.test.js::is skipped": SKIPPED,
        "test/a.test.js::is to do": SKIPPED,
        "test/a.test.js::suite > inner": PASSED,
        "test/a.test.js::suite > inner that fails": FAILED,
        "test/a.test.js::suite > deep > deeper": PASSED,
        "test/b.test.js::passes": PASSED,
        "test/broken.test.js": ERROR,
    },
    "phpunit": {
        "OtherTest::testPasses": PASSED,
        "Tests\\SumsTest::testAdd": FAILED,
        "Tests\\SumsTest::testZero": PASSED,
        "Tests\\SumsTest::testLater": SKIPPED,
        "Tests\\SumsTest::testError": ERROR,
        "Tests\\SumsTest::testPair with data set #0": PASSED,
        'Tests\\SumsTest::testPair with data set "named (set)"': PASSED,
    },
    "rspec": {
        "spec/other_spec.rb::Other passes": PASSED,
        "spec/sums_spec.rb::Sums adds": FAILED,
        "spec/sums_spec.rb::Sums keeps zero": PASSED,
        "spec/sums_spec.rb::Sums is to come": SKIPPED,
        'spec/sums_spec.rb::Sums when $(odd) is "fine"': PASSED,
    },
    "test-unit": {
        "TestMore#test_more": PASSED,
        "TestSums#test: in: words": PASSED,
        "TestSums#test_add": FAILED,
        "TestSums#test_data[one]": PASSED,
        "TestSums#test_error": ERROR,
        "TestSums#test_later": SKIPPED,
        "TestSums#test_pending": SKIPPED,
        "TestSums#test_prints": PASSED,
        "TestSums#test_zero": PASSED,
        "inner#test_in": PASSED,
    },
    "tap": {"plain": PASSED, "fails": FAILED, "left": SKIPPED, "later": SKIPPED, "test 5": PASSED},
    "vitest": JEST,
}
"""What the whole suite of each project says."""

LONG = "test_a_name_that_is_so_long_that_no_tab_has_room_behind_it"

SELECTED = {
    "cargo": [{"src/lib.rs::tests::zero": PASSED}, WHOLE["cargo"]],
    "ctest": [{"fails+(1)": FAILED}],
    "go": [
        {name: outcome for name, outcome in WHOLE["go"].items() if "Zero" in name or "Skip" in name},
        {"example.org/sums/broken": ERROR},
    ],
    "jest": [
        {"test/a.test.js::suite (a) fails $(b)": FAILED},
        {"test/b.test.js::alone": PASSED, "broken/broken.test.js": ERROR},
    ],
    "junit-console": [{"org.SumsTest#keepsZero": PASSED}, {"org.NewTest#holds": PASSED}],
    "meson": [{"sums:odd / fails $(b)": FAILED}],
    "minitest": [{"SumsTest#test_zero": PASSED}],
    "mocha": [{"test/a.test.js::suite (a) fails $(b)": FAILED}, {"npx mocha": ERROR}],
    "node": [{"test/b.test.js::passes": PASSED}, {"test/b.test.js::passes": PASSED}],
    "phpunit": [
        {'Tests\\SumsTest::testPair with data set "named (set)"': PASSED},
        {"OtherTest::testPasses": PASSED},
    ],
    "rspec": [{'spec/sums_spec.rb::Sums when $(odd) is "fine"': PASSED}, {"errors outside of examples": ERROR}],
    "test-unit": [{"TestSums#test_zero": PASSED, "inner#test_in": PASSED}],
    "tap": [{**WHOLE["tap"], "a $(b)": PASSED}],
    "vitest": [
        {"test/a.test.js::suite (a) fails $(b)": FAILED},
        {"test/b.test.js::alone": PASSED, "broken/broken.test.js": ERROR},
    ],
}
"""What each further run of a project says."""


def recorded(name: str, run: int) -> TestReport:
    record = json.loads((RECORDS / f"{name}.json").read_text("utf-8"))[run]
    asked = Asked(PROJECTS[name].recipe, frozenset(PROJECTS[name].files), tuple(record["selection"]))
    files = {file: text.encode() for file, text in record["files"].items()}
    return report(asked, Result(**record["result"]), files)


@pytest.mark.parametrize("name", sorted(PROJECTS))
def test_a_whole_suite_is_read(name: str) -> None:
    told = recorded(name, 0)
    assert dict(told.tests) == WHOLE[name]
    assert not told.good
    for test in told.having(FAILED, ERROR):
        assert told.messages[test], test


@pytest.mark.parametrize(
    ("name", "run"), [(name, run) for name in sorted(SELECTED) for run in range(len(SELECTED[name]))]
)
def test_a_selection_is_read(name: str, run: int) -> None:
    told = recorded(name, run + 1)
    assert dict(told.tests) == SELECTED[name][run]
    assert told.good is (set(told.tests.values()) <= {PASSED, SKIPPED} and told.result.exit_code == 0)


@pytest.mark.parametrize(
    ("name", "test", "said"),
    [
        ("cargo", "src/lib.rs::tests::sum", "seen"),
        ("ctest", "fails+(1)", "seen"),
        ("go", "example.org/sums::TestAdd", "wrong sum"),
        ("go", "example.org/sums/broken", "undefined: nothing"),
        ("jest", "test/a.test.js::suite (a) fails $(b)", "seen"),
        ("jest", "broken/broken.test.js", "Cannot find module"),
        ("automake", "fails", "seen"),
        ("automake", "inner/hard", "exit status: 99"),
        ("junit-console", "org.SumsTest#adds", "seen"),
        ("junit-console", "src/test/java/org/LackingTest.java", "package com.nobody does not exist"),
        ("meson", "sums:odd / fails $(b)", "seen"),
        ("test-unit", "TestSums#test_add", "<3> expected but was"),
        ("test-unit", "TestSums#test_error", "RuntimeError: seen"),
        ("minitest", "SumsTest#test_error", "seen"),
        ("mocha", "test/a.test.js::suite (a) fails $(b)", "seen"),
        ("node", "test/a.test.js::suite > inner that fails", "two\nlines"),
        ("phpunit", "Tests\\SumsTest::testError", "seen"),
        ("rspec", "spec/sums_spec.rb::Sums adds", "expected: 3"),
        ("tap", "fails", "message: seen"),
        ("vitest", "test/a.test.js::suite (a) fails $(b)", "seen"),
    ],
)
def test_a_failure_says_why(name: str, test: str, said: str) -> None:
    assert said in recorded(name, 0).messages[test]


@pytest.mark.parametrize(("name", "option"), [("jest", "--coverage=false"), ("vitest", "--coverage.enabled=false")])
def test_a_threshold_of_coverage_fails_no_part_of_a_suite(name: str, option: str) -> None:
    assert option in REPORTERS[name].command(asked(name))


def test_go_is_shown_as_people_read_it() -> None:
    output = recorded("go", 0).result.output
    assert "--- FAIL: TestAdd" in output
    assert '"Action"' not in output


def asked(name: str, *selection: str, **changes: object) -> Asked:
    values: dict[str, object] = {"base_image": "b", "setup": (), "test_command": "run", "reporter": name, **changes}
    return Asked(Recipe(**values), frozenset({"pkg/src/test/java/org/ATest.java", "a b.py"}), selection)  # type: ignore[arg-type]


REPORTS = (
    "junit.xml",
    "pytest.jsonl",
    "report.json",
    "unittest.jsonl",
    "node.jsonl",
    "go.jsonl",
    "report.txt",
    "1.xml",
)
DEEP = b"[" * 100_000


@pytest.mark.parametrize("name", sorted(REPORTERS))
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe\x00",
        b"[]",
        b"{}",
        b'{"testResults": 1, "examples": {}, "tests": null, "failures": [1, null, []]}',
        b'{"testResults": [{"name": 1, "assertionResults": [{}, {"fullName": []}]}], "examples": [{}], "Action": 7}',
        b'{"outcome": [], "id": {}, "name": {"a": 1}}',
        DEEP,
        b"<testsuites><testsuite><testcase/></testsuite></testsuites>",
        b"<nothing/>",
        b"<testsuite>" * 5000,
        b'<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><testsuite name="&c;"/>',
        b'<!DOCTYPE a SYSTEM "file:///etc/passwd"><testsuite/>',
        b'<?xml version="1.0" encoding="nothing"?><testsuite/>',
        "<testsuite><testcase name='\u0001'/></testsuite>".encode(),
    ],
)
def test_no_report_breaks_the_reader_or_passes(name: str, data: bytes) -> None:
    told = report(asked(name), Result(1, "", 1.0), dict.fromkeys(REPORTS, data))
    assert not told.good
    assert told.having(FAILED, ERROR)


@pytest.mark.parametrize(
    ("name", "text", "test"),
    [
        ("minitest", "A B::when it is empty#test_0001_is = 0.01 s = F\n", "A B::when it is empty#test_0001_is"),
        ("minitest", "A#test_a = 0.01 s = F\nA#test_b = 0.01 s = .\nA#test_a = 0.01 s = .\n", "A#test_a"),
        ("cargo", "     Running tests/a.rs (x)\ntest a ... FAILED\ntest a ... ok\n", "tests/a.rs::a"),
        ("automake", "PASS: a\nFAIL: a\n", "a"),
        ("test-unit", f"  TestA: \n    {LONG}:F\n=====\nFailure: {LONG}(TestA)\n: (0.001000)\n", f"TestA#{LONG}"),
        ("test-unit", f"  TestA: \n    {LONG}:said\nF\n====\nFailure: no\n: (0.001000)\n", f"TestA#{LONG}"),
        ("tap", "not ok 1 - a\nok 2 - a\n", "a"),
        ("tap", "\x1b[31mnot ok\x1b[0m 1 - \x1b[1;4ma\x1b[22m\n", "a"),
    ],
)
def test_no_failure_is_lost_whatever_its_name_and_whoever_shares_it(name: str, text: str, test: str) -> None:
    assert report(asked(name), Result(1, "", 1.0), {"report.txt": text.encode()}).tests[test] is FAILED


@given(data=st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
def test_nor_does_any_other(data: bytes) -> None:
    for name in REPORTERS:
        assert not report(asked(name), Result(1, "", 1.0), dict.fromkeys(REPORTS, data)).good


def test_a_long_report_is_read_in_time() -> None:
    """A report at its size limit must not hold up a run: nothing is quadratic."""
    lines = {
        "tap": b"not ok 1 - a\n",
        "go": b'{"Action":"output","Package":"p","Test":"T","Output":"x"}\n',
        "cargo": b"---- a stdout ----\n",
        "minitest": b"  1) Failure:\n",
        "test-unit": b"  test_a:\t\tF\n",
        "automake": b"FAIL: a\n=======\n",
        "unittest": b'{"id": "a", "outcome": "failed", "message": "m"}\n',
        "node": b'{"file": "a", "name": ["b"], "outcome": "failed", "message": "m"}\n',
    }
    for name, line in lines.items():
        started = time.monotonic()
        report(asked(name), Result(1, "", 1.0), dict.fromkeys(REPORTS, line * 50_000))
        assert time.monotonic() - started < 8, name


@pytest.mark.parametrize("name", sorted(REPORTERS))
def test_a_run_that_did_not_end_by_itself_is_no_pass(name: str) -> None:
    for ended in ("timeout", "memory", "output", "disk"):
        told = report(asked(name), Result(None, "", 9.0, ended), {})
        assert told.tests == {"run": ERROR}
        assert ended in told.messages["run"]


def test_passes_with_a_bad_exit_code_are_no_pass() -> None:
    told = report(asked("tap"), Result(3, "", 1.0), {"report.txt": b"ok 1 - a\n"})
    assert told.tests == {"a": PASSED, "run": ERROR}
    assert "exit code 3" in told.messages["run"]


def test_no_tests_with_a_good_exit_code_are_no_pass() -> None:
    told = report(asked("tap"), Result(0, "", 1.0), {"report.txt": b"1..0\n"})
    assert told.tests == {"run": ERROR}


def test_long_messages_are_cut_in_the_middle() -> None:
    told = report(asked("exit-code"), Result(1, "begin" + "x" * 100_000 + "end", 1.0), {})
    assert len(told.messages["run"]) < 21_000
    assert told.messages["run"].startswith("begin")
    assert told.messages["run"].endswith("end")


def test_an_exit_code_is_one_test() -> None:
    assert report(asked("exit-code"), Result(0, "", 1.0), {}).tests == {"run": PASSED}
    assert report(asked("exit-code"), Result(1, "", 1.0), {}).tests == {"run": FAILED}


def test_nothing_selected_is_run_by_the_shell(sandbox: DockerSandbox, environment: Environment) -> None:
    evil = "a'$(touch ~/pwned)`touch ~/pwned`;touch ~/pwned\ntouch ~/pwned\""
    lines = ["run() { echo ran; }"]
    for name in REPORTERS:
        test_command = "run -m unittest" if name == "unittest" else "run"
        for test in (evil, f"x::{evil}", f"x#{evil}", f"src/java/{evil}.java"):
            command = reporter(asked(name).recipe).command(asked(name, test, test_command=test_command))
            lines.append(f"( export AGENT_FIX_OUT=/tmp\n{command}\n)")
    result = sandbox.run(environment, PROJECT, "\n".join([*lines, "ls ~ | grep pwned"]), seconds=60)
    assert "pwned" not in result.output
    assert result.output.count("ran\n") >= 3 * len(REPORTERS)


@pytest.mark.parametrize(
    ("name", "selection", "words"),
    [
        ("maven", ["org.ATest#adds(int)[1]", "pkg/src/test/java/org/ATest.java"], "-Dtest=org.ATest#adds,org.ATest "),
        ("gradle", ["org.ATest#adds", "org.BTest"], "--tests org.ATest.adds --tests org.BTest"),
        ("go", ["a/b_test.go", "x/y::TestA/sub"], "go.jsonl"),
    ],
)
def test_selections_of_those_who_name_tests_otherwise(name: str, selection: list[str], words: str) -> None:
    command = reporter(asked(name).recipe).command(asked(name, *selection))
    assert words.replace(" ", "") in command.replace(" ", "").replace("'", "")


def test_surefire_reports_are_read() -> None:
    xml = (
        '<testsuite name="org.ATest"><properties><property name="a" value="b"/></properties>'
        '<testcase name="adds" classname="org.ATest">'
        '<failure message="wrong" type="x">at org.ATest</failure></testcase>'
        '<testcase name="holds(int)[1]" classname="org.ATest"/>'
        '<testcase name="later" classname="org.ATest"><skipped/></testcase></testsuite>'
    )
    told = report(asked("maven"), Result(1, "", 1.0), {"1.xml": xml.encode(), "2.xml": b"<testsuite/>"})
    assert told.tests == {"org.ATest#adds": FAILED, "org.ATest#holds(int)[1]": PASSED, "org.ATest#later": SKIPPED}
    assert told.messages["org.ATest#adds"] == "wrong\nat org.ATest"


def test_an_unknown_reporter_names_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"no reporter 'nose'.*pytest"):
        reporter(asked("nose").recipe)


def test_colours_in_a_failure_are_left_out() -> None:
    said = "E  #x1B[0m#x1B[91m- 1,5#x1B[39;49;00m &#x1B; [1m]"
    data = f'<testsuite><testcase name="t" classname="c"><failure message="m">{said}</failure></testcase></testsuite>'
    (case,) = cases(data.replace("&#x1B;", "x").encode())
    assert case.message == "m\nE  - 1,5 x [1m]"
