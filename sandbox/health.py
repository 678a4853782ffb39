"""Whether the engine and the base image are there, and what to do if not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import docker
import docker.errors

from sandbox.docker_engine import connect
from sandbox.images import RECENT_SECONDS, held
from sandbox.settings import GIGABYTE, SandboxSettings


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. `text` says how it is, or how to mend it."""

    name: str
    well: bool
    text: str


def examine(settings: SandboxSettings) -> Iterator[Finding]:
    """The engine, its limits, the runtime, what images hold, and the base image."""
    try:
        client = connect(settings)
        about = client.info()
    except (docker.errors.DockerException, OSError) as error:
        yield Finding("engine", False, f"no Docker engine answers ({error}); start one, or set DOCKER_HOST")
        return
    yield Finding("engine", True, f"Docker {about['ServerVersion']}, {about['NCPU']} processors, {_memory(about)}")
    wanted = settings.memory / GIGABYTE
    if about["MemTotal"] < settings.memory:
        yield Finding("memory", False, f"a sandbox may use {wanted:.1f} GB, more than there is: lower AGENT_FIX_MEMORY")
    if settings.runtime is not None:
        well = settings.runtime in about.get("Runtimes", {})
        hint = "installed" if well else f"not installed; there are {', '.join(sorted(about.get('Runtimes', {})))}"
        yield Finding("runtime", well, f"{settings.runtime}: {hint}")
    yield _images(client, settings)
    try:
        image = client.images.get(settings.base_image)
        yield Finding("base image", True, f"{settings.base_image} ({image.attrs['Size'] / GIGABYTE:.2f} GB)")
    except docker.errors.ImageNotFound:
        text = f"no {settings.base_image}: `python -m sandbox.base_image` makes it, AGENT_FIX_BASE_IMAGE names another"
        yield Finding("base image", False, text)


def _images(client: docker.DockerClient, settings: SandboxSettings) -> Finding:
    """Whether the limit of the environment images holds."""
    now, limit = held(client, settings), settings.images
    hours = RECENT_SECONDS // 3600
    text = f"{now.number} hold {now.size / GIGABYTE:.1f} GB of {limit / GIGABYTE:.1f} GB"
    if now.recent > limit:
        text += (
            f": {now.recent / GIGABYTE:.1f} GB were used in the last {hours} hours, and stay; raise AGENT_FIX_IMAGES"
        )
    elif now.size > limit:
        text += ": the longest unused go when the next one is built"
    return Finding("images", now.recent <= limit, text)


def _memory(about: dict[str, int]) -> str:
    return f"{about['MemTotal'] / GIGABYTE:.0f} GB of memory"
