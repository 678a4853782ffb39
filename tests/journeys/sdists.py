"""Source distributions of real projects, as repositories of one commit. They are fetched and read inside a sandbox."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import subprocess
import tarfile
from dataclasses import replace
from pathlib import Path

from bot import wiring
from bot.settings import load_settings
from sandbox.docker_engine import DockerSandbox
from sandbox.port import Recipe
from tests.fakes.memory_base import memory_tree

FOLDER = "$HOME/sdist"
LARGEST = 16_000_000
"""Bytes of a distribution as text."""


def sdist(name: str, version: str, sha256: str, folder: Path) -> Path:
    """The project as git would have it, the same commit id every time."""
    settings = load_settings(state_dir=folder / "state")
    told = wiring.sandbox_settings(settings, f"sdist-{name}", "sdists")
    sandbox = DockerSandbox(replace(told, output_kept=LARGEST))
    # Reading a distribution's metadata runs its build backend: in the set-up, like all of a project's code.
    download = f"pip download -q --no-deps --no-binary {name} -d {FOLDER} {name}=={version}"
    recipe = Recipe(settings.base_image, ("python3 -m venv ~/venv", download), "true", "exit-code")
    nothing = memory_tree()
    environment = sandbox.prepare(recipe, nothing)
    printed = sandbox.run(environment, nothing, f"base64 -w0 {FOLDER}/*.tar.gz", seconds=60)
    data = base64.b64decode(printed.output)
    assert hashlib.sha256(data).hexdigest() == sha256, "the registry serves another file than the recording was made on"
    return _committed(data, folder, name, version)


def _committed(data: bytes, folder: Path, name: str, version: str) -> Path:
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        archive.extractall(folder, filter="data")
    repo = folder / f"{name}-{version}"
    when = {"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}
    who = ["-c", "user.name=sdist", "-c", "user.email=sdist@example.invalid", "-c", "core.autocrlf=false"]
    for words in (["init", "-q", "-b", "main"], ["add", "-A", "-f"], ["commit", "-q", "-m", f"{name} {version}"]):
        subprocess.run(["git", *who, *words], cwd=repo, check=True, env=os.environ | when)
    return repo
