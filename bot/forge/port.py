"""What the bot needs of the place that holds an issue, its repository and its pull request.

One `Forge` serves one repository. Its parts are small ports of their own, so that a step of a run is given no more
than it uses: `issues` is the conversation, `code` is git, then `pulls`, `reviews` and `checks`. Adapters: GitHub
(`github_app.py`) and a folder on this machine (`local_repo.py`).

Every call may block, and may raise

AgentFixError
├── Unavailable      the same call may succeed later; `retry_after` says when, if the forge said so
├── NotThere         there is no such issue, pull request, repository or branch (any more)
└── Refused          a permission or a rule of the repository forbids it
    └── Moved        the branch is not where it was expected to be; nothing was pushed
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from bot.errors import AgentFixError, Refused
from bot.task import Comment
from repo_tools.checkout import Repository
from repo_tools.remotes import Remote

BODY_LIMIT = 65_536
"""Characters that GitHub takes for the body of an issue, comment or pull request."""


class Unavailable(AgentFixError):
    """The forge did not answer, answered with a fault of its own, or asks to be left alone for a while."""

    def __init__(self, message: str, retry_after: float | None = None, *, public: str = "") -> None:
        super().__init__(message, retry_after, public=public)
        self.retry_after = retry_after
        """Seconds to wait before the same call, if the forge named them."""

    def __str__(self) -> str:
        return str(self.args[0])


class NotThere(AgentFixError):
    """There is no such thing, or none that this identity may see."""


class Moved(Refused):
    """Somebody else changed the branch: it is not at the commit that was expected. Nothing was pushed."""


class Access(enum.IntEnum):
    """What somebody may do in the repository, in GitHub's own order."""

    NONE = 0
    READ = 1
    TRIAGE = 2
    WRITE = 3
    MAINTAIN = 4
    ADMIN = 5


@dataclass(frozen=True)
class Actor:
    """An account. Only `User` accounts may command the bot, unless one is listed by login and id."""

    login: str
    id: int
    type: str = "User"


@dataclass(frozen=True)
class Issue:
    """An issue as it stands now."""

    number: int
    title: str
    body: str
    author: str
    open: bool
    locked: bool
    labels: frozenset[str]
    assignees: tuple[str, ...]
    is_pull_request: bool


@dataclass(frozen=True)
class Labelling:
    """The setting of a label: its `id` is what a run is known by."""

    id: int
    actor: Actor
    at: datetime
    edited_since: bool
    """Whether title or body were changed in that second or later: what was labelled is then not what stands there."""


class Issues(Protocol):
    """The conversation on an issue, and on a pull request as far as it is an issue too."""

    def read(self, number: int) -> Issue:
        """The issue as it stands now."""

    def labelling(self, number: int, label: str) -> Labelling | None:
        """The newest setting of `label` (exact name), None if it is not set or not visible yet."""

    def edited_since(self, number: int, at: datetime) -> bool:
        """Whether title or body were changed in the second `at` or later."""

    def comments(self, number: int, before: datetime) -> tuple[Comment, ...]:
        """The comments that count: written, and last edited, before `before` by real users with write access.

        Oldest first. The bot's own comments never count.
        """

    def saw(self, number: int, comment: int | None = None) -> None:
        """Show that the bot saw the issue, or a comment on it: a reaction, once."""

    def shown(self, number: int) -> str | None:
        """The text of the bot's one comment on the issue; None if there is none."""

    def progress(self, number: int, body: str) -> None:
        """Show `body` in the bot's one comment on the issue: written once, edited ever after.

        Any other comment of the bot is another call's. `body` has at most `BODY_LIMIT` characters less 100.
        """

    def answer(self, number: int, comment: int, body: str) -> None:
        """Answer a comment on the issue by one of the bot's own, which is written once."""

    def mark(self, number: int, state: str | None) -> None:
        """Show the run's state as the label `agent-fix:<state>`; None takes it away. Labels that others set stay."""


class Code(Protocol):
    """The repository's git side. `repository` is always one on this machine that holds the commit."""

    def default_branch(self) -> str:
        """The branch that pull requests go to unless the configuration names another."""

    def file(self, path: str) -> str | None:
        """The text of a file at the head of the default branch; None if there is none."""

    def remote(self) -> Remote:
        """Where to clone from, with a credential that can read and nothing else, and that soon runs out."""

    def branches(self, prefix: str) -> dict[str, str]:
        """Branch -> commit id, of all branches whose names start with `prefix`."""

    def push(self, repository: Repository, commit: str, branch: str, *, expected: str | None) -> None:
        """Set `branch` to `commit`, if it is at `expected` now (None: if it does not exist).

        Pushing what is already there succeeds. Raises `Moved` if the branch is elsewhere; `Refused` with the
        reason that the forge gave (a protected branch, no permission, a workflow file).
        """

    def note(self, repository: Repository, commit: str, text: str) -> None:
        """Keep `text` as the git note of `commit` in `refs/notes/agent-fix`, in place of an earlier one."""


