"""From an event to what is to be done about it. Reads from the forge; writes nothing."""

from __future__ import annotations

from datetime import UTC, datetime

from bot.forge.events import CheckRerequested, Command, Event, IssueText, Labelled, Reviewed, Verb, Withdrawn
from bot.forge.port import Actor, Forge, Host, NotThere, PullRequest
from bot.publish.names import BRANCHES
from bot.service.decision import Decision, Policy, issue_of, new_revision, new_run
from bot.service.desk import number_of, prefix
from bot.service.patience import NotYet
from bot.service.telling import refused
from bot.task import Comment


class Intake:
    """Decides about events, for one process."""

    def __init__(self, host: Host, policy: Policy) -> None:
        self._host = host
        self._policy = policy

    def decide(self, event: Event, guid: str) -> Decision:
        """What to do. Raises `Unavailable` if that cannot be known now, `Refused` for want of a permission."""
        try:
            return self._decided(event, guid)
        except NotThere as error:
            return Decision(because=str(error))

    def _decided(self, event: Event, guid: str) -> Decision:
        decision = Decision(because="nothing to do")
        if isinstance(event, Labelled):
            decision = self.labelled(event.origin.repository, event.origin.repository_id, event.issue)
        elif isinstance(event, Command):
            decision = self._command(event)
        elif isinstance(event, Reviewed):
            decision = self._reviewed(event)
        elif isinstance(event, CheckRerequested):
            decision = self._again(event, guid)
        elif isinstance(event, Withdrawn):
            decision = Decision(
                stop=prefix(event.origin.repository_id, event.number),
                repository=event.origin.repository,
                number=event.number,
                because=f"{_capital(event.why)} by {event.origin.sender.login}.",
            )
        return decision

    def found(self, repository: str, number: int) -> Decision:
        """The same for an issue that the sweep found: its text of then is not known, so an edited one is refused."""
        return self.labelled(repository, self._host.forge(repository).id, None, number)

    def labelled(self, repository: str, repository_id: int, text: IssueText | None, number: int = 0) -> Decision:
        """The label stands on an issue; `text` is the issue as it stood then."""
        forge = self._host.forge(repository)
        number = text.number if text else number
        issue = forge.issues.read(number)
        if not issue.open or self._policy.rules.label not in issue.labels:
            return Decision(because="the issue is closed, or the label is gone again")
        labelling = forge.issues.labelling(number, self._policy.rules.label)
        if labelling is None:
            raise NotYet(f"GitHub does not show yet who labelled issue {number}.", 2.0)
        if text is None and datetime.now(UTC) - labelling.at < self._policy.grace:
            return Decision(because="its webhook may still be on its way")
        run = f"{prefix(repository_id, number)}l{labelling.id}"
        refusal = self._refusal(forge, labelling.actor)
        if refusal is None and text is None and labelling.edited_since:
            refusal = "The issue was edited after it was labelled. Read it again, then set the label anew."
        if refusal is not None:
            return self._refused(run, forge, number, refusal)
        own = own_pull(forge, number)
        if own is not None:
            return self._there_already(run, forge, number, own)
        shown = text or IssueText(number, issue.title, issue.body, labelling.actor)
        return new_run(self._policy, run, forge, repository_id, shown, caller=labelling.actor, at=labelling.at)

    def _there_already(self, run: str, forge: Forge, number: int, own: PullRequest) -> Decision:
        command = self._policy.rules.command
        said = (
            f"There is an open pull request for this issue already: #{own.number}. Review it, say `{command} revise` "
            f"there, or `{command} retry` here to have it made anew."
        )
        return self._refused(run, forge, number, said).model_copy(update={"again": True})

    def _command(self, event: Command) -> Decision:
        origin, number = event.origin, event.issue.number
        forge = self._host.forge(origin.repository)
        run = f"{prefix(origin.repository_id, number)}c{event.comment}"
        refusal = self._refusal(forge, origin.sender)
        if refusal is not None:
            return self._refused(run, forge, number, refusal)
        if event.verb in (Verb.STOP, Verb.EXPLAIN):
            runs = prefix(origin.repository_id, number)
            return Decision(
                stop=runs if event.verb is Verb.STOP else None,
                explain=runs if event.verb is Verb.EXPLAIN else None,
                repository=forge.repository,
                number=number,
                because=f"{origin.sender.login} asked for it.",
            )
        if event.on_pull:
            return self._on_pull(event, forge, run)
        more = (Comment(origin.sender.login, event.text),) if event.text else ()
        now = datetime.now(UTC)
        return new_run(
            self._policy, run, forge, origin.repository_id, event.issue, caller=origin.sender, at=now, more=more
        )

    def _on_pull(self, event: Command, forge: Forge, run: str) -> Decision:
        """A command on a pull request: to revise it, or to make it anew."""
        origin = event.origin
        pull = forge.pulls.read(event.issue.number)
        about = issue_of(pull.head)
        if not pull.ours or about is None:
            return Decision(because="the pull request is not the bot's")
        if event.verb is not Verb.RETRY:
            return new_revision(
                self._policy, run, forge, origin.repository_id, pull, caller=origin.sender, wish=event.text
            )
        it = forge.issues.read(about)
        run = f"{prefix(origin.repository_id, about)}c{event.comment}"
        text = IssueText(it.number, it.title, it.body, origin.sender)
        return new_run(self._policy, run, forge, origin.repository_id, text, caller=origin.sender, at=datetime.now(UTC))

    def _reviewed(self, event: Reviewed) -> Decision:
        origin = event.origin
        forge = self._host.forge(origin.repository)
        pull = forge.pulls.read(event.number)
        if not pull.ours or not pull.open:
            return Decision(because="the pull request is not the bot's, or is closed")
        if self._refusal(forge, origin.sender) is not None:
            return Decision(because=f"{origin.sender.login} may not call the bot")
        run = f"{prefix(origin.repository_id, event.number)}r{event.review}"
        return new_revision(self._policy, run, forge, origin.repository_id, pull, caller=origin.sender, wish=None)

    def _again(self, event: CheckRerequested, guid: str) -> Decision:
        origin, number = event.origin, number_of(event.run)
        if number is None:
            return Decision(because="the check run is not the bot's")
        forge = self._host.forge(origin.repository)
        if self._refusal(forge, origin.sender) is not None:
            return Decision(because=f"{origin.sender.login} may not call the bot")
        it = forge.issues.read(number)
        run = f"{prefix(origin.repository_id, number)}k{guid[:8].lower()}"
        text = IssueText(number, it.title, it.body, origin.sender)
        return new_run(self._policy, run, forge, origin.repository_id, text, caller=origin.sender, at=datetime.now(UTC))

    def _refusal(self, forge: Forge, actor: Actor) -> str | None:
        """Why this account may not call the bot here, None if it may."""
        if (actor.login, actor.id) in self._policy.rules.bots:
            return None
        if actor.type != "User":
            return f"`{actor.login}` is no user, and no bot that is listed by login and id in the bot's settings."
        has, needs = forge.access(actor.login), self._policy.needs
        if has >= needs:
            return None
        return (
            f"`{actor.login}` has the role {has.name.lower()} here; calling the bot takes {needs.name.lower()} or "
            "more. Have somebody call it who has that."
        )

    def _refused(self, run: str, forge: Forge, number: int, reason: str) -> Decision:
        said = refused(run, reason)
        return Decision(refuse=said, repository=forge.repository, number=number, because=reason)


def own_pull(forge: Forge, number: int) -> PullRequest | None:
    """The bot's open pull request for an issue: the forge's own word, which outlives any database."""
    return next((it for it in forge.pulls.ours(f"{BRANCHES}issue-{number}") if issue_of(it.head) == number), None)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
