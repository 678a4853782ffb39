"""Repositories that want to have something run, or to reach out: nothing runs, and nothing leaves."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from repo_tools.changes import Conflict, diff, patch_between, rebase
from repo_tools.checkout import Repository, open_local
from repo_tools.commits import Signature, add_note, commit, create_branch
from repo_tools.errors import CheckoutError, GitFailed
from repo_tools.patch import SYMLINK
from repo_tools.tree import Tree
from tests.fakes.git_repository import GitRepository
from tests.fakes.git_server import git_server

ME = Signature("A Bot", "bot@example.org", 1_700_000_000)
ATTRIBUTES = b"* filter=evil diff=evil merge=evil ident eol=crlf export-subst\n"
FILES = {".gitattributes": ATTRIBUTES, "a.py": b"$Id$\nx = 1\n", "b.txt": b"one\ntwo\nthree\n"}
HOOKS = """
    applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit
    pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive post-update
    reference-transaction push-to-checkout pre-auto-gc post-rewrite fsmonitor-watchman post-index-change
"""


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A program that leaves a trace if it ever runs."""
    program = tmp_path / "trap"
    program.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{tmp_path}/sprung'\nexit 0\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def sprung(tmp_path: Path) -> Path:
    return tmp_path / "sprung"


@pytest.fixture
def made(tmp_path: Path, trap: Path) -> GitRepository:
    """A repository in which everything that git can be told to run is the trap."""
    made = GitRepository(tmp_path / "evil", FILES)
    for hook in HOOKS.split():
        (made.path / ".git" / "hooks" / hook).unlink(missing_ok=True)
        (made.path / ".git" / "hooks" / hook).symlink_to(trap)
    (made.path / ".git" / "info" / "attributes").write_bytes(b"* working-tree-encoding=UTF-16\n" + ATTRIBUTES)
    settings = {
        "core.fsmonitor": trap, "core.sshCommand": trap, "core.askPass": trap, "core.editor": trap, "core.pager": trap,
        "core.hooksPath": made.path / ".git" / "hooks", "core.gitProxy": trap, "core.alternateRefsCommand": trap,
        "core.attributesFile": made.path / ".gitattributes", "core.worktree": "/",
        "diff.external": trap, "diff.evil.command": trap, "diff.evil.textconv": trap, "pager.diff": trap,
        "filter.evil.clean": trap, "filter.evil.smudge": trap, "filter.evil.process": trap,
        "filter.evil.required": "true",
        "merge.evil.driver": f"{trap} %A", "merge.default": "evil", "merge.renormalize": "true",
        "credential.helper": f"!{trap}", "gpg.program": trap, "commit.gpgSign": "true", "sequence.editor": trap,
        "trailer.evil.command": trap, "trailer.evil.cmd": trap, "uploadpack.packObjectsHook": trap,
        "protocol.allow": "always", "protocol.ext.allow": "always", "protocol.file.allow": "always",
        "alias.cat-file": f"!{trap}", "alias.rev-parse": f"!{trap}",
    }  # fmt: skip
    for key, value in settings.items():
        made.git("config", key, str(value))
    return made


@pytest.fixture
def repository(made: GitRepository) -> Iterator[Repository]:
    with open_local(made.path) as opened:
        yield opened


def test_the_trap_springs_for_plain_git(made: GitRepository, sprung: Path) -> None:
    ways = ("status",), ("diff",), ("update-ref", "refs/heads/other", "HEAD"), ("commit", "--allow-empty", "-m", "x")
    for arguments in ways:
        sprung.unlink(missing_ok=True)
        with contextlib.suppress(AssertionError):
            made.git("--work-tree=.", *arguments)
        assert sprung.exists(), f"or the other tests here show nothing about git {arguments}"


def test_everything_at_once_runs_nothing(repository: Repository, made: GitRepository, sprung: Path) -> None:
    base = repository.resolve("HEAD")
    assert dict(base.read_many(base.entries())) == FILES, "no filter, no keyword, no recoding on the way in"
    tree = Tree(base).with_file("a.py", b"$Id$\r\ny = 2\n").with_file("b.txt", b"one\ntwo\n3\n").with_file("new", b"\0")
    assert "+y = 2" in diff(repository, tree)
    made_id = commit(repository, tree, "Mend", ME, sign_off=True)
    assert repository.resolve(made_id).read("a.py") == b"$Id$\r\ny = 2\n", "nor on the way out"
    create_branch(repository, "agent-fix/x", made_id, ME)
    add_note(repository.theirs, made_id, b"note", ME, ref="agent-fix")
    other = commit(repository, Tree(base).with_file("b.txt", b"zero\none\ntwo\nthree\n"), "Other", ME)
    moved = rebase(tree, repository.resolve(other))
    assert isinstance(moved, Tree)
    assert moved.read("b.txt") == b"zero\none\ntwo\n3\n"
    clash = commit(repository, Tree(base).with_file("b.txt", b"one\ntwo\nIII\n"), "Clash", ME)
    assert isinstance(rebase(tree, repository.resolve(clash)), Conflict)
    assert patch_between(base, repository.resolve(made_id)) == tree.patch
    with pytest.raises(CheckoutError):
        repository.resolve("nowhere")
    assert not sprung.exists(), sprung.read_text()


