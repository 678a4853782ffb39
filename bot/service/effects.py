"""The effects of one run: each is a durable step, is recorded in the transcript, and counts against the limits."""

from __future__ import annotations

import copy
import functools
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from bot.errors import Cancelled
from bot.llm.budget import Limits, Meter, Metered, Price, estimate_tokens, unknown_price
from bot.llm.port import Completion, Model, Request, ToolCall
from bot.records import Asked, CommandRun, Completed, Posted, Record, Tested, ToolUsed
from bot.service.stops import noted
from bot.team.agent import opening
from bot.team.loop import perform
from bot.team.steps import Ask, Note, Strategy
from bot.transcript import Kept, Transcript
from repo_tools.index import Index
from repo_tools.tree import Tree
from repo_tools.view import View
from sandbox.errors import SandboxDied, SandboxStopped
from sandbox.port import Environment, Recipe, Result, Sandbox, TestReport

LOG = logging.getLogger("agent-fix.worker")
T = TypeVar("T")
EXECUTOR = "executor"
LEVELS = 6
"""How deep strategies beside each other are workflows of their own; below that, one is carried out after the other."""


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


@dataclass(frozen=True)
class Work:
    """One of several strategies that are carried out beside each other. A value, whole enough for another process."""

    group: str
    """The name of those that are carried out beside each other, within the run."""
    key: str
    """Its own name within the run, the same whenever the run is performed again."""
    make: Callable[[], Strategy[Any]]
    known_bad: frozenset[str]
    recipe: Recipe
    limits: Limits
    """Its share of what the run has left, so that no sibling's luck decides what another one may do."""
    seconds: float
    """How long the run had been at work."""
    level: int


@dataclass(frozen=True)
class Done:
    """What became of one of them: what it returned, or raised; and all that it recorded, in order."""

    result: Any
    error: Exception | None
    records: tuple[Record, ...]
    shown: bool = False
    """Whether the records were shown while it was at work."""


class Share(Protocol):
    """Has strategies carried out beside each other, each once, by whoever has hands free."""

    def __call__(self, works: Sequence[Work], effects: Beside) -> list[Done]:
        """In the order of `works`. `effects` are of the run that waits. Raises `Paused`."""


class Beside:
    """What effects have in common that are of a run, or of one of several strategies beside each other in it."""

    _bare: Model
    _model: Metered
    _transcript: Transcript | Kept
    _meter: Meter
    _environment: Environment
    _request_tokens: Callable[[str], int]
    _cancel: threading.Event
    _steps: Steps
    _price: Price
    _share: Share | None
    _key: str = ""
    _level: int = 0
    _groups: int = 0
    _in_sandbox: Counter[str]
    """Agent -> how many of its steps were in the sandbox."""

    def together(self, parts: Mapping[str, Callable[[], Strategy[Any]]], known_bad: frozenset[str]) -> list[Any]:
        """Carry out strategies beside each other, each under its name; the first error in their order is raised."""
        self._groups += 1
        group = f"{self._key}{'/' if self._key else ''}{self._groups}"
        works = [
            Work(
                group=group,
                key=f"{group}.{name}",
                make=make,
                known_bad=known_bad,
                recipe=self._environment.recipe,
                limits=shared(self._meter, len(parts)),
                seconds=self._meter.seconds,
                level=self._level,
            )
            for name, make in parts.items()
        ]
        if self._share is None or self._level >= LEVELS or not works:
            return [
                perform(work.make(), self._beside(work, self._transcript, self._meter), known_bad) for work in works
            ]
        done = self._share(works, self)
        for one in done:
            self._add(one)
        error = next((one.error for one in done if one.error is not None), None)
        if error is not None:
            raise error
        return [one.result for one in done]

    def _add(self, done: Done) -> None:
        for record in done.records:
            self._transcript.add(record, shown=done.shown)
            if isinstance(record, Completed):
                self._meter.add(record.role, record.completion)

    def part(self, work: Work) -> Done:
        """Carry out one of several strategies for whoever waits for it. Raises `Paused`, and nothing else."""
        began, kept = time.monotonic(), Kept(self._transcript.show)
        meter = Meter(work.limits, clock=lambda: work.seconds + time.monotonic() - began, price=self._price)
        try:
            result = perform(work.make(), self._beside(work, kept, meter), work.known_bad)
        except Exception as error:  # noqa: BLE001 - who waits raises it, with the records of what it cost
            return Done(None, error, tuple(kept.records), shown=True)
        return Done(result, None, tuple(kept.records), shown=True)

    def wait(self, name: str, work: Callable[[], T]) -> T:
        """A step that lasts until others are done."""
        return self._step(name, work)

    @property
    def cancel(self) -> threading.Event:
        """Set when this process is told to stop working on the run."""
        return self._cancel

    def _beside(self, work: Work, transcript: Transcript | Kept, meter: Meter) -> Any:
        other = copy.copy(self)
        other._transcript, other._meter = transcript, meter
        other._model = Metered(self._bare, meter, request_tokens=self._request_tokens)
        other._key, other._level, other._groups = work.key, work.level + 1, 0
        other._in_sandbox = Counter()
        return other

    def _whose(self, agent: str) -> str:
        """Whose record it is: each part has an executor of its own, so that the order within it is always the same."""
        return f"{agent} of {self._key}" if self._key and agent == EXECUTOR else agent

    def _step(self, name: str, work: Callable[[], T]) -> T:
        return self._steps(name, functools.partial(pausing, work, self._cancel))


