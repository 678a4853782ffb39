"""Archives in and out of a container. What comes out was written by untrusted code and is only ever read in memory."""

from __future__ import annotations

import io
import json
import tarfile
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO

from sandbox.port import Snapshot

Entries = Mapping[str, tuple[int, str]]
"""Path -> (git file mode, content id), as `Snapshot.entries` gives it."""

USER_ID = 10001
"""The user that projects run as. Not 1000, which base images like to give to a user of their own."""
NAMES = ("utf-8", "surrogateescape")
"""How git's names, which are bytes, are text in this project: encoding and error handler."""
SYMLINK = 0o120000
SUBMODULE = 0o160000


@dataclass(frozen=True)
class Difference:
    """What turns one tree into another."""

    put: frozenset[str]
    delete: frozenset[str]

    @property
    def paths(self) -> frozenset[str]:
        """Every path that is touched."""
        return self.put | self.delete


def difference(before: Entries, after: Entries) -> Difference:
    """What to put and what to delete so that `before` becomes `after`."""
    put = frozenset(path for path, entry in after.items() if before.get(path) != entry)
    folders = {parent for path in after for parent in parents(path)}
    # A path whose parent became a file or a link went with the parent; to follow it now could lead elsewhere.
    delete = frozenset(
        path
        for path in before
        if path not in after and path not in folders and not any(parent in after for parent in parents(path))
    )
    return Difference(put, delete)


def parents(path: str) -> list[str]:
    """The folders above a path, outermost first."""
    return [str(parent) for parent in reversed(PurePosixPath(path).parents)][1:]


def checked(path: str) -> str:
    """`path` itself. Raises `ValueError` unless it names a file below the repository and outside `.git`."""
    parts = path.split("/")
    if "\0" in path or not all(parts) or any(part in (".", "..") or part.lower() == ".git" for part in parts):
        raise ValueError(f"{path!r} is not a path inside a repository")
    return path


class Archive:
    """A tar file under construction, on disk when it is large; all of it belongs to the unprivileged user."""

    def __init__(self) -> None:
        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=8_000_000)  # noqa: SIM115 - lives as long as self
        # The GNU format holds names as raw bytes: git's names need not be UTF-8.
        self._tar = tarfile.open(  # noqa: SIM115
            fileobj=self._file, mode="w", format=tarfile.GNU_FORMAT, encoding=NAMES[0], errors=NAMES[1]
        )
        self._folders: set[str] = set()
        self._now = int(time.time())

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._tar.close()
        self._file.close()

    def add(self, name: str, data: bytes, mode: int = 0o644, owner: int = USER_ID) -> None:
        """One regular file; `name` has no leading slash."""
        info = self._info(name, mode, owner)
        info.size = len(data)
        self._tar.addfile(info, io.BytesIO(data))

    def add_tree(self, root: str, snapshot: Snapshot, paths: Iterable[str]) -> None:
        """The files of `snapshot` named by `paths`, below `root`.

        Folders are listed one by one: the engine then makes each a real folder, even where a link or a file stood.
        """
        entries = snapshot.entries()
        for path in sorted(paths):
            mode, _ = entries[checked(path)]
            for folder in parents(path):
                self._add_folder(f"{root}/{folder}")
            if mode == SUBMODULE:
                self._add_folder(f"{root}/{path}")
            elif mode == SYMLINK:
                info = self._info(f"{root}/{path}", 0o777, USER_ID)
                info.type = tarfile.SYMTYPE
                info.linkname = snapshot.read(path).decode(*NAMES)
                self._tar.addfile(info)
            else:
                self.add(f"{root}/{path}", snapshot.read(path), 0o755 if mode & 0o111 else 0o644)

    def finish(self) -> IO[bytes]:
        """The archive, ready to be read."""
        self._tar.close()
        self._file.seek(0)
        return self._file

    def _add_folder(self, name: str) -> None:
        if name not in self._folders:
            self._folders.add(name)
            info = self._info(name, 0o755, USER_ID)
            info.type = tarfile.DIRTYPE
            self._tar.addfile(info)

    def _info(self, name: str, mode: int, owner: int) -> tarfile.TarInfo:
        info = tarfile.TarInfo(name)
        info.mode, info.mtime, info.uid, info.gid = mode, self._now, owner, owner
        return info


def regular_files(chunks: Iterable[bytes], limit: int) -> dict[str, bytes]:
    """The regular files of a tar stream: name without its first folder -> bytes.

    Links, devices and the rest are left out. Raises `ValueError` for more than `limit` bytes or a broken stream.
    """
    data = bytearray()
    for chunk in chunks:
        data += chunk
        if len(data) > limit:
            raise ValueError(f"more than {limit} bytes of test reports")
    try:
        with tarfile.open(fileobj=io.BytesIO(bytes(data)), mode="r:") as tar:
            return dict(_read(tar))
    except (tarfile.TarError, EOFError) as error:
        raise ValueError(f"an unreadable archive: {error}") from error


def _read(tar: tarfile.TarFile) -> Iterator[tuple[str, bytes]]:
    for member in tar:
        content = tar.extractfile(member) if member.isreg() and not member.issparse() else None
        if content is not None:
            yield member.name.partition("/")[2], content.read()


def entries_to_json(entries: Entries) -> bytes:
    """For `entries_from_json`."""
    return json.dumps({path: list(entry) for path, entry in entries.items()}).encode()


def entries_from_json(data: bytes) -> dict[str, tuple[int, str]]:
    """Raises `ValueError` if `data` is not what `entries_to_json` gives."""
    return {path: (int(mode), str(identity)) for path, (mode, identity) in json.loads(data).items()}
