"""Work that makes very many objects and no cycles, undisturbed by the search for cycles."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Meanwhile nothing looks for cycles, which would take up to half of the time; a decorator, too.

    Threads may be in it at a time: the first that ends lets the search go on.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
