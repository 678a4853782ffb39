"""A snapshot out of a dictionary: the simplest thing that keeps the promise of `sandbox.port.Snapshot`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

EXECUTABLE = 0o100755
LINK = 0o120000


class Files:
    """Path -> text, bytes, or bytes with a git mode."""

    def __init__(self, files: Mapping[str, str | bytes | tuple[bytes, int]]) -> None:
        self.files = dict(files)

    def entries(self) -> dict[str, tuple[int, str]]:
        return {path: (self._mode(path), hashlib.sha256(self.read(path)).hexdigest()) for path in self.files}

    def read(self, path: str) -> bytes:
        value = self.files[path]
        value = value[0] if isinstance(value, tuple) else value
        return value.encode() if isinstance(value, str) else value

    def but(self, **changes: str | bytes | tuple[bytes, int] | None) -> Files:
        """A copy with changes; the keys are paths. `None` deletes."""
        return Files({path: value for path, value in {**self.files, **changes}.items() if value is not None})

    def _mode(self, path: str) -> int:
        value = self.files[path]
        return value[1] if isinstance(value, tuple) else 0o100644
