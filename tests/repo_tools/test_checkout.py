"""Reading repositories: what is found, what is read, what is said when there is nothing to read."""

from __future__ import annotations

import os
import tempfile
import threading
from pathlib import Path

import pytest

from repo_tools.checkout import MOST_CHANGED, open_local, sweep
from repo_tools.errors import GitFailed, NoCommits, NotARepository, UnknownRevision
from repo_tools.tree import Tree
from tests.fakes.git_repository import GitRepository

FILES = {"a.py": b"x = 1\r\n", "b/c.bin": bytes(range(256)) * 300, "b/empty": b"", "ü \n'.txt": b"odd name"}


@pytest.fixture
def made(tmp_path: Path) -> GitRepository:
    return GitRepository(tmp_path / "project", FILES)


def test_a_commit_gives_the_bytes_of_every_file(made: GitRepository) -> None:
    with open_local(made.path) as repository:
        commit = repository.resolve()
        assert repository.name == "project"
        assert commit.id == made.git("rev-parse", "HEAD")
        assert {path: commit.read(path) for path in commit.entries()} == FILES
        assert dict(commit.read_many(FILES)) == FILES
        assert commit.entries()["a.py"] == (0o100644, made.git("rev-parse", "HEAD:a.py"))
        with pytest.raises(KeyError):
            commit.read("b")


def test_what_is_not_committed_is_not_read(made: GitRepository) -> None:
    made.write({"a.py": b"changed", "new.py": b"new"})
    made.git("add", "a.py")
    before = made.state()
    with open_local(made.path) as repository:
        assert repository.resolve().read("a.py") == FILES["a.py"]
        assert "new.py" not in repository.resolve().entries()
    assert made.state() == before


def test_names_that_are_no_utf8_links_and_modes_survive(made: GitRepository) -> None:
    name = b"caf\xe9.txt"
    Path(os.fsdecode(bytes(made.path) + b"/" + name)).write_bytes(b"latin")
    (made.path / "link").symlink_to("/etc/passwd")
    (made.path / "run.sh").write_bytes(b"#!/bin/sh\n")
    (made.path / "run.sh").chmod(0o755)
    made.commit()
    with open_local(made.path) as repository:
        commit = repository.resolve()
        assert commit.read(name.decode("utf-8", "surrogateescape")) == b"latin"
        assert commit.read("link") == b"/etc/passwd"
        assert commit.entries()["link"][0] == 0o120000
        assert commit.entries()["run.sh"][0] == 0o100755


def test_submodules_are_named_and_not_read(made: GitRepository) -> None:
    made.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},vendor/lib")
    made.git("commit", "--quiet", "-m", "mount")
    with open_local(made.path) as repository:
        commit = repository.resolve()
        assert commit.submodules() == {"vendor/lib": "1" * 40}
        assert "vendor/lib" not in commit.entries()


@pytest.mark.parametrize(("seconds", "day"), [(0, "1970-01-01"), (1_740_009_599, "2025-02-19"), (10**15, "9999-12-31")])
def test_a_commit_has_the_day_of_its_committer(made: GitRepository, seconds: int, day: str) -> None:
    made.git("commit", "--quiet", "--allow-empty", "-m", "x", env={"GIT_COMMITTER_DATE": f"@{seconds} +1400"})
    with open_local(made.path) as repository:
        assert repository.resolve().day.isoformat() == day


def test_a_revision_can_be_a_branch_a_tag_an_id_or_an_expression(made: GitRepository) -> None:
    first = made.git("rev-parse", "HEAD")
    second = made.commit({"a.py": b"x = 2\n"})
    made.git("tag", "-a", "-m", "one", "v1", first)
    made.git("branch", "old", first)
    with open_local(made.path) as repository:
        for revision in ("v1", "old", "HEAD~1", first, first[:12], "main^"):
            assert repository.resolve(revision).id == first
        assert repository.resolve("main").id == second
        assert repository.branches() == {"main": second, "old": first}


@pytest.mark.parametrize("revision", ["mian", "", "--all", "-h", "v9", "HEAD~9", "HEAD:a.py", "a\0b", "0" * 40])
def test_an_unknown_revision_is_named_with_what_there_is(made: GitRepository, revision: str) -> None:
    with open_local(made.path) as repository, pytest.raises(UnknownRevision) as caught:
        repository.resolve(revision)
    assert repr(revision) in str(caught.value)
    if revision == "mian":
        assert "main" in str(caught.value)


def test_a_folder_that_is_no_repository(tmp_path: Path) -> None:
    with pytest.raises(NotARepository, match="git init"):
        open_local(tmp_path)
    with pytest.raises(NotARepository, match="no folder"):
        open_local(tmp_path / "none")
    (tmp_path / ".git").write_text("gitdir: /nowhere\n")
    with pytest.raises(NotARepository):
        open_local(tmp_path)


def test_a_repository_without_commits(tmp_path: Path) -> None:
    GitRepository(tmp_path)
    with open_local(tmp_path) as repository, pytest.raises(NoCommits, match="git commit"):
        repository.resolve()


def test_a_branch_without_commits_beside_one_that_has_some(made: GitRepository) -> None:
    made.git("checkout", "--quiet", "--orphan", "fresh")
    with open_local(made.path) as repository, pytest.raises(UnknownRevision, match="main"):
        repository.resolve()


