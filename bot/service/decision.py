"""What is decided about an event, and the runs that come of it."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from bot.forge.events import IssueText
from bot.forge.port import Actor, Forge, PullRequest
from bot.publish.comment import Progress, answered
from bot.publish.hidden_text import clean
from bot.publish.names import BRANCHES
from bot.service.policy import Policy
from bot.service.requests import Revision, RunRequest, Stored
from bot.service.telling import refused
from bot.task import Comment


class Seen(Stored):
    """What somebody did that the bot heeds; one of the three."""

    issue: int | None = None
    comment: int | None = None
    """On an issue or a pull request."""
    remark: int | None = None
    """A comment of a review."""


class Decision(Stored):
    """What is to be done about an event. At most one of the first three is there."""

    start: RunRequest | None = None
    stop: tuple[str, ...] = ()
    """How the keys of the runs to stop begin."""
    spare: str = ""
    """The run that is not to be stopped."""
    explain: tuple[str, ...] = ()
    """The same of the runs to give an account of."""
    label: str = ""
    """What calls the bot here, to be told to who asks for an account."""
    refuse: Progress | None = None
    """What to say on the issue instead of starting."""
    again: bool = False
    """Whether that is of interest only where the bot was at work before; else it is only where it was not, so that
    nobody can write over how a run stands by asking for what they may not have."""
    seen: Seen | None = None
    """What called for this, for the bot to show that it saw it; only of those who may call it."""
    repository: str = ""
    number: int = 0
    because: str = ""
    """For the log, and to be said to those whose run is stopped."""


def new_run(
    policy: Policy,
    run: str,
    forge: Forge,
    repository_id: int,
    text: IssueText,
    *,
    caller: Actor,
    at: datetime,
    more: tuple[Comment, ...] = (),
    seen: Seen | None = None,
) -> Decision:
    """The decision to begin a run on an issue, its texts as their readers see them."""
    default = forge.code.default_branch()
    title, body = clean(text.title), clean(text.body)
    comments = [(it.author, clean(it.body)) for it in forge.issues.comments(text.number, at) + more]
    request = RunRequest(
        run=run,
        repository=forge.repository,
        repository_id=repository_id,
        number=text.number,
        title=title.text,
        body=body.text,
        comments=tuple(Comment(author, said.text) for author, said in comments),
        removed=(*title.removed, *body.removed, *(one for _, said in comments for one in said.removed)),
        branch=policy.base_branch or default,
        label=policy.label,
        default_branch=default,
        caller=caller.login,
        at=at,
        strategy=policy.strategy,
    )
    return Decision(start=request, seen=seen, repository=forge.repository, number=text.number)


def new_revision(
    policy: Policy,
    run: str,
    forge: Forge,
    repository_id: int,
    pull: PullRequest,
    *,
    caller: Actor,
    wish: str | None,
    seen: Seen | None = None,
) -> Decision:
    """Go on with a pull request; `wish` is what a command says, None for a review alone."""
    now = datetime.now(UTC)
    about = issue_of(pull.head)
    issue = forge.issues.read(about if about is not None else pull.number)
    # By GitHub's clock: what was said a moment ago is later than a slow clock of ours.
    remarks = forge.reviews.remarks(pull.number)
    said = [
        Comment(it.author, f"{it.path}:{it.line}\n{it.diff}\n\n{it.body}" if it.path else it.body) for it in remarks
    ]
    if wish:
        said.append(Comment(caller.login, wish))
    if not said:
        return Decision(because="nobody said what to revise")
    request = RunRequest(
        run=run,
        repository=forge.repository,
        repository_id=repository_id,
        number=issue.number,
        title=clean(issue.title).text,
        body=clean(issue.body).text,
        comments=tuple(Comment(it.author, clean(it.body).text) for it in said),
        branch=pull.base,
        default_branch=forge.code.default_branch(),
        caller=caller.login,
        at=now,
        strategy=policy.strategy,
        revision=Revision(
            pull=pull.number,
            branch=pull.head,
            head=pull.head_commit,
            author=forge.author[1],
            asked=wish is not None,
            threads={it.thread: it.path or "" for it in remarks if it.thread is not None},
        ),
    )
    return Decision(start=request, seen=seen, repository=forge.repository, number=pull.number)


def refusing(run: str, forge: Forge, number: int, reason: str) -> Decision:
    """Not to begin, and to say why on the issue."""
    return Decision(refuse=refused(run, reason), repository=forge.repository, number=number, because=reason)


def answered_before(forge: Forge, number: int, run: str, at: datetime) -> bool:
    """Whether the bot's comment shows the end of this run, or of one that was asked for after `at`.

    The forge's own word, which outlives any database; a job of Actions has no other.
    """
    said = forge.issues.shown(number)
    past = answered(said) if said is not None else None
    if past is None:
        return False
    by_person = run.split("-")[2][:1] in ("l", "c")
    return past[0] == run or (by_person and at <= past[1])


def own_pull(forge: Forge, number: int) -> PullRequest | None:
    """The bot's open pull request for an issue: the forge's own word, which outlives any database."""
    return next((it for it in forge.pulls.ours(f"{BRANCHES}issue-{number}") if issue_of(it.head) == number), None)


def issue_of(branch: str) -> int | None:
    """The issue that a branch of the bot was made for."""
    found = re.fullmatch(re.escape(BRANCHES) + r"issue-(\d+)(?:-\d+)?", branch)
    return int(found[1]) if found else None
