"""A real repository on disk for tests, made by git itself with nobody's configuration."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

WHEN = "@1700000000 +0000"


class GitRepository:
    """A checkout at `path`; made there, with a first commit of `files`, if any are given."""

    def __init__(self, path: Path, files: Mapping[str, bytes] | None = None, *, init: tuple[str, ...] = ()) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet", "--initial-branch=main", *init)
        if files is not None:
            self.commit(files)

    def git(self, *arguments: str | bytes, data: bytes = b"", env: Mapping[str, str] | None = None) -> str:
        """One git command in the checkout; what it prints, without the last line end."""
        environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": "/nonexistent",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            **{f"GIT_{who}_NAME": "Somebody" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "somebody@example.org" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_DATE": WHEN for who in ("AUTHOR", "COMMITTER")},
            **(env or {}),
        }
        done = subprocess.run(["git", *arguments], cwd=self.path, input=data, env=environment, capture_output=True)
        assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
        return done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")

    def write(self, files: Mapping[str, bytes]) -> None:
        for name, data in files.items():
            (self.path / name).parent.mkdir(parents=True, exist_ok=True)
            (self.path / name).write_bytes(data)

    def commit(self, files: Mapping[str, bytes] | None = None, message: str = "A change") -> str:
        """Write `files`, commit all that is in the work tree, return the commit's id."""
        self.write(files or {})
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--no-verify", "-m", message)
        return self.git("rev-parse", "HEAD")

    def state(self) -> dict[str, bytes]:
        """Every file of the work tree and the index, to show that nothing touched them."""
        files = {
            path.relative_to(self.path).as_posix(): path.read_bytes()
            for path in self.path.rglob("*")
            if path.is_file() and not path.is_symlink() and ".git" not in path.relative_to(self.path).parts
        }
        index = self.path / ".git" / "index"
        return files | ({".git/index": index.read_bytes()} if index.exists() else {})
