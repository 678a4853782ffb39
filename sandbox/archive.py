"""Archives in and out of a container. What comes out was written by untrusted code and is only ever read in memory."""

from __future__ import annotations

import io
import tarfile
import tempfile
import time
from collections.abc import Iterable, Iterator
from typing import IO

from sandbox.port import Snapshot
from sandbox.trees import NAMES, SUBMODULE, SYMLINK, checked, parents

USER_ID = 10001
"""The user that projects run as. Not 1000, which base images like to give to a user of their own."""


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
