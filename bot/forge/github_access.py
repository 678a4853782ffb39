"""Who may do what in a repository on GitHub, by the role that GitHub itself names."""

from __future__ import annotations

from urllib.parse import quote

from bot.forge.connection import named
from bot.forge.github_session import Session
from bot.forge.port import Access, Actor, NotThere

_FOLDED = {"admin": Access.ADMIN, "write": Access.WRITE, "read": Access.READ}


class Permissions:
    """Asked once for each account, as long as this object lives: as long as a step of a run."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: dict[str, Access] = {}

    def of(self, login: str) -> Access:
        """What the account may do; `NONE` for a bot or a name that nobody has."""
        if login not in self._known:
            self._known[login] = self._ask(login)
        return self._known[login]

    def count(self, actor: Actor) -> bool:
        """Whether this is a person whose words count: somebody who may write to the repository, and not the bot."""
        if actor.type != "User" or actor.id in (0, self._session.me.id):
            return False
        return self.of(actor.login) >= Access.WRITE

    def _ask(self, login: str) -> Access:
        try:
            with named(f"Asking what {login} may do"):
                answer = self._session.get("collaborators", quote(login, safe=""), "permission")
        except NotThere:
            return Access.NONE
        role = str(answer.get("role_name", "")).upper()
        if role in Access.__members__:
            return Access[role]
        # A role of the organisation's own making: GitHub says which of its own it is built on.
        return _FOLDED.get(answer.get("permission"), Access.NONE)
