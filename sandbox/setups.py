"""What a set-up is made from, and what to say of one that failed."""

from __future__ import annotations

import hashlib
import json
import re

from sandbox.errors import SetupFailed
from sandbox.manifests import manifests
from sandbox.port import Recipe, Result
from sandbox.trees import Entries

FORMAT = 1
"""Part of every key: raise it when what is made of the same inputs changes."""


OUT_OF_REACH = re.compile(
    r"gaierror|getaddrinfo|Name or service not known|name resolution|resolve host|Failed to resolve|[Nn]o such host"
    r"|ENOTFOUND|EAI_AGAIN|UnknownHost|[Nn]etwork (is )?unreachable|ENETUNREACH|[Cc]onnection refused|ECONNREFUSED"
    r"|ConnectError|ConnectionError|ConnectTimeout|Cannot assign requested address|EADDRNOTAVAIL"
)
"""What is said where the network or a service cannot be had."""
NO_HOST = " (it could not reach a host: let set-up have the network, or name a mirror in AGENT_FIX_SETUP_ENV)"


def digest(value: object) -> str:
    """A short name for a JSON-able value."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:20]


def ground_key(recipe: Recipe, base: str) -> str:
    """What the ground is made from; `base` is the id of the base image."""
    return digest([FORMAT, base, sorted(recipe.packages)])


def project_key(repository: str, recipe: Recipe, entries: Entries, ground: str) -> str:
    """What the set-up of a project depends on: its commands and its manifests, not its other files.

    Two repositories of the same manifests do not share an image: it holds the files of the one that came first.
    """
    commands = [recipe.setup, recipe.build, dict(recipe.env), recipe.workdir]
    return digest([FORMAT, repository, ground, commands, manifests(recipe, entries)])


def failed(what: str, result: Result) -> SetupFailed:
    """The error for a set-up that did not end well; its text holds the lines that matter."""
    ends = {
        "exit": f"ended with exit code {result.exit_code}",
        "timeout": f"was not done after {result.seconds:.0f} seconds",
        "memory": "needed more memory than it may have",
        "output": "printed more than it may",
        "disk": "wrote more than it may",
    }
    lines = lines_that_matter(result.output)
    hint = NO_HOST if OUT_OF_REACH.search("\n".join(lines)) else ""
    return SetupFailed(f"{what} {ends[result.ended]}{hint}:\n" + "\n".join(lines), result.output)


_TELLING = re.compile(r"error|fatal|not found|no such|cannot|could not|unable|denied|conflict|^E:|ERR!", re.IGNORECASE)


def lines_that_matter(log: str, most: int = 25) -> list[str]:
    """Of a set-up's log: the command that failed, what it said of errors, and its last lines."""
    lines = [line.rstrip() for line in log.splitlines()]
    begin = max((number for number, line in enumerate(lines) if line.startswith("$ ")), default=0)
    step = [line for line in lines[begin:] if line]
    telling = [line for line in step[1:-5] if _TELLING.search(line)]
    return [*step[:1], *telling[-(most - 6) :], *step[1:][-5:]]
