"""Webhook deliveries read: headers and raw bytes in, one typed event out, or the reason why there is none.

Nothing here asks anybody anything. The same reading serves the listener, the Action (whose event file is such a
body) and redeliveries, which carry the same bytes again.
"""

from __future__ import annotations

import enum
import hashlib
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias

from pydantic import ValidationError

from bot.errors import BadInput, Refused
from bot.forge import payloads
from bot.forge.port import Actor

PAYLOAD_LIMIT = 25 * 1024 * 1024
"""Bytes. GitHub does not deliver what is larger; whatever comes larger is not from GitHub."""
HIDDEN_TAG = "<!-- agent-fix:"
"""How each text of the bot itself begins; such a text never commands the bot."""


class Verb(enum.StrEnum):
    """What a command asks for."""

    RUN = "run"
    RETRY = "retry"
    REVISE = "revise"
    STOP = "stop"
    EXPLAIN = "explain"


class BadSignature(Refused):
    """The delivery is not signed with the webhook secret: answer 401 and keep nothing of it."""


class BadPayload(BadInput):
    """The delivery is signed, but is not what GitHub sends for that event: answer 400."""


@dataclass(frozen=True)
class Rules:
    """What the bot listens for."""

    labels: frozenset[str] = frozenset({"agent:fix"})
    """The exact names; which of them calls the bot in a repository is decided later."""
    command: str = "/agent-fix"
    branch_prefix: str = "agent-fix/"
    bots: frozenset[tuple[str, int]] = frozenset()
    """Login and id of the bots that may command this one; never a name's ending."""


@dataclass(frozen=True)
class Origin:
    """Where an event comes from. `guid` stays the same when a delivery is sent again."""

    guid: str
    repository: str
    repository_id: int
    installation: int | None
    sender: Actor


@dataclass(frozen=True)
class IssueText:
    """Title and body as they stood when the event happened, which later edits do not change."""

    number: int
    title: str
    body: str
    author: Actor


@dataclass(frozen=True)
class Labelled:
    """A label that may call the bot was set, or the issue was opened with it."""

    origin: Origin
    issue: IssueText
    labels: tuple[str, ...]
    """Those of them that were set in this very moment."""


@dataclass(frozen=True)
class Command:
    """A comment that begins with the bot's command. `text` is what follows the verb."""

    origin: Origin
    issue: IssueText
    on_pull: bool
    verb: Verb
    text: str
    comment: int
    at: datetime


@dataclass(frozen=True)
class Reviewed:
    """A review of a pull request from one of the bot's branches, or one of its comments: `review` is the same id."""

    origin: Origin
    number: int
    review: int
    head: str
    head_commit: str
    remark: int | None = None
    """The comment, if it is one."""


@dataclass(frozen=True)
class Withdrawn:
    """The label or the issue is gone, or the issue or pull request is closed: what runs for it stops."""

    origin: Origin
    number: int
    why: str
    label: str = ""
    """The label that was taken away, if it was one."""


@dataclass(frozen=True)
class CheckRerequested:
    """Somebody pressed 're-run'. `run` is the id that the bot gave to the check."""

    origin: Origin
    run: str
    commit: str


@dataclass(frozen=True)
class InstallationChanged:
    """The App reaches other repositories than before."""

    guid: str
    installation: int
    sender: Actor
    added: tuple[str, ...]
    removed: tuple[str, ...]
    removed_ids: tuple[int, ...] = ()


@dataclass(frozen=True)
class Ignored:
    """Nothing to do, and why; for the log."""

    because: str


Event: TypeAlias = Labelled | Command | Reviewed | Withdrawn | CheckRerequested | InstallationChanged | Ignored


def check_signature(secret: str, body: bytes, signature: str | None) -> None:
    """Raise `BadSignature` unless `X-Hub-Signature-256` is the body's; takes equally long for every wrong one."""
    if not secret:
        raise BadSignature("There is no webhook secret: set one, here and in the App's settings, before listening.")
    if not signature:
        raise BadSignature("The delivery has no X-Hub-Signature-256: set the webhook secret in the App's settings too.")
    wanted = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(wanted.encode(), signature.encode("utf-8", "surrogateescape")):
        raise BadSignature("The signature is not the one of the webhook secret: are both sides' secrets the same?")


