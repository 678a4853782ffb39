"""The sets of postings that cover a tree: those that are kept, and what is missing, made."""

from __future__ import annotations

import functools
import hashlib
from array import array
from collections.abc import Callable, Iterator

from repo_tools.postings import MOST, Buffer, Postings, build, build_terms
from repo_tools.store import Damaged, Facts, Store

UNWRITTEN = 200
"""So few documents without postings get them in memory, anew for each tree; more are written down."""
SPARE = 6
"""Sets that the store may hold above what a tree needs, before all are made anew."""

_OWNER = "postings "


def covering(store: Store, wanted: set[int]) -> list[Postings]:
    """Postings that hold each of the `wanted` documents, and perhaps others; some maybe twice. Raises `Damaged`."""
    owners = [owner for owner in store.owners() if owner.startswith(_OWNER)]
    if len(owners) > SPARE + len(wanted) // MOST:
        for owner in owners:
            store.drop(owner)
        owners = []
    found = [
        postings for postings in map(functools.partial(_stored, store), owners) if wanted & set(postings.documents)
    ]
    missing = wanted.difference(*(postings.documents for postings in found))
    if len(missing) <= UNWRITTEN:
        return [*found, _in_memory(store, missing)] if missing else found
    numbers = sorted(missing)
    parts = (numbers[start : start + MOST] for start in range(0, len(numbers), MOST))
    return [*found, *(_stored(store, _write(store, part)) for part in parts)]


def _write(store: Store, numbers: list[int]) -> str:
    # Named for what it covers: two processes that write the same do not write it twice.
    owner = _OWNER + hashlib.sha256(array("Q", numbers).tobytes()).hexdigest()
    store.put(owner, build(_rows(store, numbers)))
    return owner


def _rows(store: Store, numbers: list[int]) -> Iterator[tuple[int, memoryview]]:
    for number in numbers:
        row = store.row(Facts.WORDS, number)
        if row is None:
            raise Damaged(f"the words of document {number} are not there")
        yield number, row


def _stored(store: Store, owner: str) -> Postings:
    def section(name: str) -> Buffer:
        data = store.section(owner, name)
        if data is None:
            raise Damaged(f"{owner} has no {name}")
        return data

    def with_terms(name: str) -> Buffer:
        data = store.section(owner, name)
        if data is None:
            # Made when the first question comes that needs them: a map of the repository does not.
            store.put(owner, build_terms(section("words")))
            return section(name)
        return data

    return Postings(section, with_terms)


def _in_memory(store: Store, numbers: set[int]) -> Postings:
    sections = build(_rows(store, sorted(numbers)))
    terms: Callable[[], dict[str, bytes]] = functools.cache(lambda: build_terms(sections["words"]))
    return Postings(sections.__getitem__, lambda name: terms()[name])
