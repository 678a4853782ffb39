"""A snapshot in a folder of this machine, and reading what untrusted code left in one."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from pathlib import Path

from sandbox.port import Snapshot
from sandbox.trees import NAMES, SUBMODULE, SYMLINK, Difference, checked, parents


def apply(root: Path, snapshot: Snapshot, changes: Difference) -> None:
    """Make the files below `root` those of `snapshot`; no link that is there is followed.

    Raises `ValueError` for a path that is not inside a repository.
    """
    entries = snapshot.entries()
    for path in sorted(changes.delete):
        if not any((root / folder).is_symlink() for folder in parents(checked(path))):
            with contextlib.suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError):
                (root / path).unlink()
    for path in sorted(changes.put):
        for folder in parents(checked(path)):
            _clear(root / folder, keep_folder=True)
            (root / folder).mkdir(exist_ok=True)
        mode, _ = entries[path]
        target = root / path
        _clear(target, keep_folder=mode == SUBMODULE)
        if mode == SUBMODULE:
            target.mkdir(exist_ok=True)
        elif mode == SYMLINK:
            target.symlink_to(snapshot.read(path).decode(*NAMES))
        else:
            target.write_bytes(snapshot.read(path))
            target.chmod(0o755 if mode & 0o111 else 0o644)


def _clear(path: Path, *, keep_folder: bool) -> None:
    """Remove what stands at a path, if anything does."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir() and not keep_folder:
        remove_folder(path)


def remove_folder(folder: Path) -> None:
    """Remove a folder, if there is one, whatever rights it was left with."""
    if not folder.exists():
        return
    try:
        shutil.rmtree(folder)
    except PermissionError:
        for place, _, _ in os.walk(folder):
            Path(place).chmod(stat.S_IRWXU)
        shutil.rmtree(folder)


def regular_files_in(folder: Path, limit: int) -> dict[str, bytes] | str:
    """The regular files right in a folder, or the reason why they are not read; links and pipes are none."""
    found: dict[str, bytes] = {}
    left = limit
    for path in folder.iterdir():
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                found[path.name] = file.read(left + 1)
            left -= len(found[path.name])
            if left < 0:
                return f"more than {limit} bytes of test reports"
    return found