def receive(headers: Mapping[str, str], body: bytes, *, secret: str, rules: Rules) -> Event:
    """The event of a signed delivery. Raises `BadSignature` before anything is parsed, then `BadPayload`."""
    named = {name.lower(): value for name, value in headers.items()}
    check_signature(secret, body, named.get("x-hub-signature-256"))
    event, guid = named.get("x-github-event"), named.get("x-github-delivery")
    if not event or not guid:
        raise BadPayload("X-GitHub-Event and X-GitHub-Delivery are missing: this is no delivery of a webhook.")
    return read(event, body, guid=guid, rules=rules)


def read(event: str, body: bytes, *, guid: str, rules: Rules) -> Event:
    """The event of a body that is trusted already, such as the event file of an Action. Raises `BadPayload`."""
    reader = _READERS.get(event)
    if reader is None:
        return Ignored(f"{event} events do not matter here")
    try:
        return reader(body, guid, rules)
    except ValidationError as error:
        places = ", ".join(".".join(str(part) for part in one["loc"]) or "the whole" for one in error.errors()[:3])
        raise BadPayload(
            f"The {event} payload is not as GitHub describes it (at: {places}). "
            "The webhook's content type must be application/json."
        ) from error


def _origin(it: payloads.Payload, guid: str) -> Origin:
    installation = it.installation.id if it.installation else None
    return Origin(guid, it.repository.full_name, it.repository.id, installation, it.sender.actor)


def _text(issue: payloads.Issue) -> IssueText:
    author = issue.user.actor if issue.user else Actor("ghost", 0)
    return IssueText(issue.number, issue.title, issue.body or "", author)


def _stranger(sender: payloads.User, rules: Rules) -> Ignored | None:
    """Why this sender commands nothing, if it is a bot that nobody listed."""
    if sender.type == "User" or (sender.login, sender.id) in rules.bots:
        return None
    return Ignored(f"its sender {sender.login} ({sender.id}) is no user, and no listed bot")


def _issues(body: bytes, guid: str, rules: Rules) -> Event:
    it = payloads.Issues.model_validate_json(body)
    if it.issue.pull_request is not None:
        return Ignored("labels and states of pull requests do not matter here")
    ending = {"closed": "the issue was closed", "deleted": "the issue was deleted", "transferred": "the issue moved"}
    if it.action in ending:
        return Withdrawn(_origin(it, guid), it.issue.number, ending[it.action])
    name = it.label.name if it.label is not None else ""
    if it.action == "unlabeled" and name in rules.labels:
        return Withdrawn(_origin(it, guid), it.issue.number, f"the label {name} was taken away", name)
    set_now = (name,) if it.action == "labeled" else ()
    there = tuple(label.name for label in it.issue.labels) if it.action == "opened" else ()
    calling = tuple(sorted(rules.labels.intersection(set_now + there)))
    if not calling:
        return Ignored(f"issues.{it.action} is not about a label that calls the bot")
    if it.issue.state != "open":
        return Ignored("the issue is closed")
    return _stranger(it.sender, rules) or Labelled(_origin(it, guid), _text(it.issue), calling)


def _issue_comment(body: bytes, guid: str, rules: Rules) -> Event:
    it = payloads.IssueComment.model_validate_json(body)
    if it.action != "created":
        return Ignored("only new comments command")
    found = parse_command(it.comment.body or "", rules.command)
    if found is None:
        return Ignored(f"the comment does not begin with {rules.command}")
    verb, text = found
    on_pull = it.issue.pull_request is not None
    return _stranger(it.sender, rules) or Command(
        _origin(it, guid), _text(it.issue), on_pull, verb, text, it.comment.id, it.comment.created_at
    )


