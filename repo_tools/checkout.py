"""A repository on this machine, read and written without its work tree, its index or its configuration.

Commands run in a git directory of our own, empty but for a pointer to the repository's objects. What the
repository says in its configuration, its hooks and its attributes is thus not even read, except to look up
and to create references. New objects go to the repository only when something is published.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import itertools
import os
import re
import shutil
import tempfile
import time
import types
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path

from repo_tools.errors import CheckoutError, GitFailed, NoCommits, NotARepository, UnknownRevision
from repo_tools.git_command import Git
from repo_tools.objects import BlobReader
from repo_tools.tree import PastChange

_SUBMODULE = 0o160000
_LISTED = re.compile(r"([0-7]+) \w+ ([0-9a-f]+)\t([^\0]+)\0")
_PREFIX = "agent-fix-git-"
_HOUR = 3600.0
MOST_CHANGED = 50
"""Files that a commit of the past may change to say anything about one of them."""
LONGEST_MESSAGE = 2000
"""Characters of a commit's message that are read."""
_LAST_SECOND = 253_402_300_799
"""Of the year 9999; a commit may claim any time."""


def text(data: bytes) -> str:
    """A name as git wrote it; bytes that are not UTF-8 become surrogate escapes, which `raw` turns back."""
    return data.decode("utf-8", "surrogateescape")


def raw(name: str) -> bytes:
    """The bytes of a name that `text` read."""
    return name.encode("utf-8", "surrogateescape")


def line(data: bytes) -> str:
    """The single line that a command printed; names may hold line ends themselves, so only the last goes."""
    return text(data.removesuffix(b"\n"))


@dataclass(frozen=True)
class Commit:
    """The files of one commit: a `repo_tools.tree.Base`. Submodules are named apart, as they hold no bytes."""

    id: str
    repository: Repository = field(repr=False, compare=False)

    def entries(self) -> Mapping[str, tuple[int, str]]:
        """Path -> (git mode, blob id), in git's order; a name that is not UTF-8 holds surrogate escapes."""
        return self._listing[0]

    def submodules(self) -> Mapping[str, str]:
        """Path at which another repository is mounted -> its commit; nothing below can be read or changed."""
        return self._listing[1]

    @functools.cached_property
    def day(self) -> date:
        """The day of the commit, in UTC, as its committer's clock had it."""
        told = self.repository.git.run("log", "--max-count=1", "--format=%ct", self.id)
        return datetime.fromtimestamp(min(int(told), _LAST_SECOND), UTC).date()

    def read(self, path: str) -> bytes:
        """The bytes of one file. Raises `KeyError` if there is none, `ObjectMissing`."""
        return self.repository.blobs.read(self.entries()[path][1])

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """(path, bytes) for each of `paths`, in order and in one pass; made for whole repositories."""
        chosen = tuple(paths)
        entries = self.entries()
        return zip(chosen, self.repository.blobs.read_many([entries[path][1] for path in chosen]), strict=True)

    def absent(self, paths: Iterable[str]) -> frozenset[str]:
        """Those of `paths` whose bytes the repository does not hold: there are some in a partial clone."""
        blobs = {path: self.entries()[path][1] for path in paths}
        missing = self.repository.blobs.missing(blobs.values())
        return frozenset(path for path, blob in blobs.items() if blob in missing)

    def history(self, most: int) -> Sequence[PastChange]:
        """What the last `most` commits changed, but for merges and those of very many files; the latest first.

        There is less of it in a shallow clone, and nothing where git cannot tell.
        """
        about = "--format=%x00%H%x00%B%x00"
        wanted = ("--no-merges", "--no-renames", "--no-show-signature", "--name-only", f"--max-count={most}")
        try:
            said = self.repository.git.run("log", "-z", about, *wanted, self.id)
        except GitFailed:  # Trees of the past are missing, as in a clone without them.
            return ()
        return [change for change in past_changes(text(said)) if len(change.paths) <= MOST_CHANGED]

    @functools.cached_property
    def _listing(self) -> tuple[Mapping[str, tuple[int, str]], Mapping[str, str]]:
        files: dict[str, tuple[int, str]] = {}
        submodules: dict[str, str] = {}
        listed = self.repository.git.run("ls-tree", "-r", "-z", "--full-tree", self.id)
        for octal, blob, path in _LISTED.findall(text(listed)):
            mode = int(octal, 8)
            if mode == _SUBMODULE:
                submodules[path] = blob
            else:
                files[path] = (mode, blob)
        return types.MappingProxyType(files), types.MappingProxyType(submodules)


def past_changes(said: str) -> Iterator[PastChange]:
    """The commits of `git log -z --format=%x00%H%x00%B%x00 --name-only`, without those that change no file."""
    fields = iter(said.split("\0"))
    while next((field for field in fields if field), None):  # the id of a commit
        message, _ = next(fields, ""), next(fields, "")
        paths = list(itertools.takewhile(bool, fields))
        if paths:
            yield PastChange(message[:LONGEST_MESSAGE], (paths[0].removeprefix("\n"), *paths[1:]))


