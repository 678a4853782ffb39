"""What may be taken from an agent: its code by what was agreed on, its parts by the bounds. Faults are said to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bot.team.organization.agents import ROOT, Agent, Site
from bot.team.organization.assembly import Assembled, Piece, assemble
from bot.team.organization.handing_out import REMOVED, part_faults, place_faults
from bot.team.organization.interfaces import (
    DEFINING,
    broken,
    lost_names,
    new_names,
    same_signature,
    signature_fault,
    signature_in,
)
from bot.team.organization.roles import Code, Direction, Division, Skeleton, Steering, Written
from bot.team.organization.spans import Span, located, outline, overlapping, parse, size, text_of, within
from repo_tools.regions import tokens
from repo_tools.syntax import syntax_error
from repo_tools.tree import Tree

SHOWN = 6
TRIVIAL_SPANS, TRIVIAL_TOKENS = 2, 600
"""What is no more than this is one agent's work: to divide it would cost more than it helps."""


@dataclass(frozen=True)
class Frame:
    """What an agent's submission is held against. A value, so that it can be sent to another process with it."""

    site: Site
    agent: Agent
    blamed: frozenset[str] = frozenset()
    """Ids of the children whose code stands in a trace of what failed."""

    def skeleton(self, submitted: Skeleton, tree: Tree) -> str:  # noqa: ARG002 - the signature of objections
        """Why the root's skeleton cannot be taken."""
        there = bool(submitted.parts or submitted.code)
        if there != (submitted.decision == "change"):
            return f"there are {'' if there else 'no '}parts or code, but your decision is {submitted.decision}."
        own = [parse(one.span) for one in submitted.code]
        faults = [*part_faults(self.site, submitted.parts, own), *place_faults(self.site.base, own)]
        if not faults and submitted.parts:
            spans = [*own, *(parse(span) for part in submitted.parts for span in part.spans)]
            new = sum(tokens(part.specification) for part in submitted.parts)
            if len(spans) <= TRIVIAL_SPANS and size(self.site.base, *spans) + new <= TRIVIAL_TOKENS:
                faults.append("all of this is one agent's work: write it yourself in `code`, without parts.")
        return _said(faults or [*self.code_faults(submitted.code, own, None, ())])

    def division(self, submitted: Division, tree: Tree) -> str:  # noqa: ARG002 - the signature of objections
        """Why a part that is too large cannot be divided so."""
        faults = [*part_faults(self.site, submitted.parts, ())]
        inside = [parse(span) for part in submitted.parts for span in part.spans]
        faults += self._outside(inside)
        missing = [
            mine for mine in self.agent.spans if not any(overlapping(self.site.base, mine, span) for span in inside)
        ]
        faults += [f"nobody owns {span}: put it into a part." for span in missing[:SHOWN]]
        if len(submitted.parts) == 1 and {*inside} == {*self.agent.spans}:
            faults.append("that is the same part once more: divide it.")
        return _said(faults)

    def written(self, submitted: Written, tree: Tree) -> str:  # noqa: ARG002 - the signature of objections
        """Why a child's code cannot be taken."""
        if submitted.plea:
            return "" if not submitted.code else "either the interface can work, and there is code, or it cannot."
        own = owned(self.agent)
        faults = [*self._helpers(submitted)]
        there = {parse(one.span) for one in submitted.code} | {*self.agent.code}
        faults += [
            f"{span} is to be made, and is not in your code."
            for span in own
            if span not in there and located(self.site.base, span) is None
        ]
        if not submitted.code and not faults:
            faults.append("there is no code: write it, or say in `plea` why the agreed interface cannot work.")
        helpers = [parse(span) for part in submitted.helpers for span in part.spans]
        return _said(faults or [*self.code_faults(submitted.code, own, self.agent.signatures, helpers)])

    def steering(self, submitted: Steering, tree: Tree) -> str:  # noqa: ARG002 - the signature of objections
        """Why a mother's feedback cannot be taken."""
        children = {child.id: child for child in self.agent.children}
        faults: list[str] = []
        for one in submitted.directions:
            faults += self._direction(one, children)
        told = Counter(one.part for one in submitted.directions if one.action != "add")
        faults += [f"child {part} has two directions: give one." for part, times in told.items() if times > 1]
        if not (submitted.directions or submitted.code or submitted.wrong_tests):
            faults.append("that changes nothing: give a direction, change your own code, or name the wrong test.")
        own, added = owned(self.agent), submitted.added
        if added and not (self.site.room.fits(len(added)) and len(children) + len(added) <= self.site.bounds.breadth):
            faults.append("no more agents may be made: give the work to those that there are.")
        faults += part_faults(self.site, added, [*own, *(span for child in children.values() for span in child.spans)])
        if self.agent.id != ROOT:
            faults += self._outside([parse(text) for part in added for text in part.spans])
        agreed = None if self.agent.id == ROOT else self.agent.signatures
        return _said(faults or [*self.code_faults(submitted.code, own, agreed, ())])

    def _direction(self, one: Direction, children: Mapping[str, Agent]) -> Iterator[str]:
        if one.action == "add":
            return
        if one.part not in children:
            yield f"there is no child {one.part!r}: {', '.join(children) or 'none'}."
        elif one.action == "change" and one.part not in self.blamed and not one.check:
            yield f"no trace leads to child {one.part}: give a `check` that fails because of it, or leave it alone."
        for text, signature in one.signatures.items() if one.action == "change" else ():
            span = parse(text)
            if one.part in children and span not in children[one.part].spans:
                yield f"{span} is not child {one.part}'s."
            elif signature != REMOVED:
                yield from filter(None, [signature_fault(span.path, span, signature)])

    def _outside(self, spans: Sequence[Span]) -> Iterator[str]:
        """The spans that no agent can hand out because it was not given all of them; new names may join its files."""
        base, given = self.site.base, self.agent.spans
        for span in spans:
            new = bool(span.name) and located(base, span) is None
            if not (any(within(base, span, mine) for mine in given) or (new and span.path in {m.path for m in given})):
                yield f"{span} lies outside of what you were given, in part or whole: name no more than that."

    def _helpers(self, submitted: Written) -> Iterator[str]:
        if not submitted.helpers:
            return
        yield from part_faults(self.site, submitted.helpers, ())
        texts = "\n".join(one.text + "".join(edit.new for edit in one.edits) for one in submitted.code)
        for span in (parse(text) for part in submitted.helpers for text in part.spans):
            if not span.name or located(self.site.base, span) is not None:
                yield f"{span}: a helper is a new definition."
            elif span.path not in {mine.path for mine in self.agent.spans}:
                yield f"{span}: put your helpers into your own file."
            elif span.last_name not in texts:
                yield f"nothing in your code uses the helper {span}: leave it out, or call it."

    def code_faults(
        self, code: Sequence[Code], own: Sequence[Span], agreed: Mapping[Span, str] | None, helpers: Sequence[Span]
    ) -> Iterator[str]:
        """What is wrong with code for the spans `own`. Without `agreed`, its owner is free in its signatures."""
        texts, faults = dict[Span, str](self.agent.code), list[str]()
        for one in code:
            span = parse(one.span)
            if span not in own:
                faults.append(f"{span} is not yours; yours are {', '.join(map(str, own)) or 'none'}.")
                continue
            text, fault = text_for(self.site.base, self.agent, one)
            texts[span] = text
            faults += [fault] if fault else []
        yield from faults
        written = sum(tokens(one.text) for one in code)
        if written > self.site.bounds.held * (1 if self.site.room.fits(1) else 4):
            more = "call helpers and declare them" if self.site.room.fits(1) else "shorten it"
            yield f"{written:,} tokens of code are too much for one agent: {more}."
        if not faults and code:
            imports = {parse(one.span): tuple(one.imports) for one in code}
            pieces = [Piece(span, text, imports.get(span, ())) for span, text in texts.items()]
            yield from _about(self.site.base, assemble(self.site.base, pieces), own, agreed, helpers)


