"""Where a run starts from: what fails before it twice, and the part of a suite that is too long for it."""

from __future__ import annotations

from bot.publish.verdict import Baseline, Level
from bot.service.baselines import nearest, sampled, starting_point
from bot.task import Task
from bot.team.evidence import Assignment, for_a_person, prove
from bot.team.steps import Check
from sandbox.port import Environment, Recipe, Result, TestOutcome, TestReport
from sandbox.proving import Proof
from tests.fakes.memory_base import memory_tree

PASSED, FAILED = TestOutcome.PASSED, TestOutcome.FAILED
FILES = {
    "src/shop/cart.py": b"",
    "src/shop/price.py": b"",
    "tests/conftest.py": b"",
    "tests/__init__.py": b"",
    "tests/data/test_cart.bin": b"\xff\x00",
    "tests/test_alone.py": b"",
    "tests/test_cart.py": b"",
    "tests/test_price_lists.py": b"import shop.cart\n",
    "tests/test_whole.py": b"from shop.cart import Cart\n",
}
TREE = memory_tree(FILES)


def told(seconds: float = 1.0, ended: str = "exit", **tests: TestOutcome) -> TestReport:
    bad = FAILED in tests.values()
    return TestReport(tests, {}, Result(1 if bad else 0, "", seconds, ended))


def proof(report: TestReport, *, whole: bool = True) -> Proof:
    recipe = Recipe("base", (), "test", "pytest")
    return Proof(recipe, Environment("image", recipe, False, "", 0.0), report, whole=whole)


class Suite:
    """Runs test files that take a second each, and some that never end."""

    def __init__(self, endless: tuple[str, ...] = (), seconds: float = 1.0) -> None:
        self.endless, self.seconds = endless, seconds
        self.asked: list[tuple[str, ...]] = []

    def __call__(self, files: tuple[str, ...], reason: str = "") -> TestReport:
        self.asked.append(files)
        if set(files) & set(self.endless):
            return told(100.0, "timeout")
        return told(self.seconds * len(files), **dict.fromkeys(files, PASSED))


def test_what_fails_is_run_again_alone_and_what_passes_then_is_set_aside() -> None:
    asked: list[tuple[str, ...]] = []

    def run(tests: tuple[str, ...], reason: str) -> TestReport:
        asked.append(tests)
        return told(broken=FAILED, order=PASSED)

    base = starting_point(proof(told(a=PASSED, broken=FAILED, order=FAILED)), TREE, [], run, 60)
    assert asked == [("broken", "order")]
    assert base.flaky == {"order"}
    assert base.objections == ()


def test_nothing_is_run_again_where_nothing_fails_or_nearly_all() -> None:
    suite = Suite()
    assert starting_point(proof(told(a=PASSED)), TREE, [], suite, 60).flaky == frozenset()
    broken = {f"t{number}": FAILED for number in range(201)}
    assert starting_point(proof(told(**broken)), TREE, [], suite, 60).flaky == frozenset()
    assert suite.asked == []


def test_the_tests_that_are_named_after_a_file_come_first_then_those_that_mention_it() -> None:
    assert nearest(TREE, ["src/shop/cart.py", "src/shop/price.py"]) == [
        "tests/test_price_lists.py",
        "tests/test_cart.py",
        "tests/test_whole.py",
        "tests/test_alone.py",
    ]
    assert nearest(TREE, [])[0] == "tests/test_alone.py"


def test_a_suite_that_is_too_long_is_run_from_its_nearest_tests_on_while_there_is_time() -> None:
    files = [f"test_{number}.py" for number in range(100)]
    base = sampled(files, Suite(), 50)
    assert base is not None
    assert list(base.sample) == files[:28]
    assert list(base.left_out) == files[28:]
    assert set(base.report.tests) == set(base.sample)
    (said,) = base.objections
    assert "Of its 100 test files, the 28 nearest" in said.text
    assert "test_28.py, test_29.py" in said.text
    assert "and 64 more" in said.text
    assert not said.blocks


def test_a_file_that_does_not_end_is_left_out_and_the_others_are_run() -> None:
    suite = Suite(endless=("test_1.py",))
    base = sampled([f"test_{number}.py" for number in range(4)], suite, 2000)
    assert base is not None
    assert (base.sample, base.left_out) == (("test_0.py", "test_2.py", "test_3.py"), ("test_1.py",))
    assert len(suite.asked) == 6


def test_a_suite_of_which_no_part_ends_stays_as_it_was() -> None:
    partial = told(400.0, "timeout", a=PASSED)
    suite = Suite(endless=tuple(FILES))
    base = starting_point(proof(partial, whole=False), TREE, ["src/shop/cart.py"], suite, 300)
    assert (base.report, base.sample, base.left_out) == (partial, (), ())
    assert 0 < len(suite.asked) <= 12


def test_a_change_is_judged_by_the_sample_and_its_own_tests_and_says_so() -> None:
    report = told(**{"tests/test_cart.py::a": PASSED})
    base = Baseline(report, sample=("tests/test_cart.py",), left_out=("tests/test_whole.py",))
    work = Assignment(Task("me/shop", "Cart", "It is wrong.", "0" * 40), TREE, base)
    tree = TREE.with_file("src/shop/cart.py", b"VALUE = 2\n").with_file("tests/test_new.py", b"def test(): ...\n")
    steps = prove(work, tree, "", {})
    first = next(steps)
    assert isinstance(first, Check)
    assert first.selection == ("tests/test_cart.py", "tests/test_new.py")
    after = told(**{"tests/test_cart.py::a": PASSED, "tests/test_new.py::test": PASSED})
    without = steps.send(after)
    assert isinstance(without, Check)
    try:
        steps.send(told(**{"tests/test_new.py::test": FAILED}))
    except StopIteration as stop:
        verdict, _ = stop.value
    assert verdict.level is Level.DRAFT
    assert any("these were not: tests/test_whole.py." in reason for reason in verdict.reasons)
    only_that = [reason for reason in verdict.reasons if "whole suite" in reason]
    assert for_a_person(work, tree, type(verdict)(Level.DRAFT, tuple(only_that), verdict.before, verdict.after))


def test_what_fails_with_a_change_is_run_again_alone_then_in_company_and_quarantined_if_it_passes() -> None:
    ids = [f"tests/test_cart.py::{name}" for name in ("chance", "order", "broken", "fine")]
    chance, order, broken, fine = ids
    work = Assignment(
        Task("me/shop", "Cart", "It is wrong.", "0" * 40), TREE, Baseline(told(**dict.fromkeys(ids, PASSED)))
    )
    steps = prove(work, TREE.with_file("src/shop/cart.py", b"VALUE = 2\n"), "", {})
    next(steps)
    alone = steps.send(told(**{chance: FAILED, order: FAILED, broken: FAILED, fine: PASSED}))
    assert isinstance(alone, Check)
    assert set(alone.selection) == {chance, order, broken}
    company = steps.send(told(**{chance: PASSED, order: PASSED, broken: FAILED}))
    assert isinstance(company, Check)
    assert company.selection == ("tests/test_cart.py",)
    try:
        steps.send(told(**{chance: PASSED, order: FAILED, broken: FAILED, fine: PASSED}))
    except StopIteration as stop:
        verdict, _ = stop.value
    assert verdict.flaky == (chance,)
    assert set(verdict.broken) == {order, broken}
