"""A worker's side of a part of a run that another process waits for: the same checkout, means of its own."""

from __future__ import annotations

import logging

from bot.errors import Refused
from bot.forge.port import NotThere, Unavailable
from bot.llm.budget import Limits, Meter
from bot.publish.proposal import PullRequestText
from bot.service.effects import Paused, RunEffects, Work
from bot.service.job import Workshop
from bot.service.order import Order
from bot.service.parts import SITES, Packing, PartEnded, PartRequest, Shared, Site, carried_out
from bot.service.patience import fetched
from bot.service.requests import RunRequest
from bot.service.story import Published
from bot.service.workflow import step
from bot.service.working import Means, watching
from bot.transcript import Kept
from repo_tools.checkout import Repository
from repo_tools.tree import Tree

LOG = logging.getLogger("agent-fix.worker")


class Nobody:
    """A `bot.service.job.Publisher` for who only does a part of the work."""

    def publish(self, order: Order, tree: Tree, text: PullRequestText, message: str) -> Published:  # noqa: ARG002 - the port's
        """Raises `Refused` always."""
        raise Refused("a part of a run publishes nothing")


def carry_out(request: PartRequest, means: Means) -> PartEnded:
    """A part: beside its run, if that is at work in this process, or else with a workshop of its own.

    What cannot be checked out here is left to the process of the run, which has the files. Raises `Paused` if the run
    was called off, or the process ends.
    """
    here = SITES.get(request.waiter, 0, means.leaving)
    if here is not None:
        return carried_out(request, here)
    LOG.info("part %s: for another process", request.name)
    run = RunRequest.model_validate(request.source["request"])
    base = str(request.source["base"])
    try:
        mirror = _mirror(run.repository, base, means)
    except (Unavailable, NotThere, Refused) as error:
        LOG.warning("part %s: left to the process of its run: %s", request.name, error)
        return PartEnded(left=True)
    with mirror as repository:
        order = Order.model_validate(request.source["order"])
        with means.lend(order, request.name) as hands, watching(run.run, means, hands):
            packing = Packing(repository.resolve)
            try:
                ended = carried_out(request, Site(_effects(request, packing, hands.shop, base), packing))
            except Exception as error:  # noqa: BLE001 - who waits for the part raises it
                ended = PartEnded(error=packing.packed_error(error))
            if hands.shop.cancel.is_set():
                raise Paused
    return ended


def _mirror(repository: str, base: str, means: Means) -> Repository:
    """The files of the run's base. Raises `Unavailable` once it was tried as often as what is soon to be there."""
    wait = means.patience.first
    for left in reversed(range(means.patience.soon)):
        try:
            return fetched(means.mirrors, means.host.forge(repository).code.remote(), base)
        except Unavailable as error:
            if not left:
                raise
            LOG.warning("once more: %s", error)
            if means.leaving.wait(min(error.retry_after or wait, means.patience.longest)):
                raise Paused from None
            wait *= 2
    raise AssertionError("the last try returns or raises")


def _effects(request: PartRequest, packing: Packing, shop: Workshop, base: str) -> RunEffects:
    work: Work = packing.unpack(request.work)
    tree = Tree(packing.commit(base))
    return RunEffects(
        steps=step,
        model=shop.model,
        sandbox=shop.sandbox,
        environment=shop.sandbox.prepare(work.recipe, tree),
        transcript=Kept(),
        meter=Meter(Limits(), clock=lambda: work.seconds),
        index=shop.index,
        request_tokens=shop.request_tokens,
        seconds=shop.seconds,
        cancel=shop.cancel,
        price=shop.price,
        share=Shared(request.run, request.source),
    )
