"""What the parts of the service ask of each other, as the database stores it: JSON that later versions can read."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter

from bot.forge import events
from bot.publish.account import Step
from bot.publish.comment import Progress
from bot.publish.hidden_text import Removed
from bot.publish.proposal import CheckText
from bot.task import Comment

T = TypeVar("T", bound=BaseModel)


class Stored(BaseModel):
    """A value that is stored; an unknown field is an error, so that nothing is dropped silently."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def to_json(self) -> dict[str, Any]:
        """The value as the database keeps it."""
        return self.model_dump(mode="json")


class Occurrence(Stored):
    """An event of a forge, as the listener took it."""

    guid: str
    kind: str
    event: dict[str, Any]

    @classmethod
    def of(cls, event: events.Event, guid: str) -> Occurrence:
        """The stored form of `event`."""
        return cls(
            guid=guid, kind=type(event).__name__, event=_EVENTS[type(event).__name__].dump_python(event, mode="json")
        )

    def read(self) -> events.Event:
        """The event."""
        found: events.Event = _EVENTS[self.kind].validate_python(self.event)
        return found


_EVENTS: Mapping[str, TypeAdapter[Any]] = {
    kind.__name__: TypeAdapter(kind)
    for kind in (
        events.Labelled,
        events.Command,
        events.Reviewed,
        events.Withdrawn,
        events.CheckRerequested,
        events.InstallationChanged,
    )
}


class Revision(Stored):
    """What a run starts from that goes on with a pull request instead of making one."""

    pull: int
    branch: str
    head: str
    """The commit of the branch when the work was asked for."""
    author: str
    """The e-mail address of the bot's own commits."""
    asked: bool
    """Whether somebody said so in a command: only then the bot goes on after somebody else's commits."""
    threads: dict[int, str] = {}
    """The review threads to answer, each with the path of its file."""


class RunRequest(Stored):
    """A run: the issue as it stood when the bot was called, and by whom."""

    run: str
    repository: str
    repository_id: int
    number: int
    """The issue; of a revision of a pull request without one, the pull request."""
    title: str
    body: str
    comments: tuple[Comment, ...] = ()
    removed: tuple[Removed, ...] = ()
    """What was taken out of the texts, since their readers do not see it."""
    label: str = ""
    """The one that calls the bot in this repository."""
    branch: str
    """Where the pull request goes."""
    default_branch: str
    caller: str
    at: datetime
    strategy: str
    revision: Revision | None = None

    @property
    def talks_on(self) -> int:
        """Where the progress comment is: the pull request that is revised, or else the issue."""
        return self.revision.pull if self.revision else self.number


class Told(Stored):
    """A state of a run to be shown."""

    repository: str
    number: int
    progress: Progress
    label: str | None = None
    """The state's label; None shows none."""
    steps: tuple[Step, ...] = ()
    """What was done and decided so far, for whoever asks why."""
    models: dict[str, str] = {}


class Publication(Stored):
    """A verified change to be published."""

    request: RunRequest
    base: str
    """The commit that the change is on."""
    files: dict[str, dict[str, str] | None]
    title: str
    body: str
    message: str
    draft: bool
    reviewers: tuple[str, ...] = ()
    sign_off: bool = False
    note: str = ""
    """The whole transcript, for the git note."""
    state: str = ""
    evidence: str = ""
    account: str = ""
    """The parts of a body that is brought up to date, as in `bot.publish.revised`."""
    check: CheckText | None = None
    conclusion: str = "neutral"
    answers: dict[int, str] = {}
    """Review thread -> the answer to it."""


class PublishedOn(Stored):
    """What became of a publication; `withheld` says why there is none."""

    branch: str = ""
    commit: str = ""
    pull: int = 0
    url: str = ""
    withheld: str = ""
    cancelled: bool = False
    """Withheld because nobody wants it any more."""
