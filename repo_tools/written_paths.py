"""Which file of a repository a written path means: absolute on another machine, relative, or a bare name."""

from __future__ import annotations

import functools
from collections.abc import Sequence


class WrittenPaths:
    """Finds files by paths as they are written in issues and stack traces."""

    def __init__(self, files: Sequence[str]) -> None:
        self._files = files

    @functools.cached_property
    def _called(self) -> dict[str, list[int]]:
        called: dict[str, list[int]] = {}
        for number, path in enumerate(self._files):
            called.setdefault(path[path.rfind("/") + 1 :], []).append(number)
        return called

    def resolve(self, written: str) -> list[int]:
        """The numbers of the files that have most of the end of `written` in common with it.

        More than one if it does not say enough. None for a file that merely has the name of one in a folder
        elsewhere: of `…/numpy/core.py` a repository has nothing because it has a `core.py`.
        """
        parts = [part for part in written.replace("\\", "/").split("/") if part not in ("", ".", "..", "~")]
        if not parts:
            return []
        best = 0
        found: list[int] = []
        for number in self._called.get(parts[-1], ()):
            common = _common_end(parts, self._files[number].split("/"))
            if common > best:
                best, found = common, []
            if common == best:
                found.append(number)
        whole = [number for number in found if best == self._files[number].count("/") + 1]
        says_enough = best > 1 or len(parts) == 1 or bool(whole)
        return (whole or found) if says_enough else []


def _common_end(one: Sequence[str], other: Sequence[str]) -> int:
    common = 0
    for mine, theirs in zip(reversed(one), reversed(other), strict=False):
        if mine != theirs:
            break
        common += 1
    return common