def test_subfolder_bare_linked_and_submodule_checkouts_are_opened(made: GitRepository, tmp_path: Path) -> None:
    head = made.git("rev-parse", "HEAD")
    made.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "linked"))
    made.git("clone", "--quiet", "--bare", str(made.path), str(tmp_path / "bare.git"))
    outer = GitRepository(tmp_path / "outer", {"x": b"x"})
    outer.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(made.path), "inner")
    side = GitRepository(tmp_path / "linked").commit({"only-here": b"1"})
    for folder, commit, name in (
        (made.path / "b", head, "project"),
        (tmp_path / "bare.git", head, "bare"),
        (tmp_path / "outer" / "inner", head, "inner"),
        (tmp_path / "linked", side, "linked"),
    ):
        with open_local(folder) as repository:
            assert repository.resolve().id == commit
            assert repository.resolve().read("a.py") == FILES["a.py"]
            assert repository.name == name


def test_shallow_and_sha256_repositories(made: GitRepository, tmp_path: Path) -> None:
    made.commit({"later": b"2"})
    made.git("clone", "--quiet", "--depth=1", made.path.as_uri(), str(tmp_path / "shallow"))
    GitRepository(tmp_path / "long", FILES, init=("--object-format=sha256",))
    for name in ("shallow", "long"):
        with open_local(tmp_path / name) as repository:
            commit = repository.resolve()
            assert {path: commit.read(path) for path in FILES} == FILES


def test_a_missing_object_is_an_error_of_its_own(made: GitRepository) -> None:
    blob = made.git("rev-parse", "HEAD:a.py")
    (made.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    with open_local(made.path) as repository:
        commit = repository.resolve()
        with pytest.raises(GitFailed, match="partial or damaged"):
            commit.read("a.py")
        assert commit.read("b/empty") == b"", "the reader goes on"
        with pytest.raises(GitFailed, match="partial or damaged"):
            list(commit.read_many(["b/empty", "a.py"]))


def test_the_history_of_a_commit_tells_what_changed_and_why(made: GitRepository, tmp_path: Path) -> None:
    odd = "ü \n'.txt"
    made.commit({"a.py": b"x = 2\n", odd: b"2"}, "Second\n\nA body\x01\x1e of\n two lines.")
    made.commit(message="Nothing changed")
    made.git("switch", "-q", "-c", "side", "HEAD~1")
    made.commit({"\nside.py": b""}, "Aside")
    made.git("switch", "-q", "main")
    made.git("merge", "-q", "--no-ff", "-m", "A merge", "side")
    made.git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", "")
    made.commit({f"many/{number}": b"" for number in range(MOST_CHANGED + 1)}, "Very many")
    made.git("mv", "a.py", "c.py")
    made.commit(message="Move")
    made.git("clone", "--quiet", "--depth=1", made.path.as_uri(), str(tmp_path / "shallow"))
    with open_local(made.path) as repository, open_local(tmp_path / "shallow") as shallow:
        told = [(change.message.strip(), change.paths) for change in repository.resolve().history(100)]
        assert told == [
            ("Move", ("a.py", "c.py")),
            ("Aside", ("\nside.py",)),
            ("Second\n\nA body\x01\x1e of\n two lines.", ("a.py", odd)),
            ("A change", tuple(sorted(FILES))),
        ]
        assert len(repository.resolve().history(1)) == 1
        assert shallow.resolve().history(100) == [], "all files of the first commit would be too many"


def test_a_clone_without_the_trees_of_the_past_has_no_history(made: GitRepository, tmp_path: Path) -> None:
    made.commit({"b/c.bin": b"2"}, "Second")
    tree = made.git("rev-parse", "HEAD~1:b")
    (made.path / ".git/objects" / tree[:2] / tree[2:]).unlink()
    with open_local(made.path) as repository:
        assert repository.resolve().history(100) == ()


def test_threads_share_one_reader(tmp_path: Path) -> None:
    files = {f"f{number}": os.urandom(number * 97) for number in range(200)}
    made = GitRepository(tmp_path, files)
    wrong: list[str] = []
    with open_local(made.path) as repository:
        commit = repository.resolve()

        def read_all() -> None:
            wrong.extend(path for path in files if commit.read(path) != files[path])

        threads = [threading.Thread(target=read_all) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


def test_reading_stops_in_the_middle_without_leftovers(made: GitRepository) -> None:
    with open_local(made.path) as repository:
        commit = repository.resolve()
        rows = commit.read_many(FILES)
        assert next(iter(rows)) == ("a.py", FILES["a.py"])
        del rows
        assert commit.read("b/empty") == b""
        own = repository.git.folder
    assert not own.exists(), "closing removes what belongs to the object"


def test_two_commits_of_one_id_are_equal_as_bases(made: GitRepository) -> None:
    with open_local(made.path) as one, open_local(made.path) as other:
        assert Tree(one.resolve()) == Tree(other.resolve("main"))


def test_what_a_killed_process_left_is_swept(
    made: GitRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    with open_local(made.path) as repository:
        mine = repository.git.folder
        dead = mine.with_name("agent-fix-git-99999999-x")
        fresh = mine.with_name("agent-fix-git-99999999-y")
        for folder in (dead, fresh):
            (folder / "objects").mkdir(parents=True)
        for folder in (dead, mine):
            os.utime(folder, (1, 1))
        assert sweep() == 1
        assert mine.exists()
        assert fresh.exists(), "it may be another container's"
        assert not dead.exists()
