"""Who is alive: each process that carries out workflows holds a lock that its death, of whatever kind, lets go.

What a dead process had begun is then begun again by whoever lives. On Postgres the lock is an advisory one of a
session; on SQLite, which one machine uses alone, it is a lock on a file.
"""

from __future__ import annotations

import hashlib
import secrets
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import sqlalchemy
import sqlalchemy.exc
from filelock import FileLock, Timeout
from sqlalchemy.pool import NullPool

from bot.service.desk import Desk


class Locks(Protocol):
    """Named locks that end with the process that holds them."""

    @property
    def grace(self) -> float:
        """The seconds for which a lock may be free although its process lives."""

    def hold(self, name: str) -> None:
        """Hold a lock for as long as this process lives."""

    def renew(self) -> None:
        """Hold again what was lost though this process lives. To be called more often than `grace`."""

    def free(self, name: str) -> bool:
        """Whether nobody holds that lock."""

    def close(self) -> None:
        """Let go of everything."""


class FileLocks:
    """Locks on files in a folder."""

    grace = 0.0

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._held: list[FileLock] = []

    def hold(self, name: str) -> None:
        """See `Locks`."""
        lock = FileLock(self._folder / name)
        lock.acquire(timeout=0)
        self._held.append(lock)

    def renew(self) -> None:
        """See `Locks`. The system takes no lock away."""

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
    """Advisory locks of one session, which the server ends when the connection does: also when it restarts itself.

    For one thread at a time.
    """

    grace = 4.0

    def __init__(self, database: str) -> None:
        url = sqlalchemy.make_url(database).set(drivername="postgresql+psycopg")
        alive = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3, "connect_timeout": 5}
        self._engine = sqlalchemy.create_engine(
            url, poolclass=NullPool, isolation_level="AUTOCOMMIT", connect_args=alive
        )
        self._session: sqlalchemy.Connection | None = None
        self._wanted: set[str] = set()
        self._held: set[str] = set()

    def hold(self, name: str) -> None:
        """See `Locks`."""
        self._wanted.add(name)
        self._ask(_TAKE, name)
        self._held.add(name)

    def renew(self) -> None:
        """See `Locks`. Where the server has not noticed yet that the old session is gone, the next time will do."""
        self._ask(_ALIVE)
        for name in self._wanted - self._held:
            if self._ask(_TRY, name):
                self._held.add(name)

    def free(self, name: str) -> bool:
        """See `Locks`. Looks without taking, so that nobody finds it taken by the question."""
        return not self._ask(_TAKEN, name)

    def close(self) -> None:
        """See `Locks`."""
        self._drop()
        self._engine.dispose()

    def _ask(self, statement: sqlalchemy.TextClause, name: str | None = None) -> Any:
        """The answer of the session, or of a new one if it was cut off."""
        for last in (False, True):
            session = self._session if self._session is not None else self._engine.connect()
            self._session = session
            try:
                return session.execute(statement, _key(name) if name else {}).scalar()
            except sqlalchemy.exc.DBAPIError:
                self._drop()
                if last:
                    raise
        raise AssertionError("the second try returns or raises")

    def _drop(self) -> None:
        self._held.clear()
        if self._session is not None:
            self._session.invalidate()
            self._session.close()
            self._session = None


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


class Watch:
    """Finds out who is dead. Called again and again, by one thread."""

    def __init__(self, desk: Desk, locks: Locks, name: str) -> None:
        self._desk = desk
        self._locks = locks
        self._name = name
        self._missed: dict[str, float] = {}
        """Process -> since when its lock is free, by a monotonic clock."""

    def dead(self) -> list[str]:
        """The processes that had begun something which is unfinished, and live no more."""
        now = time.monotonic()
        self._locks.renew()
        others = sorted(self._desk.executors() - {self._name})
        self._missed = {other: self._missed.get(other, now) for other in others if self._locks.free(other)}
        return [other for other, since in self._missed.items() if now - since >= self._locks.grace]


_TAKE, _TRY = (
    sqlalchemy.text(f"select {function}((cast(:high as bigint) << 32) | :low)")
    for function in ("pg_advisory_lock", "pg_try_advisory_lock")
)
_TAKEN = sqlalchemy.text(
    "select exists (select from pg_locks where locktype = 'advisory' and objsubid = 1 and granted "
    "and database = (select oid from pg_database where datname = current_database()) "
    "and classid = :high and objid = :low)"
)
_ALIVE = sqlalchemy.text("select 1")


def _key(name: str) -> dict[str, int]:
    """The two halves of a lock's number, as `pg_locks` shows them."""
    digest = hashlib.sha256(f"agent-fix {name}".encode()).digest()
    return {"high": int.from_bytes(digest[:4], "big"), "low": int.from_bytes(digest[4:8], "big")}
