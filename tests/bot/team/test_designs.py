"""What is said of designed tests without a model."""

from __future__ import annotations

import pytest

from bot.team.designs import objection
from bot.team.testing_roles import DesignedTest, TestDesign
from repo_tools.tree import Tree
from tests.fakes.memory_base import MemoryBase

ISSUE = "total adds the numbers. It must be quick."
NAMED = "tests/test_sum.py::test_large"
INLINE = "def test_large():\n    began = time.perf_counter()\n    assert total([1]) == 1\n"
HELPER = (
    "def within(seconds):\n    signal.setitimer(signal.ITIMER_REAL, seconds)\n\n\n"
    "def test_large():\n    within(2)\n    assert total([1]) == 1\n"
)
FAR = (
    "class Clock:\n    def stop(self):\n        signal.alarm(2)\n\n\ndef within(clock):\n    Clock().stop()\n\n\n"
    "def test_large():\n    within(2)\n    assert total([1]) == 1\n"
)
UNUSED = HELPER.replace("    within(2)\n", "")


@pytest.mark.parametrize(
    ("text", "bound"),
    [(INLINE, True), (HELPER, True), (FAR, True), (UNUSED, False)],
    ids=["in the test", "in a helper", "in a helper's helper", "in what the test does not use"],
)
def test_a_bound_on_time_may_stand_in_what_the_test_uses(text: str, bound: bool) -> None:
    tree = Tree(MemoryBase({"sums.py": b"def total(numbers): ...\n"})).with_file("tests/test_sum.py", text.encode())
    test = DesignedTest(
        test=NAMED,
        kind="large-scale",
        sentence="It must be quick.",
        expected="1",
        reason="its size",
        call="total([1])",
        seconds=2,
    )
    design = TestDesign(tests=[test], not_applicable={"basic": "-", "edge": "-"}, fails_without="wrong sum")
    said = objection(ISSUE, design, tree)
    assert ("nothing in it bounds its time" in said) is not bound
