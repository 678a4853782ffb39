"""Environment images: named by what they are made from, built once, and the longest unused removed first.

Three layers: the base image; the ground (user, folders, Debian packages), shared by all projects that need the same;
the project at the tree of its first run, set up. Later trees are put into each container as a difference, until that
grows too large.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import docker
import docker.errors
from filelock import FileLock, Timeout

from sandbox import scripts
from sandbox.archive import Archive
from sandbox.container import OWNER_LABEL, Execution, Rights, container, fetch, labels, put
from sandbox.errors import SandboxStopped, SandboxUnavailable
from sandbox.port import Environment, Recipe, Snapshot
from sandbox.settings import SandboxSettings
from sandbox.setups import digest, failed, ground_key, project_key
from sandbox.trees import Entries, difference, entries_from_json, entries_to_json

if TYPE_CHECKING:
    from docker.models.containers import Container
    from docker.models.images import Image

RECENT_SECONDS = 6 * 3600
"""An image used since then may belong to a run that is between two containers."""
CACHE_SECONDS = 14 * 86400
"""A package cache that was not used for so long goes."""
GROUND, PROJECT = "agent-fix-ground", "agent-fix-project"
CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "SETGID", "SETUID")
"""What `apt-get` needs as root: it hands files to others and drops to a user of its own for downloads."""


@dataclass(frozen=True)
class Kept:
    """What an image of a project keeps of its making."""

    tree: Entries
    log: str


class Images:
    """The images of one engine, as one run sees them."""

    def __init__(self, client: docker.DockerClient, settings: SandboxSettings, stop: threading.Event) -> None:
        self._client = client
        self._settings = settings
        self._stop = stop
        self._kept: dict[str, Kept] = {}

    def prepare(self, recipe: Recipe, snapshot: Snapshot) -> Environment:
        """Find or build the project's image. Raises `SetupFailed`, `SandboxUnavailable`, `SandboxStopped`."""
        started = time.monotonic()
        entries = snapshot.entries()
        ground, _ = self._found_or_built(GROUND, ground_key(recipe, self._base(recipe)), partial(self._ground, recipe))
        image, built = self._found_or_built(
            PROJECT,
            project_key(self._settings.repository, recipe, entries, ground),
            partial(self._project, recipe, snapshot, ground),
            lambda found: len(difference(self.kept(found).tree, entries).paths) <= self._settings.drift,
        )
        if built:
            evict(self._client, self._settings, keep={ground, image})
        return Environment(image, recipe, built, self.kept(image).log, time.monotonic() - started, snapshot)

    def kept(self, image: str) -> Kept:
        """What an image tells of itself. Raises `docker.errors.ImageNotFound`."""
        if image not in self._kept:
            with container(self._client, self._settings, image, seconds=0, rights=Rights()) as target:
                files = fetch(target, "/agent-fix/kept", self._settings.report)
            self._kept[image] = Kept(
                entries_from_json(files["tree.json"]), files["setup.log"].decode("utf-8", "replace")
            )
        return self._kept[image]

    def _base(self, recipe: Recipe) -> str:
        try:
            return str(self._client.images.get(recipe.base_image).id)
        except docker.errors.ImageNotFound as error:
            raise SandboxUnavailable(
                f"the engine has no image {recipe.base_image!r}: pull it, or make the default one "
                "with `python -m sandbox.base_image`"
            ) from error

    def _found_or_built(
        self, kind: str, key: str, build: Callable[[str], str], serves: Callable[[str], bool] = lambda _: True
    ) -> tuple[str, bool]:
        """The id of an image, and whether it had to be built; one builds while the others wait."""
        name = f"{kind}:{key}"
        with self._lock(name):
            used(self._settings, name)
            with contextlib.suppress(docker.errors.ImageNotFound):
                found = str(self._client.images.get(name).id)
                if serves(found):
                    used(self._settings, found)
                    return found, False
            return build(name), True

    @contextlib.contextmanager
    def _lock(self, name: str) -> Iterator[None]:
        own = lock(self._settings, name)
        while not own.is_locked:
            if self._stop.is_set():
                raise SandboxStopped("the run was told to stop")
            with contextlib.suppress(Timeout):
                own.acquire(timeout=0.5)
        try:
            yield
        finally:
            own.release()

    def _ground(self, recipe: Recipe, name: str) -> str:
        network = self._settings.setup_network if recipe.packages else "none"
        rights = Rights("0:0", CAPABILITIES, network, tmp_in_memory=False)
        with self._container(recipe.base_image, rights) as target:
            with self._inputs() as archive:
                archive.add("agent-fix/in/start", scripts.ground(recipe.packages).encode())
                put(target, archive)
            self._run(target, f"installing {', '.join(recipe.packages) or 'the ground'}")
            return self._commit(target, name)

    def _project(self, recipe: Recipe, snapshot: Snapshot, ground: str, name: str) -> str:
        rights = Rights(network=self._settings.setup_network, volumes=self._cache(), tmp_in_memory=False)
        with self._container(ground, rights) as target:
            with self._inputs() as archive:
                archive.add("agent-fix/in/start", scripts.start(recipe, scripts.CONTAINER).encode())
                archive.add("agent-fix/in/command", self._setup(recipe).encode())
                archive.add_tree("repo", snapshot, snapshot.entries())
                put(target, archive)
            log = self._run(target, "the project's set-up")
            with Archive() as archive:
                archive.add("agent-fix/kept/tree.json", entries_to_json(snapshot.entries()), owner=0)
                archive.add("agent-fix/kept/setup.log", log.encode(), owner=0)
                put(target, archive)
            return self._commit(target, name)

    def _setup(self, recipe: Recipe) -> str:
        values = {**scripts.caches("/cache"), **self._settings.setup_env}
        if self._settings.ca_bundle:
            values |= dict.fromkeys(scripts.CERTIFICATES, "/agent-fix/in/ca.pem")
        text = scripts.setup(recipe, scripts.CONTAINER, values)
        return text + ("" if self._settings.repository else scripts.CLEAN_CACHE) + scripts.CLEAN

    @contextlib.contextmanager
    def _inputs(self) -> Iterator[Archive]:
        with Archive() as archive:
            if self._settings.ca_bundle:
                archive.add("agent-fix/in/ca.pem", self._settings.ca_bundle.read_bytes())
            yield archive

    def _cache(self) -> dict[str, str]:
        if not self._settings.repository:
            return {}
        name = f"agent-fix-cache-{digest(self._settings.repository)}"
        used(self._settings, name)
        self._client.volumes.create(name, labels=labels(self._settings))
        return {name: "/cache"}

    def _container(self, image: str, rights: Rights) -> contextlib.AbstractContextManager[Container]:
        seconds = self._settings.setup_seconds
        return container(self._client, self._settings, image, seconds=seconds, rights=rights)

    def _run(self, target: Container, what: str) -> str:
        """The log of a set-up that succeeded."""
        result = Execution(self._client, target, self._settings, self._stop).run(self._settings.setup_seconds)
        if result.exit_code != 0:
            raise failed(what, result)
        return result.output

    def _commit(self, target: Container, name: str) -> str:
        kind, _, key = name.partition(":")
        image = target.commit(kind, key, conf={"Labels": labels(self._settings)})
        return str(image.id)


