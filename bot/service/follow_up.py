"""What is decided once there is something of the bot: reviews, commands on its pull requests, its check run again."""

from __future__ import annotations

from datetime import UTC, datetime

from bot.forge.events import CheckRerequested, Command, IssueText, Reviewed, Verb, Withdrawn
from bot.forge.port import Forge, PullRequest
from bot.service.decision import Decision, Seen, issue_of, new_revision, new_run, refusing
from bot.service.desk import prefix
from bot.service.policy import Policy, refusal_of
from bot.service.requests import RunRequest

EDITED = "The issue was edited after that. Read it again, then say so once more, or set the label anew."


def asked(event: Command, forge: Forge, policy: Policy) -> Decision:
    """To stop, or to explain: what is at work on the pull request, and for the issue that it is about."""
    origin, number = event.origin, event.issue.number
    runs = [prefix(origin.repository_id, number)]
    if event.on_pull:
        about = issue_of(forge.pulls.read(number).head)
        runs += [prefix(origin.repository_id, about)] if about is not None else []
    return Decision(
        stop=tuple(runs) if event.verb is Verb.STOP else (),
        explain=tuple(runs) if event.verb is Verb.EXPLAIN else (),
        label=policy.label,
        seen=Seen(comment=event.comment),
        repository=forge.repository,
        number=number,
        because=f"{origin.sender.login} asked for it.",
    )


def set_again(event: Withdrawn, forge: Forge) -> str:
    """The run of the label that stands now: taken away and set again, the two may arrive in any order."""
    if event.label not in forge.issues.read(event.number).labels:
        return ""
    labelling = forge.issues.labelling(event.number, event.label)
    return f"{prefix(event.origin.repository_id, event.number)}l{labelling.id}" if labelling is not None else ""


def on_pull(event: Command, forge: Forge, policy: Policy, known: PullRequest | None = None) -> Decision:
    """A command that is about a pull request: to revise it, or to make it anew."""
    origin = event.origin
    pull = known or forge.pulls.read(event.issue.number)
    about = issue_of(pull.head)
    if not pull.ours or about is None:
        return Decision(because="the pull request is not the bot's")
    seen = Seen(comment=event.comment)
    if event.verb is not Verb.RETRY:
        run = f"{prefix(origin.repository_id, pull.number)}c{event.comment}"
        return new_revision(
            policy, run, forge, origin.repository_id, pull, caller=origin.sender, wish=event.text, seen=seen
        )
    it = forge.issues.read(about)
    run = f"{prefix(origin.repository_id, about)}c{event.comment}"
    if forge.issues.edited_since(about, event.at):
        return refusing(run, forge, about, EDITED).model_copy(update={"again": True})
    text = IssueText(it.number, it.title, it.body, origin.sender)
    return new_run(policy, run, forge, origin.repository_id, text, caller=origin.sender, at=event.at, seen=seen)


def reviewed(event: Reviewed, forge: Forge, policy: Policy) -> Decision:
    """A review of a pull request of the bot."""
    origin = event.origin
    pull = forge.pulls.read(event.number)
    if not pull.ours or not pull.open:
        return Decision(because="the pull request is not the bot's, or is closed")
    if refusal_of(policy, forge, origin.sender) is not None:
        return Decision(because=f"{origin.sender.login} may not call the bot")
    run = f"{prefix(origin.repository_id, event.number)}r{event.review}"
    seen = Seen(remark=event.remark) if event.remark else None
    return new_revision(policy, run, forge, origin.repository_id, pull, caller=origin.sender, wish=None, seen=seen)


def again(  # noqa: PLR0917 - what an event, a place and the past are
    event: CheckRerequested, number: int, guid: str, forge: Forge, policy: Policy, earlier: RunRequest | None
) -> Decision:
    """The run of a check once more, as it was asked for then; `earlier` is None if that is not known any more."""
    origin = event.origin
    run, now = f"{prefix(origin.repository_id, number)}k{guid[:8].lower()}", datetime.now(UTC)
    changes = {"run": run, "caller": origin.sender.login, "at": now, "strategy": policy.strategy}
    if earlier is not None and earlier.revision is not None:
        pull = forge.pulls.read(earlier.revision.pull)
        if not pull.open:
            return Decision(because="the pull request is closed")
        revision = earlier.revision.model_copy(update={"head": pull.head_commit, "asked": True})
        start = earlier.model_copy(update=changes | {"revision": revision})
        return Decision(start=start, repository=forge.repository, number=pull.number)
    if earlier is not None:
        return Decision(start=earlier.model_copy(update=changes), repository=forge.repository, number=number)
    labelling = forge.issues.labelling(number, policy.label)
    if labelling is None or labelling.edited_since:
        return refusing(run, forge, number, EDITED).model_copy(update={"again": True})
    it = forge.issues.read(number)
    text = IssueText(number, it.title, it.body, origin.sender)
    return new_run(policy, run, forge, origin.repository_id, text, caller=origin.sender, at=labelling.at)
