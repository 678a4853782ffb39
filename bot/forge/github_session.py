"""One repository on GitHub, reached by one identity: what the parts of the forge have in common."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from github.Issue import Issue
from github.PullRequest import PullRequest
from github.Repository import Repository

from bot.errors import BadInput
from bot.forge.connection import Api, Connection, Memory, TokenAuth, named
from bot.forge.identity import Identity, Phase
from bot.forge.port import Actor

if TYPE_CHECKING:
    from github.NamedUser import NamedUser
    from github.Organization import Organization

_NAME = re.compile(r"[A-Za-z0-9-]+/[A-Za-z0-9._-]+")
_VIEWER = "query { viewer { login databaseId } }"


def actor(user: NamedUser | Organization | None) -> Actor:
    """The account of a PyGithub user; GitHub has none any more for one that was deleted."""
    return Actor(user.login, user.id, user.type) if user is not None else Actor("ghost", 0)


def check_name(repository: str) -> str:
    """`owner/name` as it is, so that it may stand in an address. Raises `BadInput`."""
    if not _NAME.fullmatch(repository) or repository.endswith(("/.", "/..")):
        raise BadInput(f"{repository!r} is no repository: write it as owner/name.")
    return repository


@dataclass
class Shared:
    """What outlives a session: PyGithub's objects are for one thread, these are for all."""

    api: Api
    identity: Identity
    memories: dict[tuple[str, Phase], Memory] = field(default_factory=dict)
    progress: dict[tuple[str, int], tuple[int, str]] = field(default_factory=dict)
    """(repository, issue) -> id and text of the progress comment, in place of a list that may lag behind."""
    me: Actor | None = None

    def connection(self, repository: str, phase: Phase) -> Connection:
        """A connection with a token for that phase alone."""
        auth = TokenAuth(lambda: self.identity.token(repository, phase), self.identity.forget)
        memory = self.memories.setdefault((repository, phase), Memory())
        return Connection(self.api, auth, self.identity.pace(repository), memory)


class Session:
    """A repository by its present name, for one thread. Opening raises `NotThere`, `Refused`, `Unavailable`."""

    def __init__(self, shared: Shared, repository: str) -> None:
        self.shared = shared
        self._connections: dict[Phase, Connection] = {}
        with named(f"Opening {check_name(repository)}"):
            _, data = shared.connection(repository, Phase.OPEN).requestJsonAndCheck("GET", f"/repos/{repository}")
        self.name = str(data["full_name"])
        """As GitHub calls it now; the name that it was asked by may be an earlier one."""
        self.id = int(data["id"])
        self.default_branch = str(data["default_branch"])
        self.clone_url = str(data["clone_url"])

    @property
    def owner(self) -> str:
        """The part of the name before the slash."""
        return self.name.partition("/")[0]

    @property
    def me(self) -> Actor:
        """The account as which the bot speaks here."""
        known = self.shared.me
        if known is None:
            with named("Asking who I am"):
                # `/user` is closed to Apps and to the tokens of jobs; this is open to all.
                _, answer = self.connection(Phase.READ).graphql_query(_VIEWER, {})
            viewer = answer["data"]["viewer"]
            known = self.shared.me = Actor(viewer["login"], viewer["databaseId"], "User")
        return known

    @property
    def author(self) -> tuple[str, str]:
        """Name and address for commits, by which GitHub links them to the bot's account."""
        host = urlsplit(self.clone_url).hostname
        return self.me.login, f"{self.me.id}+{self.me.login}@users.noreply.{host}"

    def connection(self, phase: Phase) -> Connection:
        """The session's connection with a token for that phase."""
        if phase not in self._connections:
            self._connections[phase] = self.shared.connection(self.name, phase)
        return self._connections[phase]

    def on(self, phase: Phase) -> Repository:
        """PyGithub's repository, which asks for nothing until something is asked of it."""
        return Repository(self.connection(phase), {}, {"url": self._url(), "full_name": self.name}, completed=True)

    def issue(self, phase: Phase, number: int) -> Issue:
        """PyGithub's issue, not read."""
        return Issue(self.connection(phase), {}, {"url": self._url("issues", number), "number": number}, completed=True)

    def pull(self, phase: Phase, number: int) -> PullRequest:
        """PyGithub's pull request, not read."""
        attributes = {"url": self._url("pulls", number), "number": number}
        return PullRequest(self.connection(phase), {}, attributes, completed=True)

    def get(self, *path: Any) -> Any:
        """What GitHub answers at a place below the repository."""
        return self.connection(Phase.READ).requestJsonAndCheck("GET", self._url(*path))[1]

    def _url(self, *path: Any) -> str:
        return "/".join((f"/repos/{self.name}", *map(str, path)))