def parse_command(comment: str, command: str) -> tuple[Verb, str] | None:
    """The verb and the rest of a comment that begins with `command`, None for any other comment.

    Without a verb it is `run`; a word that is no verb is the beginning of what to revise.
    """
    if comment.lstrip().startswith(HIDDEN_TAG):
        return None
    first, _, rest = comment.strip().partition("\n")
    word, _, said = first.strip().partition(" ")
    if word != command:
        return None
    name, _, tail = said.strip().partition(" ")
    text = f"{tail.strip()}\n{rest}".strip()
    if name.lower() in set(Verb):
        return Verb(name.lower()), text
    whole = f"{said.strip()}\n{rest}".strip()
    return (Verb.REVISE, whole) if whole else (Verb.RUN, "")


def _pull_review(body: bytes, guid: str, rules: Rules) -> Event:
    it = payloads.PullRequestReview.model_validate_json(body)
    if it.action != "submitted":
        return Ignored("only a review that was just submitted is work")
    if not it.review.body:
        # Each answer in a thread makes a review like this; its words come as events of their own.
        return Ignored("a review without words of its own asks for nothing")
    return _reviewed(it, it.review.id, it.review.body or "", guid, rules)


def _pull_remark(body: bytes, guid: str, rules: Rules) -> Event:
    it = payloads.PullRequestReviewComment.model_validate_json(body)
    if it.action != "created" or it.comment.pull_request_review_id is None:
        return Ignored("only a new comment of a review is work")
    event = _reviewed(it, it.comment.pull_request_review_id, it.comment.body, guid, rules)
    return replace(event, remark=it.comment.id) if isinstance(event, Reviewed) else event


def _from_own_branch(it: payloads.Payload, pull: payloads.Pull, rules: Rules) -> bool:
    """Whether the pull request comes from a branch that the bot could have made; a fork's may be called the same."""
    same = pull.head.repo is not None and pull.head.repo.id == it.repository.id
    return same and pull.head.ref.startswith(rules.branch_prefix)


def _reviewed(
    it: payloads.PullRequestReview | payloads.PullRequestReviewComment, review: int, said: str, guid: str, rules: Rules
) -> Event:
    pull = it.pull_request
    if not _from_own_branch(it, pull, rules):
        return Ignored("the pull request is not from a branch of the bot")
    if said.lstrip().startswith(HIDDEN_TAG):
        return Ignored("the bot said it itself")
    return _stranger(it.sender, rules) or Reviewed(_origin(it, guid), pull.number, review, pull.head.ref, pull.head.sha)


def _pull_request(body: bytes, guid: str, rules: Rules) -> Event:
    it = payloads.PullRequest.model_validate_json(body)
    if it.action != "closed" or not _from_own_branch(it, it.pull_request, rules):
        return Ignored(f"pull_request.{it.action} changes nothing here")
    return Withdrawn(_origin(it, guid), it.pull_request.number, "the pull request was closed")


def _check_run(body: bytes, guid: str, rules: Rules) -> Event:
    it = payloads.CheckRunEvent.model_validate_json(body)
    if it.action != "rerequested" or not it.check_run.external_id:
        return Ignored(f"check_run.{it.action} is no wish for another run")
    return _stranger(it.sender, rules) or CheckRerequested(
        _origin(it, guid), it.check_run.external_id, it.check_run.head_sha
    )


def _installation(body: bytes, guid: str, _: Rules) -> Event:
    it = payloads.InstallationEvent.model_validate_json(body)
    gained = it.repositories if it.action in ("created", "unsuspend") else []
    lost = [*(it.repositories if it.action in ("deleted", "suspend") else []), *it.repositories_removed]
    added = tuple(one.full_name for one in [*gained, *it.repositories_added])
    if not added and not lost:
        return Ignored(f"installation {it.action} changes no repository")
    removed, ids = tuple(one.full_name for one in lost), tuple(one.id for one in lost)
    return InstallationChanged(guid, it.installation.id, it.sender.actor, added, removed, ids)


_READERS: Mapping[str, Callable[[bytes, str, Rules], Event]] = {
    "issues": _issues,
    "issue_comment": _issue_comment,
    "pull_request": _pull_request,
    "pull_request_review": _pull_review,
    "pull_request_review_comment": _pull_remark,
    "check_run": _check_run,
    "installation": _installation,
    "installation_repositories": _installation,
}
