"""As whom the bot speaks, and with which tokens: a GitHub App, a person's token, or the token of an Actions job."""

from __future__ import annotations

import enum
import threading
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from github.Auth import AppAuth

from bot.errors import Refused
from bot.forge.connection import Api, Connection, Memory, NotPermitted, Pace, named
from bot.forge.port import NotThere

FRESH = timedelta(minutes=10)
"""What a token must still have to live to be handed out; they live for an hour and cannot be extended."""


class Phase(enum.Enum):
    """What a token may do, no more than one kind of act needs."""

    OPEN = {"metadata": "read"}
    READ = {"contents": "read", "issues": "read", "pull_requests": "read"}
    CLONE = {"contents": "read", "metadata": "read"}
    TALK = {"issues": "write"}
    PUSH = {"contents": "write"}
    PROPOSE = {"pull_requests": "write", "contents": "read"}
    CHECK = {"checks": "write"}


class Identity(Protocol):
    """Where tokens come from."""

    def token(self, repository: str, phase: Phase) -> str:
        """A token for that phase in `owner/name`. It is opaque: of no form and no length that could be relied on."""

    def forget(self, token: str) -> bool:
        """Take note that a token does not work any more; True if the next call of `token` gives another."""

    def pace(self, repository: str) -> Pace:
        """The pace that all who write to this repository share, as GitHub counts writes by identity."""


class TokenIdentity:
    """A token that somebody gave: a person's, an Actions job's, or one of an App's installation."""

    def __init__(self, api: Api, token: str) -> None:
        self._token = token
        self._pace = Pace(api.pause)

    def token(self, repository: str, phase: Phase) -> str:  # noqa: ARG002 - it cannot be narrowed
        """The token."""
        return self._token

    def forget(self, token: str) -> bool:  # noqa: ARG002 - there is only one
        """There is no other one."""
        return False

    def pace(self, repository: str) -> Pace:  # noqa: ARG002 - one token, one pace
        """The token's pace."""
        return self._pace


class AppIdentity:
    """A GitHub App, which mints a token for each phase, narrowed to one repository and to what the phase needs."""

    def __init__(self, api: Api, app_id: int | str, private_key: str) -> None:
        self._api = api
        self._auth = AppAuth(app_id, private_key)
        self._lock = threading.Lock()
        self._installations: dict[str, int] = {}
        self._minted: dict[tuple[str, Phase], tuple[str, datetime]] = {}
        self._paces: dict[int, Pace] = {}

    def connection(self) -> Connection:
        """Speaks as the App itself: for installations and deliveries, not for repositories."""
        return Connection(self._api, self._auth, Pace(0.0), Memory())

    def token(self, repository: str, phase: Phase) -> str:
        """A token with at least `FRESH` to live. Raises `NotThere` if the App is not installed there, `Refused`."""
        with self._lock:
            known = self._minted.get((repository, phase))
            if known is not None and known[1] - FRESH > datetime.now(UTC):
                return known[0]
            # A name by which a repository is opened may be an earlier one, of which no token is to be had.
            name = repository.partition("/")[2] if phase is not Phase.OPEN else None
            made = self._mint(self._installation(repository), phase.value, name)
            self._minted[repository, phase] = made
            return made[0]

    def installation_token(self, installation: int) -> str:
        """A token that sees which repositories an installation reaches, and nothing in them."""
        return self._mint(installation, Phase.OPEN.value, None)[0]

    def forget(self, token: str) -> bool:
        """Drop the token; the next one is minted anew."""
        with self._lock:
            self._minted = {key: made for key, made in self._minted.items() if made[0] != token}
        return True

    def pace(self, repository: str) -> Pace:
        """The pace of the installation, as GitHub counts writes by installation."""
        with self._lock:
            return self._paces.setdefault(self._installation(repository), Pace(self._api.pause))

    def _installation(self, repository: str) -> int:
        known = self._installations.get(repository)
        if known is None:
            try:
                with named(f"Looking for the App on {repository}"):
                    _, data = self.connection().requestJsonAndCheck("GET", f"/repos/{repository}/installation")
            except NotThere as error:
                raise NotThere(f"The App is not installed on {repository}: install it there first.") from error
            known = self._installations[repository] = int(data["id"])
        return known

    def _mint(self, installation: int, permissions: dict[str, str], name: str | None) -> tuple[str, datetime]:
        wanted: dict[str, Any] = {"permissions": permissions} | ({"repositories": [name]} if name else {})
        url = f"/app/installations/{installation}/access_tokens"
        try:
            with named("Asking for a token"):
                _, data = self.connection().requestJsonAndCheck("POST", url, input=wanted)
        except NotThere as error:
            self._installations = {name: known for name, known in self._installations.items() if known != installation}
            raise NotThere("The App was uninstalled meanwhile: install it again to go on.") from error
        except NotPermitted:
            raise
        except Refused as error:
            listed = ", ".join(f"{name}: {level}" for name, level in permissions.items())
            raise NotPermitted(
                f"{error} The App asked for {listed}: accept the App's permissions on its settings page, and check "
                "that the repository is among those it may reach."
            ) from error
        return str(data["token"]), datetime.fromisoformat(data["expires_at"])
