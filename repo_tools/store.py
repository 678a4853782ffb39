"""The file in which the index is kept: SQLite, so that several processes may read and write it at a time.

A damaged file is not repaired. The next one, with a higher number in its name, takes its place, and what was lost is
made again. A name is never used twice, as other processes may still have the old file open.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from repo_tools.facts import Damaged

BUSY_SECONDS = 60.0
"""How long to wait for another process that writes: it takes parts of a second."""

_NAME = re.compile(r"index-(\d+)\.sqlite")
_TABLES = """
CREATE TABLE IF NOT EXISTS about (version TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS documents (number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, row BLOB);
CREATE TABLE IF NOT EXISTS sections (owner TEXT NOT NULL, name TEXT NOT NULL, data BLOB, UNIQUE (owner, name));
"""


class IndexUnusable(Exception):
    """The folder of the index cannot be read or written; the text says why and what to do."""


class Store:
    """Documents (key, number, row) and sections (owner, name, data). Threads may share one. All raise `Damaged`."""

    def __init__(self, folder: Path, version: str) -> None:
        self._folder = folder
        self._version = version
        self._lock = threading.RLock()
        folder.mkdir(parents=True, exist_ok=True)
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

    def numbers(self) -> dict[str, int]:
        """Key -> number of all documents."""
        with self._speaking():
            return dict(self._connection.execute("SELECT key, number FROM documents"))

    def add(self, rows: Iterable[tuple[str, bytes]]) -> None:
        """Keep documents (key and row); those whose key is there already stay as they are."""
        with self._speaking(), self._connection:
            self._connection.executemany("INSERT OR IGNORE INTO documents (key, row) VALUES (?, ?)", rows)

    def row(self, number: int) -> bytes:
        """The row of one document."""
        with self._speaking():
            found = self._connection.execute("SELECT row FROM documents WHERE number = ?", (number,)).fetchone()
        if found is None:
            raise Damaged(f"document {number} is gone")
        row: bytes = found[0]
        return row

    def rows(self, numbers: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """Number and row of many documents, in order."""
        return ((number, self.row(number)) for number in numbers)

    def keep_only(self, numbers: Iterable[int]) -> None:
        """Forget all documents but these, and all sections."""
        with self._speaking(), self._connection:
            self._connection.execute("CREATE TEMP TABLE IF NOT EXISTS kept (number INTEGER PRIMARY KEY)")
            self._connection.execute("DELETE FROM kept")
            self._connection.executemany("INSERT INTO kept VALUES (?)", ((number,) for number in numbers))
            self._connection.execute("DELETE FROM documents WHERE number NOT IN (SELECT number FROM kept)")
            self._connection.execute("DELETE FROM sections")

    def put(self, owner: str, sections: Mapping[str, bytes]) -> None:
        """Keep the sections of `owner`, all or none."""
        rows = [(owner, name, zlib.crc32(data).to_bytes(4, "little") + data) for name, data in sections.items()]
        with self._speaking(), self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO sections VALUES (?, ?, ?)", rows)

    def section(self, owner: str, name: str) -> memoryview | None:
        """One section; None if there is none."""
        query = "SELECT data FROM sections WHERE owner = ? AND name = ?"
        with self._speaking():
            found = self._connection.execute(query, (owner, name)).fetchone()
        if found is None:
            return None
        data = memoryview(found[0])
        if zlib.crc32(data[4:]) != int.from_bytes(data[:4], "little"):
            raise Damaged(f"section {owner} {name} has another checksum than it was written with")
        return data[4:]

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
                    "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; BEGIN IMMEDIATE;" + _TABLES
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
                if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")) or name in ("SQLITE_ERROR", "SQLITE_MISMATCH"):
                    raise Damaged(str(error)) from error
                raise IndexUnusable(
                    f"The index in {self._folder} cannot be used ({error}): "
                    "see that the folder is writable and the disk has room, or give another folder"
                ) from error
