"""The generation phase: an agent writes its part, or multiplies because it is too much for one. Siblings are apart."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from bot.errors import OverBudget, TimedOut
from bot.team.organization import briefs
from bot.team.organization.agents import Agent, Site, too_much
from bot.team.organization.contracts import Frame, text_for
from bot.team.organization.handing_out import REMOVED
from bot.team.organization.roles import CHILD, DIVIDER, Code, Division, Part, Written
from bot.team.organization.spans import Span, located, parse
from bot.team.roles import Role
from bot.team.session import unfinished
from bot.team.steps import Answer, Ask, Step, Together
from repo_tools.tree import Tree

Growth = Generator[Step, Any, Agent]


def born(base: Tree, mother: Agent, parts: Sequence[Part], round_: int) -> tuple[Agent, tuple[Agent, ...]]:
    """The mother as she is after it, and a new agent for each part."""
    children = []
    beside = {span.path: span.name for span in reversed(mother.spans) if span.name and located(base, span)}
    for number, part in enumerate(parts, 1):
        spans = tuple(dict.fromkeys(parse(text) for text in part.spans))
        signatures = {parse(text): signature for text, signature in part.signatures.items()}
        child = Agent(
            id=mother.next_child(number),
            specification=part.specification,
            spans=spans,
            signatures=signatures,
            after={span: beside[span.path] for span in spans if span.path in beside and not located(base, span)},
            code={span: "" for span, signature in signatures.items() if signature == REMOVED},
        )
        children.append(child.remembering(round_, "specification", specified(child)))
    return replace(mother, born=mother.born + len(children)), tuple(children)


def specified(agent: Agent) -> dict[str, Any]:
    """What an agent was made for, as its memory holds it."""
    return {
        "specification": agent.specification,
        "spans": [str(span) for span in agent.spans],
        "signatures": {str(span): signature for span, signature in agent.signatures.items()},
    }


def grown(site: Site, mother: Agent, parts: Sequence[Part]) -> Growth:
    """The mother with a child for each part, each with all that it wrote. The children work side by side."""
    mother, children = born(site.base, mother, parts, site.round)
    own = site.shared(len(children))
    made = yield Together({child.id: partial(grow, own, child) for child in children})
    return replace(mother, children=(*mother.children, *made))


def grow(site: Site, agent: Agent) -> Growth:
    """An agent does its part, by itself or by children of its own."""
    if goes(agent):
        return agent
    if too_much(site.base, agent.spans, site.bounds) and site.room.fits(2):
        inside = briefs.inside(site.base, agent, site.bounds)
        agent, division = yield from asked(site, agent, DIVIDER, {"outline": inside})
        if isinstance(division, Division):
            return (yield from grown(site, agent, division.parts))
    return (yield from write(site, agent))


def goes(agent: Agent) -> bool:
    """Whether there is nothing to write, since all that an agent owns is to be removed."""
    return all(agent.signatures.get(span) == REMOVED for span in agent.spans)


def write(site: Site, agent: Agent, observation: str = "") -> Growth:
    """An agent writes its own code; helpers that it declares become its children."""
    if agent.asked >= site.bounds.asks:
        return agent.remembering(site.round, "result", "it was asked as often as it may be")
    places = {"code": briefs.code(site.base, agent), "children": briefs.children(agent), "observation": observation}
    agent, written = yield from asked(site, agent, CHILD, places)
    if not isinstance(written, Written):
        return agent.remembering(site.round, "result", "it handed over nothing")
    if written.plea:
        return replace(agent, plea=written.plea).remembering(site.round, "wrote", {"plea": written.plea})
    agent = with_code(site, agent, written.code)
    if written.helpers:
        return (yield from grown(site, agent, written.helpers))
    return agent


def asked(site: Site, agent: Agent, role: Role, places: Mapping[str, str]) -> Generator[Step, Any, tuple[Agent, Any]]:
    """Ask an agent once in a role; it as one that was asked, and what it submitted (None if it got no further)."""
    common = {
        "specification": briefs.specification(agent),
        "bounds": (briefs.bounds if role is DIVIDER else briefs.helpers)(site.bounds, site.room),
        "observation": "",
    }
    brief = {place: (common | dict(places))[place] for place in role.reads}
    frame = Frame(site, agent)
    objection = frame.division if role is DIVIDER else frame.written
    return (yield from heard(agent, Ask(role, site.base, brief, agent.name(role.name), objection)))


def heard(agent: Agent, ask: Ask) -> Generator[Step, Any, tuple[Agent, Any]]:
    """An agent as one that was asked, and what it submitted.

    That money or time ends is kept with the agent and raised by nobody here: what its siblings wrote would be lost.
    """
    try:
        answer: Answer = yield ask
    except (OverBudget, TimedOut) as stop:
        return replace(agent, asked=agent.asked + 1, stop=stop), None
    said = (*agent.unfinished, *unfinished(ask, answer))
    return replace(agent, asked=agent.asked + 1, unfinished=said), answer.submitted


def with_code(site: Site, agent: Agent, code: Sequence[Code]) -> Agent:
    """The agent with what it wrote, and a new version in its memory. A whole new text comes with its own imports."""
    texts, imports = dict[Span, str](agent.code), dict[Span, tuple[str, ...]](agent.imports)
    for one in code:
        span = parse(one.span)
        texts[span] = text_for(site.base, agent, one)[0]
        kept = imports.get(span, ()) if one.edits else ()
        imports[span] = tuple(dict.fromkeys([*kept, *one.imports]))
    version = {str(parse(one.span)): texts[parse(one.span)] for one in code}
    return replace(agent, code=texts, imports=imports, plea="").remembering(site.round, "wrote", version)
