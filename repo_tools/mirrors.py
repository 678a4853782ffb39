"""A bare copy of each remote repository, kept from run to run, so that the second run is ready in seconds.

A mirror holds the history without contents, and the contents of the commits that were asked for: for a large
project a seventh of a full clone. It is a cache: a damaged one is made anew, and deleting it costs only time.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from repo_tools.checkout import Repository, line, located, text
from repo_tools.commits import check_branch
from repo_tools.errors import GitFailed, UnknownRevision
from repo_tools.git_command import Git
from repo_tools.remotes import SECONDS, Remote, fetch

_MANY_PACKS = 50
_COMMIT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True)
class Mirrors:
    """The mirrors below one folder. Several processes may use it at a time."""

    folder: Path

    def update(self, remote: Remote, revision: str = "HEAD") -> Repository:
        """The mirror of `remote`, holding `revision` as the remote has it now, with all contents.

        `revision` is `HEAD` (the remote's default branch), a branch, or a full commit id; `resolve` of the result
        finds it under that name. Raises `UnknownRevision`, `AccessDenied`, `GitFailed`.
        """
        path = self.path(remote.url)
        with self._locked(path):
            if not path.exists():
                self._make(path, remote, revision)
                return Repository(*located(Git(folder=path, git_dir=path)), name=_name(remote.url))
            try:
                _bring(path, remote, revision)
            except GitFailed:
                # A mirror that is whole stays: other runs may stand on it, and the fault is elsewhere.
                if _is_whole(Git(folder=path, git_dir=path)):
                    raise
                self._make(path, remote, revision)
        return Repository(*located(Git(folder=path, git_dir=path)), name=_name(remote.url))

    def path(self, url: str) -> Path:
        """Where the mirror of `url` is or will be."""
        readable = re.sub(r"[^A-Za-z0-9.-]+", "-", _name(url)).strip("-.")[-60:]
        return self.folder / f"{readable}-{hashlib.sha256(url.encode()).hexdigest()[:16]}.git"

    @contextlib.contextmanager
    def _locked(self, path: Path) -> Iterator[None]:
        self.folder.mkdir(parents=True, exist_ok=True)
        with path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _make(self, path: Path, remote: Remote, revision: str) -> None:
        """A new mirror, in place of an old one only once it is whole."""
        fresh = path.with_suffix(".fresh")
        shutil.rmtree(fresh, ignore_errors=True)
        try:
            _bring(fresh, remote, revision)
            shutil.rmtree(path, ignore_errors=True)
            fresh.rename(path)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)


def _bring(path: Path, remote: Remote, revision: str) -> None:
    # Without a protocol, so that no question about the mirror turns into a fetch.
    local = Git(folder=path, git_dir=path)
    if not (path / "HEAD").exists():
        path.mkdir(parents=True, exist_ok=True)
        local.run("init", "--quiet", "--bare", "--template=")
    _remove_leftovers(path)
    commit_id = revision
    if not (_COMMIT_ID.fullmatch(revision) and _has(local, revision)):
        commit_id = _fetch_history(local, remote, revision)
    _fetch_contents(local, remote, commit_id)
    if revision == "HEAD":
        local.run("update-ref", "--no-deref", "HEAD", commit_id)
    if len(list((path / "objects" / "pack").glob("*.pack"))) > _MANY_PACKS:
        local.run("repack", "-a", "-d", "--quiet", seconds=SECONDS)


def _fetch_history(local: Git, remote: Remote, revision: str) -> str:
    """Commits and trees up to `revision`, so far as they are not there; returns its commit id."""
    if revision == "HEAD" or _COMMIT_ID.fullmatch(revision):
        wanted, kept = revision, f"refs/remotes/origin/{revision}"
    else:
        check_branch(local, revision)
        wanted = kept = f"refs/heads/{revision}"
    try:
        fetch(remote.git(local.folder), f"+{wanted}:{kept}", "--filter=blob:none", "--force")
    except GitFailed as error:
        if "couldn't find remote ref" in str(error) or "not our ref" in str(error):
            raise UnknownRevision(f"The remote has no {revision!r}: name a branch or a commit of it") from error
        raise
    return line(local.run("rev-parse", "--verify", f"{kept}^{{commit}}"))


def _is_whole(local: Git) -> bool:
    try:
        local.run("fsck", "--connectivity-only", "--no-dangling", "--no-progress", seconds=SECONDS)
    except GitFailed:
        return False
    return True


def _has(local: Git, commit_id: str) -> bool:
    try:
        local.run("cat-file", "-e", f"{commit_id}^{{commit}}")
    except GitFailed:
        return False
    return True


def _fetch_contents(local: Git, remote: Remote, commit_id: str) -> None:
    """The blobs of one commit that are not there yet, in one request."""
    options = ("--objects", "--no-object-names", "--missing=print", "--no-walk")
    listed = text(local.run("rev-list", *options, f"{commit_id}^{{tree}}")).splitlines()
    missing = [f"{row.removeprefix('?')}\n" for row in listed if row.startswith("?")]
    if missing:
        git = remote.git(local.folder)
        # They are named one by one, so there is nothing to negotiate.
        named = replace(git, config={**git.config, "fetch.negotiationAlgorithm": "noop"})
        fetch(named, "", "--filter=blob:none", data="".join(missing).encode("ascii"))


def _remove_leftovers(path: Path) -> None:
    """What a killed git left; nobody else is at work here, as the mirror is locked."""
    for pattern in ("*.lock", "refs/**/*.lock", "objects/pack/tmp_*"):
        for leftover in path.glob(pattern):
            leftover.unlink(missing_ok=True)


def _name(url: str) -> str:
    parts = PurePosixPath(urlsplit(url).path).parts[-2:]
    return "/".join(part for part in parts if part != "/").removesuffix(".git")
