"""The file in which the index is kept: SQLite, so that several processes may read and write it at a time.

A damaged file is not repaired. The next one, with a higher number in its name, takes its place, and what was lost is
made again. A name is never used twice, as other processes may still have the old file open.
"""

from __future__ import annotations

import contextlib
import enum
import re
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

BUSY_SECONDS = 60.0
"""How long to wait for another process that writes: it takes parts of a second."""
PAGE = 1 << 15
"""Bytes of a page: sections are long, and read whole."""
LOG = 1 << 22
"""Bytes of the write-ahead log, about."""

_NAME = re.compile(r"index-(\d+)\.sqlite")
_TABLES = """
CREATE TABLE IF NOT EXISTS about (version TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS words (number INTEGER PRIMARY KEY, row BLOB NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS numbers ON words (number);
CREATE TABLE IF NOT EXISTS definitions (number INTEGER PRIMARY KEY, row BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS bodies (number INTEGER PRIMARY KEY, row BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS sections (owner TEXT NOT NULL, name TEXT NOT NULL, data BLOB, UNIQUE (owner, name));
"""

_NOT_THE_FILE = tuple(
    f"SQLITE_{word}" for word in ("BUSY", "LOCKED", "FULL", "READONLY", "CANTOPEN", "PERM", "IOERR", "NOMEM", "AUTH")
)
"""How errors begin that say nothing of what the file holds."""


class Facts(enum.StrEnum):
    """What is kept of a document: a table each."""

    WORDS = "words"
    DEFINITIONS = "definitions"
    BODIES = "bodies"


class Damaged(Exception):
    """What the file holds is not what was written."""


class IndexUnusable(Exception):
    """The folder of the index cannot be read or written; the text says why and what to do."""


class Store:
    """Rows of documents (number, row) and sections (owner, name, data). Threads may share one. All raise `Damaged`."""

    def __init__(self, folder: Path, version: str) -> None:
        self._folder = folder
        self._version = version
        self._lock = threading.RLock()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unusable(folder, error) from error
        self._number = max(self._numbers_of_files(), default=1)
        try:
            self._connection = self._connect()
        except Damaged:
            self.replace()

    def replace(self) -> None:
        """Go on with the next file, or with the one that another process has made meanwhile."""
        with self._lock:
            if hasattr(self, "_connection"):
                self._connection.close()
            self._number = max(self._number + 1, *self._numbers_of_files())
            self._connection = self._connect()
            for number in self._numbers_of_files():
                if number < self._number:
                    for file in self._folder.glob(f"index-{number}.sqlite*"):
                        file.unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def numbers(self) -> set[int]:
        """The numbers of all documents whose words are kept."""
        with self._speaking():
            return {number for (number,) in self._connection.execute("SELECT number FROM words INDEXED BY numbers")}

    def add(self, facts: Facts, rows: Iterable[tuple[int, bytes]]) -> None:
        """Keep facts of documents (number and row)."""
        sealed = ((number, _seal(f"{facts}{number}", row)) for number, row in rows)
        with self._speaking(), self._connection:
            self._connection.executemany(f"INSERT OR REPLACE INTO {facts} VALUES (?, ?)", sealed)  # noqa: S608 - a table's name

    def row(self, facts: Facts, number: int) -> memoryview | None:
        """A document's row; None if it is not kept."""
        with self._speaking():
            query = f"SELECT row FROM {facts} WHERE number = ?"  # noqa: S608 - a table's name
            found = self._connection.execute(query, (number,)).fetchone()
        return None if found is None else _unseal(f"{facts}{number}", found[0])

    def keep_only(self, numbers: Iterable[int]) -> None:
        """Forget all documents but these, and all sections."""
        with self._speaking(), self._connection:
            self._connection.execute("CREATE TEMP TABLE IF NOT EXISTS kept (number INTEGER PRIMARY KEY)")
            self._connection.execute("DELETE FROM kept")
            self._connection.executemany("INSERT INTO kept VALUES (?)", ((number,) for number in numbers))
            for facts in Facts:
                self._connection.execute(f"DELETE FROM {facts} WHERE number NOT IN (SELECT number FROM kept)")  # noqa: S608
            self._connection.execute("DELETE FROM sections")

    def put(self, owner: str, sections: Mapping[str, bytes]) -> None:
        """Keep the sections of `owner`, all or none."""
        rows = [(owner, name, _seal(owner + name, data)) for name, data in sections.items()]
        with self._speaking(), self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO sections VALUES (?, ?, ?)", rows)

    def section(self, owner: str, name: str) -> memoryview | None:
        """One section; None if there is none."""
        query = "SELECT data FROM sections WHERE owner = ? AND name = ?"
        with self._speaking():
            found = self._connection.execute(query, (owner, name)).fetchone()
        return None if found is None else _unseal(owner + name, found[0])

    def owners(self) -> list[str]:
        """Whose sections there are, the oldest first."""
        with self._speaking():
            rows = self._connection.execute("SELECT owner FROM sections GROUP BY owner ORDER BY min(rowid)")
            return [owner for (owner,) in rows]

    def drop(self, owner: str) -> None:
        """Forget the sections of `owner`."""
        with self._speaking(), self._connection:
            self._connection.execute("DELETE FROM sections WHERE owner = ?", (owner,))

    def _numbers_of_files(self) -> list[int]:
        names = (_NAME.fullmatch(file.name) for file in self._folder.iterdir())
        return [int(name[1]) for name in names if name]

    def _connect(self) -> sqlite3.Connection:
        with self._speaking():
            file = self._folder / f"index-{self._number}.sqlite"
            connection = sqlite3.connect(file, timeout=BUSY_SECONDS, check_same_thread=False)
            try:
                # What is lost with the machine's power is parsed again: nothing waits for the disk.
                connection.executescript(
                    f"PRAGMA page_size = {PAGE}; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;"
                    f"PRAGMA wal_autocheckpoint = {LOG // PAGE};"
                    f"BEGIN IMMEDIATE; {_TABLES}"
                )
                self._agree(connection)
            except BaseException:
                connection.close()
                raise
            return connection

    def _agree(self, connection: sqlite3.Connection) -> None:
        about = connection.execute("SELECT version FROM about").fetchone()
        if about is None:
            connection.execute("INSERT INTO about VALUES (?)", (self._version,))
        elif about[0] != self._version:
            raise Damaged("another version of this program wrote it")
        connection.commit()

    @contextlib.contextmanager
    def _speaking(self) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except sqlite3.Error as error:
                name = getattr(error, "sqlite_errorname", "")
                if name.startswith(_NOT_THE_FILE) and name != "SQLITE_IOERR_SHORT_READ":
                    raise _unusable(self._folder, error) from error
                raise Damaged(str(error)) from error


def _unusable(folder: Path, error: Exception) -> IndexUnusable:
    return IndexUnusable(
        f"The index in {folder} cannot be used ({error}): "
        "see that the folder is writable and the disk has room, or give another folder"
    )


def _seal(name: str, data: bytes) -> bytes:
    """The data with a checksum before it that holds for this name alone."""
    return zlib.crc32(data, zlib.crc32(name.encode())).to_bytes(4, "little") + data


def _unseal(name: str, sealed: bytes) -> memoryview:
    data = memoryview(sealed)
    if zlib.crc32(data[4:], zlib.crc32(name.encode())) != int.from_bytes(data[:4], "little"):
        raise Damaged(f"{name} has another checksum than it was written with")
    return data[4:]
