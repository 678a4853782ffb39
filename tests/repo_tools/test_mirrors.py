"""Mirrors and pushes over HTTP, against git's own server."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from repo_tools.checkout import Repository, raw
from repo_tools.commits import Signature, commit
from repo_tools.errors import AccessDenied, BranchMoved, GitFailed, NameRefused, PushRefused, UnknownRevision
from repo_tools.mirrors import Mirrors
from repo_tools.remotes import Remote, push, push_note
from repo_tools.tree import Tree
from tests.fakes.git_repository import GitRepository
from tests.fakes.git_server import GitServer, git_server

ME = Signature("A Bot", "bot@example.org", 1_700_000_000)
SECRET = "s3cret-t0ken"
CREDENTIAL = f"x-access-token:{SECRET}"
OLD = os.urandom(100_000)
FILES = {"a.py": b"x = 1\r\n", "b/c.bin": b"\0\1\2"}


@pytest.fixture
def made(tmp_path: Path) -> GitRepository:
    """The repository on the server: `main` with two commits, the first of which holds a big file."""
    made = GitRepository(tmp_path / "served" / "owner" / "project", {**FILES, "big": OLD})
    made.git("rm", "-q", "big")
    made.commit({"a.py": b"x = 2\r\n"})
    for key in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant", "http.receivepack"):
        made.git("config", key, "true")
    return made


@pytest.fixture
def server(made: GitRepository, tmp_path: Path) -> Iterator[GitServer]:
    with git_server(tmp_path / "served", CREDENTIAL) as server:
        yield server


@pytest.fixture
def remote(server: GitServer) -> Remote:
    return Remote(f"{server.url}/owner/project/.git", SECRET, protocols=("http",))


@pytest.fixture
def mirrors(tmp_path: Path) -> Mirrors:
    return Mirrors(tmp_path / "mirrors")


def everything(folder: Path) -> bytes:
    """All that is stored below a folder."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def files_of(repository: Repository, revision: str) -> dict[str, bytes]:
    found = repository.resolve(revision)
    return dict(found.read_many(found.entries()))


def test_a_mirror_holds_the_commit_that_was_asked_for(mirrors: Mirrors, remote: Remote, made: GitRepository) -> None:
    first, second = made.git("rev-parse", "main^"), made.git("rev-parse", "main")
    with mirrors.update(remote) as repository:
        assert repository.resolve().id == second
        assert files_of(repository, "HEAD") == {**FILES, "a.py": b"x = 2\r\n"}
        assert repository.resolve(first).id == first, "history is there"
        with pytest.raises(GitFailed, match="partial"):
            repository.resolve(first).read("big")
    assert len(everything(mirrors.path(remote.url))) < 50_000, "contents of old commits are not"
    with mirrors.update(remote, first) as repository:
        assert files_of(repository, first) == {**FILES, "big": OLD}


def test_a_mirror_follows_its_remote(mirrors: Mirrors, remote: Remote, made: GitRepository) -> None:
    mirrors.update(remote, "main").close()
    newer = made.commit({"new": b"1"})
    made.git("checkout", "-q", "-b", "trunk")
    trunk = made.commit({"new": b"2"})
    for revision, expected in (("main", newer), ("trunk", trunk), ("HEAD", trunk), (trunk, trunk)):
        with mirrors.update(remote, revision) as repository:
            assert repository.resolve(revision).id == expected
            assert files_of(repository, revision)["new"] in (b"1", b"2")
    made.git("reset", "-q", "--hard", "main^^")
    rewritten = made.commit({"new": b"3"})
    with mirrors.update(remote, "trunk") as repository:
        assert repository.resolve("trunk").id == rewritten, "a branch that was rewritten is followed"
        assert files_of(repository, trunk)["new"] == b"2", "what a run may still stand on stays"
    assert [path.suffix for path in mirrors.folder.iterdir()].count(".git") == 1


def test_a_commit_that_is_there_needs_no_network(mirrors: Mirrors, made: GitRepository, tmp_path: Path) -> None:
    with git_server(tmp_path / "served") as server:
        remote = Remote(f"{server.url}/owner/project/.git", protocols=("http",))
        mirrors.update(remote).close()
    head = made.git("rev-parse", "HEAD")
    with mirrors.update(remote, head) as repository:
        assert files_of(repository, head)["a.py"] == b"x = 2\r\n"
    with pytest.raises(GitFailed):
        mirrors.update(remote)
    with mirrors.update(remote, head) as repository:
        assert repository.resolve(head).read("a.py"), "an outage costs no mirror"


def test_a_server_without_filters_serves_too(mirrors: Mirrors, remote: Remote, made: GitRepository) -> None:
    made.git("config", "--unset", "uploadpack.allowFilter")
    with mirrors.update(remote) as repository:
        assert files_of(repository, "HEAD") == {**FILES, "a.py": b"x = 2\r\n"}


