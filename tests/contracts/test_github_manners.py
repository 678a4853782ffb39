"""How the bot asks GitHub: at its pace, with patience that ends, without repeating what may have been done."""

from __future__ import annotations

import itertools
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bot.errors import BadInput, Refused
from bot.forge.connection import Api
from bot.forge.github_app import GitHubApp, GitHubByToken
from bot.forge.port import NotThere, Unavailable
from tests.contracts.github_place import QUICK, Place
from tests.fakes.github_server import acts
from tests.fakes.github_server.faults import SERVER_ERROR, Fault, told_to_wait, used_up
from tests.fakes.github_server.world import World


def test_writes_come_one_after_the_other_with_a_pause_whoever_writes(here: Place) -> None:
    issues = [here.issue() for _ in range(4)]
    host = here.host(pause=0.25)
    host.forge("octo/widgets").author  # noqa: B018 - the bot knows itself before it writes

    def write(number: int) -> None:
        host.forge("octo/widgets").issues.progress(number, "one")

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, [issue.number for issue in issues]))
    times = sorted(one.at for one in here.scene.github.requests("POST", ".*/comments"))
    assert len(times) == 4
    assert min(after - before for before, after in itertools.pairwise(times)) >= 0.24
    assert all(len(issue.comments) == 1 for issue in issues)


def test_reading_goes_on_while_a_write_waits_its_turn(app: Place) -> None:
    host, issue = app.host(pause=2.5), app.issue()
    host.forge("octo/widgets").issues.progress(issue.number, "one")
    late = threading.Thread(target=lambda: host.forge("octo/widgets").issues.progress(issue.number, "two"))
    late.start()
    began = time.monotonic()
    host.forge("octo/widgets").issues.read(issue.number)
    assert time.monotonic() - began < 2
    late.join()


@pytest.mark.parametrize("status", [403, 429])
def test_github_is_obeyed_when_it_says_how_long_to_wait(app: Place, status: int) -> None:
    issue, forge = app.issue(), app.forge()
    forge.author  # noqa: B018 - the bot knows itself before anything goes wrong
    app.scene.github.faults.plan("POST", "/comments$", told_to_wait(1, status))
    forge.issues.progress(issue.number, "one")
    first, second = app.scene.github.requests("POST", ".*/comments")
    assert second.at - first.at >= 1.0
    assert len(issue.comments) == 1


@pytest.mark.parametrize("status", [403, 429])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_wait_beyond_the_cap_is_told_and_not_slept(app: Place, status: int, method: str) -> None:
    issue, forge = app.issue(), app.forge()
    app.scene.github.faults.plan(method, "/comments$", told_to_wait(855, status), times=9)
    began = time.monotonic()
    with pytest.raises(Unavailable, match="855") as told:
        forge.issues.progress(issue.number, "one")
    assert time.monotonic() - began < 2
    assert told.value.retry_after == 855
    assert len(app.scene.github.requests(method, ".*/comments")) == 1


@pytest.mark.parametrize("status", [403, 429])
def test_a_used_up_limit_is_waited_for_until_its_reset(app: Place, status: int) -> None:
    issue, forge = app.issue(), app.forge()
    reset = int(time.time()) + 1
    app.scene.github.faults.plan("GET", "/issues/1$", used_up(reset, status))
    assert forge.issues.read(issue.number).open
    assert time.time() >= reset
    app.scene.github.faults.plan("GET", "/issues/1$", used_up(int(time.time()) + 900, status))
    with pytest.raises(Unavailable) as told:
        app.forge().issues.read(issue.number)
    assert 890 < (told.value.retry_after or 0) < 910


def test_the_limit_on_new_content_is_respected(app: Place) -> None:
    app.scene.world.forbid_writes_per_minute = 2
    forge = app.forge()
    with pytest.raises(Unavailable) as told:
        for _ in range(4):
            forge.issues.progress(app.issue().number, "one")
    assert told.value.retry_after == 60


@pytest.mark.parametrize("fault", [SERVER_ERROR, Fault(502), Fault(503, "Unicorn"), Fault(hang=2)])
def test_reading_is_tried_again(app: Place, fault: Fault) -> None:
    issue, forge = app.issue(), app.forge(timeout=1)
    app.scene.github.faults.plan("GET", "/issues/1$", fault)
    assert forge.issues.read(issue.number).title == "It breaks"


