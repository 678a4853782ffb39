"""One run, from a claimed order to what is published. All effects are steps: performed again, it takes the same way."""

from __future__ import annotations

import enum
import functools
import threading
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, TypeVar

from bot import __version__
from bot.errors import AgentFixError, Cancelled, OverBudget, Refused, TimedOut, public
from bot.llm.budget import Meter, Metered, Price
from bot.llm.port import Model
from bot.publish.gate import Policy
from bot.publish.outcomes import PRESENTATIONS
from bot.publish.proposal import PullRequestText
from bot.publish.verdict import Baseline, Level
from bot.records import Delivered, RunEnded, RunStarted, StageChanged, Tested
from bot.service.baselines import starting_point
from bot.service.effects import RunEffects, Seconds, Share, Steps, completed, pausing
from bot.service.environment import Establishing
from bot.service.order import Ended, Order
from bot.service.rebasing import as_a_whole, rebased
from bot.service.stops import noted
from bot.service.story import Published, ended, message, proposal
from bot.task import Outcome
from bot.team import trim
from bot.team.briefs import diff
from bot.team.delivery import Delivery
from bot.team.evidence import Assignment
from bot.team.loop import perform
from bot.team.measuring import measured
from bot.team.scout import Scouted, scout
from bot.team.strategies import PLAYABLE
from bot.transcript import Transcript
from repo_tools.checkout import Commit
from repo_tools.index import Index
from repo_tools.tree import Tree
from sandbox.errors import BadRecipeFile, SandboxDied, SandboxUnavailable, SetupFailed, TestsUnrunnable
from sandbox.memory import RecipeMemory
from sandbox.port import Sandbox, TestReport
from sandbox.proving import Proof

T = TypeVar("T")


class Stage(enum.StrEnum):
    """Where a run stands."""

    CLAIMED = "claimed"
    CHECKED_OUT = "checked out"
    ENVIRONMENT = "environment"
    BASELINE = "baseline"
    TEAM = "team"
    VERIFIED = "verified"
    PUBLISHED = "published"


class Publisher(Protocol):
    """Where a change goes. Publishing twice the same leaves one."""

    def publish(self, order: Order, tree: Tree, text: PullRequestText, message: str) -> Published:
        """A branch with the change and the pull request's text."""


@dataclass(frozen=True)
class Workshop:
    """What runs are carried out with. Made once, by the wiring."""

    model: Model
    sandbox: Sandbox
    index: Index
    publisher: Publisher
    recipes: RecipeMemory
    request_tokens: Callable[[str], int]
    price: Price
    seconds: Seconds
    base_image: str
    newest: Callable[[], Commit] | None = None
    """The branch that the pull request goes to, as it is now; None where that is not of interest."""
    fork: Commit | None = None
    """Of a revision: the commit that its pull request starts from."""
    policy: Policy = field(default_factory=Policy)
    cancel: threading.Event = field(default_factory=threading.Event)
    share: Share | None = None
    """How strategies beside each other are spread over whoever has hands free; None where all is done in turn."""

    def establishing(self, steps: Steps, transcript: Transcript, meter: Meter) -> Establishing:
        """What makes the environment of one run."""

        def carried_out(name: str, work: Callable[[], T]) -> T:
            return steps(name, functools.partial(pausing, work, self.cancel))

        def step(name: str, work: Callable[[], T]) -> T:
            with noted(transcript, name):
                return carried_out(name, work)

        model = Metered(self.model, meter, request_tokens=self.request_tokens)
        return Establishing(
            step=step,
            ask=lambda request: completed(request, carried_out, model, meter, transcript),
            sandbox=self.sandbox,
            recipes=self.recipes,
            base_image=self.base_image,
            seconds=self.seconds.tests,
            check_time=meter.check_time,
        )