def test_what_the_remote_has_not_is_named(mirrors: Mirrors, remote: Remote) -> None:
    for revision in ("nowhere", "1" * 40):
        with pytest.raises(UnknownRevision, match=revision):
            mirrors.update(remote, revision)
    for revision in ("--upload-pack=x", "a:b", "+main", "a b", "@{u}", "", "main^"):
        with pytest.raises((NameRefused, UnknownRevision)):
            mirrors.update(remote, revision)


def _garble(pack: Path) -> None:
    pack.write_bytes(b"PACKgarbage")


def _cut(pack: Path) -> None:
    pack.write_bytes(pack.read_bytes()[:-40])


@pytest.mark.parametrize("spoil", [_garble, _cut, Path.unlink])
def test_a_damaged_mirror_is_made_anew(spoil: Callable[[Path], None], mirrors: Mirrors, remote: Remote) -> None:
    mirrors.update(remote).close()
    path = mirrors.path(remote.url)
    for pack in path.rglob("*.pack"):
        pack.chmod(0o600)
        spoil(pack)
    with mirrors.update(remote) as repository:
        assert files_of(repository, "HEAD")["a.py"] == b"x = 2\r\n"


def test_what_a_killed_git_left_is_cleared(mirrors: Mirrors, remote: Remote, made: GitRepository) -> None:
    mirrors.update(remote, "main").close()
    path = mirrors.path(remote.url)
    for name in ("shallow.lock", "packed-refs.lock", "config.lock", "HEAD.lock", "refs/heads/main.lock"):
        (path / name).write_bytes(b"")
    inode = path.stat().st_ino
    newer = made.commit({"new": b"1"})
    with mirrors.update(remote, "main") as repository:
        assert repository.resolve("main").id == newer
    assert path.stat().st_ino == inode, "it is mended, not made anew"


def test_many_updates_do_not_pile_up_packs(mirrors: Mirrors, remote: Remote, made: GitRepository) -> None:
    first = made.git("rev-parse", "HEAD")
    mirrors.update(remote, "main").close()
    mirror = GitRepository(mirrors.path(remote.url), init=("--bare",))
    for number in range(60):
        blob = mirror.git("hash-object", "-w", "--stdin", data=b"%d" % number)
        mirror.git("pack-objects", "-q", "objects/pack/pack", data=f"{blob}\n".encode())
    made.commit({"new": b"1"})
    with mirrors.update(remote, "main") as repository:
        assert len(list((mirror.path / "objects" / "pack").glob("*.pack"))) < 5
        assert files_of(repository, "main")["new"] == b"1"
        assert files_of(repository, first)["a.py"] == b"x = 2\r\n"


def _update(folder: Path, remote: Remote, answers: multiprocessing.Queue[bytes]) -> None:
    with Mirrors(folder).update(remote) as repository:
        answers.put(repository.resolve().read("a.py"))


def test_processes_share_a_mirror(mirrors: Mirrors, remote: Remote) -> None:
    context = multiprocessing.get_context("spawn")
    answers: multiprocessing.Queue[bytes] = context.Queue()
    workers = [context.Process(target=_update, args=(mirrors.folder, remote, answers)) for _ in range(3)]
    for worker in workers:
        worker.start()
    assert [answers.get(timeout=60) for _ in workers] == [b"x = 2\r\n"] * 3
    for worker in workers:
        worker.join()


# The credential


def test_the_credential_stays_out_of_everything_that_is_kept(
    mirrors: Mirrors, remote: Remote, server: GitServer, tmp_path: Path
) -> None:
    with mirrors.update(remote) as repository:
        assert CREDENTIAL in server.seen
        assert SECRET.encode() not in everything(mirrors.folder) + everything(repository.git.folder)
    assert SECRET not in repr(remote)
    assert SECRET not in repr(remote.git(tmp_path))


def test_a_wrong_credential_is_told_from_an_outage(mirrors: Mirrors, remote: Remote, server: GitServer) -> None:
    for wrong in (Remote(remote.url, "wr0ng", protocols=("http",)), Remote(remote.url, protocols=("http",))):
        with pytest.raises(AccessDenied) as caught:
            mirrors.update(wrong)
        assert "wr0ng" not in str(caught.value)
    with pytest.raises(AccessDenied):
        mirrors.update(Remote(f"{server.url}/owner/other", SECRET, protocols=("http",)))
    with pytest.raises(UnknownRevision):
        mirrors.update(remote, "nowhere")
    assert not list(mirrors.folder.glob("*.git")), "nothing is left of what could not be had"


