"""A step that is stopped stores nothing; one that lost its container to the outside is done once more."""

from __future__ import annotations

import threading

import pytest

from bot.service.effects import Paused, pausing
from bot.service.job import failure
from bot.task import Outcome
from sandbox.errors import SandboxDied, SandboxStopped


class Work:
    """Raises the given errors, one a call, then gives how often it was called."""

    def __init__(self, *errors: Exception) -> None:
        self.errors, self.calls = list(errors), 0

    def __call__(self) -> int:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return self.calls


def test_a_lost_container_is_replaced_once() -> None:
    assert pausing(Work(SandboxDied("gone")), threading.Event()) == 2
    twice = Work(SandboxDied("gone"), SandboxDied("gone again"))
    with pytest.raises(SandboxDied, match="gone again") as lost:
        pausing(twice, threading.Event())
    assert twice.calls == 2
    assert failure(lost.value) == (Outcome.ERROR, "gone again"), "that says nothing about the project's set-up"


def test_what_is_told_to_stop_pauses_and_is_not_done_again() -> None:
    stopped = Work(SandboxStopped("stop"))
    with pytest.raises(Paused):
        pausing(stopped, threading.Event())
    between = Work(SandboxDied("gone"), SandboxStopped("stop"))
    with pytest.raises(Paused):
        pausing(between, threading.Event())
    told = threading.Event()
    told.set()
    never = Work()
    with pytest.raises(Paused):
        pausing(never, told)
    assert (stopped.calls, between.calls, never.calls) == (1, 2, 0)
