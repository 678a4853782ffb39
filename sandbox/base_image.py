"""The base image, where there is none: pulled from a registry, or made from Debian's archive on a Debian machine.

`python -m sandbox.base_image [--image NAME] [--pull SOURCE]` makes it; `ensure` does the same from code.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import docker
import docker.errors

from sandbox.container import engine_errors
from sandbox.errors import SandboxError, SandboxUnavailable
from sandbox.settings import SandboxSettings

DEFAULT = SandboxSettings.base_image
PULLED = "python:3.11-bookworm"
"""Has all that `PACKAGES` has, and a compiler."""
SUITE = "bookworm"
PACKAGES = (
    "bash",
    "ca-certificates",
    "curl",
    "git",
    "make",
    "patch",
    "procps",
    "python3",
    "python3-venv",
    "tzdata",
    "xz-utils",
)


def ensure(client: docker.DockerClient, name: str = DEFAULT, source: str = PULLED) -> str:
    """The id of the image `name`, made if there is none. Raises `SandboxUnavailable` with each way that failed."""
    with engine_errors():
        try:
            return str(client.images.get(name).id)
        except docker.errors.ImageNotFound:
            return _made(client, name, source)


def _made(client: docker.DockerClient, name: str, source: str) -> str:
    tried = []
    for way, make in (("pull", _pull), ("mmdebstrap", _bootstrap)):
        try:
            make(client, name, source)
            return str(client.images.get(name).id)
        except (docker.errors.APIError, subprocess.SubprocessError, OSError) as error:
            tried.append(f"{way}: {_said(error)}")
    raise SandboxUnavailable(
        f"the base image {name} could not be made ({'; '.join(tried)}): let the engine pull {source}, "
        "install `mmdebstrap` (as root), or load an image with bash, git and Python and name it in the settings"
    )


def _pull(client: docker.DockerClient, name: str, source: str) -> None:
    repository, tag = _split(name)
    client.images.pull(*_split(source)).tag(repository, tag)


def _bootstrap(client: docker.DockerClient, name: str, _: str) -> None:
    program = shutil.which("mmdebstrap")
    if program is None:
        raise FileNotFoundError("it is not installed")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root.tar"
        command = [program, "--quiet", "--variant=apt", f"--include={','.join(PACKAGES)}", SUITE, str(root)]
        subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True)  # noqa: S603 - constants alone
        repository, tag = _split(name)
        client.api.import_image(src=str(root), repository=repository, tag=tag)


def _split(name: str) -> tuple[str, str]:
    """Repository and tag; a colon before the last slash belongs to a port."""
    head, slash, last = name.rpartition("/")
    repository, _, tag = last.partition(":")
    return head + slash + repository, tag or "latest"


def _said(error: Exception) -> str:
    text = error.stderr if isinstance(error, subprocess.CalledProcessError) else str(error)
    return " ".join((text or str(error)).split())[-300:]


def main(arguments: list[str] | None = None) -> int:
    """The command line; the exit code is 1 if the image cannot be made."""
    parser = argparse.ArgumentParser(prog="python -m sandbox.base_image", description="Make the sandbox's base image.")
    parser.add_argument("--image", default=DEFAULT, help="its name (default: %(default)s)")
    parser.add_argument("--pull", default=PULLED, help="what to pull where a registry can be reached (%(default)s)")
    given = parser.parse_args(arguments)
    try:
        with engine_errors(), contextlib.closing(docker.DockerClient()) as client:
            identity = ensure(client, given.image, given.pull)
    except SandboxError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{given.image} is {identity}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
