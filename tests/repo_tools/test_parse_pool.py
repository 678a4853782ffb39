"""Parsing on all cores goes on whatever one file does to its process."""

from __future__ import annotations

import os
import signal
import sys
import textwrap
from pathlib import Path

import pytest

from repo_tools.facts import definitions_row, unpack_definitions
from repo_tools.parse_pool import HERE_FILES, File, parsed

CODE = b"class A:\n    def f(self):\n        return 1\n"

FRAGILE = (
    sys.executable,
    "-c",
    textwrap.dedent("""\
        import os, signal, sys, time
        from repo_tools import parse_worker

        while batch := parse_worker.receive(sys.stdin.buffer):
            if any(b"crash" in data for data in batch[1::2]):
                os.kill(os.getpid(), signal.SIGSEGV)
            while any(b"hang" in data for data in batch[1::2]):
                time.sleep(1)
            pairs = zip(batch[::2], batch[1::2])
            rows = [parse_worker.definitions_row(name.decode(), data) for name, data in pairs]
            parse_worker.send(sys.stdout.buffer, rows)
        """),
)


def files(count: int, *, special: bytes = b"", every: int = 10**9) -> list[File]:
    return [File(n, "python", CODE + b"# %d " % n + (special if n % every == 7 else b"")) for n in range(count)]


@pytest.mark.parametrize("count", [0, 1, HERE_FILES, HERE_FILES + 1, 300])
def test_every_file_has_its_row(count: int) -> None:
    given = files(count)
    assert dict(parsed(given)) == {file.number: definitions_row(file.language, file.data) for file in given}


def test_large_files_and_unknown_ones_pass_through() -> None:
    given = [
        File(1, "python", CODE * 100_000),
        File(2, "", b"some words here"),
        File(3, "python", b"\0" * 3_000_000),
        File(4, "", b"word " * 2_000_000),
    ]
    rows = dict(parsed(given))
    assert len(unpack_definitions(rows[1])) == 200_000
    assert [unpack_definitions(rows[number]) for number in (2, 3, 4)] == [(), (), ()]


@pytest.mark.parametrize("special", [b"crash", b"hang"])
def test_a_file_that_takes_its_process_down_costs_only_its_own_definitions(special: bytes) -> None:
    given = files(200, special=special, every=150)
    rows = dict(parsed(given, command=FRAGILE, seconds=3))
    for file in given:
        expected = b"" if special in file.data else definitions_row("python", file.data)
        assert rows[file.number] == expected, file.number


def test_a_process_that_is_killed_is_replaced() -> None:
    given, others = files(2_000), set(children())
    rows = parsed(given)
    got = [next(rows)]
    for child in set(children()) - others:
        os.kill(child, signal.SIGKILL)
    got += rows
    assert dict(got) == {file.number: definitions_row(file.language, file.data) for file in given}


def test_no_process_stays_behind() -> None:
    others = set(children())  # of tests that ran before in this process
    rows = parsed(files(2_000))
    next(rows)
    assert set(children()) - others
    rows.close()
    assert not set(children()) - others
    list(parsed(files(100)))
    assert not set(children()) - others


def children() -> list[int]:
    text = "".join(task.read_text() for task in Path("/proc/self/task").glob("*/children"))
    return [int(pid) for pid in text.split()]
