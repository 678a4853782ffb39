"""What lies between two states of a repository: for people, as a patch, and carried over to another commit."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

import git

from repo_tools.checkout import Commit, Repository, line, text
from repo_tools.commits import Signature, write_tree
from repo_tools.errors import GitFailed, NameRefused
from repo_tools.patch import FileState, Patch
from repo_tools.tree import Tree

_NOBODY = Signature("agent-fix", "agent-fix", 0)
_GONE, _SUBMODULE = 0, 0o160000


@dataclass(frozen=True)
class Conflict:
    """Why a change cannot be carried over: the paths, and what git says of them."""

    paths: tuple[str, ...]
    explanation: str


def diff(repository: Repository, tree: Tree) -> str:
    """The change that `tree` makes to its base, for people: unified, renames found, binary files only named."""
    return _diff(repository, tree.base.id, write_tree(repository, tree))


def diff_commits(base: Commit, head: Commit) -> str:
    """The same between two commits of one repository."""
    return _diff(head.repository, base.id, head.id)


def _diff(repository: Repository, old: str, new: str) -> str:
    options = ("--no-color", "--no-ext-diff", "--no-textconv", "--find-renames", "--submodule=short")
    return repository.git.run("diff", *options, old, new, "--").decode("utf-8", "replace")


def patch_between(base: Commit, head: Commit) -> Patch:
    """The patch that makes `head` of `base`. Raises `NameRefused` if a submodule differs."""
    return _patch(head.repository, base.id, head.id)


def _patch(repository: Repository, old: str, new: str) -> Patch:
    printed = repository.git.run("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", old, new)
    fields = printed.split(b"\0")
    files: dict[str, FileState | None] = {}
    written: list[tuple[str, int, str]] = []
    for about, name in zip(fields[::2], fields[1::2], strict=False):
        was, mode, _, blob, _ = about.decode("ascii").lstrip(":").split(" ")
        path = text(name)
        if _SUBMODULE in (int(was, 8), int(mode, 8)):
            raise NameRefused(f"{path!r} is a submodule, and its commit differs: a patch holds files only")
        files[path] = None
        if int(mode, 8) != _GONE:
            written.append((path, int(mode, 8), blob))
    contents = repository.blobs.read_many([blob for _, _, blob in written])
    for (path, mode_bits, _), data in zip(written, contents, strict=True):
        files[path] = FileState(data, mode_bits)
    return Patch(files)


def rebase(tree: Tree, new_base: Commit) -> Tree | Conflict:
    """The change of `tree` on another base, by a three-way merge that follows renames.

    Both bases lie in one repository. They need no common history: the old base is the merge's ancestor.
    """
    repository = new_base.repository
    ancestor = _commit(repository, f"{tree.base.id}^{{tree}}")
    ours = _commit(repository, f"{new_base.id}^{{tree}}", ancestor)
    theirs = _commit(repository, write_tree(repository, tree), ancestor)
    merged = repository.git.run("merge-tree", "--write-tree", "-z", "--name-only", ours, theirs, accept=(0, 1))
    result, *rest = merged.split(b"\0")
    if any(rest):
        end = rest.index(b"") if b"" in rest else len(rest)
        return Conflict(tuple(text(path) for path in rest[:end]), _explained(rest[end + 1 :]))
    return Tree(new_base, _patch(repository, new_base.id, line(result)))


def _commit(repository: Repository, tree: str, *parents: str) -> str:
    options = [option for parent in parents for option in ("-p", parent)]
    return line(repository.git.run("commit-tree", tree, *options, env=_NOBODY.environment()))


def _explained(fields: list[bytes]) -> str:
    """The messages of `git merge-tree -z`: a count of paths, the paths, a kind, a text, and again."""
    texts = []
    while len(fields) > 1:
        count = int(fields[0])
        texts.append(fields[count + 2].decode("utf-8", "replace").strip())
        fields = fields[count + 3 :]
    return "\n".join(texts)


def fork_point(one: Commit, other: Commit) -> Commit:
    """The newest commit that both have. Raises `GitFailed` if they have none in common."""
    return one.repository.resolve(line(one.repository.git.run("merge-base", one.id, other.id)))


def authors(base: Commit, head: Commit) -> frozenset[str]:
    """The e-mail addresses of the authors and committers of what `head` has on top of `base`.

    GitPython reads the commits, in our own directory and by our own settings: neither the configuration of the
    repository nor that of this machine has a say. Raises `GitFailed`.
    """
    try:
        with closing(git.Repo(head.repository.git.folder, expand_vars=False)) as reader:
            reader.git.update_environment(**head.repository.git.environment())
            commits = list(reader.iter_commits(f"{base.id}..{head.id}"))
            people = [person for one in commits for person in (one.author, one.committer)]
            return frozenset(person.email for person in people if person.email)
    except (git.GitError, ValueError) as error:
        raise GitFailed(f"the commits between {base.id} and {head.id} cannot be read: {error}") from error
