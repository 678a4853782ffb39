"""The effects of one run: each is a durable step, is recorded in the transcript, and counts against the limits."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from bot.errors import Cancelled
from bot.llm.budget import Meter, Metered, estimate_tokens
from bot.llm.port import Completion, Model, Request, ToolCall
from bot.records import Asked, CommandRun, Posted, Tested, ToolUsed
from bot.team.agent import opening
from bot.team.loop import perform
from bot.team.steps import Ask, Note, Strategy
from bot.transcript import Transcript
from repo_tools.index import Index
from repo_tools.tree import Tree
from repo_tools.view import View
from sandbox.errors import SandboxStopped
from sandbox.port import Environment, Result, Sandbox, TestReport

T = TypeVar("T")


class Paused(BaseException):
    """The process was told to stop within a step. Not an `Exception`: the step must not be stored as failed."""


class Steps(Protocol):
    """Carries out a step once: a resumed run is given the stored result instead."""

    def __call__(self, name: str, work: Callable[[], T]) -> T:
        """The result of `work`, or the exception that it raised, new or stored."""


@dataclass(frozen=True)
class Seconds:
    """How long one sandbox run may take."""

    tests: float
    command: float


class RunEffects:
    """Everything that the strategies of one run can cause (`bot.team.loop.Stage`)."""

    def __init__(
        self,
        *,
        steps: Steps,
        model: Model,
        sandbox: Sandbox,
        environment: Environment,
        transcript: Transcript,
        meter: Meter,
        index: Index,
        request_tokens: Callable[[str], int],
        seconds: Seconds,
        cancel: threading.Event,
    ) -> None:
        self._steps = steps
        self._model = Metered(model, meter, request_tokens=request_tokens)
        self._sandbox = sandbox
        self._environment = environment
        self._transcript = transcript
        self._meter = meter
        self._index = index
        self._seconds = seconds
        self._cancel = cancel

    def complete(self, request: Request) -> Completion:
        """One paid completion. Raises `OverBudget`, `TimedOut`, `ModelFailed`."""
        name = f"complete {request.agent} {request.index}"
        completion = self._step(name, functools.partial(self._model.complete, request))
        self._meter.add(request.role, completion)
        self._transcript.completion(request, completion)
        return completion

    def run(self, agent: str, tree: Tree, command: str) -> Result:
        """One command in the sandbox. Raises `TimedOut`, `SandboxDied`."""
        result = self._step(
            f"run {agent}",
            lambda: self._sandbox.run(self._environment, tree, command, seconds=self._left(self._seconds.command)),
        )
        self._transcript.add(CommandRun.of(command, result, agent=agent))
        return result

    def test(
        self, agent: str, tree: Tree, selection: tuple[str, ...], reason: str, watch: tuple[str, ...] = ()
    ) -> TestReport:
        """One test run in the sandbox. Raises `TimedOut`, `SandboxDied`."""
        report = self._step(
            f"test {agent}",
            lambda: self._sandbox.test(
                self._environment, tree, selection=selection, watch=watch, seconds=self._left(self._seconds.tests)
            ),
        )
        self._transcript.add(Tested.of(reason, report, selection=selection, agent=agent))
        return report

    def called(self, agent: str, call: ToolCall, result: str, ok: bool) -> None:
        """Record an answered tool call."""
        self._transcript.add(ToolUsed(agent=agent, call_id=call.id, name=call.name, result=result, ok=ok))

    def view(self, tree: Tree) -> View:
        """The index, answering for `tree`."""
        return self._index.view(tree)

    def asked(self, ask: Ask) -> None:
        """Record that a role begins to work, and what it is shown."""
        shown = {place: estimate_tokens(Request(ask.role.name, opening(text))) for place, text in ask.brief.items()}
        self._transcript.add(Asked(agent=ask.agent, role=ask.role.name, tree=digest(ask.on), shown=shown))

    def noted(self, note: Note) -> None:
        """Record what was put on the board."""
        value = note.value.model_dump(mode="json") if hasattr(note.value, "model_dump") else note.value
        self._transcript.add(Posted(slot=note.slot, round=note.round, value=value))

    def together(self, parts: Mapping[str, Callable[[], Strategy[Any]]]) -> list[Any]:
        """Carry out strategies beside each other: one after the other, since none can tell the difference."""
        return [perform(make(), self) for make in parts.values()]

    def _left(self, wanted: float) -> float:
        """Seconds that a sandbox run may take: no longer than the run itself has left."""
        self._meter.check_time()
        minutes = self._meter.limits.minutes
        return wanted if minutes is None else max(1.0, min(wanted, 60 * minutes - self._meter.seconds))

    def _step(self, name: str, work: Callable[[], T]) -> T:
        return self._steps(name, functools.partial(pausing, work, self._cancel))


def pausing(work: Callable[[], T], cancel: threading.Event) -> T:
    """`work`, unless or until the process is told to stop: then `Paused`, and nothing is stored."""
    if cancel.is_set():
        raise Paused
    try:
        return work()
    except (Cancelled, SandboxStopped):
        raise Paused from None


def digest(tree: Tree) -> str:
    """A short name for the files of a tree: its base and what is changed."""
    changed = ",".join(f"{path}:{tree.entries().get(path, (0, '-'))[1][:8]}" for path in sorted(tree.patch.files))
    return f"{tree.base.id[:12]}+{changed}"