class RunEffects(Beside):
    """Everything that the strategies of one run can cause (`bot.team.loop.Stage`)."""

    def __init__(
        self,
        *,
        steps: Steps,
        model: Model,
        sandbox: Sandbox,
        environment: Environment,
        transcript: Transcript | Kept,
        meter: Meter,
        index: Index,
        request_tokens: Callable[[str], int],
        seconds: Seconds,
        cancel: threading.Event,
        price: Price = unknown_price,
        share: Share | None = None,
    ) -> None:
        """Without a `share`, strategies beside each other are carried out one after the other."""
        self._steps = steps
        self._bare = model
        self._request_tokens = request_tokens
        self._model = Metered(model, meter, request_tokens=request_tokens)
        self._sandbox = sandbox
        self._environment = environment
        self._transcript = transcript
        self._meter = meter
        self._index = index
        self._seconds = seconds
        self._cancel = cancel
        self._price = price
        self._share = share
        self._in_sandbox = Counter()

    def complete(self, request: Request) -> Completion:
        """See `completed`."""
        return completed(request, self._step, self._model, self._meter, self._transcript)

    def run(self, agent: str, tree: Tree, command: str) -> Result:
        """One command in the sandbox. Raises `TimedOut`, `SandboxDied`."""
        result = self._sandboxed(
            "run",
            agent,
            lambda: self._sandbox.run(self._environment, tree, command, seconds=self._left(self._seconds.command)),
        )
        self._transcript.add(CommandRun.of(command, result, agent=self._whose(agent)))
        return result

    def test(
        self, agent: str, tree: Tree, selection: tuple[str, ...], reason: str, watch: tuple[str, ...] = ()
    ) -> TestReport:
        """One test run in the sandbox. Raises `TimedOut`, `SandboxDied`."""
        report = self._sandboxed(
            "test",
            agent,
            lambda: self._sandbox.test(
                self._environment, tree, selection=selection, watch=watch, seconds=self._left(self._seconds.tests)
            ),
        )
        self._transcript.add(Tested.of(reason, report, selection=selection, agent=self._whose(agent)))
        return report

    def _sandboxed(self, kind: str, agent: str, work: Callable[[], T]) -> T:
        whose = self._whose(agent)
        self._in_sandbox[whose] += 1
        name = f"{kind} {whose} {self._in_sandbox[whose]}"
        with noted(self._transcript, name, whose):
            return self._step(name, work)

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
        self._transcript.add(Posted(agent=self._key, slot=note.slot, round=note.round, value=value))

    def _left(self, wanted: float) -> float:
        """Seconds that a sandbox run may take: no longer than the run itself has left."""
        self._meter.check_time()
        minutes = self._meter.limits.minutes
        return wanted if minutes is None else max(1.0, min(wanted, 60 * minutes - self._meter.seconds))


def shared(meter: Meter, parts: int) -> Limits:
    """What each of some parts may use of what a run has left."""
    limits, spent = meter.limits, meter.total
    return replace(
        limits,
        usd=None if limits.usd is None else max(0.0, limits.usd - spent.usd) / parts,
        tokens=None if limits.tokens is None else max(0, limits.tokens - spent.tokens) // parts,
        calls=None if limits.calls is None else max(0, limits.calls - spent.calls) // parts,
    )


def completed(request: Request, step: Steps, model: Metered, meter: Meter, transcript: Transcript | Kept) -> Completion:
    """One paid completion: a step, counted and recorded. Raises `OverBudget`, `TimedOut`, `ModelFailed`."""
    name = f"complete {request.agent} {request.index}"
    with noted(transcript, name, request.agent):
        completion = step(name, functools.partial(model.complete, request))
    meter.add(request.role, completion)
    transcript.completion(request, completion)
    return completion


def pausing(work: Callable[[], T], cancel: threading.Event) -> T:
    """`work`, unless or until the process is told to stop: then `Paused`, and nothing is stored.

    What loses its container to the outside, as when the engine is restarted, is done once more: it left nothing.
    """
    if cancel.is_set():
        raise Paused
    try:
        try:
            return work()
        except SandboxDied as error:
            LOG.warning("once more: %s", error)
            return work()
    except (Cancelled, SandboxStopped):
        raise Paused from None


def digest(tree: Tree) -> str:
    """A short name for the files of a tree: its base and what is changed."""
    changed = ",".join(f"{path}:{tree.entries().get(path, (0, '-'))[1][:8]}" for path in sorted(tree.patch.files))
    return f"{tree.base.id[:12]}+{changed}"