def owned(agent: Agent) -> tuple[Span, ...]:
    """The spans that an agent writes itself: all that it was given, unless its children have them."""
    given = {span for child in agent.children for span in child.spans}
    divided = bool(agent.children) and not agent.code
    return () if divided else tuple(span for span in agent.spans if span not in given)


def text_for(base: Tree, agent: Agent, code: Code) -> tuple[str, str]:
    """The new text of a span by what a role submitted, and what is wrong with that; one of both is empty."""
    span = parse(code.span)
    old = agent.code.get(span, text_of(base, span))
    if not code.edits:
        return (code.text, "") if code.text.strip() else ("", f"{span}: there is neither text nor an edit.")
    if code.text.strip():
        return "", f"{span}: give the whole text or edits, not both."
    if not old:
        return "", f"{span} is not there yet: give its whole text."
    for number, edit in enumerate(code.edits, 1):
        found = old.count(edit.old)
        if found != 1:
            return "", f"{span}: the old text of edit {number} is there {found} times, and must be there once."
        old = old.replace(edit.old, edit.new)
    return old, ""


def _about(
    base: Tree, made: Assembled, own: Sequence[Span], agreed: Mapping[Span, str] | None, helpers: Sequence[Span]
) -> Iterator[str]:
    paths = sorted({span.path for span in made.places if made.tree.exists(span.path)})
    broken_files = [(path, syntax_error(path, made.tree.read(path))) for path in paths]
    wrong = [f"{path} would not parse: {fault}." for path, fault in broken_files if fault]
    if wrong:
        yield from wrong
        return
    for span in new_names(base, made.tree, paths):
        if not (span in helpers or any(_holds(made, mine, span) for mine in own)):
            yield f"{span} is new and nobody agreed on it: declare it as a helper, or do without it."
    removed = {span for span, said in (agreed or {}).items() if said == REMOVED}
    for span in lost_names(base, made.tree, paths):
        if span not in removed:
            yield f"{span} was there and is gone: keep it."
    for span in own:
        if span.name and span in made.places and located(made.tree, span) is None and span not in removed:
            yield f"the text for {span} does not define it."
    if agreed is not None:
        yield from _changed_signatures(base, made, paths, agreed)


def _changed_signatures(base: Tree, made: Assembled, paths: Sequence[str], agreed: Mapping[Span, str]) -> Iterator[str]:
    for path in paths:
        before = {one.name: one.signature for one in outline(base, path) if one.kind in DEFINING}
        for one in outline(made.tree, path):
            span = Span(path, one.name)
            want = agreed.get(span)
            if want not in (None, REMOVED):
                yield from filter(None, [broken(made.tree, span, want or "")])
            elif one.name in before and before[one.name] != one.signature and one.kind in DEFINING:
                old = signature_in(base, span) or before[one.name]
                if not same_signature(path, signature_in(made.tree, span) or one.signature, old):
                    yield f"{span} was `{old}` and nobody agreed to change that: keep it, or say so in `plea`."


def _holds(made: Assembled, mine: Span, span: Span) -> bool:
    """Whether a definition is part of what somebody owns."""
    if mine.name:
        return span.path == mine.path and f"{span.name}.".startswith(f"{mine.name}.")
    place, of_mine = located(made.tree, span), made.places.get(mine)
    return bool(span.path == mine.path and place and of_mine and of_mine[0] <= place[0] and place[1] <= of_mine[1])


def _said(faults: Sequence[str]) -> str:
    return " ".join(list(dict.fromkeys(faults))[:SHOWN])
