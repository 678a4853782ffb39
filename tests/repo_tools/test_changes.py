"""Diffs for people, patches between commits, and a change carried over to a base that moved."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_tools.changes import Conflict, authors, diff, diff_commits, fork_point, patch_between, rebase
from repo_tools.checkout import Repository, open_local
from repo_tools.commits import Signature, commit
from repo_tools.errors import GitFailed, NameRefused
from repo_tools.patch import FileState
from repo_tools.tree import Tree
from tests.fakes.git_repository import GitRepository

ME = Signature("A Bot", "bot@example.org", 1_700_000_000)
LINES = b"".join(b"line %d\r\n" % number for number in range(40))
FILES = {"a.py": LINES, "b.bin": b"\0\1\2", "c.txt": b"last line without end"}


@pytest.fixture
def made(tmp_path: Path) -> GitRepository:
    return GitRepository(tmp_path, FILES)


@pytest.fixture
def repository(made: GitRepository):
    with open_local(made.path) as opened:
        yield opened


def test_a_diff_shows_changes_renames_and_names_binaries(repository: Repository, made: GitRepository) -> None:
    tree = Tree(repository.resolve())
    tree = tree.without_file("a.py").with_file("lib/a.py", LINES.replace(b"line 7\r", b"line seven\r"))
    tree = tree.with_file("b.bin", b"\0\3").with_file("c.txt", b"other")
    shown = diff(repository, tree)
    assert "rename from a.py\nrename to lib/a.py" in shown
    assert "-line 7\r\n+line seven\r\n" in shown
    assert "Binary files a/b.bin and b/b.bin differ" in shown
    assert "\\ No newline at end of file" in shown
    assert diff(repository, Tree(repository.resolve())) == ""
    before = made.git("count-objects")
    diff(repository, tree.with_file("d", b"never seen before"))
    assert made.git("count-objects") == before, "looking writes nothing into the repository"
    made_id = commit(repository, tree, "x", ME)
    assert diff_commits(repository.resolve(), repository.resolve(made_id)) == shown


def test_a_patch_between_commits_makes_one_of_the_other(repository: Repository, made: GitRepository) -> None:
    base = repository.resolve()
    made.git("rm", "-q", "b.bin")
    (made.path / "c.txt").chmod(0o755)
    (made.path / "link").symlink_to("a.py")
    made.commit({"new/\xfc \t.py": b"\xff"})
    patch = patch_between(base, repository.resolve())
    assert patch.files == {
        "b.bin": None,
        "c.txt": FileState(FILES["c.txt"], 0o100755),
        "link": FileState(b"a.py", 0o120000),
        "new/\xfc \t.py": FileState(b"\xff"),
    }
    assert dict(Tree(base, patch).entries()) == dict(repository.resolve().entries())


def test_a_submodule_that_moved_is_no_patch(repository: Repository, made: GitRepository) -> None:
    base = repository.resolve()
    made.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},vendor")
    made.git("commit", "--quiet", "-m", "mount")
    with pytest.raises(NameRefused, match="vendor"):
        patch_between(base, repository.resolve())


def test_a_change_moves_to_a_new_base_and_follows_a_rename(repository: Repository, made: GitRepository) -> None:
    tree = Tree(repository.resolve()).with_file("a.py", LINES.replace(b"line 30\r", b"line thirty\r"))
    tree = tree.with_file("test_a.py", b"assert 1\n")
    made.git("mv", "a.py", "moved.py")
    made.commit({"moved.py": LINES.replace(b"line 3\r", b"line three\r"), "other": b"1"})
    moved = rebase(tree, repository.resolve())
    assert isinstance(moved, Tree)
    both = LINES.replace(b"line 3\r", b"line three\r").replace(b"line 30\r", b"line thirty\r")
    assert moved.base == repository.resolve()
    assert moved.patch.files == {"moved.py": FileState(both), "test_a.py": FileState(b"assert 1\n")}


def test_bases_need_no_common_history(repository: Repository, made: GitRepository) -> None:
    tree = Tree(repository.resolve()).with_file("c.txt", b"mine")
    made.git("checkout", "--quiet", "--orphan", "rewritten")
    made.commit({"other": b"1"})
    moved = rebase(tree, repository.resolve())
    assert isinstance(moved, Tree)
    assert moved.patch.files == {"c.txt": FileState(b"mine")}


def test_a_change_that_is_already_there_becomes_empty(repository: Repository, made: GitRepository) -> None:
    tree = Tree(repository.resolve()).with_file("c.txt", b"mine")
    made.commit({"c.txt": b"mine"})
    moved = rebase(tree, repository.resolve())
    assert isinstance(moved, Tree)
    assert not moved.patch


def test_a_conflict_names_the_paths_and_the_reason(repository: Repository, made: GitRepository) -> None:
    base = repository.resolve()
    tree = Tree(base).with_file("c.txt", b"mine").with_file("a.py", LINES + b"more\r\n")
    made.git("rm", "-q", "a.py")
    made.commit({"c.txt": b"theirs"})
    conflict = rebase(tree, repository.resolve())
    assert isinstance(conflict, Conflict)
    assert set(conflict.paths) == {"a.py", "c.txt"}
    assert "CONFLICT (content)" in conflict.explanation or "Merge conflict in c.txt" in conflict.explanation
    assert "deleted" in conflict.explanation


def test_the_authors_of_what_was_added_are_known_and_nobody_else(repository: Repository, made: GitRepository) -> None:
    base = repository.resolve()
    assert authors(base, base) == frozenset()
    made.git("config", "core.fsmonitor", "touch pwned")
    made.git("config", "core.sshCommand", "touch pwned")
    made.write({"a.py": b"x"})
    made.git(
        "add", "--all", env={"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": ""}
    )
    other = {"GIT_AUTHOR_EMAIL": "other@example.org", "GIT_COMMITTER_EMAIL": "third@example.org"}
    off = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": ""}
    made.git("commit", "--quiet", "-m", "more", env=other | off)
    assert authors(base, repository.resolve()) == {"other@example.org", "third@example.org"}
    assert not (made.path / "pwned").exists()


def test_this_machine_s_configuration_has_no_say_in_who_the_authors_are(
    repository: Repository, made: GitRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = repository.resolve()
    made.commit({"a.py": b"x"})
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".gitconfig").write_text("[safe]\n\tbareRepository = explicit\n")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert len(authors(base, repository.resolve())) == 1


def test_where_two_branches_part_is_the_newest_commit_of_both(made: GitRepository, repository: Repository) -> None:
    common = repository.resolve()
    branch = made.git("branch", "--show-current").strip()
    made.git("checkout", "-q", "-b", "topic")
    first = made.commit({"t": b"1"})
    made.commit({"t": b"2"})
    made.git("checkout", "-q", branch)
    made.commit({"m": b"1"})
    topic, main = repository.resolve("topic"), repository.resolve(branch)
    assert fork_point(topic, main) == fork_point(main, topic) == common
    assert fork_point(topic, repository.resolve(first)).id == first
    made.git("checkout", "-q", "--orphan", "alone")
    made.commit({"a": b"1"})
    with pytest.raises(GitFailed):
        fork_point(topic, repository.resolve("alone"))
