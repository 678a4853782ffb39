"""What may be handed out: parts within the bounds, places that there are, one owner for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.team.organization.agents import Site
from bot.team.organization.interfaces import signature_fault
from bot.team.organization.roles import Part
from bot.team.organization.spans import Span, located, outline, overlapping, parse
from repo_tools import edits
from repo_tools.patch import SYMLINK
from repo_tools.paths import defect
from repo_tools.test_files import is_test
from repo_tools.text_file import decode
from repo_tools.tree import Tree

REMOVED = "removed"
"""In the place of a signature: the definition goes."""


def part_faults(site: Site, parts: Sequence[Part], taken: Sequence[Span]) -> Iterator[str]:
    """What is wrong with parts that are to be handed out: too many, no such place, one place given to two."""
    if len(parts) > site.bounds.breadth:
        most = site.bounds.breadth
        yield f"{len(parts)} parts are more than {most}: group them; a large part is divided again."
    elif parts and not site.room.fits(len(parts)):
        yield f"at most {site.room.agents if site.room.levels else 0} more agents may be made here."
    seen: list[Span] = list(taken)
    for number, part in enumerate(parts, 1):
        signatures = {parse(text): one for text, one in part.signatures.items()}
        spans = [parse(text) for text in part.spans]
        for span in signatures:
            if not any(overlapping(site.base, span, mine) for mine in spans):
                yield f"part {number}: {span} has a signature but is not among its spans."
        for span in spans:
            yield from (f"part {number}: {fault}" for fault in span_faults(site.base, span, signatures.get(span)))
            other = next((one for one in seen if overlapping(site.base, one, span)), None)
            if other is not None:
                yield f"part {number}: {span} is given away twice, also as {other}: one owner each."
            seen.append(span)


def span_faults(base: Tree, span: Span, signature: str | None) -> Iterator[str]:
    """What is wrong with naming a span, and with the signature that goes with it."""
    wrong = _path_fault(base, span.path)
    if wrong:
        yield wrong
        return
    if is_test(span.path):
        yield f"{span.path} is a test file, and tests are another role's."
    place = located(base, span)
    if span.first and place is None:
        yield f"{span.path} has no line {span.first}."
    if place is None and span.name and signature in (None, REMOVED):
        near = [one.name for one in outline(base, span.path) if one.last_name == span.last_name]
        known = f" Do you mean {span.path}::{near[0]}?" if near else ""
        yield f"{span} is not there; if it is to be made, agree on its signature.{known}"
    if span.name and signature not in (None, REMOVED):
        yield from filter(None, [signature_fault(span.path, span, signature or "")])


def _path_fault(base: Tree, path: str) -> str:
    """Why nobody can own what is at a path, or make something there."""
    wrong = defect(path)
    if wrong is not None:
        return f"the path {path!r} is refused: {wrong}."
    if base.exists(path):
        if base.mode(path) == SYMLINK:
            return f"{path} is a symbolic link: name the file itself."
        return "" if decode(base.read(path)) is not None else f"{path} is binary."
    try:
        edits.create(base, path, "")
    except edits.EditRefused as refusal:
        return str(refusal)
    return ""


def place_faults(base: Tree, own: Sequence[Span]) -> Iterator[str]:
    """What is wrong with the places of an agent that is free in its signatures."""
    for span in own:
        yield from span_faults(base, span, REMOVED if span.name and located(base, span) else "def")
