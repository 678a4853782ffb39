"""`bot.forge.port.Code` on GitHub: real git, real authentication."""

from __future__ import annotations

import subprocess
from datetime import timedelta
from pathlib import Path

import pytest

from bot.errors import Refused
from bot.forge.port import Moved, Unavailable
from tests.contracts.github_place import Place
from tests.fakes.github_server import acts, bare
from tests.fakes.github_server.faults import SERVER_ERROR, Fault
from tests.fakes.github_server.stage import stage

BRANCH = "agent-fix/issue-1"
CHANGE = {"widgets.py": b"def size():\n    return 2\n"}


def at(here: Place, branch: str = BRANCH) -> str | None:
    return bare.head(here.scene.repository.path, branch)


def test_the_default_branch_and_the_branches_with_a_prefix(here: Place) -> None:
    here.scene.repository.default_branch = "trunk"
    first, second = (
        here.scene.commit("agent-fix/issue-1", {"a": "1"}),
        here.scene.commit("agent-fix/issue-1-2", {"a": "2"}),
    )
    here.scene.commit("agent-fix/issue-20", {"a": "3"})
    code = here.forge().code
    assert code.default_branch() == "trunk"
    assert code.branches("agent-fix/issue-1") == {"agent-fix/issue-1": first, "agent-fix/issue-1-2": second}
    assert code.branches("nothing/") == {}


def test_a_file_is_read_as_it_stands_on_the_default_branch(here: Place) -> None:
    here.scene.commit("other", {".github/agent-fix.yml": "label: other\n"})
    code = here.forge().code
    assert code.file(".github/agent-fix.yml") is None
    here.scene.commit("main", {".github/agent-fix.yml": "label: ümlaut\n"})
    assert code.file(".github/agent-fix.yml") == "label: ümlaut\n"
    assert code.file(".github") is None


@pytest.mark.parametrize(
    ("entry", "shown"),
    [
        ("160000 commit " + 40 * "a", None),
        ("120000 blob no/such/file", None),
        ("120000 blob ../widgets.py", "def size():\n    return 1\n"),
    ],
)
def test_what_is_no_file_of_this_repository_has_no_text(here: Place, entry: str, shown: str | None) -> None:
    path = here.scene.repository.path
    kind, _, name = entry.rpartition(" ")
    name = name if "commit" in kind else bare.git(path, "hash-object", "-w", "--stdin", stdin=name.encode())
    folder = bare.git(path, "mktree", "--missing", stdin=f"{kind} {name}\tagent-fix.yml\n".encode())
    file = bare.git(path, "hash-object", "-w", "--stdin", stdin=b"def size():\n    return 1\n")
    entries = f"040000 tree {folder}\t.github\n100644 blob {file}\twidgets.py\n"
    tree = bare.git(path, "mktree", stdin=entries.encode())
    bare.git(path, "update-ref", "refs/heads/main", bare.git(path, "commit-tree", tree, "-m", "Odd"))
    assert here.forge().code.file(".github/agent-fix.yml") == shown


def test_a_new_branch_is_pushed_once_and_pushing_it_again_is_no_error(here: Place, tmp_path: Path) -> None:
    repository, commit = here.commit(tmp_path, CHANGE)
    code = here.forge().code
    code.push(repository, commit, BRANCH, expected=None)
    assert at(here) == commit
    here.forge().code.push(repository, commit, BRANCH, expected=None)
    assert at(here) == commit


def test_a_branch_that_somebody_else_moved_is_left_alone(here: Place, tmp_path: Path) -> None:
    repository, commit = here.commit(tmp_path, CHANGE)
    theirs = here.scene.commit(BRANCH, {"theirs.py": "1\n"})
    code = here.forge().code
    for expected in (None, repository.resolve().id):
        with pytest.raises(Moved):
            code.push(repository, commit, BRANCH, expected=expected)
    assert at(here) == theirs
    code.push(repository, commit, BRANCH, expected=theirs)
    assert at(here) == commit


