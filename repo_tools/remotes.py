"""Talking to the repository's home: with a credential that exists for one command and for one host."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from repo_tools.checkout import Repository, line, text
from repo_tools.commits import Signature, add_note, check_branch
from repo_tools.errors import AccessDenied, BranchMoved, GitFailed, NameRefused, PushRefused
from repo_tools.git_command import Git

SECONDS = 900.0
_USER, _PASSWORD = "AGENT_FIX_GIT_USER", "AGENT_FIX_GIT_PASSWORD"
_HELPER = f'!f() {{ test "$1" = get && printf "username=%s\\npassword=%s\\n" "${_USER}" "${_PASSWORD}"; }}; f'
_DENIED = re.compile(
    r"Authentication failed|could not read (Username|Password)|Repository not found|repository '.*' not found"
    r"|returned error: 40[134]|Permission to .* denied|does not appear to be a git repository"
)
_NOTE_TRIES = 5


@dataclass(frozen=True)
class Remote:
    """Where a repository lives. The password is handed to git for single commands, for the address's host alone."""

    url: str
    password: str | None = field(default=None, repr=False)
    user: str = "x-access-token"
    protocols: tuple[str, ...] = ("https",)
    config: Mapping[str, str] = field(default_factory=dict)
    """More git configuration, such as `http.sslCAInfo` or `http.proxy`."""

    def __post_init__(self) -> None:
        """Raises `NameRefused` unless the address is a plain one of the permitted protocols."""
        try:
            parts = urlsplit(self.url)
            known = parts.scheme in self.protocols and (parts.hostname or parts.scheme == "file")
        except ValueError:
            known = False
        if not known or re.search(r"[^!-~]", self.url):
            raise NameRefused(
                f"{self.url!r} is no address that is fetched from: use {' or '.join(self.protocols)}://host/owner/name"
            )
        if "@" in parts.netloc:
            raise NameRefused("The address of a repository holds a credential: give that apart from the address")
        if re.search(r"[^ -~]", self.user + (self.password or "")):
            raise NameRefused("The credential holds a character that none can hold, such as a line end")

    def git(self, git_dir: Path) -> Git:
        """git on a directory of ours, able to reach this remote under the name `origin` and no other place."""
        config = {"remote.origin.url": self.url, "http.lowSpeedLimit": "1000", "http.lowSpeedTime": "60", **self.config}
        env = {}
        if self.password is not None:
            parts = urlsplit(self.url)
            # Scoped to the host: after a redirect to another one, git finds no credential.
            config[f"credential.{parts.scheme}://{parts.netloc}.helper"] = _HELPER
            env = {_USER: self.user, _PASSWORD: self.password}
        return Git(folder=git_dir, git_dir=git_dir, protocols=self.protocols, config=config, env=env)


def push(repository: Repository, remote: Remote, commit_id: str, branch: str, *, expected: str | None) -> None:
    """Set the remote's `branch` to `commit_id`, if it is at `expected` now (`None`: if it does not exist).

    Pushing what is there already succeeds. Raises `BranchMoved`, `PushRefused` with the remote's reason,
    `AccessDenied`, or `GitFailed` for what may pass by itself.
    """
    check_branch(repository.git, branch)
    _push(remote.git(repository.git.folder), commit_id, f"refs/heads/{branch}", expected)


def push_note(
    repository: Repository, remote: Remote, commit_id: str, note: bytes, signature: Signature, *, ref: str
) -> None:
    """Attach `note` to a commit in the remote's `refs/notes/<ref>`, beside those that others add meanwhile."""
    git = remote.git(repository.git.folder)
    reference = f"refs/notes/{ref}"
    for left in reversed(range(_NOTE_TRIES)):
        listed = (row.split("\t") for row in text(talk(git, "ls-remote", "origin", reference)).splitlines())
        there = next((commit for commit, name in listed if name == reference), None)
        if there is not None:
            fetch(git, f"+{there}:{reference}", "--depth=1", "--filter=blob:none")
        add_note(git, commit_id, note, signature, ref=ref)
        made = line(git.run("rev-parse", "--verify", reference))
        try:
            _push(git, made, reference, there)
        except BranchMoved:
            if not left:
                raise
            continue
        return


def fetch(git: Git, refspec: str, *options: str, data: bytes = b"") -> None:
    """Fetch from `origin`; nothing but what `refspec` names. Raises `AccessDenied`, `GitFailed`."""
    where = ("origin", refspec) if refspec else ("--stdin", "origin")
    talk(
        git,
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-write-fetch-head",
        "--no-recurse-submodules",
        *options,
        *where,
        data=data,
    )


def talk(git: Git, *arguments: str, data: bytes = b"", accept: tuple[int, ...] = (0,)) -> bytes:
    """A command that reaches the remote. Raises `AccessDenied`, `GitFailed`."""
    try:
        return git.run(*arguments, data=data, seconds=SECONDS, accept=accept)
    except GitFailed as error:
        if _DENIED.search(str(error)):
            raise AccessDenied(f"{error}. Check the address, and that the credential may do this there") from error
        raise


def _push(git: Git, commit_id: str, reference: str, expected: str | None) -> None:
    lease = f"--force-with-lease={reference}:{expected or ''}"
    # Negotiation finds what both sides have even if the remote's branches went on meanwhile.
    said = talk(
        git, "-c", "push.negotiate=true", "push", "--porcelain", "--no-verify", lease, "origin",
        f"{commit_id}:{reference}", accept=(0, 1),
    )  # fmt: skip
    rows = [row.split("\t", 2) for row in text(said).splitlines() if row.count("\t") == 2]
    if not rows:
        # With the connection cut, git ends with 1 and lists nothing, as if there had been nothing to push.
        raise GitFailed(f"The connection broke before the remote answered for {reference}: look at it, then push again")
    for flag, _, about in rows:
        if flag != "!":
            continue
        if "stale info" in about or "fetch first" in about:
            raise BranchMoved(f"{reference} moved on the remote: nothing was pushed. Fetch it and look again")
        raise PushRefused(f"The remote refused {reference}: {about}")
