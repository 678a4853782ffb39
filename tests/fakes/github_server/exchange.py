"""One request and its answer, and the table of what the REST API answers to."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlencode

from tests.fakes.github_server.state import Account, App, Installation, Issue, Repository, Token
from tests.fakes.github_server.world import World

DOCS = "https://docs.github.com/rest"


@dataclass(frozen=True)
class Answer:
    """Status, JSON-able body (None for an empty one) and headers."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


class Refusal(Exception):
    """An error answer, in the form that GitHub gives to all of them."""

    def __init__(
        self,
        status: int,
        message: str,
        errors: Sequence[Mapping[str, Any]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        body: dict[str, Any] = {"message": message}
        if errors:
            body["errors"] = list(errors)
        body |= {"documentation_url": DOCS, "status": str(status)}
        self.answer = Answer(status, body, headers or {})


NOT_FOUND = (404, "Not Found")


def invalid(resource: str, code: str, **more: str) -> Refusal:
    """A 422 with one validation error."""
    return Refusal(422, "Validation Failed", [{"resource": resource, "code": code} | more])


@dataclass
class Caller:
    """Who asks: nobody, an account by a token, an installation, or an App by its JWT."""

    account: Account | None = None
    token: Token | None = None
    app: App | None = None
    installation: Installation | None = None


@dataclass
class Call:
    """A request after authentication."""

    world: World
    caller: Caller
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    json: Any
    args: Mapping[str, str] = field(default_factory=dict)
    repository: Repository = field(init=False)

    @property
    def account(self) -> Account:
        """Who acts; a route for accounts is not reached without one."""
        assert self.caller.account is not None
        return self.caller.account

    def issue(self, *, pull: bool | None = None) -> Issue:
        """The issue of the path; `pull` True wants a pull request."""
        issue = self.repository.issues.get(int(self.args["number"]))
        if issue is None or (pull and issue.pull is None):
            raise Refusal(*NOT_FOUND)
        if issue.deleted:
            raise Refusal(410, "This issue was deleted")
        if issue.transferred_to is not None:
            place, _, number = issue.transferred_to.rpartition("/")
            url = f"{self.world.api}/repos/{place}/issues/{number}"
            raise Refusal(301, "Moved Permanently", headers={"Location": url})
        return issue

    def text(self, name: str) -> str | None:
        """A text of the body, None if it is missing or null."""
        value = self.json.get(name) if isinstance(self.json, dict) else None
        if value is not None and not isinstance(value, str):
            raise Refusal(422, f"Invalid request.\n\nFor 'properties/{name}', {value!r} is not a string.")
        return value

    def page(self, things: Sequence[Any], render: Callable[[Any], Any], wrap: str | None = None) -> Answer:
        """One page of a list with its `Link` header; `wrap` names the list in an object with a count."""
        size = min(max(int(self.query.get("per_page", "30")), 1), 100)
        number = max(int(self.query.get("page", "1")), 1)
        last = max((len(things) + size - 1) // size, 1)
        wanted = {}
        if number < last:
            wanted |= {"next": number + 1, "last": last}
        if number > 1:
            wanted |= {"prev": number - 1, "first": 1}
        links = [
            f'<{self.world.api}{self.path}?{urlencode({**self.query, "page": at})}>; rel="{rel}"'
            for rel, at in wanted.items()
        ]
        shown = [render(thing) for thing in things[(number - 1) * size : number * size]]
        body = shown if wrap is None else {"total_count": len(things), wrap: shown}
        return Answer(200, body, {"Link": ", ".join(links)} if links else {})


Handler = Callable[[Call], Answer]
SomeHandler = TypeVar("SomeHandler", bound=Handler)


@dataclass(frozen=True)
class Route:
    """What one method and path is answered by, and what it takes to be let in.

    `needs` is what `X-Accepted-GitHub-Permissions` says for it (alternatives divided by `;`); `role` is the weakest
    role in the repository that a user must have; `by` is the kind of caller: anyone, account, app or installation.
    """

    method: str
    pattern: re.Pattern[str]
    handler: Handler
    needs: str
    role: str
    by: str


ROUTES: list[Route] = []


def route(
    method: str, path: str, *, needs: str = "", role: str = "read", by: str = "anyone"
) -> Callable[[SomeHandler], SomeHandler]:
    """Register a handler; `{name}` in the path matches one part, `{name*}` the rest."""
    spelled = re.sub(r"\{(\w+)\*\}", r"(?P<\1>.+)", path)
    spelled = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", spelled)

    def register(handler: SomeHandler) -> SomeHandler:
        ROUTES.append(Route(method, re.compile(spelled), handler, needs, role, by))
        return handler

    return register


def find(method: str, path: str) -> tuple[Route, dict[str, str]]:
    """The route for a request. Raises `Refusal` 404, as GitHub does for unknown paths and methods alike."""
    for known in ROUTES:
        if known.method == method and (match := known.pattern.fullmatch(path)):
            return known, match.groupdict()
    raise Refusal(*NOT_FOUND)