@dataclass(frozen=True)
class Proposal:
    """What a pull request is opened, or brought up to date, with."""

    head: str
    """The branch with the change; it is pushed already."""
    base: str
    title: str
    body: str
    draft: bool
    reviewers: tuple[str, ...] = ()
    """Logins, and teams as `org/team`. Those who cannot be asked are passed over."""


@dataclass(frozen=True)
class PullRequest:
    """A pull request as it stands now."""

    number: int
    url: str
    title: str
    body: str
    head: str
    head_commit: str
    base: str
    author: Actor
    open: bool
    draft: bool
    merged: bool
    opened: datetime
    ours: bool
    """Opened by this bot, from a branch of the repository itself."""


@dataclass(frozen=True)
class Remark:
    """One thing that a reviewer said. `thread` answers it; None for the text of a review as a whole."""

    author: str
    body: str
    path: str | None = None
    line: int | None = None
    diff: str = ""
    thread: int | None = None


@dataclass(frozen=True)
class Annotation:
    """A line that a check points at."""

    path: str
    first_line: int
    last_line: int
    level: Literal["notice", "warning", "failure"]
    message: str
    title: str = ""


@dataclass(frozen=True)
class Check:
    """A check run as it shall be shown. `conclusion` None means that it is in progress."""

    run: str
    """The run that it belongs to; there is one check for each run and commit."""
    title: str
    summary: str
    text: str = ""
    conclusion: Literal["success", "neutral", "failure", "cancelled", "timed_out", "action_required"] | None = None
    annotations: Sequence[Annotation] = ()


class Pulls(Protocol):
    """Pull requests."""

    def read(self, number: int) -> PullRequest:
        """The pull request as it stands now."""

    def ours(self, prefix: str) -> tuple[PullRequest, ...]:
        """The bot's open pull requests from branches whose names start with `prefix`, oldest first."""

    def revise(self, number: int, body: str, *, draft: bool, reviewers: tuple[str, ...] = ()) -> PullRequest:
        """Bring the body up to date, make it a draft, or ready for review, if it is not, and ask for a look at it."""

    def closing(self, issue: int) -> tuple[int, ...]:
        """The open pull requests that say they close the issue, whoever made them."""

    def propose(self, proposal: Proposal) -> PullRequest:
        """Open the pull request, or adopt the open one from the same head and bring title and body up to date."""


class Reviews(Protocol):
    """What people say about a pull request."""

    def remarks(self, number: int) -> tuple[Remark, ...]:
        """What reviewers with write access said and what is still to be answered: of threads, those that nobody
        resolved and in which the bot has not the last word; of reviews as a whole, those of the newest commit.

        Oldest first.
        """

    def saw(self, number: int, remark: int) -> None:
        """Show that the bot saw a comment of a review: a reaction, once."""

    def answer(self, number: int, thread: int, body: str) -> None:
        """Answer a review comment in its own thread; a thread whose last word is the bot's same answer is left."""


class Checks(Protocol):
    """What the bot shows on a commit."""

    def show(self, commit: str, check: Check) -> str | None:
        """Show the check run on `commit` and give its page; None where this identity may not make check runs."""


class Forge(Protocol):
    """One repository on a forge."""

    @property
    def repository(self) -> str:
        """`owner/name` as the forge calls it now (a renamed one by its new name), or the name of a local folder."""

    @property
    def id(self) -> int:
        """The repository's number, which stays when it is renamed; 0 for a local folder."""

    @property
    def author(self) -> tuple[str, str]:
        """Name and e-mail address that the bot's commits carry."""

    @property
    def issues(self) -> Issues:
        """The conversation."""

    @property
    def code(self) -> Code:
        """The git side."""

    @property
    def pulls(self) -> Pulls:
        """The pull requests."""

    @property
    def reviews(self) -> Reviews:
        """What people say about them."""

    @property
    def checks(self) -> Checks:
        """What is shown on a commit."""

    def access(self, login: str) -> Access:
        """What this account may do in the repository, by its role; never by its association to an issue."""


@dataclass(frozen=True)
class Delivery:
    """A webhook delivery that the listener did not take."""

    id: int
    guid: str
    event: str
    action: str | None
    repository_id: int | None
    at: datetime
    status: int


class Host(Protocol):
    """A whole forge, as far as this identity reaches: what the wiring makes `Forge`s from and the sweep goes over."""

    def forge(self, repository: str) -> Forge:
        """The repository `owner/name`."""

    def repositories(self) -> Iterable[str]:
        """`owner/name` of every repository that the bot is installed on."""

    def labelled(self, repository: str, label: str) -> tuple[int, ...]:
        """The open issues (no pull requests) that carry `label`, the longest waiting first."""

    def missed(self, since: datetime) -> tuple[Delivery, ...]:
        """The deliveries since then of which no attempt succeeded, newest first; empty for an identity without
        webhook."""

    def redeliver(self, delivery: Delivery) -> None:
        """Ask for the delivery again; it comes with the same GUID."""
