"""Parsing on all cores. A file that crashes its parser or never ends costs one process, not the others' work."""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple, TypeVar

from repo_tools.facts import definitions_row
from repo_tools.parse_worker import receive, send

T = TypeVar("T")

HERE_FILES = 16
"""Up to so many files, and bytes, are parsed in this process: starting another takes longer."""
HERE_BYTES = 1 << 20
BATCH_FILES = 64
BATCH_BYTES = 1 << 18
BATCH_SECONDS = 60.0
"""When a worker is given up. The parser's own deadline is below: only what hangs outside it comes here."""
WORKER = (sys.executable, "-m", "repo_tools.parse_worker")


class File(NamedTuple):
    """What is to be parsed."""

    number: int
    """Comes back with the row."""
    language: str
    """Its name in the table of languages; empty if it has none."""
    data: bytes


Row = tuple[int, bytes]
"""A file's number and its definitions, packed."""


def parsed(files: Iterable[File], *, command: Sequence[str] = WORKER, seconds: float = BATCH_SECONDS) -> Iterator[Row]:
    """The rows of `files`, in any order. A file that takes its parser down defines nothing.

    `files` is read in this thread, little by little. `command` starts a process like `repo_tools.parse_worker`, as many
    as there are cores; one that needs `seconds` for a batch is ended.
    """
    stream = iter(files)
    first: list[File] = []
    size = 0
    for file in stream:
        first.append(file)
        size += len(file.data)
        if len(first) > HERE_FILES or size > HERE_BYTES:
            workers = [_Worker(command, seconds) for _ in range(os.cpu_count() or 1)]
            yield from _Pool(workers).rows(_batches(itertools.chain(first, stream)))
            return
    for file in first:
        yield file.number, definitions_row(file.language, file.data)


def _batches(files: Iterable[File]) -> Iterator[list[File]]:
    batch: list[File] = []
    size = 0
    for file in files:
        batch.append(file)
        size += len(file.data)
        if len(batch) >= BATCH_FILES or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class _Pool:
    """Threads, each with a process of its own; the caller's thread hands out, collects, and ends what is overdue."""

    def __init__(self, workers: Sequence[_Worker]) -> None:
        self._waiting: queue.Queue[list[File] | None] = queue.Queue(maxsize=2 * len(workers))
        self._done: queue.Queue[list[Row]] = queue.Queue()
        self._workers = workers

    def rows(self, batches: Iterable[list[File]]) -> Iterator[Row]:
        threads = [threading.Thread(target=self._serve, args=(worker,), daemon=True) for worker in self._workers]
        for thread in threads:
            thread.start()
        asked = 0
        try:
            for batch in batches:
                self._watching(functools.partial(self._waiting.put, batch))
                asked += 1
                while not self._done.empty():
                    yield from self._done.get()
                    asked -= 1
            for _ in range(asked):
                yield from self._watching(self._done.get)
        finally:
            for worker in self._workers:
                worker.stop()
            for _ in threads:
                self._waiting.put(None)
            for thread in threads:
                thread.join()
            for worker in self._workers:
                worker.stop()  # One that was being replaced when it was stopped has a process again.

    def _serve(self, worker: _Worker) -> None:
        while (batch := self._waiting.get()) is not None:
            self._done.put(worker.rows(batch))

    def _watching(self, step: Callable[..., T]) -> T:
        while True:
            try:
                return step(timeout=1)
            except (queue.Full, queue.Empty):
                for worker in self._workers:
                    worker.end_if_overdue()


class _Worker:
    """A process of `repo_tools.parse_worker`, and another when it is lost."""

    def __init__(self, command: Sequence[str], seconds: float) -> None:
        self._command = command
        self._seconds = seconds
        self._stopped = False
        self._due = math.inf
        self._process = self._started()

    def rows(self, batch: list[File]) -> list[Row]:
        """The rows of all files of a batch; none any more after `stop`."""
        answer = self._ask(batch)
        if answer is not None or self._stopped:
            return answer or []
        self._end()
        self._process = self._started()
        if len(batch) > 1:  # Which file it was is not known.
            return [row for file in batch for row in self.rows([file])]
        return [(batch[0].number, b"")]

    def stop(self) -> None:
        """End the process, whatever it is at."""
        self._stopped = True
        self._end()

    def end_if_overdue(self) -> None:
        """End the process if it has been at one batch for too long."""
        if time.monotonic() > self._due:
            self._process.kill()

    def _ask(self, batch: list[File]) -> list[Row] | None:
        self._due = time.monotonic() + self._seconds
        try:
            send(_pipe(self._process.stdin), [part for file in batch for part in (file.language.encode(), file.data)])
            answer = receive(_pipe(self._process.stdout))
        except (OSError, ValueError):  # the pipe is broken, or closed by `stop`
            return None
        finally:
            self._due = math.inf
        return list(zip((file.number for file in batch), answer, strict=True)) if len(answer) == len(batch) else None

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _started(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603  (this very interpreter, unless a test says otherwise)
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=Path(__file__).parent.parent,
        )


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise ValueError("the process has no such pipe")
    return stream
