"""Publishing into a repository: commits, branches, notes, and nothing but these."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_tools.checkout import Repository, open_local, raw
from repo_tools.commits import Signature, add_note, commit, create_branch
from repo_tools.errors import BranchBlocked, NameRefused
from repo_tools.patch import EXECUTABLE, REGULAR, SYMLINK, FileState, Patch
from repo_tools.tree import Tree
from tests.fakes.git_repository import GitRepository

ME = Signature("A Bot", "bot@example.org", 1_700_000_000)
FILES = {"a.py": b"x = 1\r\n", "b/c": b"c", "gone": b"gone", "folder/file": b"1", "plain": b"2"}


@pytest.fixture
def made(tmp_path: Path) -> GitRepository:
    return GitRepository(tmp_path, FILES)


@pytest.fixture
def repository(made: GitRepository):
    with open_local(made.path) as opened:
        yield opened


def test_what_is_committed_reads_back_byte_for_byte(repository: Repository, made: GitRepository) -> None:
    base = repository.resolve()
    odd = b"d\xe9j\xe0/\n-x".decode("utf-8", "surrogateescape")
    changes: dict[str, FileState | None] = {
        "a.py": FileState(b"x = 2\r\ny\n\r\0", REGULAR),
        "b/c": FileState(b"c", EXECUTABLE),
        "gone": None,
        "link": FileState(b"../../etc", SYMLINK),
        odd: FileState(b"\xff\xfe"),
        "-rf": FileState(b"dash"),
        "folder/file": None,
        "folder": FileState(b"a file now"),
        "plain": None,
        "plain/inside": FileState(b"a folder now"),
    }
    before = made.state()
    made_id = commit(repository, Tree(base, Patch(changes)), "Mend it", ME)
    after = repository.resolve(made_id)
    wanted = {path: state for path, state in changes.items() if state is not None}
    assert {path: FileState(after.read(path), mode) for path, (mode, _) in after.entries().items()} == wanted
    assert made.git("rev-parse", f"{made_id}^") == base.id
    assert made.state() == before
    assert made.git("for-each-ref", "--format=%(refname)") == "refs/heads/main"
    assert made.git("fsck", "--strict") is not None


def test_the_same_tree_and_signature_give_the_same_commit(repository: Repository) -> None:
    tree = Tree(repository.resolve()).with_file("a.py", b"new")
    ids = {commit(repository, tree, "Mend", ME) for _ in range(2)}
    assert len(ids) == 1
    assert commit(repository, tree, "Mend", Signature(ME.name, ME.email, ME.when + 1)) not in ids


def test_message_author_and_sign_off_arrive(repository: Repository, made: GitRepository) -> None:
    tree = Tree(repository.resolve()).with_file("a.py", b"new")
    message = "Ünïcode title\n\nBody\n---\n# not a comment\n"
    made_id = commit(repository, tree, message, ME, sign_off=True)
    assert made.git("log", "-1", "--format=%an <%ae> %at %cn %ct", made_id) == (
        "A Bot <bot@example.org> 1700000000 A Bot 1700000000"
    )
    body = made.git("log", "-1", "--format=%B", made_id)
    assert body == message + "\nSigned-off-by: A Bot <bot@example.org>\n"
    again = commit(repository, tree, body, ME, sign_off=True)
    assert made.git("log", "-1", "--format=%B", again).count("Signed-off-by") == 1


def test_parents_are_the_callers_choice(repository: Repository, made: GitRepository) -> None:
    base = repository.resolve()
    tree = Tree(base).with_file("a.py", b"new")
    first = commit(repository, tree, "One", ME)
    second = commit(repository, tree.with_file("a.py", b"newer"), "Two", ME, parents=[first])
    assert made.git("rev-list", "--parents", "-1", second) == f"{second} {first}"
    assert made.git("rev-list", "--parents", "-1", commit(repository, tree, "Root", ME, parents=[])).count(" ") == 0


@pytest.mark.parametrize("path", [".git/hooks/x", ".GIT/config", "a/../b", "/etc/x", "a//b", "git~1/x", ".git", ""])
def test_paths_that_git_keeps_to_itself_are_refused(repository: Repository, path: str) -> None:
    with pytest.raises(NameRefused):
        commit(repository, Tree(repository.resolve(), Patch({path: FileState(b"x")})), "Bad", ME)


def test_a_change_inside_a_submodule_is_refused_and_the_submodule_survives_others(
    repository: Repository, made: GitRepository
) -> None:
    made.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},vendor")
    made.git("commit", "--quiet", "-m", "mount")
    base = repository.resolve()
    for path in ("vendor", "vendor/x"):
        with pytest.raises(NameRefused, match="submodule"):
            commit(repository, Tree(base).with_file(path, b"x"), "Bad", ME)
    good = commit(repository, Tree(base).with_file("vendored", b"x"), "Good", ME)
    assert list(repository.resolve(good).submodules()) == ["vendor"]


@pytest.mark.parametrize("name", ["", " ", "a\nb", "a <b>"])
def test_a_signature_cannot_smuggle_headers(repository: Repository, name: str) -> None:
    with pytest.raises(NameRefused):
        commit(repository, Tree(repository.resolve()), "x", Signature(name, "a@b", 0))


def test_sha256_repositories_are_written_too(tmp_path: Path) -> None:
    made = GitRepository(tmp_path / "long", FILES, init=("--object-format=sha256",))
    with open_local(made.path) as repository:
        tree = Tree(repository.resolve()).with_file("a.py", b"new").without_file("gone")
        made_id = commit(repository, tree, "Mend", ME)
        assert create_branch(repository, "fix", made_id, ME) == "fix"
        assert repository.resolve("fix").read("a.py") == b"new"
        assert tree.entries() == repository.resolve("fix").entries()
        assert tree.with_file("a.py", FILES["a.py"]).patch.files.keys() == {"gone"}, "undone is no change"


def test_a_branch_takes_the_next_free_name(repository: Repository, made: GitRepository) -> None:
    made.git("branch", "agent-fix/issue-1-3/deeper")
    ids = [commit(repository, Tree(repository.resolve()).with_file("x", b"%d" % n), "x", ME) for n in range(3)]
    names = [create_branch(repository, "agent-fix/issue-1", one, ME) for one in ids]
    assert names == ["agent-fix/issue-1", "agent-fix/issue-1-2", "agent-fix/issue-1-4"]
    assert made.git("rev-parse", "agent-fix/issue-1-4") == ids[2]
    assert create_branch(repository, "agent-fix/issue-1", ids[1], ME) == names[1], "twice leaves one"
    assert made.git("symbolic-ref", "HEAD") == "refs/heads/main"


def test_a_branch_in_the_way_is_named(repository: Repository, made: GitRepository) -> None:
    made.git("branch", "agent-fix")
    with pytest.raises(BranchBlocked, match="git branch -m agent-fix"):
        create_branch(repository, "agent-fix/x", repository.resolve().id, ME)


@pytest.mark.parametrize("name", ["", "-d", "a..b", "a b", "a.lock", "a/", "@{u}", "a\nb", "x~1", "../../config"])
def test_a_bad_branch_name_is_refused(repository: Repository, name: str) -> None:
    with pytest.raises(NameRefused):
        create_branch(repository, name, repository.resolve().id, ME)
    assert repository.branches() == {"main": repository.resolve().id}


def test_a_note_is_kept_byte_for_byte(repository: Repository, made: GitRepository) -> None:
    note = b'  {"a": 1}\r\n\n\n# x \xff\n\n'
    head = repository.resolve().id
    add_note(repository.theirs, head, b"earlier", ME, ref="agent-fix")
    add_note(repository.theirs, head, note, ME, ref="agent-fix")
    blob = made.git("notes", "--ref=agent-fix", "list", head)
    assert raw(made.git("cat-file", "blob", blob)) == note.removesuffix(b"\n")