def stamp(settings: SandboxSettings, name: str) -> Path:
    """The file whose time says when an image was last used."""
    folder = settings.state / "images"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / name.replace(":", "-")


def lock(settings: SandboxSettings, name: str) -> FileLock:
    """What whoever finds, builds or removes an image holds meanwhile, in all processes."""
    return FileLock(stamp(settings, name).with_suffix(".lock"))


def used(settings: SandboxSettings, name: str) -> None:
    """Note that an image is in use now."""
    stamp(settings, name).touch()


def evict(client: docker.DockerClient, settings: SandboxSettings, keep: Collection[str]) -> list[str]:
    """Remove the longest unused images of this installation while all of them hold more than the limit.

    Those without a name, in whose place a newer one was built, go in any case, and one that was used in the last
    `RECENT_SECONDS` in none. Returns what went.
    """
    images = client.images.list(filters=_mine(settings))
    sizes = {image.id: own_size(client, image) for image in images}
    times = {image.id: _last_used(settings, image) for image in images}
    total, removed = sum(sizes.values()), _evict_caches(client, settings)
    for image in sorted(images, key=lambda image: (bool(image.tags), times[image.id])):
        if image.tags and total <= settings.images:
            break
        if image.id not in keep and _removed(client, settings, image):
            removed.append((image.tags or [str(image.id)])[0])
            total -= sizes[image.id]
    return removed


def _removed(client: docker.DockerClient, settings: SandboxSettings, image: Image) -> bool:
    """Remove an image, unless it is used now or was lately, or something stands on it."""
    name = (image.tags or [str(image.id)])[0]
    # Under its lock, as whoever finds it holds that: it is not lost between being found and being noted as used.
    with contextlib.suppress(Timeout, docker.errors.APIError), lock(settings, name).acquire(timeout=0):
        if not _is_recent(_last_used(settings, image)):
            client.images.remove(name)
            return True
    return False


@dataclass(frozen=True)
class Held:
    """What the images of an installation hold, in bytes."""

    number: int
    size: int
    recent: int
    """Of those that no limit removes yet."""


def held(client: docker.DockerClient, settings: SandboxSettings) -> Held:
    """Look at the images of this installation."""
    images = client.images.list(filters=_mine(settings))
    sizes = [(own_size(client, image), _is_recent(_last_used(settings, image))) for image in images]
    return Held(len(sizes), sum(size for size, _ in sizes), sum(size for size, recent in sizes if recent))


def _is_recent(used_at: float) -> bool:
    return time.time() - used_at < RECENT_SECONDS


def _evict_caches(client: docker.DockerClient, settings: SandboxSettings) -> list[str]:
    """Package caches go by age: their size is not known without a walk through them."""
    removed = []
    for volume in client.volumes.list(filters=_mine(settings)):
        path = stamp(settings, str(volume.name))
        if not path.exists() or time.time() - path.stat().st_mtime > CACHE_SECONDS:
            with contextlib.suppress(docker.errors.APIError):  # in use
                volume.remove()
                removed.append(str(volume.name))
    return removed


def _mine(settings: SandboxSettings) -> dict[str, str]:
    """A filter for what this installation made."""
    return {"label": f"{OWNER_LABEL}={labels(settings)[OWNER_LABEL]}"}


def own_size(client: docker.DockerClient, image: Image) -> int:
    """The bytes that an image adds to the one that it was made from."""
    size = int(image.attrs["Size"])
    parent = image.attrs.get("Parent")
    return size - int(client.images.get(parent).attrs["Size"]) if parent else size


def _last_used(settings: SandboxSettings, image: Image) -> float:
    """Seconds since the epoch: by its name, or by its id, since one that lost its name may still be in use."""
    stamps = [path for name in (*image.tags, str(image.id)) if (path := stamp(settings, name)).exists()]
    made = datetime.fromisoformat(image.attrs["Created"]).timestamp()
    return max((path.stat().st_mtime for path in stamps), default=made)
