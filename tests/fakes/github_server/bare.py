"""Questions to, and changes of, a bare git repository, by git's own plumbing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
}
PERSON = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in {"NAME": "Stand In", "EMAIL": "stand-in@example.com", "DATE": "2026-01-02T03:04:05Z"}.items()
}


def git(path: Path, *args: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None) -> str:
    """Standard output of a git command on the repository, stripped. Raises `subprocess.CalledProcessError`."""
    done = subprocess.run(
        ["git", *args],
        cwd=path,
        input=stdin,
        capture_output=True,
        env=ENVIRONMENT | PERSON | dict(env or {}),
        check=True,
    )
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def create(path: Path, default_branch: str) -> None:
    """An empty bare repository whose pushes are decided by `proc_receive.py`."""
    path.mkdir(parents=True)
    git(path, "init", "--quiet", "--bare", f"--initial-branch={default_branch}")
    git(path, "config", "http.receivepack", "true")
    git(path, "config", "receive.procReceiveRefs", "refs/")
    git(path, "config", "receive.advertiseAtomic", "false")
    git(path, "config", "uploadpack.allowFilter", "true")
    git(path, "config", "uploadpack.allowAnySHA1InWant", "true")
    hook = path / "hooks" / "proc-receive"
    script = Path(__file__).with_name("proc_receive.py")
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I "{script}"\n', encoding="utf-8")
    hook.chmod(0o755)


def commit(path: Path, branch: str, files: Mapping[str, str | bytes | None], message: str, email: str) -> str:
    """Put a commit with these files changed (None deletes) on the branch, and give its id."""
    index = path / "stand-in.index"
    env = {"GIT_INDEX_FILE": str(index), "GIT_AUTHOR_EMAIL": email, "GIT_COMMITTER_EMAIL": email}
    parent = head(path, branch)
    git(path, "read-tree", parent or "--empty", env=env)
    for name, content in files.items():
        if content is None:
            git(path, "update-index", "--force-remove", "--", name, env=env)
            continue
        data = content.encode() if isinstance(content, str) else content
        blob = git(path, "hash-object", "-w", "--stdin", stdin=data)
        git(path, "update-index", "--add", "--cacheinfo", f"100644,{blob},{name}", env=env)
    tree = git(path, "write-tree", env=env)
    index.unlink(missing_ok=True)
    made = git(path, "commit-tree", tree, *(("-p", parent) if parent else ()), "-m", message, env=env)
    git(path, "update-ref", f"refs/heads/{branch}", made)
    return made


def head(path: Path, branch: str) -> str | None:
    """The commit of a branch, None if there is no such branch."""
    return dict(refs(path, f"refs/heads/{branch}")).get(f"refs/heads/{branch}")


def refs(path: Path, prefix: str) -> list[tuple[str, str]]:
    """(full name, object id) of the refs whose names start with `prefix`, sorted by name."""
    listed = git(path, "for-each-ref", "--format=%(refname) %(objectname)")
    pairs = (line.rsplit(" ", 1) for line in listed.splitlines())
    return [(name, found) for name, found in pairs if name.startswith(prefix)]


def has_commit(path: Path, commit_id: str) -> bool:
    """Whether there is a commit of that id."""
    try:
        return git(path, "cat-file", "-t", commit_id) == "commit"
    except subprocess.CalledProcessError:
        return False


def differ(path: Path, base: str, commit_id: str) -> bool:
    """Whether `commit_id` has commits that `base` has not."""
    return git(path, "rev-list", "--count", f"{base}..{commit_id}") != "0"


def sizes(path: Path, base: str, commit_id: str) -> tuple[int, int, int, int]:
    """Commits, added lines, deleted lines and files between the merge base and `commit_id`."""
    commits = int(git(path, "rev-list", "--count", f"{base}..{commit_id}"))
    rows = [line.split("\t") for line in git(path, "diff", "--numstat", f"{base}...{commit_id}").splitlines()]
    numbers = [(int(a) if a != "-" else 0, int(d) if d != "-" else 0) for a, d, _ in rows]
    return commits, sum(a for a, _ in numbers), sum(d for _, d in numbers), len(rows)
