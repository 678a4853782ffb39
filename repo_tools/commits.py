"""Commits, branches and notes written by git's plumbing: bytes, modes and names arrive as they are."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from repo_tools.checkout import Repository, line, raw
from repo_tools.errors import BranchBlocked, GitFailed, NameRefused
from repo_tools.git_command import Git
from repo_tools.paths import defect
from repo_tools.tree import Tree

_NOTHING = "0"


@dataclass(frozen=True)
class Signature:
    """Who, and when in seconds since 1970 (UTC). Equal signatures on equal trees give equal commit ids."""

    name: str
    email: str
    when: int

    def environment(self) -> dict[str, str]:
        """The variables by which git is told. Raises `NameRefused`."""
        if any(ord(c) < 32 or c in "<>" for c in self.name + self.email) or not self.name.strip():
            raise NameRefused(f"{self.name!r} <{self.email!r}> cannot sign a commit: use a plain name and address")
        about = {"NAME": self.name, "EMAIL": self.email, "DATE": f"@{self.when} +0000"}
        return {f"GIT_{who}_{key}": value for who in ("AUTHOR", "COMMITTER") for key, value in about.items()}


def commit(
    repository: Repository,
    tree: Tree,
    message: str,
    signature: Signature,
    *,
    parents: Sequence[str] | None = None,
    sign_off: bool = False,
) -> str:
    """Write `tree` to the repository as a commit on its base, or on `parents`, and return its id.

    No reference moves: `create_branch` makes the commit reachable. Raises `NameRefused` for a path that git
    keeps to itself or that lies in a submodule, `GitFailed`.
    """
    keep = {"GIT_OBJECT_DIRECTORY": str(repository.objects)}
    written = write_tree(repository, tree, env=keep)
    said = raw(message)
    if sign_off:
        trailer = f"Signed-off-by: {signature.name} <{signature.email}>"
        # No line is a comment: a commit's message is not edited in an editor here.
        said = repository.git.run(
            "-c",
            "core.commentChar=\x01",
            "interpret-trailers",
            "--no-divider",
            "--if-exists=addIfDifferent",
            "--trailer",
            trailer,
            data=said,
        )
    above = [tree.base.id] if parents is None else parents
    options = [option for parent in above for option in ("-p", parent)]
    made = repository.git.run(
        "commit-tree", written, *options, "-F", "-", data=said, env={**keep, **signature.environment()}
    )
    return line(made)


def write_tree(repository: Repository, tree: Tree, *, env: dict[str, str] | None = None) -> str:
    """The id of the git tree that holds `tree`. Its objects stay out of the repository unless `env` says where to."""
    for path in tree.patch.files:
        wrong = defect(path)
        if wrong is not None:
            raise NameRefused(f"The change names a file {path!r}, but {wrong}")
    inside = {path for path in tree.patch.files for sub in tree.base.submodules() if f"{path}/".startswith(f"{sub}/")}
    if inside:
        raise NameRefused(f"{min(inside)!r} lies in a submodule, which is another repository: leave it out")
    with tempfile.TemporaryDirectory(dir=repository.git.folder) as folder:
        blobs = _write_blobs(repository, tree, Path(folder), env)
        index = {**(env or {}), "GIT_INDEX_FILE": f"{folder}/index"}
        # Removals first, so that a file may make room for a folder of its name.
        rows = sorted(
            (_NOTHING if state is None else f"{state.mode:o}", path) for path, state in tree.patch.files.items()
        )
        null = "0" * len(tree.base.id)
        lines = [raw(f"{mode} {blobs.get(path, null)}\t{path}\0") for mode, path in rows]
        repository.git.run("read-tree", tree.base.id, env=index)
        try:
            repository.git.run("update-index", "-z", "--index-info", data=b"".join(lines), env=index, silent=True)
        except GitFailed as error:
            raise NameRefused(f"git refuses a path of this change: {error}") from error
        return line(repository.git.run("write-tree", env=index))


def _write_blobs(repository: Repository, tree: Tree, folder: Path, env: dict[str, str] | None) -> dict[str, str]:
    contents = {path: state.data for path, state in tree.patch.files.items() if state is not None}
    for number, data in enumerate(contents.values()):
        (folder / f"{number}").write_bytes(data)
    names = "".join(f"{folder}/{number}\n" for number in range(len(contents)))
    ids = repository.git.run(
        "hash-object", "-w", "--no-filters", "--stdin-paths", data=names.encode("ascii"), env=env
    ).decode("ascii")
    return dict(zip(contents, ids.split(), strict=True))


def create_branch(repository: Repository, name: str, commit_id: str, signature: Signature) -> str:
    """Make the branch `name`, or the next free of `name-2`, `name-3`, …, at `commit_id`; return the name.

    One of these that is at that commit already is taken for it, so that doing it twice leaves one.
    Raises `NameRefused`, or `BranchBlocked` if a branch is called like a folder on the way to `name`.
    """
    for number in itertools.count(1):
        candidate = name if number == 1 else f"{name}-{number}"
        reference = f"refs/heads/{candidate}"
        check_branch(repository.git, candidate)
        taken = repository.branches()
        blocking = [branch for branch in taken if candidate.startswith(f"{branch}/")]
        if blocking:
            raise BranchBlocked(
                f"The branch {blocking[0]!r} leaves no room for {candidate!r}: "
                f"rename it (`git branch -m {blocking[0]} …`), then publish again"
            )
        if taken.get(candidate) == commit_id:
            return candidate
        if candidate in taken or any(branch.startswith(f"{candidate}/") for branch in taken):
            continue
        try:
            # The old value says "must not exist": of two runs at the same time, one gets the next name.
            repository.theirs.run(
                "update-ref", "-m", "agent-fix: created", reference, commit_id, "0" * len(commit_id),
                env=signature.environment(),
            )  # fmt: skip
        except GitFailed:
            if candidate not in repository.branches():
                raise
            continue
        return candidate
    raise AssertionError("the numbers never end")


def check_branch(git: Git, name: str) -> None:
    """Raises `NameRefused` unless a branch may be called `name`."""
    try:
        git.run("check-ref-format", f"refs/heads/{name}")
    except GitFailed as error:
        raise NameRefused(f"{name!r} is no name for a branch: use letters, digits, '-' and '/'") from error
    if name.startswith("-"):
        raise NameRefused(f"{name!r} is no name for a branch: it would be read as an option")


def add_note(git: Git, commit_id: str, note: bytes, signature: Signature, *, ref: str) -> None:
    """Attach `note` to a commit under `refs/notes/<ref>`, byte for byte; replaces an earlier one of that commit.

    `git` is a repository's `theirs`, to keep the note there.
    """
    env = signature.environment()
    blob = line(git.run("hash-object", "-w", "--no-filters", "--stdin", data=note))
    git.run("notes", f"--ref={ref}", "add", "-f", "-C", blob, commit_id, env=env)