class Repository:
    """A git repository. Use it as a context manager, or `close` it: a process and a folder belong to it."""

    def __init__(self, git_dir: Path, object_format: str, *, name: str) -> None:
        """The repository of a `git_dir` that `located` found."""
        self.name = name
        self.git_dir = git_dir
        """The repository's own git directory (of a work tree that `git worktree` made, that one's)."""
        self.theirs = Git(folder=git_dir, git_dir=git_dir)
        """git on the repository's directory, for references alone: this one reads the repository's configuration."""
        common = _common(git_dir)
        self.objects = common / "objects"
        self._own = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
        self._tidy = weakref.finalize(self, shutil.rmtree, self._own, ignore_errors=True)
        self.git = Git(folder=self._own, git_dir=self._own)
        """git on our own directory: reads the repository's objects, keeps new ones to itself."""
        self.blobs = BlobReader(self.git)
        self._lay_out(common, object_format)

    def __enter__(self) -> Repository:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the git process and remove what belongs to this object; the repository stays as it is."""
        self.blobs.close()
        self._tidy()

    def resolve(self, revision: str = "HEAD") -> Commit:
        """The commit that `revision` names. Raises `NoCommits`, `UnknownRevision`."""
        if revision.startswith("-") or not revision.strip() or "\0" in revision:
            raise UnknownRevision(f"{revision!r} is no revision: give a branch, a tag or a commit id")
        try:
            found = self.theirs.run("rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
        except GitFailed as error:
            raise self._unknown(revision, error) from error
        return Commit(line(found), self)

    def branches(self) -> dict[str, str]:
        """Local branch -> commit id."""
        rows = self.theirs.run("for-each-ref", "--format=%(objectname) %(refname:lstrip=2)", "refs/heads/")
        return {name: commit for commit, _, name in (row.partition(" ") for row in text(rows).splitlines())}

    def _unknown(self, revision: str, error: GitFailed) -> CheckoutError:
        if not self.theirs.run("rev-list", "--all", "--max-count=1"):
            return NoCommits(f"{self.name} has no commit yet: make the first one (`git add . && git commit`)")
        branches = list(self.branches())
        near = difflib.get_close_matches(revision, branches, n=3) or branches[:5]
        return UnknownRevision(
            f"{self.name} has no commit called {revision!r} ({error}). "
            f"Fetch it first, or name another; branches here: {', '.join(near) or 'none'}"
        )

    def _lay_out(self, common: Path, object_format: str) -> None:
        version = "1\n[extensions]\n\tobjectFormat = sha256" if object_format == "sha256" else "0"
        (self._own / "refs").mkdir()
        (self._own / "objects" / "info").mkdir(parents=True)
        (self._own / "HEAD").write_text("ref: refs/heads/none\n", "ascii")
        (self._own / "config").write_text(f"[core]\n\tbare = true\n\trepositoryFormatVersion = {version}\n", "ascii")
        quoted = str(self.objects).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        (self._own / "objects/info/alternates").write_bytes(f'"{quoted}"\n'.encode("utf-8", "surrogateescape"))
        if (common / "shallow").is_file():
            shutil.copyfile(common / "shallow", self._own / "shallow")


def open_local(path: Path) -> Repository:
    """The repository around `path`: a checkout, a work tree of `git worktree`, a submodule's checkout, a bare one.

    Raises `NotARepository`.
    """
    folder = path.expanduser()
    if not folder.is_dir():
        raise NotARepository(f"There is no folder {path}: give the folder of a git checkout")
    try:
        git_dir, object_format = located(Git(folder=folder))
    except GitFailed as error:
        raise NotARepository(
            f"{path} is not a usable git repository ({error}). "
            "Give the folder of a checkout, or make one of it: `git init && git add . && git commit`"
        ) from error
    root = git_dir.parent if git_dir.name == ".git" else folder.resolve()
    return Repository(git_dir, object_format, name=root.name.removesuffix(".git"))


def located(git: Git) -> tuple[Path, str]:
    """The git directory that `git` finds, and by which hash its objects are named. Raises `GitFailed`."""
    folder, _, object_format = line(git.run("rev-parse", "--absolute-git-dir", "--show-object-format")).rpartition("\n")
    return Path(folder), object_format


def _common(git_dir: Path) -> Path:
    """The directory that a repository's work trees share, as gitrepository-layout(5) tells."""
    try:
        return git_dir / text((git_dir / "commondir").read_bytes().rstrip(b"\r\n"))
    except FileNotFoundError:
        return git_dir


def sweep() -> int:
    """Remove the directories of processes that were killed before they could; how many there were."""
    found = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
        with contextlib.suppress(FileNotFoundError):
            # The age as well, as a process in another container may use the same folder and not be seen.
            if not Path("/proc", owner).exists() and time.time() - folder.stat().st_mtime > _HOUR:
                shutil.rmtree(folder, ignore_errors=True)
                found += 1
    return found
