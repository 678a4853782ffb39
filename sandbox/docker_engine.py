"""The sandbox on a Docker engine: an image per set-up, a fresh container per command."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterable, Iterator
from functools import cached_property

import docker
import docker.errors

from sandbox import report, scripts
from sandbox.archive import Archive
from sandbox.container import (
    OWNER_LABEL,
    RUN_LABEL,
    UNTIL_LABEL,
    Execution,
    Rights,
    container,
    engine_errors,
    fetch,
    labels,
    put,
    remove,
)
from sandbox.errors import SandboxStopped
from sandbox.images import Images
from sandbox.port import Environment, Recipe, Result, Snapshot, TestReport
from sandbox.runners.base import Asked
from sandbox.settings import SandboxSettings
from sandbox.trees import NAMES, NOTHING, Entries, difference


class DockerSandbox:
    """The sandboxes of one run. Safe to use from several threads at once."""

    def __init__(self, settings: SandboxSettings) -> None:
        self._settings = settings
        self._stop = threading.Event()

    def prepare(self, recipe: Recipe, snapshot: Snapshot) -> Environment:
        """See `Sandbox.prepare`."""
        with engine_errors():
            return self._images.prepare(recipe, snapshot)

    def run(self, environment: Environment, snapshot: Snapshot, command: str, *, seconds: float) -> Result:
        """See `Sandbox.run`."""
        return self._check(environment, snapshot, command, seconds, None)[0]

    def test(
        self,
        environment: Environment,
        snapshot: Snapshot,
        *,
        selection: Iterable[str] = (),
        watch: Iterable[str] = (),
        seconds: float,
    ) -> TestReport:
        """See `Sandbox.test`. Raises `ValueError` for a selection that no test can have for a name."""
        watched = {path: snapshot.read(path) for path in watch}
        asked = Asked(environment.recipe, frozenset(snapshot.entries()), tuple(selection), watch=watched)
        command = report.reporter(environment.recipe).command(asked)
        return report.report(asked, *self._check(environment, snapshot, command, seconds, asked))

    def close(self) -> None:
        """Let go of the connections to the engine. Nothing is left in it: every command cleans up after itself."""
        if "_client" in self.__dict__:
            self._client.close()

    def stop(self) -> None:
        """End whatever runs, within about a second; it and what comes after it raise `SandboxStopped`."""
        self._stop.set()

    @cached_property
    def _client(self) -> docker.DockerClient:
        return connect(self._settings)

    @cached_property
    def _images(self) -> Images:
        return Images(self._client, self._settings, self._stop)

    def _check(
        self,
        environment: Environment,
        snapshot: Snapshot,
        command: str,
        seconds: float,
        asked: Asked | None,
    ) -> tuple[Result, dict[str, bytes] | str]:
        """Run a command; for a test run also give the report's files, or the reason why they cannot be had."""
        if self._stop.is_set():
            raise SandboxStopped("the run was told to stop")
        with engine_errors():
            kept = self._images.kept(environment.id).tree
            new = container(self._client, self._settings, environment.id, seconds=seconds, rights=Rights())
            with inputs(environment, kept, snapshot, command, asked) as archive, new as target:
                put(target, archive)
                result = Execution(self._client, target, self._settings, self._stop).run(seconds)
                if asked is None:
                    return result, {}
                try:
                    return result, fetch(target, scripts.CONTAINER.out, self._settings.report)
                except ValueError as error:
                    return result, str(error)


def connect(settings: SandboxSettings) -> docker.DockerClient:
    """A client of the engine. Raises `docker.errors.DockerException`."""
    return docker.DockerClient(base_url=settings.docker_host, timeout=int(settings.client_timeout))


@contextlib.contextmanager
def inputs(
    environment: Environment, kept: Entries, snapshot: Snapshot, command: str, asked: Asked | None
) -> Iterator[Archive]:
    """Everything that is put into a container before it starts; `kept` is the tree that its image holds."""
    places, recipe, base = scripts.CONTAINER, environment.recipe, environment.base or snapshot
    changes = difference(kept, snapshot.entries())
    lag = difference(kept, base.entries()) if environment.base else NOTHING
    text = scripts.check(recipe, places, changes.paths, command, behind=bool(lag.paths))
    with Archive() as archive:
        archive.add("agent-fix/in/start", scripts.start(recipe, places).encode())
        archive.add("agent-fix/in/deleted", changes.listed)
        archive.add("agent-fix/in/gone", lag.listed)
        archive.add_tree("agent-fix/in/base", base, lag.put)
        archive.add("agent-fix/in/command", text.encode(*NAMES))
        for name, data in report.reporter(recipe).files(asked).items() if asked else ():
            archive.add(f"agent-fix/in/lib/{name}", data)
        archive.add_tree("repo", snapshot, changes.put)
        yield archive


def sweep(settings: SandboxSettings, *, run_id: str | None = None) -> int:
    """Remove the containers that crashed runs left: those of this installation's `run_id`, all whose time is over.

    Returns how many there were. Raises `SandboxUnavailable`.
    """
    with engine_errors(), contextlib.closing(connect(settings)) as client:
        removed, own = 0, labels(settings)[OWNER_LABEL]
        for found in client.containers.list(all=True, filters={"label": RUN_LABEL}, ignore_removed=True):
            left = found.labels[RUN_LABEL] == run_id and found.labels.get(OWNER_LABEL) == own
            if left or float(found.labels.get(UNTIL_LABEL, 0)) < time.time():
                remove(found)
                removed += 1
        return removed
