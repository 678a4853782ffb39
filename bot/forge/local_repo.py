"""A folder on this machine as the place where a change is published: a branch, and a pull request's text in a file.

It is no `Forge`: nobody converses, labels or reviews in a folder. Its work tree and index are never touched.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from bot.errors import Refused
from repo_tools.checkout import Repository
from repo_tools.commits import Signature, commit, create_branch
from repo_tools.errors import CheckoutError
from repo_tools.tree import Tree

AUTHOR = ("agent-fix", "agent-fix@users.noreply.github.com")
TEXT = "pull-request.md"


@dataclass(frozen=True)
class Published:
    """Where a change is to be found."""

    branch: str
    commit: str
    text: Path
    """Markdown: the pull request's title as its heading, and its body."""


@dataclass(frozen=True)
class LocalRepo:
    """Publishes to `repository`. `folder`, of the run, is outside of its work tree and takes the text."""

    repository: Repository
    folder: Path
    author: tuple[str, str] = AUTHOR

    def publish(
        self, tree: Tree, *, branch: str, title: str, body: str, message: str, at: datetime, sign_off: bool = False
    ) -> Published:
        """Make the branch (the next free name if it is taken) and write the text.

        Doing it again with the same arguments, after a crash, leaves one branch and one file. Raises `Refused`.
        """
        name, email = self.author
        signature = Signature(name, email, int(at.timestamp()))
        try:
            made = commit(self.repository, tree, message, signature, sign_off=sign_off)
            branch = create_branch(self.repository, branch, made, signature)
        except CheckoutError as error:
            raise Refused(f"The change could not be put into {self.repository.name}: {error}") from error
        self.folder.mkdir(parents=True, exist_ok=True)
        text = self.folder / TEXT
        _write_whole(text, f"# {title}\n\n{body.rstrip()}\n")
        return Published(branch, made, text)


def _write_whole(path: Path, text: str) -> None:
    """Write a file so that, whenever the process ends, it is either as before or complete."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}-", delete=False) as file:
        try:
            file.write(text.encode("utf-8", "backslashreplace"))
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
