"""Acts on a forge that may be away for a while."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from dbos import DBOS

from bot.errors import Refused
from bot.forge.port import NotThere, Unavailable
from repo_tools.checkout import Repository
from repo_tools.errors import CheckoutError, GitFailed
from repo_tools.mirrors import Mirrors
from repo_tools.remotes import Remote

LOG = logging.getLogger("agent-fix.forge")
T = TypeVar("T")


class NotYet(Unavailable):
    """The forge does not show yet what an event tells of."""


@dataclass(frozen=True)
class Patience:
    """How long an act is tried for that the forge cannot do now. Seconds."""

    first: float = 5.0
    longest: float = 600.0
    tries: int = 40
    """Of which most wait `longest`: several hours of a forge that is away."""
    soon: int = 5
    """The same for what the forge knows but does not show yet; the sweep will find it later."""


def patiently(patience: Patience, name: str, act: Callable[[], T]) -> T:
    """`act` as a durable step; while the forge is unavailable, later again. The waiting itself survives a crash."""
    wait = patience.first
    soon = 0
    for number in range(patience.tries):
        kind, value = DBOS.run_step({"name": f"{name} {number}"}, lambda: _tried(act))
        if kind == "done":
            return value  # type: ignore[no-any-return]
        if kind == "refused":
            raise Refused(str(value))
        soon += kind == "soon"
        if soon > patience.soon:
            break
        asked, text = value
        LOG.warning("%s: %s", name, text)
        DBOS.sleep(asked if asked is not None else wait)
        wait = min(2 * wait, patience.longest)
    raise Unavailable(f"{name}: the forge was unavailable for too long. Start the run again when it is back.")


def _tried(act: Callable[[], T]) -> tuple[str, Any]:
    """What came of an act, as a value that is stored; a defect of our own stays an exception."""
    try:
        return "done", act()
    except NotYet as error:
        return "soon", (error.retry_after, str(error))
    except Unavailable as error:
        return "later", (error.retry_after, str(error))
    except (Refused, NotThere) as error:
        LOG.warning("%s", error)
        return "refused", error.public


def fetched(mirrors: Mirrors, remote: Remote, revision: str) -> Repository:
    """The mirror with all of `revision`. Raises `Unavailable`, `Refused`."""
    try:
        return mirrors.update(remote, revision)
    except GitFailed as error:
        raise Unavailable(f"Fetching: {error}", public=f"Fetching: {error.public}") from error
    except CheckoutError as error:
        raise Refused(f"Fetching: {error}", public=f"Fetching: {error.public}") from error