def test_what_rules_forbid_is_refused_with_the_reason_and_what_to_do(here: Place, tmp_path: Path) -> None:
    here.scene.repository.protected.add(BRANCH)
    repository, commit = here.commit(tmp_path, CHANGE)
    code = here.forge().code
    with pytest.raises(Refused, match=r"protected branch hook declined.*exempt"):
        code.push(repository, commit, BRANCH, expected=None)
    repository, commit = here.commit(tmp_path, {".github/workflows/ci.yml": b"on: push\n"})
    with pytest.raises(Refused, match=r"refusing to allow.*leave those files out"):
        code.push(repository, commit, "agent-fix/issue-2", expected=None)
    assert code.branches("agent-fix/") == {}


def test_a_name_cannot_play_a_reason(here: Place, tmp_path: Path) -> None:
    """Only what git says in parentheses at the end is a reason, not what stands in the branch's own name."""
    branch = "agent-fix/without-`workflows`-permission"
    here.scene.repository.protected.add(branch)
    repository, commit = here.commit(tmp_path, CHANGE)
    with pytest.raises(Refused) as refused:
        here.forge().code.push(repository, commit, branch, expected=None)
    assert "exempt" in str(refused.value)
    assert "leave those files out" not in str(refused.value)


def test_without_the_right_to_write_nothing_is_pushed(here: Place, tmp_path: Path) -> None:
    repository, commit = here.commit(tmp_path, CHANGE)
    code = here.forge().code
    here.scene.repository.roles["robot"] = "read"
    here.scene.installation.permissions["contents"] = "read"
    for token in here.scene.world.tokens.values():
        token.permissions["contents"] = "read"
    with pytest.raises(Refused):
        code.push(repository, commit, BRANCH, expected=None)
    assert at(here) is None


def test_a_fault_of_github_may_pass(here: Place, tmp_path: Path) -> None:
    repository, commit = here.commit(tmp_path, CHANGE)
    code = here.forge().code
    here.scene.github.faults.plan("*", "git-receive-pack|info/refs", SERVER_ERROR, times=9)
    with pytest.raises(Unavailable):
        code.push(repository, commit, BRANCH, expected=None)
    here.scene.github.faults.clear()
    code.push(repository, commit, BRANCH, expected=None)
    assert at(here) == commit


def test_a_push_whose_answer_was_lost_is_found_done(here: Place, tmp_path: Path) -> None:
    repository, commit = here.commit(tmp_path, CHANGE)
    here.scene.github.faults.plan("POST", "git-receive-pack", Fault(502, after=True))
    with pytest.raises(Unavailable):
        here.forge().code.push(repository, commit, BRANCH, expected=None)
    assert at(here) == commit
    here.forge().code.push(repository, commit, BRANCH, expected=None)


def test_what_is_cloned_with_can_read_and_nothing_else(here: Place, tmp_path: Path) -> None:
    remote = here.forge().code.remote()
    assert remote.url == f"{here.scene.world.origin}/octo/widgets.git"
    assert remote.password is not None
    assert remote.password not in repr(remote)
    if here.identity == "app":
        assert here.scene.world.tokens[remote.password].permissions == {"contents": "read", "metadata": "read"}


def test_notes_are_kept_beside_those_of_others(here: Place, tmp_path: Path) -> None:
    repository, commit = here.commit(tmp_path, CHANGE)
    code = here.forge().code
    code.push(repository, commit, BRANCH, expected=None)
    base = at(here, "main")
    assert base is not None
    here.forge().code.note(repository, base, "of another")
    code.note(repository, commit, "the first\n")
    code.note(repository, commit, "the transcript: é\n")
    path = here.scene.repository.path
    shown = [bare.git(path, "notes", "--ref=agent-fix", "show", one) for one in (commit, base)]
    assert shown == ["the transcript: é", "of another"]


def test_a_token_that_died_since_it_was_minted_is_replaced(app: Place, tmp_path: Path) -> None:
    repository, commit = app.commit(tmp_path, CHANGE)
    forge = app.forge()
    forge.code.push(repository, commit, "agent-fix/first", expected=None)
    app.scene.world.expire_tokens()
    forge.code.push(repository, commit, BRANCH, expected=None)
    assert at(app) == commit
    app.scene.world.expire_tokens()
    issue = app.issue()
    forge.issues.progress(issue.number, "one")
    app.scene.world.expire_tokens()
    forge.issues.progress(issue.number, "two")
    assert len(issue.comments) == 1


