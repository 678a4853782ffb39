"""GitHub as a forge: of an App, of a person's token, or of the token of an Actions job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from bot.forge.connection import Api, Connection, Memory, Pace, TokenAuth, named
from bot.forge.github_access import Permissions
from bot.forge.github_checks import GitHubChecks
from bot.forge.github_code import GitHubCode
from bot.forge.github_issues import GitHubIssues
from bot.forge.github_pulls import GitHubPulls
from bot.forge.github_reviews import GitHubReviews
from bot.forge.github_session import Session, Shared
from bot.forge.identity import AppIdentity, Identity, Phase, TokenIdentity
from bot.forge.port import Access, Delivery, Forge


class GitHubForge:
    """`bot.forge.port.Forge` for one repository on GitHub; for one thread."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._permissions = Permissions(session)
        self.issues = GitHubIssues(session, self._permissions)
        self.code = GitHubCode(session)
        self.pulls = GitHubPulls(session, self.code)
        self.reviews = GitHubReviews(session, self._permissions)
        self.checks = GitHubChecks(session)

    @property
    def repository(self) -> str:
        """See the port."""
        return self._session.name

    @property
    def id(self) -> int:
        """See the port."""
        return self._session.id

    @property
    def author(self) -> tuple[str, str]:
        """See the port."""
        return self._session.author

    def access(self, login: str) -> Access:
        """See the port."""
        return self._permissions.of(login)


class _GitHub:
    """What the hosts have in common."""

    def __init__(self, api: Api, identity: Identity) -> None:
        self._shared = Shared(api, identity)

    def forge(self, repository: str) -> Forge:
        """See `bot.forge.port.Host`."""
        return GitHubForge(Session(self._shared, repository))

    def labelled(self, repository: str, label: str) -> tuple[int, ...]:
        """See `bot.forge.port.Host`."""
        session = Session(self._shared, repository)
        with named(f"Looking for issues with the label {label}"):
            listed = session.on(Phase.READ).get_issues(state="open", labels=[label], sort="created", direction="asc")
            return tuple(
                it.number for it in listed if it.pull_request is None and label in {one.name for one in it.labels}
            )


class GitHubByToken(_GitHub):
    """GitHub by a token that somebody gave; the repositories it works in are named, not found."""

    def __init__(self, api: Api, token: str, repositories: Iterable[str]) -> None:
        super().__init__(api, TokenIdentity(api, token))
        self._repositories = tuple(repositories)

    def repositories(self) -> tuple[str, ...]:
        """The repositories that were named."""
        return self._repositories

    def missed(self, since: datetime) -> tuple[Delivery, ...]:  # noqa: ARG002 - of no moment
        """None: a token has no webhook."""
        return ()

    def redeliver(self, delivery: Delivery) -> None:
        """Nothing to do: a token has no webhook."""


class GitHubApp(_GitHub):
    """GitHub by an App of one's own."""

    def __init__(self, api: Api, app_id: int | str, private_key: str) -> None:
        self._identity = AppIdentity(api, app_id, private_key)
        self._api = api
        super().__init__(api, self._identity)

    def repositories(self) -> Iterator[str]:
        """See `bot.forge.port.Host`. An installation that is suspended is passed over."""
        with named("Listing the App's installations"):
            for installation in _pages(self._identity.connection(), "/app/installations", None):
                if installation.get("suspended_at") is not None:
                    continue
                token = self._identity.installation_token(int(installation["id"]))
                auth = TokenAuth(lambda token=token: token, lambda _: False)  # type: ignore[misc]
                connection = Connection(self._api, auth, Pace(0.0), Memory())
                for repository in _pages(connection, "/installation/repositories", "repositories"):
                    if not repository["archived"]:
                        yield str(repository["full_name"])

    def missed(self, since: datetime) -> tuple[Delivery, ...]:
        """See `bot.forge.port.Host`."""
        newest: dict[str, Delivery] = {}
        taken = set()
        with named("Reading the App's deliveries"):
            for it in _pages(self._identity.connection(), "/app/hook/deliveries", None):
                at = datetime.fromisoformat(it["delivered_at"])
                if at < since:
                    break
                if 200 <= int(it["status_code"]) < 300:
                    taken.add(it["guid"])
                shown = Delivery(
                    it["id"], it["guid"], it["event"], it["action"], it["repository_id"], at, it["status_code"]
                )
                newest.setdefault(shown.guid, shown)
        return tuple(it for it in newest.values() if it.guid not in taken)

    def redeliver(self, delivery: Delivery) -> None:
        """See `bot.forge.port.Host`."""
        with named(f"Asking for delivery {delivery.guid} again"):
            self._identity.connection().requestJsonAndCheck("POST", f"/app/hook/deliveries/{delivery.id}/attempts")


def _pages(connection: Connection, url: str, item: str | None) -> Iterator[dict[str, Any]]:
    """All that a list of GitHub holds, page by page; PyGithub has no objects for these lists."""
    following: str | None = url
    parameters: dict[str, Any] | None = {"per_page": 100}
    while following is not None:
        headers, data = connection.requestJsonAndCheck("GET", following, parameters)
        yield from data if item is None else data[item]
        links = (part.split(";") for part in headers.get("link", "").split(","))
        following = next((link[0].strip(" <>") for link in links if 'rel="next"' in link[-1]), None)
        parameters = None
