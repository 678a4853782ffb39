"""The database itself: made, tuned, and waited for."""

from __future__ import annotations

import sqlite3
from typing import Any

import sqlalchemy
import sqlalchemy.event
from dbos import DBOS
from sqlalchemy.exc import SQLAlchemyError

from bot.errors import BadInput

WRITE_SECONDS = 8
"""How long a write waits for others: GitHub gives up on a delivery after ten seconds."""


def prepare(database: str) -> None:
    """Make the tables, or bring them up to date. Raises `BadInput` if the database cannot be reached."""
    sqlalchemy.event.listen(sqlalchemy.Engine, "handle_error", _mark_as_lost)
    sqlalchemy.event.listen(sqlalchemy.Engine, "connect", _quickest)
    try:
        DBOS.migrate(database)
        if database.startswith("sqlite"):
            with sqlalchemy.create_engine(database).connect() as connection:
                # Kept in the file: readers and the one writer no longer wait for each other.
                connection.execute(sqlalchemy.text("PRAGMA journal_mode=WAL"))
    except SQLAlchemyError as error:
        raise BadInput(f"The database cannot be used; see AGENT_FIX_DATABASE_URL. {error}") from error


def connections(database: str) -> sqlalchemy.Engine:
    """A way to write many rows in one transaction, beside the engine's own connections."""
    url = sqlalchemy.make_url(database)
    if url.get_backend_name() == "sqlite":
        options = {"isolation_level": "IMMEDIATE", "timeout": WRITE_SECONDS, "check_same_thread": False}
        engine = sqlalchemy.create_engine(url, connect_args=options)
        sqlalchemy.event.listen(engine, "connect", _safest)
        return engine
    options = {"connect_timeout": WRITE_SECONDS}
    return sqlalchemy.create_engine(url.set(drivername="postgresql+psycopg"), connect_args=options, pool_pre_ping=True)


def _quickest(connection: Any, _: object) -> None:
    """Do not wait for the disk after each step: a crash loses nothing, a power failure the last steps, done again."""
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA synchronous=NORMAL")


def _safest(connection: Any, _: object) -> None:
    """Wait for the disk: what GitHub was told is taken must outlive a power failure."""
    connection.execute("PRAGMA synchronous=FULL")


def _mark_as_lost(context: sqlalchemy.engine.ExceptionContext) -> None:
    """Let the engine wait for a server that is away behind a socket, as it does for one behind an address.

    It knows the driver's words for the one, not for the other, and would leave the workflow unfinished for ever.
    """
    if str(context.original_exception).startswith("connection is bad"):
        context.is_disconnect = True
