"""What a run is asked to do, as it is stored with it."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from bot.forge.port import Annotation
from bot.llm.budget import Limits
from bot.publish.names import slug
from bot.secrets_mask import masked
from bot.task import Outcome, Task


class Order(BaseModel):
    """One run: where its repository is, what the task is and what it may spend."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: str
    task: Task
    repository: Path
    """The checkout, or a mirror, that holds the base commit."""
    limits: Limits
    models: dict[str, str]
    started: datetime
    recording: Path | None = None
    """A transcript that plays the model, in demonstrations and replays."""
    notes: tuple[str, ...] = ()
    """What the pull request says besides, each a sentence."""
    closes: bool = True
    """Whether merging the pull request can close the issue: it goes to the default branch of the issue's repository."""
    strict: bool = False
    """Whether prompts must be as they were when the recording was made, not only the tools that it calls."""
    publish: bool = True
    """False in a replay: the change is compared, not published."""
    continues: str = ""
    """The run that was stopped before its work was done and goes on in this one; empty if there is none."""


class Ended(BaseModel):
    """How a run ended; what `--json` prints."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: str
    outcome: Outcome
    reason: str
    posted: str = ""
    """The reason where everyone reads it, if the whole one names what is of this machine alone."""
    branch: str = ""
    commit: str = ""
    pull_request: str = ""
    """Its address, or the file with its text."""
    transcript: Path | None = None
    files: tuple[str, ...] = ()
    fixed_tests: tuple[str, ...] = ()
    new_tests: tuple[str, ...] = ()
    evidence: str = ""
    """Markdown: what was shown of the change."""
    annotations: tuple[Annotation, ...] = ()
    """Where in the files to look."""
    stopped: bool = False
    """Whether it ended before its work was done: by a limit, by the model or by a defect."""
    rounds: int = 0
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float | None = None
    seconds: float = 0.0
    seconds_model: float = 0.0
    seconds_sandbox: float = 0.0

    def masked(self, mask: Callable[[str], str]) -> Ended:
        """Without the secrets in what models, tests and errors said."""
        texts = ("reason", "posted", "evidence", "annotations", "fixed_tests", "new_tests")
        said = {name: getattr(self, name) for name in texts}
        return self.model_copy(update=masked(said, mask))

    @property
    def public(self) -> str:
        """The reason as everyone may read it."""
        return self.posted or self.reason


def new_run(title: str) -> str:
    """A name for a run: sortable by time, readable, unique."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    return f"{stamp}-{slug(title)[:32].strip('-')}-{secrets.token_hex(2)}"


def is_run(name: str) -> bool:
    """Whether `name` has the form that `new_run`, or a forge, gives; such a name is safe as a folder's."""
    return re.fullmatch(r"\d+-\d+-[a-z0-9-]*", name) is not None
