"""What two test reports say of a change."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.publish.evidence import evidence
from bot.publish.failures import FailureKind
from bot.publish.objection import Objection
from bot.publish.verdict import Baseline, Level, Verdict, baseline, judge, score
from sandbox.port import Result, TestOutcome, TestReport

ASSERTION = "E   assert 1 == 2\n\ntests/test_own.py:3: AssertionError"
IMPORT = "E   ImportError: cannot import name '_helper' from 'product'"
OWN = "tests/test_own.py"
PROOF = f"{OWN}::test_new"
WORDS = {
    "pass": TestOutcome.PASSED,
    "fail": TestOutcome.FAILED,
    "error": TestOutcome.ERROR,
    "skip": TestOutcome.SKIPPED,
}


def report(
    tests: Mapping[str, str],
    *,
    text: str = ASSERTION,
    ended: str = "exit",
    exit_code: int | None = None,
    output: str = "",
) -> TestReport:
    outcomes = {test: WORDS[word] for test, word in tests.items()}
    bad = [test for test, word in tests.items() if word in ("fail", "error")]
    code = exit_code if exit_code is not None else (int(bool(bad)) if ended == "exit" else None)
    return TestReport(outcomes, dict.fromkeys(bad, text), Result(code, output, 1.0, ended))


def verdict(
    before: Mapping[str, str],
    after: Mapping[str, str],
    *,
    own: Collection[str] = (OWN,),
    without: TestReport | None = None,
    **rest: Any,
) -> Verdict:
    """Judge with a new test that proves the change, unless told otherwise."""
    base = rest.pop("base", None) or baseline(report(before))
    ran = rest.pop("ran", None) or report({PROOF: "pass", **after})
    return judge(base, ran, own=own, own_without=without or report({PROOF: "fail"}), stated="wrong sum", **rest)


def test_ready_needs_no_more_than_nothing_lost_and_a_test_that_proves_it() -> None:
    result = verdict({"t::a": "pass", "t::b": "fail"}, {"t::a": "pass", "t::b": "pass"})
    assert (result.level, result.reasons, result.repaired) == (Level.READY, (), ("t::b",))
    assert [test.id for test in result.proofs] == [PROOF]
    assert result.proofs[0].gist == "assert 1 == 2"


def test_a_suite_that_was_red_before_blames_nobody() -> None:
    result = verdict({"t::a": "pass", "t::b": "fail"}, {"t::a": "pass", "t::b": "fail"})
    assert (result.level, result.still_failing, result.lost) == (Level.READY, ("t::b",), ())


def test_what_wants_the_network_before_and_after_is_told_apart_from_what_fails() -> None:
    said = {"t::net": "t.py:3\nE   socket.gaierror: [Errno -2] Name or service not known\n", "t::b": "assert 1 == 2"}
    run = TestReport(dict.fromkeys(said, TestOutcome.FAILED), said, Result(1, "", 1.0))
    result = judge(baseline(run), run, own=[], own_without=None, stated="")
    assert (result.still_failing, result.unconnected) == (("t::b", "t::net"), ("t::net",))
    shown = evidence(result, 5)
    assert "- Failed before and still do: `t::b`" in shown
    assert "- Want the network or a service, of which a test run has none, before and after: `t::net`" in shown
    otherwise = replace(run, messages=dict.fromkeys(said, "assert 1 == 2"))
    assert judge(baseline(run), otherwise, own=[], own_without=None, stated="").unconnected == ()


@pytest.mark.parametrize(
    ("was", "now", "name"),
    [
        ("pass", "fail", "broken"),
        ("pass", "error", "broken"),
        ("pass", None, "gone"),
        ("pass", "skip", "muted"),
        ("fail", "skip", "muted"),
        ("fail", None, "muted"),
        ("skip", "fail", "new_failures"),
        (None, "fail", "new_failures"),
    ],
)
def test_each_loss_is_listed_and_keeps_it_from_ready(was: str | None, now: str | None, name: str) -> None:
    before = {"t::a": "pass", **({"t::x": was} if was else {})}
    after = {"t::a": "pass", **({"t::x": now} if now else {})}
    result = verdict(before, after)
    assert result.level is Level.DRAFT
    assert getattr(result, name) == ("t::x",)
    assert "`t::x`" in " ".join(result.reasons)


@pytest.mark.parametrize(("was", "now"), [("skip", "pass"), ("skip", "skip"), ("skip", None), ("fail", "error")])
def test_what_is_no_loss(was: str, now: str | None) -> None:
    after = {"t::a": "pass", **({"t::x": now} if now else {})}
    assert verdict({"t::a": "pass", "t::x": was}, after).level is Level.READY


def test_flaky_tests_are_set_aside_whatever_they_do() -> None:
    base = baseline(report({"t::a": "pass", "t::x": "fail", "t::y": "fail"}), report({"t::x": "pass", "t::y": "fail"}))
    assert base.flaky == {"t::x"}
    for now in ("pass", "fail", "skip"):
        result = verdict({}, {"t::a": "pass", "t::x": now, "t::y": "fail"}, base=base)
        assert (result.level, result.flaky, result.still_failing) == (Level.READY, ("t::x",), ("t::y",))


def test_a_failure_that_does_not_come_again_is_flaky_and_one_that_does_is_broken() -> None:
    before, after = {"t::a": "pass", "t::x": "pass"}, {"t::a": "pass", "t::x": "fail"}
    assert verdict(before, after, again=report({"t::x": "pass"})).level is Level.READY
    assert verdict(before, after, again=report({"t::x": "fail"})).broken == ("t::x",)


def test_own_tests_that_are_flaky_prove_nothing_for_sure() -> None:
    result = verdict({"t::a": "pass"}, {}, ran=report({"t::a": "pass", PROOF: "fail"}), again=report({PROOF: "pass"}))
    assert result.level is Level.DRAFT


def test_a_moved_file_keeps_its_tests() -> None:
    before, after = {"old.py::a": "pass", "old.py::b": "fail"}, {"new.py::a": "pass", "new.py::b": "pass"}
    assert verdict(before, after).gone == ("old.py::a",)
    moved = verdict(before, after, renames={"old.py": "new.py"})
    assert (moved.level, moved.repaired) == (Level.READY, ("new.py::b",))


def test_parameters_may_change_but_not_shrink() -> None:
    before = {"t::a[1]": "pass", "t::a[2]": "pass"}
    assert verdict(before, {"t::a[1]": "pass", "t::a[3]": "pass"}).level is Level.READY
    assert verdict(before, {"t::a[1]": "pass"}).gone == ("t::a[2]",)
    assert verdict(before, {"t::b": "pass"}).gone == ("t::a[1]", "t::a[2]")


def test_a_partial_run_says_what_it_left_out_and_is_no_more_than_a_draft() -> None:
    before = {"t.py::a": "pass", "u.py::b": "pass", "d/v.py::c": "pass", "w.py::d": "skip"}
    result = verdict(before, {"t.py::a": "pass", "d/v.py::c": "pass"}, selection=["t.py", "d/", OWN])
    assert (result.level, result.not_run, result.gone) == (Level.DRAFT, ("u.py::b",), ())
    assert result.reasons == ("1 test was not run with the change: `u.py::b`.",)


class TestOwnTests:
    def test_a_test_added_to_an_existing_file_is_told_from_its_neighbours(self) -> None:
        before = {f"{OWN}::old": "pass"}
        result = verdict(before, {f"{OWN}::old": "pass"}, without=report({f"{OWN}::old": "pass", PROOF: "fail"}))
        assert [test.id for test in result.own] == [PROOF]

    def test_an_existing_test_that_was_given_a_new_expectation_is_one_of_them(self) -> None:
        old = f"{OWN}::old"
        result = verdict({old: "pass"}, {}, ran=report({old: "pass"}), without=report({old: "fail"}))
        assert (result.level, [test.id for test in result.proofs]) == (Level.READY, [old])

    @pytest.mark.parametrize(
        ("without", "says"),
        [
            (report({PROOF: "pass"}), "pass without the change too"),
            (report({PROOF: "skip"}), "pass without the change too"),
            (report({PROOF: "fail"}, text=IMPORT), "another reason"),
            (report({OWN: "error"}, text=IMPORT), "another reason"),
            (report({}, exit_code=2, output=IMPORT), "another reason"),
            (report({}, ended="timeout"), "another reason"),
            (report({}, exit_code=0), "not run without"),
        ],
    )
    def test_what_proves_nothing(self, without: TestReport, says: str) -> None:
        result = verdict({"t::a": "pass"}, {"t::a": "pass"}, without=without)
        assert result.level is Level.DRAFT
        assert [says in reason for reason in result.reasons] == [True], result.reasons

    def test_a_report_without_the_change_that_is_not_there_is_no_proof(self) -> None:
        result = judge(
            baseline(report({"t::a": "pass"})),
            report({"t::a": "pass", PROOF: "pass"}),
            own=[OWN],
            own_without=None,
            stated="",
        )
        assert (result.level, result.reasons) == (Level.DRAFT, ("The new tests were not run without the change.",))

    def test_one_proof_among_tests_that_guard_is_enough(self) -> None:
        guard = f"{OWN}::test_guard"
        result = verdict(
            {"t::a": "pass"}, {"t::a": "pass", guard: "pass"}, without=report({PROOF: "fail", guard: "pass"})
        )
        assert (result.level, len(result.own), len(result.proofs)) == (Level.READY, 2, 1)

    def test_one_that_fails_with_the_change_is_too_many(self) -> None:
        result = verdict({"t::a": "pass"}, {"t::a": "pass", f"{OWN}::test_more": "fail"})
        assert result.level is Level.DRAFT
        assert result.new_failures == ()

    def test_a_file_of_them_that_never_ran_is_told(self) -> None:
        result = verdict({"t::a": "pass"}, {}, ran=report({"t::a": "pass", OWN: "error"}, text="E   SyntaxError: bad"))
        assert result.level is Level.DRAFT
        assert any(OWN in reason for reason in result.reasons)

    @pytest.mark.parametrize(
        "path",
        [
            "tests/data/case.json",
            "tests/data/test.json",
            "tests/conftest.py",
            "tests/__init__.py",
        ],
    )
    def test_a_file_that_serves_them_is_no_test_that_does_not_pass(self, path: str) -> None:
        result = verdict({"t::a": "pass"}, {"t::a": "pass"}, own=(OWN, path))
        assert (result.level, [test.id for test in result.own]) == (Level.READY, [PROOF])

    @pytest.mark.parametrize(
        "path", ["tests/test_more.py", "tests/more.rs", "src/more.test.ts", "test/MoreTest.kt", f"{OWN}::test_more"]
    )
    def test_one_that_never_ran_beside_one_that_proves_is_told(self, path: str) -> None:
        result = verdict({"t::a": "pass"}, {"t::a": "pass"}, own=(OWN, path))
        assert result.level is Level.DRAFT
        assert any(path in reason for reason in result.reasons)

    def test_what_serves_them_alone_is_no_test_of_its_own(self) -> None:
        same = report({"t::a": "pass"})
        result = verdict({"t::a": "pass"}, {}, own=("tests/data/case.json",), ran=same, without=same)
        assert result.reasons == ("The change comes without a test of its own.",)

    def test_none_at_all(self) -> None:
        result = verdict({"t::a": "pass", "t::b": "fail"}, {"t::a": "pass", "t::b": "pass"}, own=())
        assert (result.level, result.reasons) == (Level.DRAFT, ("The change comes without a test of its own.",))

    def test_the_reason_that_the_issue_states_may_be_an_endless_loop(self) -> None:
        base, after = baseline(report({"t::a": "pass"})), report({"t::a": "pass", PROOF: "pass"})
        endless = report({}, ended="timeout")
        result = judge(base, after, own=[PROOF], own_without=endless, stated="parse() hangs on an empty line")
        assert (result.level, result.own[0].kind) == (Level.READY, FailureKind.TIMEOUT)


class TestRunsThatWentWrong:
    def test_a_change_after_which_nothing_runs_is_worth_nothing(self) -> None:
        ran = report({"t.py": "error"}, text="E   SyntaxError: invalid syntax")
        result = verdict({"t.py::a": "pass"}, {}, ran=ran)
        assert result.level is Level.NONE
        assert "SyntaxError: invalid syntax" in result.reasons[0]

    def test_losing_tests_and_mending_nothing_is_worth_nothing(self) -> None:
        result = verdict({"t::a": "pass", "t::b": "pass"}, {"t::a": "fail", "t::b": "pass"}, own=())
        assert result.level is Level.NONE

    def test_a_suite_that_never_ran_says_nothing_of_what_broke(self) -> None:
        result = verdict({}, {}, base=baseline(report({}, exit_code=5)))
        assert result.level is Level.DRAFT

    @pytest.mark.parametrize("ended", ["timeout", "memory", "output"])
    def test_a_run_that_was_stopped_is_never_ready(self, ended: str) -> None:
        before, after = {"t::a": "pass"}, {"t::a": "pass", PROOF: "pass"}
        assert verdict(before, {}, ran=report(after, ended=ended)).level is Level.DRAFT
        assert verdict({}, {"t::a": "pass"}, base=baseline(report(before, ended=ended))).level is Level.DRAFT

    def test_a_bad_exit_without_a_failing_test_is_told_unless_it_was_so_before(self) -> None:
        before, after = {"t::a": "pass"}, {"t::a": "pass", PROOF: "pass"}
        assert verdict(before, {}, ran=report(after, exit_code=3)).level is Level.DRAFT
        red = baseline(report({"t::a": "pass", "t::b": "fail"}))
        mended = {"t::b": "pass", **after}
        assert verdict({}, {}, base=red, ran=report(mended, exit_code=1)).level is Level.DRAFT
        assert verdict({}, {}, base=red, ran=report(mended)).level is Level.READY
        same = verdict({}, {}, base=baseline(report(before, exit_code=3)), ran=report(after, exit_code=3))
        assert same.level is Level.READY


def test_objections_keep_it_from_ready_or_from_everything() -> None:
    before = {"t::a": "pass"}
    for blocks, level in ((False, Level.DRAFT), (True, Level.NONE)):
        objection = Objection("setup.cfg", "manifest", "`setup.cfg` was changed.", blocks)
        result = verdict(before, before, objections=[objection])
        assert result.level is level
        assert "`setup.cfg` was changed." in result.reasons[0]


def test_score_prefers_what_a_maintainer_would() -> None:
    before = {"t::a": "pass", "t::b": "pass", "t::c": "fail"}
    all_pass = dict.fromkeys(before, "pass")
    best_first = [
        verdict(before, all_pass),
        verdict(before, all_pass, without=report({PROOF: "pass"})),
        verdict(before, {**all_pass, "t::b": "fail"}),
        verdict(before, {"t::a": "fail", "t::b": "fail", "t::c": "pass"}),
        verdict(before, {"t::a": "fail", "t::b": "pass", "t::c": "fail"}, own=()),
    ]
    scores = [score(one) for one in best_first]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores)


ids = st.sampled_from([f"t.py::{name}" for name in "abcdef"] + [PROOF, "t.py::p[1]", "t.py::p[2]"])
reports = st.dictionaries(ids, st.sampled_from(sorted(WORDS))).map(report)


@given(before=reports, again=reports, after=reports, without=st.none() | reports)
def test_ready_always_means_what_it_promises(
    before: TestReport, again: TestReport, after: TestReport, without: TestReport | None
) -> None:
    base = baseline(before, again)
    result = judge(base, after, own=[OWN], own_without=without, stated="")
    assert (result.level is Level.READY) == (not result.reasons)
    if result.level is not Level.READY:
        return
    passed = {test for test in before.having(TestOutcome.PASSED) - base.flaky if "[" not in test}
    assert passed <= after.having(TestOutcome.PASSED)
    assert without is not None
    assert after.tests[PROOF] is TestOutcome.PASSED
    assert without.tests[PROOF] in (TestOutcome.FAILED, TestOutcome.ERROR)


@given(before=reports, after=reports)
def test_every_list_is_told_apart_from_the_others(before: TestReport, after: TestReport) -> None:
    result = judge(Baseline(before), after, own=[OWN], own_without=None, stated="")
    lists = (result.repaired, result.broken, result.gone, result.muted, result.new_failures, result.still_failing)
    together = [test for one in lists for test in one]
    assert len(together) == len(set(together))


def test_a_suite_of_many_thousands_is_judged_at_once() -> None:
    tests = {f"tests/test_{number % 100}.py::test_{number}": "pass" for number in range(20_000)}
    result = verdict(tests, tests, selection=list(tests))
    assert result.level is Level.READY


@pytest.mark.parametrize(
    ("own", "old", "new"),
    [
        ("mux_test.go", "example.org/mux::TestOld", "example.org/mux::TestNew"),
        ("tests/parse.rs", "parse::old", "parse::new"),
        ("test/half.test.mjs", "halves an even number", "halves an odd number"),
        ("tests/half.c", "half_even", "half_odd"),
    ],
    ids=["go", "cargo", "tap", "ctest"],
)
@pytest.mark.parametrize("proves", [True, False])
def test_a_new_test_is_known_where_the_runner_names_no_files(own: str, old: str, new: str, proves: bool) -> None:
    without = report({old: "pass", new: "fail" if proves else "pass"})
    result = verdict({old: "pass"}, {}, own=(own,), without=without, ran=report({old: "pass", new: "pass"}))
    assert [test.id for test in result.own] == [new]
    assert (result.level is Level.READY) is proves


def test_a_package_that_cannot_be_built_without_the_change_is_no_test_of_its_own() -> None:
    old, new = "example.org/mux::TestOld", "example.org/mux::TestNew"
    without = report({"example.org/mux": "error"}, text="./mux_test.go:9:2: undefined: Fresh")
    result = verdict({old: "pass"}, {}, own=("mux_test.go",), without=without, ran=report({old: "pass", new: "pass"}))
    assert [test.id for test in result.own] == [new]


def test_a_file_in_which_no_test_ran_stands_for_itself_beside_one_whose_tests_did() -> None:
    result = verdict({"t::a": "pass"}, {"t::a": "pass"}, own=(OWN, "tests/helper_of_mine.py"))
    assert {test.id for test in result.own} == {PROOF, "tests/helper_of_mine.py"}