def test_a_folder_of_somebody_else_is_read_all_the_same(made: GitRepository, sprung: Path) -> None:
    for path in [made.path, *made.path.rglob("*")]:
        os.lchown(path, 12345, 12345)
    with open_local(made.path) as repository:
        assert repository.resolve().read("b.txt") == FILES["b.txt"]
    assert not sprung.exists()


def test_the_machines_configuration_and_variables_have_no_say(
    made: GitRepository, trap: Path, sprung: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(f"[core]\n\tfsmonitor = {trap}\n\thooksPath = {made.path}/.git/hooks\n[alias]\n")
    elsewhere = GitRepository(tmp_path / "elsewhere", {"other": b"1"})
    for name, value in {
        "HOME": str(home), "XDG_CONFIG_HOME": str(home), "GIT_DIR": str(elsewhere.path / ".git"),
        "GIT_WORK_TREE": str(elsewhere.path), "GIT_INDEX_FILE": str(tmp_path / "index"),
        "GIT_OBJECT_DIRECTORY": str(tmp_path / "objects"), "GIT_ALTERNATE_OBJECT_DIRECTORIES": "/nowhere",
        "GIT_EXTERNAL_DIFF": str(trap), "GIT_SSH_COMMAND": str(trap), "GIT_ASKPASS": str(trap), "GIT_EDITOR": str(trap),
        "GIT_PAGER": str(trap), "GIT_TRACE": str(tmp_path / "trace"), "GIT_CONFIG_PARAMETERS": "'core.bare=banana'",
        "GIT_AUTHOR_NAME": "Somebody Else", "GIT_NAMESPACE": "x", "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GITHUB_TOKEN": "s3cret", "LC_ALL": "de_DE.UTF-8",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    with open_local(made.path) as repository:
        tree = Tree(repository.resolve()).with_file("b.txt", b"2\n")
        assert diff(repository, tree).startswith("diff --git a/b.txt b/b.txt")
        made_id = commit(repository, tree, "Mend", ME)
        assert create_branch(repository, "fix", made_id, ME) == "fix"
        assert b"A Bot" in repository.git.run("cat-file", "commit", made_id)
        assert "s3cret" not in str(repository.git.environment())
    assert not sprung.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere", "evil", "home", "trap"]


@pytest.mark.parametrize(
    "url", ["ext::{trap} %S", "ssh://127.0.0.1/x", "{file}", "{http}", "evil::x", "git://127.0.0.1/x"]
)
def test_a_partial_clone_fetches_nothing(tmp_path: Path, trap: Path, sprung: Path, url: str) -> None:
    """A repository that says of itself that missing objects are to be had elsewhere, and where."""
    source = GitRepository(tmp_path / "served" / "source", FILES)
    source.git("config", "uploadpack.allowAnySHA1InWant", "true")
    made = GitRepository(tmp_path / "partial", FILES)
    blob = made.git("rev-parse", "HEAD:b.txt")
    (made.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    (tmp_path / "git-remote-evil").symlink_to(trap)
    with git_server(tmp_path / "served") as server:
        for key, value in {
            "core.repositoryFormatVersion": "1", "extensions.partialClone": "origin", "remote.origin.promisor": "true",
            "remote.origin.url": url.format(trap=trap, file=source.path.as_uri(), http=f"{server.url}/source/.git"),
            "remote.origin.uploadpack": str(trap), "core.sshCommand": str(trap), "protocol.allow": "always",
            "protocol.ext.allow": "always", "protocol.evil.allow": "always",
        }.items():  # fmt: skip
            made.git("config", key, value)
        with open_local(made.path) as repository:
            commit_ = repository.resolve()
            assert commit_.read("a.py") == FILES["a.py"]
            for ask in (
                lambda: commit_.read("b.txt"),
                lambda: repository.resolve(f"{blob}^{{commit}}"),
                lambda: repository.resolve("1" * 40),
                lambda: diff(repository, Tree(commit_).with_file("b.txt", b"x")),
            ):
                with pytest.raises(CheckoutError):
                    ask()
        assert server.requests == 0
    assert not sprung.exists()


def test_links_are_data(tmp_path: Path) -> None:
    made = GitRepository(tmp_path / "made")
    secret = tmp_path / "secret"
    secret.write_text("of this machine")
    (made.path / "link").symlink_to(secret)
    (made.path / "up").symlink_to("../../..")
    made.commit()
    with open_local(made.path) as repository:
        commit_ = repository.resolve()
        assert commit_.read("link") == str(secret).encode()
        assert commit_.entries()["up"][0] == SYMLINK
        tree = Tree(commit_).with_file("link", b"/etc/passwd")
        made_id = commit(repository, tree, "x", ME)
        assert repository.resolve(made_id).read("link") == b"/etc/passwd"
    assert secret.read_text() == "of this machine"


EVIL_NAMES = [
    b"-rf",
    b"--output=x",
    b"a\nb",
    b"a\tb",
    b'"quoted"',
    b"caf\xe9",
    b"\xff\xfe",
    b":(top)x",
    b"*",
    b"x\\y",
    b"$(touch x)",
]


def test_names_are_only_names(tmp_path: Path, sprung: Path) -> None:
    made = GitRepository(tmp_path / "made", {})
    for name in EVIL_NAMES:
        Path(os.fsdecode(os.fsencode(made.path) + b"/" + name)).write_bytes(b"of " + name)
    made.commit()
    with open_local(made.path) as repository:
        base = repository.resolve()
        texts = {name.decode("utf-8", "surrogateescape"): b"of " + name for name in EVIL_NAMES}
        assert {path: base.read(path) for path in base.entries()} == texts
        tree = Tree(base)
        for path in texts:
            tree = tree.with_file(path, b"new")
        made_id = commit(repository, tree, "x", ME)
        after = repository.resolve(made_id)
        assert {path: after.read(path) for path in after.entries()} == dict.fromkeys(texts, b"new")
        assert patch_between(base, after) == tree.patch
        assert diff(repository, tree).count("diff --git") == len(texts)
    assert {os.fsencode(path.name) for path in made.path.iterdir()} == {b".git", *EVIL_NAMES}


def test_trees_that_no_git_would_make_are_read_and_never_written_out(tmp_path: Path) -> None:
    """Entries called `.git` or `..` can be forged into a tree; here they are names in a list."""
    made = GitRepository(tmp_path / "made", FILES)
    blob = bytes.fromhex(made.git("hash-object", "-w", "--stdin", data=b"#!/bin/sh\ntouch sprung\n"))
    hooks = made.git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", data=b"100755 post-checkout\0" + blob)
    rows = b"".join(b"40000 %s\0" % name + bytes.fromhex(hooks) for name in (b"..", b".GIT", b".git"))
    forged = made.git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", data=rows)
    made.git("branch", "forged", made.git("commit-tree", forged, "-m", "forged"))
    with open_local(made.path) as repository:
        base = repository.resolve("forged")
        assert set(base.entries()) == {"../post-checkout", ".GIT/post-checkout", ".git/post-checkout"}
        with pytest.raises(CheckoutError):
            commit(repository, Tree(base).with_file("x", b"x"), "x", ME)
    assert not list(tmp_path.rglob("post-checkout"))


def test_a_repository_in_an_odd_place(tmp_path: Path) -> None:
    made = GitRepository(tmp_path / 'a "b\\c\n:d' / "-e", FILES)
    with open_local(made.path) as repository:
        made_id = commit(repository, Tree(repository.resolve()).with_file("b.txt", b"2"), "x", ME)
        assert repository.resolve(made_id).read("b.txt") == b"2"


def test_git_files_and_links_that_lead_elsewhere(made: GitRepository, tmp_path: Path, sprung: Path) -> None:
    """`.git` may be a link or a file; that is where the repository is, and no more of it is believed."""
    for name, point in (
        ("link", lambda at: at.symlink_to(made.path / ".git")),
        ("file", lambda at: at.write_text(f"gitdir: {made.path}/.git\n")),
    ):
        (tmp_path / name).mkdir()
        point(tmp_path / name / ".git")
        with open_local(tmp_path / name) as repository:
            assert repository.resolve().read("b.txt") == FILES["b.txt"]
    loop = tmp_path / "loop"
    loop.mkdir()
    (loop / ".git").symlink_to(".git")
    with pytest.raises(CheckoutError):
        open_local(loop)
    assert not sprung.exists()


def test_an_attribute_cannot_hide_a_change_from_the_reader(tmp_path: Path) -> None:
    made = GitRepository(
        tmp_path / "made", {".gitattributes": b"* -diff linguist-generated binary\n", "a.py": b"x = 1\n"}
    )
    (made.path / ".git" / "info").mkdir(exist_ok=True)
    (made.path / ".git" / "info" / "attributes").write_bytes(b"* -diff\n")
    with open_local(made.path) as repository:
        assert "+evil()" in diff(repository, Tree(repository.resolve()).with_file("a.py", b"evil()\n"))


def test_replaced_objects_are_not_believed(tmp_path: Path) -> None:
    made = GitRepository(tmp_path / "made", {"a.py": b"good\n"})
    blob = made.git("rev-parse", "HEAD:a.py")
    made.git("replace", blob, made.git("hash-object", "-w", "--stdin", data=b"evil\n"))
    with open_local(made.path) as repository:
        assert repository.resolve().read("a.py") == b"good\n"


def test_a_command_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    made = GitRepository(tmp_path / "made", FILES)
    os.mkfifo(made.path / ".git" / "packed-refs")
    with open_local(made.path) as repository, pytest.raises(GitFailed, match="did not end within 1 seconds"):
        repository.theirs.run("for-each-ref", seconds=1)
