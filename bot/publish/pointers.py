"""Where in the files a maintainer should look: the places that a check run, or a job of Actions, points at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from bot.forge.port import Annotation
from bot.publish.failures import read_failure
from bot.publish.objection import Objection
from bot.publish.sanitize import clip, line
from bot.publish.verdict import OwnTest, Verdict
from bot.team.delivery import Mark
from repo_tools.tree import Tree
from sandbox.port import TestReport

MOST = 50
"""As many as GitHub takes at once; more than that nobody reads."""
MESSAGE_CHARS, TITLE_CHARS = 1_000, 120
LOCATION = re.compile(r"(?P<path>[\w.@+/-]+\.\w+):(?P<line>\d+)")


def pointers(
    tree: Tree, verdict: Verdict, after: TestReport, objections: Sequence[Objection], marks: Sequence[Mark] = ()
) -> tuple[Annotation, ...]:
    """The tests that fail now, what was objected to, what was measured, then the new tests; at most `MOST`."""
    found = [
        *_failing(tree, after, verdict.broken, "Passed before, fails now"),
        *_failing(tree, after, verdict.new_failures, "New failure"),
        *_failing(tree, after, [test.id for test in verdict.own if not test.passes], "New test that does not pass"),
        *_objected(tree, objections),
        *(
            Annotation(one.path, one.first, one.last, "warning", one.text, "Not shown by a test")
            for one in marks
            if tree.exists(one.path)
        ),
        *_own(tree, [test for test in verdict.own if test.passes]),
    ]
    return tuple(found[:MOST])


def place_of(tree: Tree, test: str, message: str = "") -> tuple[str, int] | None:
    """Path and line of a test: where its failure says that it failed, in its own file first, or where it begins."""
    own = test.partition("::")[0]
    said = [(found["path"].removeprefix("./"), int(found["line"])) for found in LOCATION.finditer(message)]
    there = [(path, number) for path, number in said if tree.exists(path)]
    inside = [(path, number) for path, number in there if path == own]
    if inside or there:
        return (inside or there)[-1]
    if not tree.exists(own):
        return None
    return own, _line_with(tree, own, test)


def _line_with(tree: Tree, path: str, test: str) -> int:
    name = test.rpartition("::")[2].partition("[")[0]
    if name == path:
        return 1
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    lines = tree.read(path).decode("utf-8", "replace").splitlines()
    return next((number for number, text in enumerate(lines, 1) if word.search(text)), 1)


def _failing(tree: Tree, after: TestReport, tests: Iterable[str], title: str) -> Iterator[Annotation]:
    for test in tests:
        message = after.messages.get(test, "")
        place = place_of(tree, test, message)
        if place is not None:
            gist = read_failure(message).gist if message else "it is not there any more"
            yield _pointing(place, "failure", f"{title}: {test}", gist)


def _objected(tree: Tree, objections: Sequence[Objection]) -> Iterator[Annotation]:
    for one in objections:
        if one.path and tree.exists(one.path):
            yield _pointing(
                (one.path, _first_changed(tree, one.path)), "warning", f"To be looked at: {one.rule}", one.text
            )


def _own(tree: Tree, tests: Sequence[OwnTest]) -> Iterator[Annotation]:
    told: set[tuple[str, int]] = set()
    for test in tests:
        place = place_of(tree, test.id)
        # The variants of a parametrised test begin at one line: one of them stands for all.
        if place is None or place in told or not test.fails_without:
            continue
        told.add(place)
        yield _pointing(place, "notice", "Fails without the change", f"{test.id}, without it: {test.gist}")


def _first_changed(tree: Tree, path: str) -> int:
    old = tree.base.read(path).splitlines() if path in tree.base.entries() else []
    new = tree.read(path).splitlines()
    same = next(
        (at for at, (one, two) in enumerate(zip(old, new, strict=False)) if one != two), min(len(old), len(new))
    )
    return max(1, min(same + 1, len(new)))


def _pointing(place: tuple[str, int], level: str, title: str, message: str) -> Annotation:
    path, number = place
    said = clip(line(message), MESSAGE_CHARS) or "(nothing more is known)"
    return Annotation(path, number, number, level, said, clip(line(title), TITLE_CHARS))  # type: ignore[arg-type]
