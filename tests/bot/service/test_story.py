"""What is told of how a run went, with a change and without one."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from bot.llm.budget import Limits
from bot.service.job import decided
from bot.service.order import Order
from bot.service.story import notes
from bot.task import Outcome, Task
from bot.team.board import Board
from bot.team.delivery import Delivery

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
