"""What a repository's commits say of its files: which changed, and in which words; kept in the index by commit."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence

from repo_tools.facts import words_row
from repo_tools.postings import Buffer, Postings, build, build_terms
from repo_tools.store import Damaged, Store
from repo_tools.tree import PastChange

MOST = 2000
"""Commits that are looked back on."""
KEPT = 8
"""Commits whose history is kept; the oldest go."""

_OWNER = "history "
_PATHS = "paths"


def history(store: Store, commit: str, read: Callable[[], Sequence[PastChange]]) -> tuple[Postings, list[list[str]]]:
    """The words of past messages, and the paths that each changed, in the same order. Raises `Damaged`.

    `read` tells the history of `commit`, and is asked if it is not kept.
    """
    owner = _OWNER + commit
    paths = store.section(owner, _PATHS)
    if paths is None:
        _write(store, owner, read())
        paths = store.section(owner, _PATHS)
    rows = str(paths or b"", "utf-8", "surrogateescape").split("\0\0")
    changed = [row.split("\0") for row in rows if row]
    section = functools.partial(_section, store, owner)
    return Postings(section, section), changed


def _section(store: Store, owner: str, name: str) -> Buffer:
    data = store.section(owner, name)
    if data is None:
        raise Damaged(f"{owner} has no {name}")
    return data


def _write(store: Store, owner: str, changes: Sequence[PastChange]) -> None:
    sections = build(_rows(changes))
    paths = "\0\0".join("\0".join(change.paths) for change in changes).encode("utf-8", "surrogateescape")
    store.put(owner, {**sections, **build_terms(sections["words"]), _PATHS: paths})
    owners = [other for other in store.owners() if other.startswith(_OWNER)]
    for old in owners[:-KEPT]:
        store.drop(old)


def _rows(changes: Sequence[PastChange]) -> Iterator[tuple[int, bytes]]:
    for place, change in enumerate(changes):
        yield place, words_row(change.message.encode("utf-8", "surrogateescape"))
