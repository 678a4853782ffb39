"""Who is alive: each process that carries out workflows holds a lock that its death, of whatever kind, lets go.

What a dead process had begun is then begun again by whoever lives. On Postgres the lock is an advisory one of a
session; on SQLite, which one machine uses alone, it is a lock on a file.
"""

from __future__ import annotations

import hashlib
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import sqlalchemy
from filelock import FileLock, Timeout
from sqlalchemy.pool import NullPool

from bot.service.desk import Desk


class Locks(Protocol):
    """Named locks that end with the process that holds them."""

    def hold(self, name: str) -> None:
        """Hold a lock for as long as this process lives."""

    def free(self, name: str) -> bool:
        """Whether nobody holds that lock."""

    def close(self) -> None:
        """Let go of everything."""


class FileLocks:
    """Locks on files in a folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._held: list[FileLock] = []

    def hold(self, name: str) -> None:
        """See `Locks`."""
        lock = FileLock(self._folder / name)
        lock.acquire(timeout=0)
        self._held.append(lock)

    def free(self, name: str) -> bool:
        """See `Locks`. The file of a dead process goes with the question."""
        file = self._folder / name
        if not file.exists():
            return True
        try:
            with FileLock(file, timeout=0):
                file.unlink(missing_ok=True)
        except Timeout:
            return False
        return True

    def close(self) -> None:
        """See `Locks`."""
        for lock in self._held:
            lock.release()


class PostgresLocks:
    """Advisory locks of one session, which the server ends when the connection does."""

    def __init__(self, database: str) -> None:
        url = sqlalchemy.make_url(database).set(drivername="postgresql+psycopg")
        keepalive = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
        self._engine = sqlalchemy.create_engine(
            url, poolclass=NullPool, isolation_level="AUTOCOMMIT", connect_args=keepalive
        )
        self._session = self._engine.connect()

    def hold(self, name: str) -> None:
        """See `Locks`."""
        self._session.execute(sqlalchemy.text("select pg_advisory_lock(:key)"), {"key": _key(name)})

    def free(self, name: str) -> bool:
        """See `Locks`."""
        with self._engine.connect() as session:
            got = session.execute(sqlalchemy.text("select pg_try_advisory_lock(:key)"), {"key": _key(name)})
            return bool(got.scalar())  # the session ends here, and its lock with it

    def close(self) -> None:
        """See `Locks`."""
        self._session.close()
        self._engine.dispose()


def new_name() -> str:
    """A name for this process that none had before it."""
    return f"{socket.gethostname()[:40]}-{secrets.token_hex(6)}"


@contextmanager
def present(name: str, database: str, state: Path) -> Iterator[Locks]:
    """Hold this process's lock."""
    locks: Locks = FileLocks(state / "alive") if database.startswith("sqlite") else PostgresLocks(database)
    try:
        locks.hold(name)
        yield locks
    finally:
        locks.close()


def dead(desk: Desk, locks: Locks, name: str) -> list[str]:
    """The processes that had begun something which is unfinished, and live no more."""
    return [other for other in sorted(desk.executors()) if other != name and locks.free(other)]


def _key(name: str) -> int:
    return int.from_bytes(hashlib.sha256(f"agent-fix {name}".encode()).digest()[:8], "big", signed=True)