class Job:
    """One run at work."""

    def __init__(self, order: Order, commit: Commit, shop: Workshop, steps: Steps, transcript: Transcript) -> None:
        self.order = order
        self.shop = shop
        self.commit = commit
        self.tree = Tree(commit)
        self.steps = steps
        self.transcript = transcript
        self.meter = Meter(order.limits, clock=lambda: transcript.seconds, price=shop.price)

    def carry_out(self, objection: str = "") -> Ended:
        """Do it all. Every failure is an outcome, not an exception.

        With an `objection`, it is refused before anything is done.
        """
        self._begin()
        try:
            result = self._work(objection)
        except Exception as error:  # noqa: BLE001 - the outermost edge of a run: a defect of ours is an outcome too
            outcome, reason = failure(error)
            result = self._ended(outcome, reason, posted=failure(error, public)[1], stopped=outcome in STOPPED)
        self.transcript.add(RunEnded(outcome=result.outcome, text=result.reason, spent=self.meter.by_role))
        return result

    @cached_property
    def scouted(self) -> Scouted:
        """Where the issue is likely about, found without a model; also tells which package of several is meant."""
        return scout(self.shop.index.view(self.tree), self.order.task)

    def _begin(self) -> None:
        order = self.order
        notes = [f"It carries on the run {order.continues}."] if order.continues else []
        notes += ["The model's words are a recording."] if order.recording else []
        self.transcript.add(
            RunStarted(
                run=order.run,
                task=order.task,
                models=order.models,
                limits=order.limits,
                versions={"agent-fix": __version__},
                note=" ".join(notes),
            )
        )
        self._stage(Stage.CLAIMED)

    def _work(self, objection: str) -> Ended:
        if objection:
            raise Refused(objection)
        task = self.order.task
        if not f"{task.title}{task.body}".strip():
            raise Refused("The issue is empty: say in it what is wrong, with an example, and start again.")
        self._stage(Stage.CHECKED_OUT, f"{task.repository} at {task.base_commit[:12]}")
        self._stage(Stage.ENVIRONMENT)
        proof = self._proof()
        effects = self._effects(proof, self.tree)
        self._stage(Stage.BASELINE, trim.counts(proof.report))
        base = self._baseline(proof, effects)
        self._stage(Stage.TEAM, task.strategy)
        delivery, moved = self._where_it_goes(self._delivery(base, effects), proof, base)
        self._stage(Stage.VERIFIED)
        return self._finished(delivery, moved)

    def _proof(self) -> Proof:
        """The environment, and the test report of the base commit in it: the baseline."""
        making = self.shop.establishing(self.steps, self.transcript, self.meter)
        proof = making.proof(self.commit, self.order.task.repository, lambda: self.scouted.files)
        self.transcript.add(Tested.of("baseline", proof.report))
        return proof

    def _effects(self, proof: Proof, tree: Tree) -> RunEffects:
        shop = self.shop
        # Found at once if it is there; built again if this run was resumed after its image was removed.
        environment = shop.sandbox.prepare(proof.recipe, tree)
        return RunEffects(
            steps=self.steps,
            model=shop.model,
            sandbox=shop.sandbox,
            environment=environment,
            transcript=self.transcript,
            meter=self.meter,
            index=shop.index,
            request_tokens=shop.request_tokens,
            seconds=shop.seconds,
            cancel=shop.cancel,
            price=shop.price,
            share=shop.share,
        )

    def _baseline(self, proof: Proof, effects: RunEffects) -> Baseline:
        def run(selection: tuple[str, ...], reason: str) -> TestReport:
            return effects.test("executor", self.tree, selection, reason)

        return starting_point(proof, self.tree, self.scouted.files, run, self.shop.seconds.tests)

    def _delivery(self, base: Baseline, effects: RunEffects) -> Delivery:
        task, seen = self.order.task, self.scouted
        shown = (seen.hints, seen.examples, seen.supports, seen.changelog, seen.rules)
        work = Assignment(task, self.tree, base, *shown, self.shop.policy)
        delivery: Delivery = perform(measured(PLAYABLE[task.strategy])(work), effects, work.known_bad)
        return delivery

    def _where_it_goes(self, delivery: Delivery, proof: Proof, base: Baseline) -> tuple[Delivery, str]:
        """The delivery on the newest commit of its branch, if it holds there, a revision judged together with all that
        its pull request had before; and what is to be said of that."""
        best, shop, task = delivery.best, self.shop, self.order.task
        if best is None or not PRESENTATIONS[decided(delivery)[0]].opens_pull_request:
            return delivery, ""
        effects_on = functools.partial(self._effects, proof)
        if shop.fork is not None:
            return replace(delivery, best=as_a_whole(best, shop.fork, task, shop.policy, effects_on, given=base)), ""
        commit = shop.newest() if shop.newest else self.tree.base
        if not isinstance(commit, Commit) or commit.id == self.tree.base.id:
            return delivery, ""
        moved = rebased(best, commit, task, shop.policy, effects_on, given=base)
        return replace(delivery, best=moved.attempt), moved.said

    def _finished(self, delivery: Delivery, moved: str) -> Ended:
        outcome, reason = decided(delivery)
        best = delivery.best
        if best is None:
            return self._ended(outcome, reason, delivery)
        self.transcript.add(Delivered(files=best.tree.patch.to_json(), diff=diff(best.tree, 200_000)))
        if not self.order.publish or not PRESENTATIONS[outcome].opens_pull_request:
            return self._ended(outcome, reason, delivery)
        text = proposal(self.order, delivery, best, self.meter, self.transcript, policy=self.shop.policy, moved=moved)
        said = self.transcript.mask(message(self.order, best, text))
        published = self.steps("publish", lambda: self.shop.publisher.publish(self.order, best.tree, text, said))
        self._stage(Stage.PUBLISHED, published.branch)
        return self._ended(outcome, reason, delivery, published=published, check=text.check)

    def _ended(self, outcome: Outcome, reason: str, delivery: Delivery | None = None, **found: Any) -> Ended:
        if delivery is not None and delivery.stop is not None:
            found["posted"] = decided(delivery, public)[1]
            found["stopped"] = True
        return ended(
            self.order,
            outcome,
            reason,
            meter=self.meter,
            transcript=self.transcript.path,
            delivery=delivery,
            **found,
        ).masked(self.transcript.mask)

    def _stage(self, stage: Stage, detail: str = "") -> None:
        self.transcript.add(StageChanged(stage=stage.value, detail=detail))


