"""The sandbox without containers, for a machine that is itself thrown away. Chosen by name, never fallen back to.

The machine is all that stands between the project's code and everything else: there is no limit but on time and
output, and the network stays open. Environments are folders; what a run writes there is undone before the next one.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from filelock import FileLock

from sandbox import report, scripts
from sandbox.errors import SandboxDied, SandboxStopped, SandboxUnavailable, SetupFailed
from sandbox.folders import apply, regular_files_in, remove_folder
from sandbox.output import Output
from sandbox.port import Environment, Recipe, Result, Snapshot, TestReport
from sandbox.runners.base import Asked
from sandbox.scripts import KILLED, KILLED_INSIDE, Places
from sandbox.settings import SandboxSettings
from sandbox.setups import digest, failed, project_key
from sandbox.trees import NAMES, NOTHING, Difference, difference, entries_from_json, entries_to_json
from sandbox.watching import Watch

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""All that commands get of the environment: this process's own holds secrets."""
LAST_WORDS_SECONDS = 1.0
"""How long output may still come after the end of a command, from what it left running."""


class LocalSandbox:
    """The sandboxes of one run, as plain processes. One command at a time in an environment."""

    def __init__(self, settings: SandboxSettings) -> None:
        self._settings = settings
        self._stop = threading.Event()

    def prepare(self, recipe: Recipe, snapshot: Snapshot) -> Environment:
        """See `Sandbox.prepare`. Debian packages must be there already: `SetupFailed` names those that are not."""
        started = time.monotonic()
        key = digest(
            [project_key(self._settings.repository, recipe, snapshot.entries(), "local"), sorted(recipe.packages)]
        )
        folder = self._settings.state / "local" / key
        folder.mkdir(parents=True, exist_ok=True)
        with self._lock(folder):
            built = not (folder / "tree.json").exists()
            if built:
                self._build(recipe, snapshot, folder)
            log = (folder / "setup.log").read_text("utf-8")
        return Environment(str(folder), recipe, built, log, time.monotonic() - started, snapshot)

    def run(self, environment: Environment, snapshot: Snapshot, command: str, *, seconds: float) -> Result:
        """See `Sandbox.run`."""
        with self._prepared(environment, snapshot) as (places, changes, behind):
            text = scripts.check(environment.recipe, places, changes.paths, command, behind=behind)
            return self._execute(environment.recipe, places, text, seconds)

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
        recipe = environment.recipe
        watched = {path: snapshot.read(path) for path in watch}
        with self._prepared(environment, snapshot) as (places, changes, behind):
            asked = Asked(recipe, frozenset(snapshot.entries()), tuple(selection), places.repo, watched)
            reads = report.reporter(recipe)
            text = scripts.check(recipe, places, changes.paths, reads.command(asked), behind=behind)
            for name, data in reads.files(asked).items():
                Path(places.given, "lib", name).write_bytes(data)
            result = self._execute(recipe, places, text, seconds)
            return report.report(asked, result, regular_files_in(Path(places.out), self._settings.report))

    def stop(self) -> None:
        """End whatever runs, within about a second; it and what comes after it raise `SandboxStopped`."""
        self._stop.set()

    def close(self) -> None:
        """Nothing is held open."""

    @contextlib.contextmanager
    def _lock(self, folder: Path) -> Iterator[None]:
        with FileLock(folder / "lock"):
            if self._stop.is_set():
                raise SandboxStopped("the run was told to stop")
            yield

    def _build(self, recipe: Recipe, snapshot: Snapshot, folder: Path) -> None:
        require_packages(recipe.packages)
        places = fresh(folder, None)
        apply(Path(places.repo), snapshot, Difference(frozenset(snapshot.entries()), frozenset()))
        values = {**scripts.caches(str(self._settings.state / "local-cache")), **self._settings.setup_env}
        if self._settings.ca_bundle:
            values |= dict.fromkeys(scripts.CERTIFICATES, str(self._settings.ca_bundle))
        text = scripts.setup(recipe, places, values)
        result = self._execute(recipe, places, text, self._settings.setup_seconds)
        if result.exit_code != 0:
            raise failed("the project's set-up", result)
        remove_folder(folder / "pristine")
        shutil.copytree(folder / "work", folder / "pristine", symlinks=True)
        (folder / "setup.log").write_text(result.output, "utf-8")
        (folder / "tree.json").write_bytes(entries_to_json(snapshot.entries()))

    @contextlib.contextmanager
    def _prepared(self, environment: Environment, snapshot: Snapshot) -> Iterator[tuple[Places, Difference, bool]]:
        """Where it runs, what differs from the environment's files there, and whether its `HEAD` is to be renewed."""
        folder = Path(environment.id)
        if not (folder / "tree.json").exists():
            raise SandboxUnavailable(f"there is no environment {folder}: prepare it again")
        with self._lock(folder):
            kept = entries_from_json((folder / "tree.json").read_bytes())
            changes, behind = difference(kept, snapshot.entries()), NOTHING
            places = fresh(folder, folder / "pristine")
            apply(Path(places.repo), snapshot, changes)
            if environment.base is not None:
                behind = difference(kept, environment.base.entries())
                apply(Path(places.given, "base"), environment.base, Difference(behind.put, frozenset()))
                Path(places.given, "gone").write_bytes(behind.listed)
            yield places, changes, bool(behind.paths)

    def _execute(self, recipe: Recipe, places: Places, text: str, seconds: float) -> Result:
        start = Path(places.given, "start")
        start.write_text(scripts.start(recipe, places), "utf-8")
        Path(places.given, "command").write_bytes(text.encode(*NAMES))
        output, started = Output(self._settings.output_kept), time.monotonic()
        with started_process(start) as (process, printed):
            follower = threading.Thread(target=follow, args=(process, printed, output), daemon=True)
            follower.start()
            ended = Watch(seconds, output, self._settings.output, self._stop).over(follower)
            took = time.monotonic() - started
            with contextlib.suppress(ProcessLookupError):  # the whole group, which may outlive its first process
                os.killpg(process.pid, signal.SIGKILL)
            follower.join()
        if ended == "stop":
            raise SandboxStopped("the run was told to stop")
        if ended != "exit":
            return Result(None, output.text(), took, ended)
        if process.returncode < 0:
            raise SandboxDied("the command's first process was killed from outside: run it again")
        return Result(KILLED if process.returncode == KILLED_INSIDE else process.returncode, output.text(), took)


