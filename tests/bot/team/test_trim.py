"""What a model is told of a test run: all that matters, once."""

from __future__ import annotations

from bot.team.trim import counts, middle, of_run, of_tests
from sandbox.port import Result, TestOutcome, TestReport
from tests.fakes.stage import report


def test_variants_of_one_test_are_told_once_in_full() -> None:
    failed = {
        f"t.py::test_a[{n}]": f"AssertionError: assert {n} == 0\n" + "source of the test\n" * 20 for n in range(4)
    }
    text = of_tests(report(["t.py::test_b"], failed), frozenset())
    assert text.count("source of the test") == 20
    assert all(f"assert {n} == 0" in text for n in range(4))
    assert text.startswith("1 passed, 4 failed")


def test_different_tests_are_each_told_in_full_and_many_by_name() -> None:
    failed = {f"t.py::test_{n}": f"AssertionError: {n}\nsource" for n in range(9)}
    text = of_tests(report([], failed), frozenset())
    assert text.count("source") == 6
    assert "also failing: t.py::test_6, t.py::test_7, t.py::test_8" in text


def test_what_failed_before_is_nobodys_fault() -> None:
    text = of_tests(report(["a"], {"old": "x", "new": "y"}), frozenset({"old"}))
    assert "1 of the failures also failed before any change" in text
    assert "--- failed: new" in text
    assert "--- failed: old" not in text


def test_a_run_without_tests_shows_its_output() -> None:
    nothing = TestReport({}, {}, Result(4, "ERROR: no such file", 0.1))
    assert "no test ran (exit code 4)" in of_tests(nothing, frozenset())
    assert "ERROR: no such file" in of_tests(nothing, frozenset())


def test_a_crash_without_a_failing_test_shows_its_output() -> None:
    crashed = TestReport({"a": TestOutcome.PASSED}, {}, Result(139, "Segmentation fault", 0.1))
    assert "Segmentation fault" in of_tests(crashed, frozenset())
    assert (
        counts(TestReport({}, {}, Result(None, "", 9, "timeout"))) == "no test ran (exit code None, stopped: timeout)"
    )


def test_the_end_of_a_long_text_stays() -> None:
    text = middle("a" * 5_000 + "the error", 1_000)
    assert text.endswith("the error")
    assert len(text) < 1_100
    assert of_run(Result(0, "", 0.1)) == "[exit code 0]\n(no output)"
