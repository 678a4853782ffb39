"""The modification phase: what failed goes down the tree as feedback, and only the agents at fault change."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from bot.team import trim
from bot.team.organization import briefs
from bot.team.organization.agents import ROOT, Agent, Site
from bot.team.organization.contracts import Frame
from bot.team.organization.growth import Growth, goes, grown, heard, with_code, write
from bot.team.organization.handing_out import REMOVED
from bot.team.organization.owners import Finding, blamed, within
from bot.team.organization.roles import STEERER, Direction, Steering
from bot.team.organization.spans import parse
from bot.team.steps import Ask, Execute, Step, Together
from repo_tools.tree import Tree
from sandbox.port import Result


def corrected(site: Site, agent: Agent, findings: Sequence[Finding], observation: str, now: Tree) -> Growth:
    """An agent at fault, changed: a child mends its code; a mother says which of her children have to, and how.

    `now` is the assembled state that failed.
    """
    if observation:
        agent = agent.remembering(site.round, "told", observation)
    if not agent.children:
        return agent if goes(agent) else (yield from write(site, agent, observation))
    agent, steering = yield from _steered(site, agent, findings, observation)
    agent = agent.remembering(site.round, "told", steering.model_dump(exclude_defaults=True))
    if steering.code:
        agent = with_code(site, agent, steering.code)
    agent = replace(agent, disputed=steering.wrong_tests)
    agent, changes = yield from _agreed(site, agent, findings, steering, now)
    added = steering.added
    own = site.shared(len(changes) + len(added))
    if changes:
        made = yield Together(
            {child.id: partial(corrected, own, child, found, seen, now) for child, found, seen in changes}
        )
        new = {child.id: child for child in made}
        agent = replace(agent, children=tuple(new.get(child.id, child) for child in agent.children))
    if added:
        left = replace(site.room, agents=site.room.agents - len(changes) * own.room.agents)
        agent = yield from grown(replace(site, room=left), agent, added)
    return agent


def _steered(
    site: Site, agent: Agent, findings: Sequence[Finding], observation: str
) -> Generator[Step, Any, tuple[Agent, Steering]]:
    at_fault = blamed(findings, agent)
    ids = frozenset(at_fault)
    places = {
        "specification": agent.specification if agent.id == ROOT else briefs.specification(agent),
        "code": briefs.code(site.base, agent),
        "children": briefs.children(agent, ids),
        "executed": "\n\n".join(part for part in (observation, briefs.executed(findings)) if part),
        "tried": briefs.tried(agent),
    }
    steering: Steering | None = None
    if agent.asked < 2 * site.bounds.asks:
        frame = Frame(site, agent, ids)
        ask = Ask(STEERER, site.base, places, agent.name("mother"), frame.steering)
        agent, submitted = yield from heard(agent, ask)
        steering = submitted if isinstance(submitted, Steering) else None
    if steering is None:
        # Without her word, those in the traces are told what failed.
        said = "Your code stands in the trace of what failed: find out why, and mend it."
        steering = Steering(
            cause="The mother gave no feedback.",
            directions=[Direction(part=child, direction=said) for child in at_fault],
        )
    return agent, steering


def _agreed(
    site: Site, agent: Agent, findings: Sequence[Finding], steering: Steering, now: Tree
) -> Generator[Step, Any, tuple[Agent, list[tuple[Agent, list[Finding], str]]]]:
    """The mother without the children that she drops; and those that have to change, each with what it is told."""
    children: Mapping[str, Agent] = {child.id: child for child in agent.children}
    dropped, changes, kept = set[str](), list[tuple[Agent, list[Finding], str]](), dict(children)
    for one in steering.directions:
        child = kept.get(one.part)
        if child is None or one.action == "add":
            continue
        if one.action == "drop":
            dropped.add(one.part)
            agent = agent.remembering(site.round, "dropped", {"child": one.part, "why": one.direction})
            continue
        found = within(findings, child)
        if one.check:
            result: Result = yield Execute(now, one.check)
            if result.ended == "exit" and result.exit_code == 0:
                kept[one.part] = child.remembering(site.round, "checked", {"command": one.check, "passes": True})
                continue
            found = [Finding(f"the check `{one.check}`", trim.of_run(result)), *found]
        signatures = {parse(text): signature for text, signature in one.signatures.items()}
        gone = {span: "" for span, signature in signatures.items() if signature == REMOVED}
        child = replace(child, signatures={**child.signatures, **signatures}, code={**child.code, **gone}, plea="")
        kept[one.part] = child
        changes.append((child, found, briefs.observation(steering.cause, one.direction, found)))
    agent = replace(agent, children=tuple(child for id_, child in kept.items() if id_ not in dropped))
    return agent, [(child, found, seen) for child, found, seen in changes if child.id not in dropped]