def test_the_credential_does_not_follow_a_redirect(mirrors: Mirrors, made: GitRepository, tmp_path: Path) -> None:
    served = tmp_path / "served"
    with git_server(served, CREDENTIAL) as evil, git_server(served, redirect_to=evil.url) as home:
        with pytest.raises((AccessDenied, GitFailed)):
            mirrors.update(Remote(f"{home.url}/owner/project/.git", SECRET, protocols=("http",)))
        assert evil.seen == []


@pytest.mark.parametrize(
    "url",
    [
        "ext::sh -c 'touch /tmp/x'",
        "file:///etc",
        "ssh://host/x",
        "git@host:owner/name",
        "--upload-pack=touch",
        "https://user:pass@host/owner/name",
        "https://host/owner/name\n.evil",
        "https:///owner/name",
        "https://[bad/owner",
        "http://host/owner/name",
        "",
    ],
)
def test_addresses_that_are_never_fetched_from(url: str) -> None:
    with pytest.raises(NameRefused):
        Remote(url)


def test_a_credential_cannot_carry_lines() -> None:
    with pytest.raises(NameRefused):
        Remote("https://host/owner/name", "x\nhost=evil")


# Pushing


@pytest.fixture
def work(mirrors: Mirrors, remote: Remote) -> Iterator[tuple[Repository, str]]:
    """The mirror, and a commit in it that the remote has not."""
    with mirrors.update(remote, "main") as repository:
        tree = Tree(repository.resolve("main")).with_file("a.py", b"x = 3\r\n").with_file("new", b"n")
        yield repository, commit(repository, tree, "Mend it", ME)


def test_a_branch_is_pushed_once(work: tuple[Repository, str], remote: Remote, made: GitRepository) -> None:
    repository, made_id = work
    for _ in range(2):
        push(repository, remote, made_id, "agent-fix/issue-1", expected=None)
    assert made.git("rev-parse", "agent-fix/issue-1") == made_id
    assert made.git("log", "--format=%s", "agent-fix/issue-1").splitlines()[0] == "Mend it"
    assert SECRET.encode() not in everything(repository.git_dir)


def test_a_push_works_when_the_base_moved_meanwhile(
    work: tuple[Repository, str], remote: Remote, made: GitRepository
) -> None:
    repository, made_id = work
    made.commit({"later": b"1"})
    made.git("update-ref", "-d", "refs/remotes/origin/main")
    push(repository, remote, made_id, "fix", expected=None)
    assert made.git("show", "fix:new") == "n"
    assert made.git("fsck", "--connectivity-only") is not None


def test_a_branch_that_moved_is_left_alone(work: tuple[Repository, str], remote: Remote, made: GitRepository) -> None:
    repository, made_id = work
    theirs = made.git("commit-tree", "-p", "main", "-m", "theirs", "main^{tree}")
    made.git("branch", "fix", theirs)
    for expected in (None, made_id, made.git("rev-parse", "main")):
        with pytest.raises(BranchMoved):
            push(repository, remote, made_id, "fix", expected=expected)
    assert made.git("rev-parse", "fix") == theirs
    push(repository, remote, made_id, "fix", expected=theirs)
    assert made.git("rev-parse", "fix") == made_id


def test_a_refusal_carries_the_remotes_reason(
    work: tuple[Repository, str], remote: Remote, made: GitRepository
) -> None:
    repository, made_id = work
    with pytest.raises(PushRefused, match="checked out"):
        push(repository, remote, made_id, "main", expected=made.git("rev-parse", "main"))
    with pytest.raises(NameRefused):
        push(repository, remote, made_id, "a..b", expected=None)


def test_nobody_pushes_without_the_right_to(work: tuple[Repository, str], remote: Remote, made: GitRepository) -> None:
    repository, made_id = work
    with pytest.raises(AccessDenied):
        push(repository, Remote(remote.url, "wr0ng", protocols=("http",)), made_id, "fix", expected=None)
    assert made.git("branch", "--list", "fix") == ""


def test_notes_of_several_writers_stand_side_by_side(
    work: tuple[Repository, str], remote: Remote, made: GitRepository, tmp_path: Path
) -> None:
    repository, made_id = work
    main = made.git("rev-parse", "main")
    push(repository, remote, made_id, "fix", expected=None)
    push_note(repository, remote, main, b"of main\n", ME, ref="agent-fix")
    with Mirrors(tmp_path / "other").update(remote, "fix") as other:
        push_note(other, remote, made_id, b"  of the fix\r\n\xff\n\n", ME, ref="agent-fix")
    push_note(repository, remote, main, b"of main, again\n", ME, ref="agent-fix")
    notes = {made_id: b"  of the fix\r\n\xff\n\n", main: b"of main, again\n"}
    for annotated, note in notes.items():
        blob = made.git("notes", "--ref=agent-fix", "list", annotated)
        assert raw(made.git("cat-file", "blob", blob)) + b"\n" == note
