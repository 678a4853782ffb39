"""Who is alive, by locks: on files, and on a real Postgres."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from bot.service.presence import FileLocks, Locks, PostgresLocks, Watch, present
from tests.fakes.postgres import Postgres

HOLD = """
import sys
from pathlib import Path
from bot.service.presence import present
with present("other", sys.argv[1], Path(sys.argv[2])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'service.sqlite'}"
    postgres_server: Postgres = request.getfixturevalue("postgres_server")
    return postgres_server.url("postgres")


def test_a_lock_lasts_as_long_as_its_process(database: str, tmp_path: Path) -> None:
    with present("me", database, tmp_path) as locks:
        assert not locks.free("me")
        assert locks.free("other")
        command = [sys.executable, "-c", HOLD, database, str(tmp_path)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"held\n"
            assert not locks.free("other")
            assert not locks.free("other")
        finally:
            process.kill()
            process.communicate()
        end = time.monotonic() + 20
        while not locks.free("other"):  # a server may take a moment to see that somebody hung up
            assert time.monotonic() < end
            time.sleep(0.01)
        assert not locks.free("me")


class Executors:
    """Stands for the desk: who has begun something."""

    def executors(self) -> set[str]:
        return {"me", "other"}


def watch(locks: Locks) -> Watch:
    return Watch(Executors(), locks, "me")  # type: ignore[arg-type]


def test_what_the_server_lost_is_held_again_before_anybody_is_taken_for_dead(postgres_server: Postgres) -> None:
    mine, theirs = PostgresLocks(postgres_server.url("postgres")), PostgresLocks(postgres_server.url("postgres"))
    mine.hold("me")
    theirs.hold("other")
    looking = watch(mine)
    assert looking.dead() == []
    postgres_server.stop()
    postgres_server.start()
    assert looking.dead() == []  # free, but not for long enough
    assert theirs.free("other")
    theirs.renew()
    assert not mine.free("other")
    assert not theirs.free("me")
    mine.grace = 0.0
    assert looking.dead() == []
    theirs.close()
    assert looking.dead() == ["other"]
    mine.close()


def test_on_one_machine_the_dead_are_known_at_once(tmp_path: Path) -> None:
    locks = FileLocks(tmp_path)
    locks.hold("me")
    assert watch(locks).dead() == ["other"]
    locks.close()
