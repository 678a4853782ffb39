"""Making the bot's own GitHub App by GitHub's manifest flow: one page, one click, and the secrets come back.

The setup page posts `manifest(…)` to `creation_url(…)`. GitHub shows what is asked for, and after the click sends
the browser to `redirect_url` with a `code`, and with the `state` that must be the one it was given. `exchange` turns
the code into the App, once and within an hour.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from bot.errors import BadInput
from bot.forge.connection import Api, Connection, Memory, Pace, named
from bot.forge.port import NotThere

PERMISSIONS: Mapping[str, str] = MappingProxyType(
    {"metadata": "read", "contents": "write", "issues": "write", "pull_requests": "write", "checks": "write"}
)
"""All that the bot ever needs. Not workflows, actions or administration: what it cannot do, nobody can make it do."""
EVENTS = (
    "issues",
    "issue_comment",
    "pull_request",
    "pull_request_review",
    "pull_request_review_comment",
    "check_run",
)
"""What the App is told of; of installations every App is told."""
NAME_LIMIT = 34
_CODE = re.compile(r"[A-Za-z0-9_-]{1,200}")


@dataclass(frozen=True)
class NewApp:
    """An App that was just made. Its secrets are shown by GitHub this once."""

    id: int
    slug: str
    url: str
    """Its page on GitHub; `<url>/installations/new` installs it."""
    owner: str
    client_id: str
    private_key: str = field(repr=False)
    webhook_secret: str | None = field(repr=False)
    client_secret: str = field(repr=False)


def manifest(name: str, *, homepage: str, redirect_url: str, webhook_url: str | None) -> dict[str, Any]:
    """The App as GitHub is asked to make it; without a webhook address it is made with its webhook switched off.

    Raises `BadInput` for a name that GitHub would not take, or for an address that it could not reach.
    """
    if not 0 < len(name.strip()) <= NAME_LIMIT:
        raise BadInput(f"An App's name has 1 to {NAME_LIMIT} characters, and is unique on all of GitHub: {name!r}.")
    if webhook_url is not None and urlsplit(webhook_url).hostname in ("localhost", "127.0.0.1", "::1", None):
        raise BadInput(f"GitHub cannot reach {webhook_url!r}: give the address by which this service is seen outside.")
    return {
        "name": name.strip(),
        "url": homepage,
        "redirect_url": redirect_url,
        "hook_attributes": {"url": webhook_url or homepage, "active": webhook_url is not None},
        "description": "Label an issue, review a tested pull request.",
        "public": False,
        "default_permissions": dict(PERMISSIONS),
        "default_events": list(EVENTS) if webhook_url is not None else [],
    }


def creation_url(web_url: str, state: str, organization: str | None = None) -> str:
    """Where the form with the field `manifest` is posted to: the page of a person, or of an organisation."""
    owner = f"organizations/{quote(organization, safe='')}/" if organization else ""
    return f"{web_url.rstrip('/')}/{owner}settings/apps/new?{urlencode({'state': state})}"


def exchange(api: Api, code: str) -> NewApp:
    """The App that GitHub made. Raises `BadInput` for a code that is used or too old, `Unavailable`."""
    used = "The code from GitHub is used up or older than an hour: begin the setup again."
    if not _CODE.fullmatch(code):
        raise BadInput(used)
    connection = Connection(api, None, Pace(0.0), Memory())
    try:
        with named("Fetching the new App"):
            _, made = connection.requestJsonAndCheck("POST", f"/app-manifests/{code}/conversions")
    except NotThere as error:
        raise BadInput(used) from error
    return NewApp(
        id=int(made["id"]),
        slug=made["slug"],
        url=made["html_url"],
        owner=made["owner"]["login"],
        client_id=made["client_id"],
        private_key=made["pem"],
        webhook_secret=made["webhook_secret"],
        client_secret=made["client_secret"],
    )
