"""One small real project, set up once in the real engine and left there for the next run of the suite."""

from __future__ import annotations

import contextlib
import ssl
import uuid
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest

from sandbox.base_image import ensure
from sandbox.docker_engine import DockerSandbox
from sandbox.port import Environment, Recipe
from sandbox.settings import SandboxSettings
from tests.sandbox.snapshots import Files

PROJECT = Files(
    {
        "pyproject.toml": '[build-system]\nrequires = ["setuptools>=70"]\nbuild-backend = "setuptools.build_meta"\n\n'
        '[project]\nname = "sums"\nversion = "1.0"\n\n[tool.setuptools]\npackages = ["sums"]\n',
        "sums/__init__.py": "def add(a, b):\n    return a - b\n",
        "tests/test_add.py": "from sums import add\n\n\ndef test_zero():\n    assert add(1, 0) == 1\n\n\n"
        "def test_add():\n    assert add(1, 2) == 3\n",
        "run.sh": (b"#!/bin/sh\necho ran\n", 0o100755),
    }
)


def recipe(**changes: object) -> Recipe:
    """How `PROJECT` is set up and tested."""
    values: dict[str, object] = {
        "base_image": SandboxSettings.base_image,
        "setup": ("python3 -m venv ~/venv", "pip install -q pytest -e ."),
        "test_command": "python -m pytest",
        "reporter": "pytest",
        "tests": ("tests",),
    }
    return Recipe(**{**values, **changes})  # type: ignore[arg-type]


@pytest.fixture(scope="session", autouse=True)
def base_image() -> None:
    with contextlib.closing(docker.DockerClient()) as client:
        ensure(client)


@pytest.fixture
def settings(tmp_path: Path) -> SandboxSettings:
    return settings_in(tmp_path, f"test-{uuid.uuid4()}")


def settings_in(folder: Path, run_id: str) -> SandboxSettings:
    certificates = ssl.get_default_verify_paths().cafile
    return SandboxSettings(
        state=folder / "state",
        run_id=run_id,
        ca_bundle=Path(certificates) if certificates else None,
        memory=400_000_000,
        processes=200,
        tmp=50_000_000,
        disk=300_000_000,
        output=30_000_000,
        output_kept=100_000,
        report=2_000_000,
    )


@pytest.fixture
def engine(settings: SandboxSettings) -> Iterator[docker.DockerClient]:
    client = docker.DockerClient()
    yield client
    client.close()


@pytest.fixture
def sandbox(settings: SandboxSettings, engine: docker.DockerClient) -> Iterator[DockerSandbox]:
    """A sandbox that must leave no container behind; images and caches that a test has made with it are removed."""
    with contextlib.closing(DockerSandbox(settings)) as made:
        yield made
    mine = {"label": f"agent-fix.run={settings.run_id}"}
    left = engine.containers.list(all=True, filters=mine, ignore_removed=True)
    for image in engine.images.list(filters=mine):
        with contextlib.suppress(docker.errors.APIError):  # the ground that other tests stand on
            engine.images.remove(str(image.id), force=True)
    for volume in engine.volumes.list(filters=mine):
        volume.remove()
    assert not left


@pytest.fixture(scope="session")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DockerSandbox]:
    """A sandbox whose images stay for the next run of the suite."""
    with contextlib.closing(DockerSandbox(settings_in(tmp_path_factory.mktemp("lasting"), "tests"))) as made:
        yield made


@pytest.fixture(scope="session")
def environment(lasting: DockerSandbox) -> Environment:
    """`PROJECT`, set up."""
    return lasting.prepare(recipe(), PROJECT)
