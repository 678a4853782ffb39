"""The whole state of the stand-in: who and what there is, its clock, and how consistent its lists are."""

from __future__ import annotations

import base64
import functools
import itertools
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.fakes.github_server import bare
from tests.fakes.github_server.state import (
    ROLES,
    Account,
    App,
    Born,
    Bucket,
    Delivery,
    Installation,
    Issue,
    Label,
    Repository,
    Token,
)

SomeBorn = TypeVar("SomeBorn", bound=Born)


@functools.cache
def _key_pair(number: int) -> tuple[str, str]:
    """A private key and its public half, as PEM; the first App of every world has the same, to save their making."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private.decode(), public.decode()


class World:
    """Everything on one GitHub. `lock` is held while a request is answered or a person acts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.origin = ""
        """`http://127.0.0.1:PORT`; the API is below `/api/v3`, as on a GitHub Enterprise Server."""
        self.lock = threading.RLock()
        self.accounts: dict[str, Account] = {}
        self.repositories: dict[int, Repository] = {}
        self.apps: dict[int, App] = {}
        self.installations: dict[int, Installation] = {}
        self.tokens: dict[str, Token] = {}
        self.buckets: dict[str, Bucket] = {}
        """Rate limits: of a token by its value, of an App by its slug, of nobody by the empty name."""
        self.deliveries: list[Delivery] = []
        self.manifests: dict[str, tuple[Account, dict[str, object]]] = {}
        self.lag: dict[str, float] = {}
        """Kind of list (events, comments, pulls, refs, checks, issues) -> seconds for which it hides what is new."""
        self.long_tokens = True
        """Whether installation tokens have the form of 2026 (`ghs_<app id>_<JWT>`, about 520 characters)."""
        self.emit: Callable[..., None] = lambda *_, **__: None
        """Set by the server: sends a webhook (see `webhooks.py`)."""
        self.redeliver: Callable[[Delivery], Delivery] = lambda delivery: delivery
        """Set by the server: sends a delivery again."""
        self.token_life = timedelta(hours=1)
        """Of installation tokens."""
        self.forbid_writes_per_minute = 80
        self._ids = itertools.count(1_000_001)
        self._offset = timedelta()
        self.actions = self._app("github-actions", "github", {}, [], keys=("", ""))
        """The App that the tokens of Actions jobs belong to."""

    @property
    def api(self) -> str:
        """Where the REST API is."""
        return f"{self.origin}/api/v3"

    def new_id(self) -> int:
        """An id that nothing else has."""
        return next(self._ids)

    def now(self) -> datetime:
        """GitHub's time, which has whole seconds."""
        return (datetime.now(UTC) + self._offset).replace(microsecond=0)

    def advance(self, seconds: float) -> None:
        """Let time pass without waiting for it."""
        self._offset += timedelta(seconds=seconds)

    def visible(self, things: Iterable[SomeBorn], kind: str) -> list[SomeBorn]:
        """Those that a list of this kind shows already."""
        oldest = time.monotonic() - self.lag.get(kind, 0.0)
        return [thing for thing in things if thing.born <= oldest]

    def account(self, login: str, kind: str = "User", email: str | None = None) -> Account:
        """The account of that login, made at its first mention."""
        found = self.accounts.get(login.lower())
        if found is None:
            found = self.accounts[login.lower()] = Account(login, self.new_id(), kind, email)
        return found

    def repository(self, full_name: str) -> Repository | None:
        """The repository that has, or once had, that name."""
        wanted = full_name.lower()
        for repository in self.repositories.values():
            if repository.full_name.lower() == wanted:
                return repository
        for repository in self.repositories.values():
            if wanted in repository.former_names:
                return repository
        return None

    def create_repository(
        self, full_name: str, *, default_branch: str = "main", private: bool = False, organization: bool = True
    ) -> Repository:
        """An empty repository whose owner is an organisation, or a person who administers it."""
        owner_name, _, name = full_name.partition("/")
        owner = self.account(owner_name, "Organization" if organization else "User")
        path = self.folder / "repositories" / f"{self.new_id()}.git"
        bare.create(path, default_branch)
        made = Repository(self.new_id(), owner, name, path, default_branch, private, self.now())
        if not organization:
            made.roles[owner.login] = "admin"
        self.repositories[made.id] = made
        return made

    def create_app(
        self,
        slug: str,
        *,
        owner: str,
        permissions: dict[str, str],
        events: list[str],
        secret: str | None = None,
        hook: str | None = None,
    ) -> App:
        """A GitHub App with a key pair of its own, which sends webhooks to the address `hook`."""
        made = self._app(slug, owner, {"metadata": "read"} | permissions, events, keys=_key_pair(len(self.apps)))
        made.hook_secret, made.hook_url = secret, hook
        self.apps[made.id] = made
        return made

    def _app(
        self, slug: str, owner: str, permissions: dict[str, str], events: list[str], *, keys: tuple[str, str]
    ) -> App:
        bot = self.account(f"{slug}[bot]", "Bot")
        made = App(self.new_id(), slug, slug, self.account(owner), bot, permissions, events, *keys)
        made.client_id, made.client_secret = f"Iv23li{secrets.token_hex(7)}", secrets.token_hex(20)
        return made

    def install(self, app: App, *repositories: Repository) -> Installation:
        """Install the App on repositories of one owner."""
        owner = repositories[0].owner
        for known in self.installations.values():
            if known.app is app and known.account is owner and not known.deleted:
                known.repositories |= {repository.id for repository in repositories}
                return known
        made = Installation(self.new_id(), app, owner, dict(app.permissions), self.now())
        made.repositories = {repository.id for repository in repositories}
        self.installations[made.id] = made
        return made

    def installation_on(self, app: App, repository: Repository) -> Installation | None:
        """The App's installation that reaches the repository."""
        for installation in self.installations.values():
            if installation.app is app and repository.id in installation.repositories and not installation.deleted:
                return installation
        return None

    def create_token(self, account: Account, kind: str, permissions: dict[str, str], **rest: object) -> Token:
        """A new credential, in the form that GitHub gives to its kind."""
        forms = {"classic": "ghp_", "fine-grained": "github_pat_", "installation": "ghs_", "actions": "ghs_"}
        value = forms[kind] + secrets.token_urlsafe(48).replace("-", "a").replace("_", "b")[:36]
        made = Token(value, account, kind, permissions, **rest)  # type: ignore[arg-type]
        if self.long_tokens and kind in ("installation", "actions"):
            made.value = self._stateless(made)
        self.tokens[made.value] = made
        return made

    def _stateless(self, token: Token) -> str:
        """A token of the new form: a signed JSON web token behind `ghs_` and an id."""
        claims = {"iss": "github", "jti": secrets.token_hex(16), "perms": token.permissions, "sub": token.account.login}

        def part(value: object) -> str:
            return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

        signature = base64.urlsafe_b64encode(secrets.token_bytes(192)).rstrip(b"=").decode()
        return f"ghs_{self.new_id()}_{part({'alg': 'RS256', 'typ': 'JWT'})}.{part(claims)}.{signature}"

    def expire_tokens(self, kind: str = "installation") -> None:
        """Let every token of this kind run out now."""
        for token in self.tokens.values():
            if token.kind == kind:
                token.expires_at = self.now()

    def role(self, repository: Repository, account: Account) -> str:
        """The built-in role that the account's role comes to."""
        role = repository.roles.get(account.login, "read" if not repository.private else "none")
        return repository.custom_roles.get(role, role)

    def has_role(self, repository: Repository, account: Account, role: str) -> bool:
        """Whether the account's role is `role` or a stronger one."""
        return ROLES.index(self.role(repository, account)) >= ROLES.index(role)

    def label(self, repository: Repository, name: str) -> Label:
        """The repository's label, made at its first use; names differ by more than case."""
        return repository.labels.setdefault(name.lower(), Label(self.new_id(), name))

    def issue(self, repository: Repository, number: int) -> Issue:
        """An issue or pull request. Raises `KeyError`."""
        return repository.issues[number]
