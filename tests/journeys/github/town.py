"""The stand-in GitHub with the bundled project, the bot in processes of its own, the model from a recording."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import requests

from bot.forge.github_issues import STATE_LABEL
from bot.publish.outcomes import PRESENTATIONS
from bot.service.desk import Desk
from tests.fakes.github_server import acts, bare
from tests.fakes.github_server.stage import Stage, stage
from tests.fakes.github_server.state import Comment, Issue, Repository
from tests.journeys.github.model import Player, player
from tests.journeys.github.projects import Project, hourglass

ROOT = Path(__file__).parent.parent.parent.parent
SECRET = "it is secret"
LABEL = "agent:fix"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


@dataclass
class Town:
    """All of it. `state` is the machine's own folder, which images may be shared of."""

    scene: Stage
    model: Player
    folder: Path
    port: int
    database: str
    repository: Repository
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    marks: dict[int, str] = field(default_factory=dict)
    """Id of an issue -> what no other issue says, to know by it what the model was asked about."""

    def elsewhere(self, name: str, branch: str = "main") -> Town:
        """The same with another repository of the same project and people, which the same bot serves."""
        made = self.scene.world.create_repository(f"octo/{name}", default_branch=branch)
        made.roles |= self.repository.roles
        bare.commit(made.path, branch, self.model.project.files, "Begin", "ann@example.com")
        self.scene.world.install(self.scene.app, made)
        return replace(self, repository=made)

    def serve(
        self, *roles: str, port: int | None = None, settings: dict[str, str] | None = None, without: str = "^$"
    ) -> subprocess.Popen[bytes]:
        """A process of the bot; returns when it listens, or has begun if it does not listen.

        `settings` are its own alone; those that `without` matches it does not have.
        """
        chosen = roles or ("listener", "worker", "publisher")
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "PYTHONPATH": str(ROOT),
            "AGENT_FIX_STATE_DIR": str(self.folder / "state"),
            "AGENT_FIX_DATABASE_URL": self.database,
            "AGENT_FIX_GITHUB_API": self.scene.github.api,
            "AGENT_FIX_GITHUB_APP_ID": str(self.scene.app.id),
            "AGENT_FIX_GITHUB_APP_KEY": str(self.folder / "app.pem"),
            "AGENT_FIX_GITHUB_PAUSE": "0",
            "AGENT_FIX_GITHUB_LONGEST_WAIT": "3",
            "AGENT_FIX_GITHUB_RETRIES": "1",
            "AGENT_FIX_WEBHOOK_SECRET": SECRET,
            "AGENT_FIX_PORT": str(port or self.port),
            "AGENT_FIX_GRACE_MINUTES": "0",
            **self.model.project.settings,
            **{f"AGENT_FIX_MODEL_{role.upper()}": role for role in self.model.project.roles},
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": self.model.url,
            **{name: os.environ[name] for name in ("SSL_CERT_FILE", "DOCKER_HOST") if name in os.environ},
            **setup_environment(),
            **self.settings,
            **(settings or {}),
        }
        environment = {name: value for name, value in environment.items() if not re.search(without, name)}
        command = [sys.executable, "-c", "from bot.cli import main; main()", "serve", "--roles", ",".join(chosen)]
        with (self.folder / f"log-{len(self.processes)}").open("wb") as log:
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT, cwd=self.folder)
        self.processes.append(process)
        if "listener" in chosen:
            self.until(lambda: answers(port or self.port) or process.poll() is not None, 30)
        assert process.poll() is None, self.logs()
        return process

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """Kill a process, but not between an answer of the model and the storing of it: nothing could save that."""
        with self.model.speaking:
            time.sleep(0.5)
            process.send_signal(signal.SIGKILL)
            process.wait()

    def issue(self, *, by: str = "rita") -> Issue:
        """The project's issue, opened by somebody who says something of their own in it."""
        person, project = self.scene.person(by), self.model.project
        mark = f"Seen by customer {len(self.marks):03}."
        made = acts.open_issue(self.scene.world, self.repository, person, project.title, f"{project.body}\n\n{mark}")
        self.marks[made.id] = mark
        return made

    def label(self, issue: Issue, by: str = "will") -> None:
        acts.set_label(self.scene.world, self.repository, issue, self.scene.person(by), LABEL)

    def say(self, issue: Issue, body: str, by: str = "will") -> None:
        acts.comment(self.scene.world, self.repository, issue, self.scene.person(by), body)

    def own_comments(self, issue: Issue) -> list[Comment]:
        """The bot's comments."""
        return [one for one in issue.comments if one.author.login in ("agent-fix[bot]", "github-actions[bot]")]

    def headline(self, issue: Issue) -> str:
        """How the run ended, in the words of the bot's only comment, answers apart; empty if it has not ended."""
        own = [one for one in self.own_comments(issue) if "agent-fix:answer" not in one.body]
        assert len(own) <= 1, [one.body for one in own]
        said = own[0].body.splitlines()[1].split("**")[1].rstrip(".") if own else ""
        return "" if said.startswith("At work") else said

    def ended(self, issue: Issue, seconds: float = 240) -> str:
        """Wait until the comment says how the run ended; gives the headline."""
        self.until(lambda: self.headline(issue), seconds)
        return self.headline(issue)

    def settled(self, issue: Issue, headline: str, *, pulls: int, runs: int = 1) -> None:
        """Wait for the end, and see that it is a true one, with one comment, and nothing paid twice in a run."""
        assert self.ended(issue) == headline, self.own_comments(issue)[0].body + self.logs()
        (state,) = [outcome.value for outcome, shown in PRESENTATIONS.items() if shown.headline == headline]
        self.until(lambda: states(issue) == {f"{STATE_LABEL}{state}"}, 20)
        assert len(self.pulls(issue)) == pulls
        heads = {one.pull.head_sha for one in self.pulls(issue) if one.pull}
        self.until(lambda: all(it.status == "completed" for it in self.repository.checks if it.head_sha in heads), 20)
        assert self.paid(issue) <= runs

    def paid(self, issue: Issue) -> int:
        """How often the model gave the same answer about an issue."""
        mark = self.marks[issue.id]
        return max((count for key, count in self.model.answered.items() if mark in key[0]), default=0)

    def pulls(self, issue: Issue) -> list[Issue]:
        """The pull requests for an issue, oldest first."""
        mine = re.compile(rf"agent-fix/issue-{issue.number}(-\d+)?")
        every = [one for one in self.repository.issues.values() if one.pull is not None]
        return [one for one in every if one.pull and mine.fullmatch(one.pull.head)]

    def pull(self, issue: Issue) -> Issue:
        """The only one."""
        (found,) = self.pulls(issue)
        return found

    def asked(self) -> int:
        """How often the model was asked so far."""
        return len(self.model.asked)

    def asked_about(self, issue: Issue) -> int:
        """How often the model was asked about an issue so far."""
        return sum(self.marks[issue.id] in brief for brief in self.model.asked)

    def at_request(self, number: int, act: Callable[[], None]) -> None:
        """Do something once, when the model is asked for the `number`-th time from now; the answer waits for it."""
        target, lock = self.asked() + number, threading.Lock()

        def before(now: int) -> None:
            with lock:
                if now >= target and self.model.before is before:
                    self.model.before = lambda _: None
                    act()

        self.model.before = before

    def read(self, branch: str, path: str) -> str:
        return bare.git(self.repository.path, "show", f"{branch}:{path}")

    def until(self, true: Callable[[], object], seconds: float = 120) -> None:
        """Wait for something; fails with what the bot said and its logs."""
        end = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < end, self.logs()
            time.sleep(0.05)

    def still(self) -> None:
        """Wait until every webhook is answered, nothing that came of them is left to be done, and nobody is at it."""
        self.scene.github.hooks.settle()
        desk = Desk(self.database)
        try:
            self.until(lambda: desk.quiet() and not any(writing(process) for process in self.processes))
        finally:
            desk.close()

    def logs(self) -> str:
        texts = [path.read_text("utf-8", "replace")[-6000:] for path in sorted(self.folder.glob("log-*"))]
        said = [one.body for issue in self.repository.issues.values() for one in self.own_comments(issue)]
        return "\n-----\n".join([*said, *texts])

    def close(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.wait()


def states(issue: Issue) -> set[str]:
    """The labels on an issue that say how a run stands."""
    return {label.name for label in issue.labels if label.name.startswith(STATE_LABEL)}


def writing(process: subprocess.Popen[bytes]) -> bool:
    """Whether a process still has a run's transcript open: a run that was called off is over once it is closed."""
    if process.poll() is not None:
        return False
    for file in Path(f"/proc/{process.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            if file.readlink().name == "transcript.jsonl":
                return True
    return False


def answers(port: int) -> bool:
    try:
        return requests.get(f"http://127.0.0.1:{port}/health", timeout=1).ok
    except requests.RequestException:
        return False


def setup_environment() -> dict[str, str]:
    """What this machine needs for set-ups, if its own environment says so."""
    return {name: value for name, value in os.environ.items() if name.startswith("AGENT_FIX_") and "STATE" not in name}


@contextmanager
def town(folder: Path, project: Project | None = None, *, database: str = "") -> Iterator[Town]:
    """The scene, with nothing of the bot running yet."""
    about = project or hourglass()
    port = free_port()
    hook = f"http://127.0.0.1:{port}/webhook"
    (folder / "github").mkdir()
    with (
        stage(folder / "github", hook=hook, secret=SECRET, files=about.files) as scene,
        player(about) as model,
    ):
        key = folder / "app.pem"
        key.write_text(scene.app.private_key)
        made = Town(scene, model, folder, port, database or f"sqlite:///{folder / 'service.sqlite'}", scene.repository)
        try:
            yield made
        finally:
            made.close()
