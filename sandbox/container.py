"""One container from its making to its removal, and one command in it."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

import docker
import docker.errors
import requests.exceptions
from docker.types import LogConfig, Ulimit

from sandbox.archive import USER_ID, Archive, regular_files
from sandbox.errors import SandboxDied, SandboxStopped, SandboxUnavailable
from sandbox.output import Output
from sandbox.port import Result
from sandbox.scripts import KILLED, KILLED_INSIDE
from sandbox.settings import SandboxSettings
from sandbox.setups import digest
from sandbox.watching import Watch

if TYPE_CHECKING:
    from docker.models.containers import Container

RUN_LABEL = "agent-fix.run"
UNTIL_LABEL = "agent-fix.until"
"""Seconds since the epoch after which whoever made the container has no more use for it."""

OWNER_LABEL = "agent-fix.owner"
"""Whose it is: two installations on one engine may well have runs of the same name."""

IPV6 = Path("/proc/sys/net/ipv6")
KILL_SECONDS = 30
"""How long the engine may take to end a container that it was told to kill."""


@dataclass(frozen=True)
class Rights:
    """What a container may do beyond the least."""

    user: str = f"{USER_ID}:{USER_ID}"
    capabilities: tuple[str, ...] = ()
    network: str = "none"
    volumes: Mapping[str, str] = field(default_factory=dict)
    """Volume name -> where it is mounted."""
    tmp_in_memory: bool = True


@contextlib.contextmanager
def engine_errors() -> Iterator[None]:
    """Turns the errors of the engine's client into this package's."""
    try:
        yield
    except docker.errors.ImageNotFound as error:
        raise SandboxUnavailable(f"{error.explanation}: prepare the environment again") from error
    except docker.errors.NotFound as error:
        raise SandboxDied("the container was removed under the run: run it again") from error
    except docker.errors.APIError as error:
        raise SandboxUnavailable(f"the container engine refused: {error.explanation or error}") from error
    except (docker.errors.DockerException, requests.exceptions.RequestException, ConnectionError) as error:
        raise SandboxUnavailable(
            f"the container engine does not answer ({error}): start it (`systemctl start docker`) or set its address"
        ) from error


@contextlib.contextmanager
def container(
    client: docker.DockerClient, settings: SandboxSettings, image: str, *, seconds: float, rights: Rights
) -> Iterator[Container]:
    """A container that is not started yet and that is gone, with all it wrote, when the block ends."""
    with engine_errors():
        made = client.containers.create(image, **_options(settings, seconds, rights))
        try:
            yield made
        finally:
            remove(made)


def remove(target: Container) -> None:
    """Remove a container, running or not, unless somebody else just does."""
    try:
        target.remove(force=True, v=True)
    except docker.errors.APIError as error:
        if error.status_code not in (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT):
            raise


def labels(settings: SandboxSettings) -> dict[str, str]:
    """Says which run made something, and which installation it belongs to: that of its state folder."""
    return {RUN_LABEL: settings.run_id, OWNER_LABEL: digest(str(settings.state.resolve()))}


def _options(settings: SandboxSettings, seconds: float, rights: Rights) -> dict[str, Any]:
    until = int(time.time() + seconds + settings.client_timeout)
    return {
        "entrypoint": ["/bin/sh", "/agent-fix/in/start"],
        "command": [],
        "working_dir": "/",
        "hostname": "sandbox",
        "extra_hosts": {"sandbox": "127.0.0.1"},
        "user": rights.user,
        "labels": labels(settings) | {UNTIL_LABEL: str(until)},
        "network_mode": rights.network,
        "sysctls": _loopback(settings) if rights.network == "none" else {},
        "volumes": [f"{name}:{place}" for name, place in rights.volumes.items()],
        "tmpfs": {"/tmp": f"size={settings.tmp},exec,mode=1777"} if rights.tmp_in_memory else {},  # noqa: S108
        "cap_drop": ["ALL"],
        "cap_add": list(rights.capabilities),
        "security_opt": ["no-new-privileges:true"],
        "mem_limit": settings.memory,
        "memswap_limit": settings.memory,
        "nano_cpus": int(settings.cpus * 1e9),
        "pids_limit": settings.processes,
        "shm_size": min(settings.tmp, settings.memory // 4),
        "ulimits": [
            Ulimit(name="fsize", soft=settings.disk, hard=settings.disk),
            Ulimit(name="core", soft=0, hard=0),
        ],
        "log_config": LogConfig(type="none"),
        "runtime": settings.runtime,
        # The client would otherwise pass on the proxies of its own configuration, with their passwords.
        "use_config_proxy": False,
    }


def _loopback(settings: SandboxSettings) -> dict[str, str]:
    """Tests may well talk to `::1`, which an engine leaves out of a container without network.

    An engine elsewhere, or another runtime, may have no IPv6 and would refuse to start the container.
    """
    here = settings.docker_host is None and settings.runtime is None and IPV6.exists()
    return {"net.ipv6.conf.lo.disable_ipv6": "0"} if here else {}


def put(target: Container, archive: Archive) -> None:
    """Unpack an archive at the root of a container that is not running, so that nothing in it can interfere."""
    target.put_archive("/", archive.finish())


def fetch(target: Container, path: str, limit: int) -> dict[str, bytes]:
    """The regular files below a folder of an ended container. Raises `ValueError` beyond `limit` bytes."""
    chunks, _ = target.get_archive(path)
    return regular_files(chunks, limit)


class Execution:
    """Starts a container and sees it to its end: by itself, or by a limit, or because it was told to stop."""

    def __init__(
        self, client: docker.DockerClient, target: Container, settings: SandboxSettings, stop: threading.Event
    ) -> None:
        self._client = client
        self._target = target
        self._settings = settings
        self._stop = stop
        self._output = Output(settings.output_kept)
        self._code: int | None = None
        self._error: BaseException | None = None

    def run(self, seconds: float) -> Result:
        """Run to the end. Raises `SandboxDied`, `SandboxStopped`; after either, nothing runs any more."""
        if self._stop.is_set():
            raise SandboxStopped("the run was told to stop")
        stream = self._client.api.attach(str(self._target.id), stream=True)
        started = time.monotonic()
        self._target.start()
        follower = threading.Thread(target=self._follow, args=(stream,), daemon=True)
        follower.start()
        ended = Watch(seconds, self._output, self._settings.output, self._stop, self._disk_is_full).over(follower)
        took = time.monotonic() - started
        if ended != "exit":
            with contextlib.suppress(docker.errors.APIError):  # it may just have ended by itself
                self._target.kill()
            follower.join(KILL_SECONDS)
        if ended == "stop":
            raise SandboxStopped("the run was told to stop")
        if self._error is not None:
            raise self._error
        return self._result(ended, took)

    def _follow(self, stream: Any) -> None:
        try:
            for chunk in stream:
                self._output.add(chunk)
            self._code = int(self._target.wait()["StatusCode"])
        except BaseException as error:  # noqa: BLE001 - handed to the thread that waits
            self._error = error
        finally:
            stream._response.close()  # the stream's own `close` leaves the socket to the garbage collector

    def _disk_is_full(self) -> bool:
        found = self._client.api.containers(all=True, size=True, filters={"id": self._target.id})
        return any(one.get("SizeRw", 0) > self._settings.disk for one in found)

    def _result(self, ended: str, seconds: float) -> Result:
        output = self._output.text()
        if ended != "exit":
            return Result(None, output, seconds, ended)
        self._target.reload()
        state = self._target.attrs["State"]
        killed = self._code in (KILLED, KILLED_INSIDE)
        if state["OOMKilled"] and killed:
            return Result(None, output, seconds, "memory")
        if state["OOMKilled"]:
            output += "\n[one of its processes was killed: together they needed more memory than a sandbox has]\n"
        if self._code == KILLED or state["Error"]:
            raise SandboxDied("the container was killed from outside: run it again, and see the engine's log")
        return Result(KILLED if killed else self._code, output, seconds)
