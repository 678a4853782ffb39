"""What each agent is shown, and no more: each text is cut to a size that does not grow with the repository."""

from __future__ import annotations

from collections.abc import Sequence

from bot.prompts import block
from bot.team import trim
from bot.team.organization.agents import Agent, Bounds, Room, too_much
from bot.team.organization.contracts import owned
from bot.team.organization.owners import Finding
from bot.team.organization.spans import Span, lines_of, located, outline, size, text_of
from repo_tools.regions import regions
from repo_tools.tree import Tree

SPECIFICATION = 6_000
"""Characters of each part at the most."""
CODE = 14_000
OUTLINE = 9_000
CHILD = 420
OBSERVATION = 6_000
EXECUTED = 12_000
TRIED = 3_000
FINDINGS = 4


def specification(agent: Agent) -> str:
    """What an agent has to do, and the interfaces that were agreed on."""
    agreed = [f"{span}: {signature}" for span, signature in agent.signatures.items()]
    text = "\n".join([agent.specification, *(["Agreed signatures:", *agreed] if agreed else [])])
    return block("your specification", trim.middle(text, SPECIFICATION))


def code(base: Tree, agent: Agent) -> str:
    """The text of all that an agent owns itself, as it is now."""
    own = owned(agent)
    room = CODE // max(1, len(own))
    parts = []
    for span in own:
        text = agent.code.get(span, text_of(base, span))
        parts.append(f"### {span}\n{trim.middle(text, room) if text else '(to be made)'}")
    given = dict.fromkeys(line for span in own for line in agent.imports.get(span, ()))
    parts += [f"Import statements that you gave with it: {'; '.join(given)}"] if given else []
    return block("your code", "\n\n".join(parts)) if parts else ""


def children(agent: Agent, blamed: frozenset[str] = frozenset()) -> str:
    """The interfaces of an agent's children."""
    lines = []
    for child in agent.children:
        mark = " [in the trace of a failure]" if child.id in blamed else ""
        head = f"{child.id}{mark}: {', '.join(child.signatures.get(span) or str(span) for span in child.spans)}"
        lines.append(trim.middle(head, CHILD))
        lines.append(f"   {trim.middle(' '.join(child.specification.split()), CHILD)}")
    return block("your children", "\n".join(lines)) if lines else ""


def bounds(limits: Bounds, room: Room) -> str:
    """What may be divided, and when it has to be."""
    if not room.fits(1):
        return "There are no more agents: what you are given, you write yourself."
    most = min(room.agents, limits.breadth)
    return (
        f"One agent holds about {limits.held:,} tokens of code in up to {limits.spans} places; a part that is larger "
        f"will be divided again by its owner. At most {most} parts here."
    )


def helpers(limits: Bounds, room: Room) -> str:
    """Whether a child may multiply, and when it has to."""
    if not room.fits(1):
        return "There are no more agents: write your part whole, without helpers."
    most = min(room.agents, limits.breadth)
    return f"If your part takes more than {limits.held:,} tokens of code, declare helpers, {most} at most."


def inside(base: Tree, agent: Agent, limits: Bounds) -> str:
    """The inside of what has to be divided, without its bodies: definitions, and regions of what has none."""
    rows = []
    for span in agent.spans:
        place = located(base, span)
        if place is None:
            rows.append(f"{span} (to be made): {agent.signatures.get(span, '')}")
            continue
        rows.append(f"{span}: lines {place[0]}-{place[1]}, {size(base, span):,} tokens")
        within = [
            one
            for one in outline(base, span.path)
            if place[0] <= one.first_line and one.last_line <= place[1] and one.name != span.name
        ]
        rows += [
            f"  {span.path}::{one.name} ({one.last_line - one.first_line + 1} lines): {one.signature}" for one in within
        ]
        if not within and too_much(base, [span], limits):
            rows += [f"  {row}" for row in _regions(base, span, place, limits)]
    return block("what is to be divided, without its code", trim.middle("\n".join(rows), OUTLINE))


def _regions(base: Tree, span: Span, place: tuple[int, int], limits: Bounds) -> list[str]:
    lines = lines_of(base, span.path) or []
    rows = []
    for region in regions(span.path, base.read(span.path), limits.held):
        first, last = max(region.first_line, place[0]), min(region.last_line, place[1])
        if first <= last:
            rows.append(f"{span.path}:{first}-{last}: {lines[first - 1].strip()[:100]}")
    return rows


def executed(findings: Sequence[Finding]) -> str:
    """What failed, for a mother."""
    texts = [
        f"--- {one.title}{one.led_to}\n{trim.middle(one.text, EXECUTED // FINDINGS)}" for one in findings[:FINDINGS]
    ]
    if len(findings) > FINDINGS:
        texts.append("also: " + trim.middle(", ".join(one.title for one in findings[FINDINGS:]), 1_000))
    return block("what was executed and failed", "\n".join(texts))


def observation(cause: str, direction: str, findings: Sequence[Finding]) -> str:
    """What a mother passes on to a child at fault: the cause, the direction, and the failures that lead to it."""
    texts = [f"Cause: {cause}", f"Direction: {direction}"]
    texts += [f"--- {one.title}\n{trim.middle(one.text, OBSERVATION // 4)}" for one in findings[:2]]
    return block("your mother's observation", trim.middle("\n".join(texts), OBSERVATION))


def tried(agent: Agent) -> str:
    """What an agent was told and did before, newest last."""
    kinds = ("told", "rolled back", "result")
    lines = [f"Round {one.round}, {one.kind}: {one.value}" for one in agent.memory if one.kind in kinds]
    return block("earlier rounds", trim.middle("\n".join(lines), TRIED)) if lines else ""