def test_a_token_near_its_end_is_not_used(app: Place) -> None:
    app.scene.world.token_life = timedelta(minutes=5)
    forge, issue = app.forge(), app.issue()
    for text in ("one", "two", "three"):
        forge.issues.progress(issue.number, text)
    used = {one.permissions.get("issues") for one in app.scene.github.requests("PATCH", ".*comments.*")}
    minted = app.scene.github.requests("POST", "/app/installations/.*")
    assert used == {"write"}
    assert len(minted) >= 3


def test_each_phase_has_a_token_for_itself_alone(app: Place, tmp_path: Path) -> None:
    app.scene.world.install(app.scene.app, app.scene.world.create_repository("octo/other"))
    repository, commit = app.commit(tmp_path, CHANGE)
    forge, issue = app.forge(), app.issue()
    forge.issues.progress(issue.number, "one")
    forge.code.push(repository, commit, BRANCH, expected=None)
    minted = [one.body for one in app.scene.github.requests("POST", "/app/installations/.*/access_tokens")]
    # The one that sees all repositories sees nothing but their names.
    assert [one["permissions"] for one in minted if "repositories" not in one] == [{"metadata": "read"}]
    assert {tuple(one["repositories"]) for one in minted if "repositories" in one} == {("widgets",)}
    writes = {name for one in minted for name, level in one["permissions"].items() if level == "write"}
    assert writes == {"issues", "contents"}
    assert all(list(one["permissions"].values()).count("write") <= 1 for one in minted)


@pytest.mark.parametrize("long", [True, False])
def test_both_forms_of_tokens_serve(app: Place, tmp_path: Path, long: bool) -> None:
    app.scene.world.long_tokens = long
    repository, commit = app.commit(tmp_path, CHANGE)
    app.forge().code.push(repository, commit, BRANCH, expected=None)
    assert at(app) == commit


def test_the_token_is_nowhere_to_be_read(here: Place, tmp_path: Path) -> None:
    """Neither in an error's text nor in what the repository keeps."""
    repository, commit = here.commit(tmp_path, CHANGE)
    here.scene.repository.protected.add(BRANCH)
    code = here.forge().code
    with pytest.raises(Refused) as refused:
        code.push(repository, commit, BRANCH, expected=None)
    here.scene.repository.protected.clear()
    code.push(repository, commit, BRANCH, expected=None)
    values = [token.value for token in here.scene.world.tokens.values()]
    kept = [path.read_bytes() for path in tmp_path.rglob("clone-*/.git/**/*") if path.is_file()]
    for value in values:
        assert value not in str(refused.value)
        assert not any(value.encode() in data for data in kept)


def test_a_private_repository_is_cloned_and_pushed_to(tmp_path: Path) -> None:
    with stage(tmp_path / "github", private=True) as scene:
        here = Place(scene, "app")
        repository, commit = here.commit(tmp_path, CHANGE)
        with repository:
            forge = here.forge()
            forge.code.push(repository, commit, BRANCH, expected=None)
            remote = forge.code.remote()
            host = scene.world.origin.removeprefix("http://")
            listed = subprocess.run(
                ["git", "ls-remote", f"http://x-access-token:{remote.password}@{host}/octo/widgets.git", BRANCH],
                capture_output=True, text=True, env=bare.ENVIRONMENT,
            )  # fmt: skip
            assert commit in listed.stdout


def test_a_pull_request_follows_what_is_pushed(here: Place, tmp_path: Path) -> None:
    pull = here.pull(BRANCH)
    assert pull.pull is not None
    repository, commit = here.commit(tmp_path, CHANGE | {"more.py": b"1\n"})
    here.forge().code.push(repository, commit, BRANCH, expected=pull.pull.head_sha)
    assert here.forge().pulls.read(pull.number).head_commit == commit
    acts.set_state(here.scene.world, here.scene.repository, pull, here.bot, "closed")
    assert not here.forge().pulls.read(pull.number).open
