"""Reading the files of a commit straight from git's object database, at the speed of `git cat-file --batch`."""

from __future__ import annotations

import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import IO

from repo_tools.errors import GitFailed, ObjectMissing
from repo_tools.git_command import Git, end, pipe


class BlobReader:
    """Blobs by id. One git process stays for single reads; threads may share a reader."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def read(self, blob: str) -> bytes:
        """The bytes of one blob. Raises `ObjectMissing`, `GitFailed`."""
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self.close()
                self._process = self._git.start("cat-file", "--batch", stdin=subprocess.PIPE)
            try:
                question = pipe(self._process.stdin)
                question.write(blob.encode("ascii") + b"\n")
                question.flush()
                return _answer(pipe(self._process.stdout), blob)
            except BrokenPipeError as error:
                self.close()
                raise GitFailed(f"git ended while it read object {blob}; try again") from error
            except BaseException:
                # Whatever happened, the next reader must not get the rest of this answer.
                self.close()
                raise

    def read_many(self, blobs: Sequence[str]) -> Iterator[bytes]:
        """The bytes of each blob, in order; in one pass, never all in memory. Raises `ObjectMissing`, `GitFailed`."""
        with tempfile.TemporaryFile() as wanted:
            wanted.write("".join(f"{blob}\n" for blob in blobs).encode("ascii"))
            wanted.seek(0)
            process = self._git.start("cat-file", "--batch", "--buffer", stdin=wanted.fileno())
            try:
                for blob in blobs:
                    yield _answer(pipe(process.stdout), blob)
            finally:
                end(process)

    def missing(self, blobs: Iterable[str]) -> frozenset[str]:
        """Those of `blobs` that the object database does not hold."""
        asked = "".join(f"{blob}\n" for blob in blobs).encode("ascii")
        rows = self._git.run("cat-file", "--batch-check", data=asked).splitlines()
        return frozenset(row.split()[0].decode("ascii") for row in rows if row.endswith(b" missing"))

    def close(self) -> None:
        """End the git process; the next read starts another."""
        if self._process is not None:
            end(self._process)
            self._process = None


def _answer(stream: IO[bytes], blob: str) -> bytes:
    header = stream.readline().split()
    if header[1:] == [b"missing"]:
        raise ObjectMissing(
            f"object {blob} is not in the repository: the clone is partial or damaged. "
            "Fetch what is missing (`git fetch --refetch --no-filter`, or clone again) and start again"
        )
    size = int(header[2]) if len(header) == 3 else -1
    data = stream.read(size) if header else b""
    if len(data) != size or stream.read(1) != b"\n":
        raise GitFailed(f"git ended while it read object {blob}; `git fsck` tells what is damaged")
    return data
