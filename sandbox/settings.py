"""What an operator decides about sandboxes. Values only: where they come from is the caller's business."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

MEGABYTE = 1_000_000
GIGABYTE = 1_000_000_000


@dataclass(frozen=True)
class SandboxSettings:
    """Limits and places of one run's sandboxes. Sizes are bytes, times seconds."""

    state: Path
    """A folder for the locks of image builds, whose times say when an image was last used. Share it between runs."""
    run_id: str
    """Every container and image of the run is labelled with it."""
    base_image: str = "agent-fix-base:bookworm"
    docker_host: str | None = None
    """Address of the engine; None is the local socket."""
    client_timeout: float = 300
    """How long one answer of the engine may take: to commit a large image takes minutes."""
    runtime: str | None = None
    """An OCI runtime such as `runsc`; None is the engine's default."""
    setup_network: str = "bridge"
    ca_bundle: Path | None = None
    """Certificates that set-up trusts, for networks with a registry mirror or a proxy of their own."""
    setup_env: Mapping[str, str] = field(default_factory=dict)
    """Variables for set-up alone, such as `PIP_INDEX_URL`. Project code reads them: put no secret here."""
    repository: str = ""
    """Names what is set up: images and package caches of one never serve another. Empty: no package cache."""
    setup_seconds: float = 1800
    memory: int = 4 * GIGABYTE
    cpus: float = 2
    processes: int = 1024
    tmp: int = GIGABYTE
    """Size of `/tmp`, which is held in memory and counts towards it."""
    disk: int = 8 * GIGABYTE
    """What one container may write. Watched, so that a fast writer passes it by what it writes in a few seconds."""
    output_kept: int = MEGABYTE
    """Of a longer output the middle is cut."""
    output: int = 200 * MEGABYTE
    """A command that prints more is ended."""
    report: int = 64 * MEGABYTE
    """A larger test report is not read."""
    drift: int = 500
    """An environment whose tree differs in more files is set up anew: every check would have to put them all in."""
    images: int = 20 * GIGABYTE
    """Environment images beyond this go, the longest unused first."""
