"""The scene that most tests begin with: a repository with people in it and the bot's App installed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.fakes.github_server import bare
from tests.fakes.github_server.server import GitHubServer
from tests.fakes.github_server.state import Account, App, Installation, Repository, Token
from tests.fakes.github_server.world import World

PERMISSIONS = {"contents": "write", "issues": "write", "pull_requests": "write", "checks": "write"}
EVENTS = [
    "issues", "issue_comment", "pull_request", "pull_request_review", "pull_request_review_comment", "check_run",
]  # fmt: skip
FILES = {"widgets.py": "def size():\n    return 1\n", "README.md": "Widgets\n"}


@dataclass(frozen=True)
class Stage:
    """What is there at the start: `octo/widgets`, where ann is admin, mary maintains, will writes and tim triages;
    rita is nobody special. The App `agent-fix` is installed."""

    github: GitHubServer
    repository: Repository
    app: App
    installation: Installation

    @property
    def world(self) -> World:
        """The state."""
        return self.github.world

    def person(self, login: str) -> Account:
        """An account by its login."""
        return self.world.account(login)

    def token_of(self, login: str, *scopes: str) -> Token:
        """A classic personal token; with the scope `repo` if none is named."""
        return self.world.create_token(self.person(login), "classic", {}, scopes=scopes or ("repo",))

    def job_token(self, permissions: Mapping[str, str]) -> Token:
        """The token of an Actions job in the repository."""
        actions = self.world.actions.bot
        return self.world.create_token(
            actions, "actions", {"metadata": "read"} | dict(permissions), repositories={self.repository.id}
        )

    def commit(self, branch: str, files: Mapping[str, str | bytes | None], *, email: str = "will@example.com") -> str:
        """A commit on a branch, made from the default branch if it is new."""
        path = self.repository.path
        start = bare.head(path, self.repository.default_branch)
        if bare.head(path, branch) is None and start is not None:
            bare.git(path, "update-ref", f"refs/heads/{branch}", start)
        return bare.commit(path, branch, files, "Change widgets", email)


@contextmanager
def stage(
    folder: Path,
    *,
    default_branch: str = "main",
    private: bool = False,
    hook: str | None = None,
    secret: str | None = "it is secret",
    files: Mapping[str, str | bytes | None] = FILES,
) -> Iterator[Stage]:
    """Run a server with the scene set; `hook` is where the App's webhooks go."""
    with GitHubServer(folder) as github:
        world = github.world
        repository = world.create_repository("octo/widgets", default_branch=default_branch, private=private)
        bare.commit(repository.path, default_branch, files, "Begin", "ann@example.com")
        roles = {"ann": "admin", "mary": "maintain", "will": "write", "tim": "triage"}
        repository.roles |= roles
        for login in (*roles, "rita"):
            world.account(login, email=f"{login}@example.com")
        app = world.create_app(
            "agent-fix", owner="octo", permissions=PERMISSIONS, events=EVENTS, secret=secret, hook=hook
        )
        yield Stage(github, repository, app, world.install(app, repository))