def test_patience_ends(app: Place) -> None:
    issue, forge = app.issue(), app.forge()
    app.scene.github.faults.plan("GET", "/issues/1$", SERVER_ERROR, times=99)
    with pytest.raises(Unavailable, match="did not answer"):
        forge.issues.read(issue.number)
    assert len(app.scene.github.requests("GET", "/repos/octo/widgets/issues/1")) == QUICK.retries + 1


def test_what_has_not_changed_is_not_sent_again(here: Place) -> None:
    issue, host = here.issue(), here.host()
    read = lambda: host.forge("octo/widgets").issues.read(issue.number).title  # noqa: E731
    assert [read(), read()] == ["It breaks", "It breaks"]
    path = f"/repos/octo/widgets/issues/{issue.number}"
    assert [one.status for one in here.scene.github.requests("GET", path)] == [200, 304]
    acts.edit_issue(here.scene.world, here.scene.repository, issue, here.scene.person("rita"), title="It broke")
    assert read() == "It broke"


def test_a_renamed_repository_is_followed_and_called_by_its_new_name(here: Place, tmp_path: Path) -> None:
    here.scene.repository.former_names.add("octo/gadgets")
    issue, forge = here.issue(), here.host().forge("octo/gadgets")
    assert forge.repository == "octo/widgets"
    forge.issues.progress(issue.number, "one")
    repository, commit = here.commit(tmp_path, {"a": b"1"})
    forge.code.push(repository, commit, "agent-fix/x", expected=None)
    assert len(issue.comments) == 1


def test_many_threads_share_an_identity(app: Place) -> None:
    issues = [app.issue() for _ in range(12)]
    host = app.host()
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda it: host.forge("octo/widgets").issues.progress(it.number, f"to {it.number}"), issues))
    assert [len(issue.comments) for issue in issues] == [1] * 12
    assert len(app.scene.github.requests("POST", "/app/installations/.*/access_tokens")) == 2


def test_the_bot_knows_itself_without_asking_what_apps_may_not(here: Place) -> None:
    name, address = here.forge().author
    assert (name, address) == (here.bot.login, f"{here.bot.id}+{here.bot.login}@users.noreply.127.0.0.1")
    assert here.scene.github.requests("GET", "/user") == []


def test_who_is_not_let_in_is_told_what_to_do(app: Place) -> None:
    app.scene.installation.suspended_at = app.scene.world.now()
    with pytest.raises(Refused, match="suspended"):
        app.forge()
    app.scene.installation.suspended_at = None
    del app.scene.installation.permissions["issues"]
    with pytest.raises(Refused, match="accept the App's permissions"):
        app.forge().issues.read(1)
    app.scene.installation.deleted = True
    with pytest.raises(NotThere, match="install it there first"):
        app.forge()


def test_an_app_that_is_uninstalled_meanwhile(app: Place) -> None:
    host = app.host()
    issue = app.issue()
    host.forge("octo/widgets").issues.progress(issue.number, "one")
    app.scene.installation.deleted = True
    with pytest.raises(NotThere, match="install it again"):
        host.forge("octo/widgets")


def test_wrong_credentials_and_addresses_have_names(app: Place, tmp_path: Path) -> None:
    api = app.scene.github.api
    quick = Api(url=api, timeout=2, retries=0, longest_wait=1)
    with pytest.raises(Refused, match="does not know the credential"):
        GitHubByToken(quick, "ghp_wrong", ["octo/widgets"]).forge("octo/widgets")
    other = World(tmp_path / "other")
    for slug in ("one", "another"):
        stranger = other.create_app(slug, owner="octo", permissions={}, events=[])
    with pytest.raises(Refused, match="could not be decoded"):
        GitHubApp(quick, app.scene.app.id, stranger.private_key).forge("octo/widgets")
    with pytest.raises(NotThere):
        app.host().forge("octo/nothing")
    nowhere = Api(url="http://127.0.0.1:9/api/v3", timeout=1, retries=0)
    with pytest.raises(Unavailable):
        GitHubByToken(nowhere, "ghp_any", []).forge("octo/widgets")


@pytest.mark.parametrize(
    "name", ["", "octo", "octo/a/b", "../x", "octo/..", "octo/a b", "octo/a?b", "-/\n", "octo/a#b"]
)
def test_names_that_are_none_are_not_even_asked_for(app: Place, name: str) -> None:
    host = app.host()
    with pytest.raises(BadInput, match="owner/name"):
        host.forge(name)
    assert app.scene.github.seen == []
