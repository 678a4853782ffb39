"""What is told of how a run went, with a change and without one."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

from bot.llm.budget import Limits
from bot.publish.proposal import Changed
from bot.service.job import decided
from bot.service.order import Order
from bot.service.story import changed_files, notes
from bot.task import Outcome, Task
from bot.team.board import Board
from bot.team.delivery import Delivery
from repo_tools.tree import Tree
from tests.fakes.memory_base import MemoryBase

SAID = "The tester got no further, since its replies were used up: what it had written was taken as it was."


def test_a_role_that_got_no_further_is_told_of() -> None:
    delivery = Delivery(None, None, Board(), unfinished=(SAID,))
    task = Task("calc", "half is wrong", "it rounds", "0" * 40)
    order = Order(run="r", task=task, repository=Path("calc"), limits=Limits(), models={}, started=datetime.now(UTC))
    assert SAID in notes(order, delivery), "in the pull request"
    assert SAID not in notes(order, Delivery(None, None, Board()))
    outcome, reason = decided(delivery)
    assert outcome is Outcome.GAVE_UP
    assert SAID in reason, "where there is none"


def test_files_are_told_with_the_lines_that_came_and_went() -> None:
    tree = Tree(MemoryBase({"a.py": b"1\n2\n3\n", "b.py": b"1\n", "c.bin": b"\xff\0"}))
    tree = (
        tree.with_file("a.py", b"1\n2b\n2c\n3\n").without_file("b.py").with_file("c.bin", b"\xfe").with_file("d", b"1")
    )
    assert changed_files(tree) == (
        Changed("a.py", 2, 1),
        Changed("b.py", 0, 1, "deleted"),
        Changed("c.bin", 1, 1),
        Changed("d", 1, 0, "new"),
    )


def test_a_file_that_is_indented_anew_is_counted_at_once() -> None:
    lines = [f"value_{number} = compute(item_{number}, {number})\n" for number in range(1_500)]
    tree = Tree(MemoryBase({"a.py": "".join(lines).encode()}))
    tree = tree.with_file("a.py", "".join(f"    {line}" for line in lines).encode())
    began = time.process_time()
    assert changed_files(tree) == (Changed("a.py", 1_500, 1_500),)
    assert time.process_time() - began < 5