FAILURES: Mapping[type[Exception], Outcome] = {
    SetupFailed: Outcome.ENVIRONMENT_FAILED,
    SandboxUnavailable: Outcome.ENVIRONMENT_FAILED,
    SandboxDied: Outcome.ERROR,
    BadRecipeFile: Outcome.REFUSED,
    TestsUnrunnable: Outcome.TESTS_UNRUNNABLE,
    OverBudget: Outcome.OVER_BUDGET,
    TimedOut: Outcome.TIMED_OUT,
    Refused: Outcome.REFUSED,
    Cancelled: Outcome.CANCELLED,
    AgentFixError: Outcome.ERROR,
}
"""How a run ends that one of these ended; the first that fits."""
STOPPED = (Outcome.OVER_BUDGET, Outcome.TIMED_OUT, Outcome.ERROR)
"""Those of them after which there is something to go on with."""


def failure(error: Exception, told: Callable[[Exception], str] = str) -> tuple[Outcome, str]:
    """The outcome that an error stands for, and what to say of it: the error itself as `told`."""
    outcome = next((outcome for kind, outcome in FAILURES.items() if isinstance(error, kind)), None)
    if outcome is None:
        return Outcome.ERROR, "".join(traceback.format_exception(error))
    log = f"\n{trim.middle(error.log, 4000)}" if isinstance(error, SetupFailed) else ""
    return outcome, f"{told(error)}{log}"


def decided(delivery: Delivery, told: Callable[[Exception], str] = str) -> tuple[Outcome, str]:
    """The outcome that a delivery stands for, and why: what stopped it as `told`."""
    best, plan = delivery.best, delivery.plan
    if best is not None and best.verdict.level is not Level.NONE:
        if best.sound and delivery.stop is None:
            return Outcome.FIXED, best.change.summary if best.change else "The change is verified."
        doubts = [*best.verdict.reasons, *(best.review.problems if best.review and not best.sound else ())]
        if best.challenge is not None and best.refuted:
            doubts.append(f"A counterexample was found: {best.challenge.counterexample}")
        if delivery.stop is not None:
            doubts.append(told(delivery.stop))
        return Outcome.DRAFT, "\n".join(doubts) or "The tester was not convinced."
    if delivery.ended == "declined" and plan is not None:
        outcome = Outcome.NO_CHANGE_NEEDED if plan.decision == "no_change_needed" else Outcome.NOT_REPRODUCED
        return outcome, f"{plan.diagnosis}\n{plan.evidence}".strip()
    if delivery.stop is not None:
        return failure(delivery.stop, told)
    if best is not None and any(one.startswith("The change may not be published") for one in best.verdict.reasons):
        return Outcome.REFUSED, "\n".join(best.verdict.reasons)
    reasons = list(best.verdict.reasons) if best is not None else ["No role changed the code."]
    return Outcome.GAVE_UP, "\n".join([*reasons, *delivery.unfinished])