def fresh(folder: Path, source: Path | None) -> Places:
    """The folders of one run, empty or as the set-up left them."""
    work = folder / "work"
    remove_folder(work)
    if source is not None:
        shutil.copytree(source, work, symlinks=True)
        remove_folder(work / "in")
        remove_folder(work / "out")
    for name in ("repo", "home", "in/lib", "out"):
        (work / name).mkdir(parents=True, exist_ok=True)
    return Places(str(work / "repo"), str(work / "home"), str(work / "in"), str(work / "out"))


@contextlib.contextmanager
def started_process(script: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A process group of its own that runs a shell script, and the descriptor to read what it prints."""
    reading, writing = os.pipe()
    try:
        with subprocess.Popen(  # noqa: S603 - to run what is not trusted is this sandbox's purpose
            ["/bin/sh", str(script)],
            env={"PATH": PATH},
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process:
            os.close(writing)
            yield process, reading
    finally:
        os.close(reading)


def follow(process: subprocess.Popen[bytes], printed: int, output: Output) -> None:
    """Read what a process prints until it ends; what it left running may hold the stream open and go on."""
    over_at: float | None = None
    while over_at is None or time.monotonic() < over_at + LAST_WORDS_SECONDS:
        ready, _, _ = select.select([printed], [], [], 0.1)
        data = os.read(printed, 65536) if ready else b""
        output.add(data)
        if over_at is None and process.poll() is not None:
            over_at = time.monotonic()
        if not data and (ready or over_at is not None):
            break
    process.wait()


def require_packages(names: Collection[str]) -> None:
    """Raises `SetupFailed` if a Debian package is not installed: this sandbox never acts as root."""
    if not names:
        return
    try:
        command = ["dpkg-query", "--show", "--", *names]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        missing, said = done.returncode != 0, done.stderr
    except FileNotFoundError as error:
        missing, said = True, str(error)
    if missing:
        raise SetupFailed(f"the project needs Debian packages: run `apt-get install {' '.join(names)}`", said)
