"""Which files of a patch were moved: test ids and reviewers follow a file to its new name."""

from __future__ import annotations

from collections import Counter

from repo_tools.tree import Tree

ALIKE = 0.6
"""The part of the lines that two files must share for one to be the other, moved; git's own default is a half."""


def moved_files(tree: Tree) -> dict[str, str]:
    """Old path -> new path of the files that the patch of `tree` moves, most alike first; each is used once."""
    gone = {path: tree.base.read(path) for path, state in tree.patch.files.items() if state is None}
    entries = tree.base.entries()
    new = {path: state.data for path, state in tree.patch.files.items() if state is not None and path not in entries}
    pairs = [(_likeness(old, now), was, to) for was, old in gone.items() for to, now in new.items()]
    moves: dict[str, str] = {}
    for likeness, was, to in sorted(pairs, key=lambda pair: (-pair[0], pair[1:])):
        if likeness >= ALIKE and was not in moves and to not in moves.values():
            moves[was] = to
    return moves


def _likeness(old: bytes, new: bytes) -> float:
    lines, others = Counter(old.split(b"\n")), Counter(new.split(b"\n"))
    return (lines & others).total() / max(lines.total(), others.total())
