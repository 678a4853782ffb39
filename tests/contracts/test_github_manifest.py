"""Making an App by a manifest: what is asked for, what comes back, and that it works."""

from __future__ import annotations

import json
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
import requests

from bot.errors import BadInput
from bot.forge.github_app import GitHubApp
from bot.forge.manifest import EVENTS, PERMISSIONS, creation_url, exchange, manifest
from bot.forge.port import Unavailable
from tests.contracts.github_place import QUICK, Place
from tests.fakes.github_server.faults import LOST_ANSWER

BACK = "http://127.0.0.1:8000/setup/done"
HOOK = "https://bot.example.com/webhook"


def click(here: Place, asked: dict[str, object], organization: str | None = None) -> str:
    """What a browser does: post the form, press the button, go back; gives the code."""
    page = creation_url(here.scene.world.origin, "the state", organization)
    sent = requests.post(page, {"manifest": json.dumps(asked)}, allow_redirects=False, timeout=9)
    assert sent.status_code == 302
    assert sent.headers["Location"].startswith(BACK + "?")
    back = parse_qs(urlsplit(sent.headers["Location"]).query)
    assert back["state"] == ["the state"]
    return back["code"][0]


def test_the_app_that_comes_back_works_at_once(app: Place) -> None:
    api = replace(QUICK, url=app.scene.github.api)
    asked = manifest("agent-fix octo", homepage="https://example.com", redirect_url=BACK, webhook_url=HOOK)
    made = exchange(api, click(app, asked, "octo"))
    assert (made.slug, made.owner) == ("agent-fix-octo", "octo")
    assert made.private_key not in repr(made)
    assert str(made.webhook_secret) not in repr(made)
    there = app.scene.world.apps[made.id]
    assert (there.permissions, there.events, there.hook_url) == (dict(PERMISSIONS), list(EVENTS), HOOK)
    app.scene.world.install(there, app.scene.repository)
    issue = app.issue()
    forge = GitHubApp(api, made.id, made.private_key).forge("octo/widgets")
    forge.issues.progress(issue.number, "hello")
    assert issue.comments[0].author.login == "agent-fix-octo[bot]"


def test_a_code_is_good_once(app: Place) -> None:
    api = replace(QUICK, url=app.scene.github.api)
    asked = manifest("agent-fix", homepage="https://example.com", redirect_url=BACK, webhook_url=None)
    code = click(app, asked)
    exchange(api, code)
    for bad in (code, "", "../../app", "x" * 500):
        with pytest.raises(BadInput, match="begin the setup again"):
            exchange(api, bad)


def test_a_lost_answer_is_not_asked_for_twice(app: Place) -> None:
    api = replace(QUICK, url=app.scene.github.api)
    asked = manifest("agent-fix", homepage="https://example.com", redirect_url=BACK, webhook_url=None)
    app.scene.github.faults.plan("POST", "/conversions$", LOST_ANSWER)
    with pytest.raises(Unavailable):
        exchange(api, click(app, asked))
    assert len(app.scene.github.requests("POST", "/app-manifests/.*")) == 1


def test_no_more_is_asked_for_than_the_bot_needs() -> None:
    asked = manifest("agent-fix", homepage="https://example.com", redirect_url=BACK, webhook_url=HOOK)
    assert {"workflows", "actions", "administration", "members"}.isdisjoint(asked["default_permissions"])
    assert asked["public"] is False
    assert asked["hook_attributes"] == {"url": HOOK, "active": True}
    without = manifest("agent-fix", homepage="https://example.com", redirect_url=BACK, webhook_url=None)
    assert without["hook_attributes"]["active"] is False
    assert without["default_events"] == []


@pytest.mark.parametrize(
    ("name", "webhook"),
    [
        ("", HOOK),
        ("x" * 35, HOOK),
        ("fine", "http://localhost:8000/webhook"),
        ("fine", "http://127.0.0.1/w"),
        ("fine", "w"),
    ],
)
def test_what_github_would_not_take_is_said_before(name: str, webhook: str) -> None:
    with pytest.raises(BadInput):
        manifest(name, homepage="https://example.com", redirect_url=BACK, webhook_url=webhook)


@pytest.mark.parametrize(
    ("web", "organization", "wanted"),
    [
        ("https://github.com/", None, "https://github.com/settings/apps/new?state=a%26b"),
        ("https://ghe.example.com", "octo", "https://ghe.example.com/organizations/octo/settings/apps/new?state=a%26b"),
    ],
)
def test_the_page_is_the_owners(web: str, organization: str | None, wanted: str) -> None:
    assert creation_url(web, "a&b", organization) == wanted
