"""What failed, and who owns the code that it leads to: by the lines of its trace and by the spans of the agents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.publish.verdict import Verdict
from bot.team.organization.agents import ROOT, Agent
from bot.team.organization.assembly import Assembled
from bot.team.organization.contracts import owned
from bot.team.organization.handing_out import REMOVED
from bot.team.organization.interfaces import broken, defined_twice, signature_in, used
from bot.team.organization.spans import Span, located
from repo_tools.traces import frames
from repo_tools.tree import Tree
from sandbox.port import TestReport


@dataclass(frozen=True)
class Finding:
    """Something that is wrong with the assembled code, with the agents whose code it leads to."""

    title: str
    text: str
    owners: tuple[str, ...] = ()

    @property
    def led_to(self) -> str:
        """For a reader: who is concerned."""
        return f" [leads to {', '.join(self.owners)}]" if self.owners else ""


def failures(verdict: Verdict, after: TestReport, root: Agent, made: Assembled) -> list[Finding]:
    """The tests that fail because of the change, each with the owners that its trace passes through."""
    own = [test.id for test in verdict.own if not test.passes]
    tests = dict.fromkeys([*verdict.broken, *verdict.new_failures, *own])
    found = [finding(test, after.messages.get(test, "it did not run to its end"), root, made) for test in tests]
    if not found and verdict.reasons:
        text = "\n".join([*verdict.reasons, after.result.output[-2_000:] if not after.good else ""])
        found = [finding("the suite", text, root, made)]
    return found


def finding(title: str, text: str, root: Agent, made: Assembled) -> Finding:
    """One failure, with the owners of the lines in its trace, the innermost first."""
    places = [(frame.path, frame.line) for frame in frames(text) if frame.line]
    by_line = [owner for path, line in reversed(places) for owner in _owners(path, line, root, made)]
    return Finding(title, text, tuple(dict.fromkeys(by_line)))


def _owners(path: str, line: int, root: Agent, made: Assembled) -> Iterable[str]:
    for agent in root.everyone():
        for span in owned(agent):
            # A trace names a file from wherever it is; the longest path that both have in common decides.
            if path == span.path or path.endswith("/" + span.path):
                place = made.places.get(span) or located(made.tree, span)
                if place and place[0] <= line <= place[1]:
                    yield agent.id


def concerned(root: Agent, findings: Sequence[Finding], round_: int) -> Agent:
    """The agents, each with what failed in its own code in its memory; the root with all that failed."""
    root = replace(root, children=tuple(concerned(child, findings, round_) for child in root.children))
    own = [one.title for one in findings if root.id in (*one.owners, ROOT)]
    return root.remembering(round_, "result", own) if own else root


def faults(base: Tree, root: Agent, made: Assembled, spoken: str = "") -> list[Finding]:
    """What is wrong with the assembled files before any test: pleas, pieces that are missing, duplicates, orphans.

    A definition that is named in `spoken`, such as the issue, is no orphan: others are to use it.
    """
    found = []
    paths = sorted({path for path in made.tree.patch.files if made.tree.exists(path)})
    for agent in root.everyone():
        if agent.plea:
            found.append(Finding(f"child {agent.id} finds its interface unworkable", agent.plea, (agent.id,)))
            continue
        own = owned(agent)
        if own and not agent.code:
            found.append(Finding(f"child {agent.id} handed over nothing", "its places are as they were.", (agent.id,)))
            continue
        for span in own:
            new = located(base, span) is None
            if new and span not in agent.code:
                found.append(Finding(f"{span} is missing", "its owner wrote nothing for it.", (agent.id,)))
            elif new and span.name and "." not in span.name and not _wanted(made.tree, span, paths, spoken):
                said = "nothing that was changed uses it: drop it, or have it called."
                found.append(Finding(f"{span} is an orphan", said, (agent.id,)))
    return [*found, *duplicates(base, root, made), *broken_interfaces(root, made)]


def _wanted(tree: Tree, span: Span, paths: Sequence[str], spoken: str) -> bool:
    named = re.search(rf"(?<!\w){re.escape(span.last_name)}(?!\w)", spoken) is not None
    return named or used(tree, span, paths)


def duplicates(base: Tree, root: Agent, made: Assembled) -> list[Finding]:
    """Definitions that two agents made under one name."""
    makers: dict[Span, list[str]] = {}
    for agent in root.everyone():
        for span in agent.code:
            if span.name and located(base, span) is None:
                makers.setdefault(span, []).append(agent.id)
    found = [
        Finding(f"{span} is defined twice", f"by {' and by '.join(ids)}: one of them is enough.", tuple(ids[1:]))
        for span, ids in makers.items()
        if len(ids) > 1
    ]
    single = [span for span, ids in makers.items() if len(ids) == 1]
    return found + [
        Finding(f"{span} is defined twice", "its file has another definition of that name.", tuple(makers[span]))
        for span in defined_twice(made.tree, single)
    ]


def broken_interfaces(root: Agent, made: Assembled) -> list[Finding]:
    """Agreed signatures that the assembled code does not have."""
    found = []
    for agent in root.everyone():
        for span, agreed in agent.signatures.items():
            if agent.code and agreed != REMOVED and signature_in(made.tree, span) is not None:
                fault = broken(made.tree, span, agreed)
                found += [Finding(f"the interface of {span} is broken", fault, (agent.id,))] if fault else []
    return found


def within(findings: Sequence[Finding], agent: Agent) -> list[Finding]:
    """The findings that lead to an agent or its descendants."""
    ids = {one.id for one in agent.everyone()}
    return [replace(one, owners=tuple(o for o in one.owners if o in ids)) for one in findings if ids & {*one.owners}]


def blamed(findings: Sequence[Finding], agent: Agent) -> Mapping[str, list[Finding]]:
    """Child -> the findings that lead to it or below it; children without any are left out."""
    found = {child.id: within(findings, child) for child in agent.children}
    return {child: own for child, own in found.items() if own}
