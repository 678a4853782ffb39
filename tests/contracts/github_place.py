"""GitHub as the bot meets it in these tests: the stand-in, and the adapter in each of its identities."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from bot.forge.connection import Api
from bot.forge.github_app import GitHubApp, GitHubByToken
from bot.forge.port import Forge
from repo_tools import commits
from repo_tools.checkout import Repository, open_local
from repo_tools.commits import Signature
from repo_tools.tree import Tree
from tests.fakes.github_server import acts, bare
from tests.fakes.github_server.stage import PERMISSIONS, Stage, stage
from tests.fakes.github_server.state import Account, Issue

QUICK = Api(timeout=10, retries=2, longest_wait=3.0, backoff=0.01, pause=0.0, settling=0.05)
IDENTITIES = ("app", "person", "job")
SIGNATURE = Signature("robot", "robot@example.com", 1_767_323_045)


@dataclass
class Place:
    """The scene, and how the bot reaches it."""

    scene: Stage
    identity: str
    opened: list[Repository] = field(default_factory=list)

    def host(self, **changes: float) -> GitHubApp | GitHubByToken:
        """The adapter as a new process would make it: with nothing in its memory."""
        api = replace(QUICK, url=self.scene.github.api, **changes)  # type: ignore[arg-type]
        if self.identity == "app":
            return GitHubApp(api, self.scene.app.id, self.scene.app.private_key)
        if self.identity == "person":
            self.scene.repository.roles["robot"] = "write"
            return GitHubByToken(api, self.scene.token_of("robot", "repo").value, ["octo/widgets"])
        return GitHubByToken(api, self.scene.job_token(PERMISSIONS).value, ["octo/widgets"])

    def forge(self, **changes: float) -> Forge:
        """`octo/widgets`, reached by a new process."""
        return self.host(**changes).forge("octo/widgets")

    @property
    def bot(self) -> Account:
        """As whom the bot speaks."""
        names = {"app": "agent-fix[bot]", "person": "robot", "job": "github-actions[bot]"}
        return self.scene.person(names[self.identity])

    def issue(self, *labels: str) -> Issue:
        """An issue that rita opens."""
        scene = self.scene
        return acts.open_issue(scene.world, scene.repository, scene.person("rita"), "It breaks", "So:", labels)

    def pull(self, head: str, *, by: str | None = None) -> Issue:
        """A pull request with a new commit on `head`; the bot's own, or somebody's."""
        scene = self.scene
        scene.commit(head, {"widgets.py": "def size():\n    return 2\n"})
        author = scene.person(by) if by else self.bot
        return acts.open_pull(scene.world, scene.repository, author, head=head, base="main", title="Mend", body="So:")

    def commit(self, folder: Path, files: dict[str, bytes]) -> tuple[Repository, str]:
        """A repository on this machine with a commit on the default branch that changes `files`."""
        where = folder / f"clone-{len(self.opened)}"
        bare.git(folder, "clone", "--quiet", str(self.scene.repository.path), str(where))
        repository = open_local(where)
        self.opened.append(repository)
        tree = Tree(repository.resolve())
        for path, data in files.items():
            tree = tree.with_file(path, data)
        return repository, commits.commit(repository, tree, "Mend", SIGNATURE)


@contextmanager
def place(folder: Path, identity: str) -> Iterator[Place]:
    """A fresh stand-in; `identity` is one of `IDENTITIES`."""
    with stage(folder / "github") as scene:
        made = Place(scene, identity)
        try:
            yield made
        finally:
            for repository in made.opened:
                repository.close()
