"""From an event to what is to be done about it. Reads from the forge; writes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from bot.forge.events import (
    CheckRerequested,
    Command,
    Event,
    InstallationChanged,
    IssueText,
    Labelled,
    Reviewed,
    Verb,
    Withdrawn,
)
from bot.forge.port import Forge, Host, NotThere, PullRequest
from bot.publish.comment import answered
from bot.service import follow_up
from bot.service.decision import Decision, Seen, answered_before, new_run, own_pull, refusing
from bot.service.desk import number_of, prefix
from bot.service.patience import NotYet
from bot.service.policy import Policy, in_repository, refusal_of
from bot.service.requests import RunRequest
from bot.task import Comment


class Intake:
    """Decides about events, for one process. `earlier` finds the request of a run by its key."""

    def __init__(self, host: Host, policy: Policy, earlier: Callable[[str], RunRequest | None]) -> None:
        self._host = host
        self._policy = policy
        self._earlier = earlier

    def policy(self, forge: Forge) -> Policy:
        """What holds in a repository."""
        return in_repository(self._policy, forge)

    def decide(self, event: Event, guid: str) -> Decision:
        """What to do. Raises `Unavailable` if that cannot be known now, `Refused` for want of a permission."""
        try:
            return self._unless_answered(self._decided(event, guid))
        except NotThere as error:
            return Decision(because=str(error))

    def found(self, repository: str, number: int) -> Decision:
        """The same for an issue that the sweep found: its text of then is not known, so an edited one is refused."""
        forge = self._host.forge(repository)
        return self._unless_answered(self._labelled(forge, self.policy(forge), forge.id, None, number))

    def _unless_answered(self, decision: Decision) -> Decision:
        """The decision, unless the forge remembers an answer that this database does not."""
        it, refusal = decision.start, decision.refuse
        if it is not None and self._earlier(it.run) is None:
            forge = self._host.forge(it.repository)
            if answered_before(forge, it.talks_on, it.run, it.at):
                return Decision(because="the bot's comment shows how that ended")
        if refusal is not None and not decision.again:
            said = self._host.forge(decision.repository).issues.shown(decision.number)
            if said is not None and answered(said) is not None:
                return Decision(because=decision.because)
        return decision

    def _decided(self, event: Event, guid: str) -> Decision:
        decision = Decision(because="nothing to do")
        if isinstance(event, InstallationChanged):
            gone = tuple(f"{repository}-" for repository in event.removed_ids)
            decision = Decision(stop=gone, because=f"The App was taken away by {event.sender.login}.")
        elif isinstance(event, Labelled):
            decision = self._label_set(event)
        elif isinstance(event, Command):
            decision = self._command(event)
        elif isinstance(event, Reviewed):
            forge = self._host.forge(event.origin.repository)
            decision = follow_up.reviewed(event, forge, self.policy(forge))
        elif isinstance(event, CheckRerequested):
            decision = self._again(event, guid)
        elif isinstance(event, Withdrawn):
            decision = self._withdrawn(event)
        return decision

    def _label_set(self, event: Labelled) -> Decision:
        forge = self._host.forge(event.origin.repository)
        policy = self.policy(forge)
        if policy.label not in event.labels:
            return Decision(because=f"in this repository it is the label {policy.label} that calls the bot")
        return self._labelled(forge, policy, event.origin.repository_id, event.issue)

    def _withdrawn(self, event: Withdrawn) -> Decision:
        origin, spare = event.origin, ""
        if event.label:
            forge = self._host.forge(origin.repository)
            if event.label != self.policy(forge).label:
                return Decision(because=f"the label {event.label} does not call the bot in this repository")
            spare = follow_up.set_again(event, forge)
        return Decision(
            spare=spare,
            stop=(prefix(origin.repository_id, event.number),),
            repository=origin.repository,
            number=event.number,
            because=f"{event.why[:1].upper()}{event.why[1:]} by {origin.sender.login}.",
        )

    def _labelled(
        self, forge: Forge, policy: Policy, repository_id: int, text: IssueText | None, number: int = 0
    ) -> Decision:
        """The label stands on an issue; `text` is the issue as it stood then."""
        number = text.number if text else number
        issue = forge.issues.read(number)
        if not issue.open or policy.label not in issue.labels:
            return Decision(because="the issue is closed, or the label is gone again")
        labelling = forge.issues.labelling(number, policy.label)
        if labelling is None:
            raise NotYet(f"GitHub does not show yet who labelled issue {number}.", 2.0)
        if text is None and datetime.now(UTC) - labelling.at < policy.grace:
            return Decision(because="its webhook may still be on its way")
        run = f"{prefix(repository_id, number)}l{labelling.id}"
        refusal = refusal_of(policy, forge, labelling.actor)
        if refusal is None and text is None and labelling.edited_since:
            refusal = "The issue was edited after it was labelled. Read it again, then set the label anew."
        if refusal is not None:
            return refusing(run, forge, number, refusal)
        own = own_pull(forge, number)
        if own is not None and labelling.at <= own.opened:
            return Decision(because=f"pull request {own.number} came of that label, or of what was asked later")
        if own is not None:
            return self._there_already(run, forge, number, own)
        shown = text or IssueText(number, issue.title, issue.body, labelling.actor)
        return new_run(
            policy, run, forge, repository_id, shown, caller=labelling.actor, at=labelling.at, seen=Seen(issue=number)
        )

    def _there_already(self, run: str, forge: Forge, number: int, own: PullRequest) -> Decision:
        command = self._policy.rules.command
        said = (
            f"There is an open pull request for this issue already: #{own.number}. Review it, say `{command} revise` "
            f"there, or `{command} retry` here to have it made anew."
        )
        return refusing(run, forge, number, said).model_copy(update={"again": True})

    def _command(self, event: Command) -> Decision:
        origin, number = event.origin, event.issue.number
        forge = self._host.forge(origin.repository)
        policy = self.policy(forge)
        run = f"{prefix(origin.repository_id, number)}c{event.comment}"
        asks_only = event.verb in (Verb.STOP, Verb.EXPLAIN)
        # What is wrong with the settings is no reason to let a run go on that somebody wants stopped.
        refusal = refusal_of(replace(policy, wrong="") if asks_only else policy, forge, origin.sender)
        if refusal is not None:
            return refusing(run, forge, number, refusal)
        if asks_only:
            return follow_up.asked(event, forge, policy)
        if event.on_pull:
            return follow_up.on_pull(event, forge, policy)
        own = own_pull(forge, number) if event.verb is Verb.REVISE else None
        if own is not None:
            return follow_up.on_pull(event, forge, policy, own)
        more = (Comment(origin.sender.login, event.text),) if event.text else ()
        return new_run(
            policy, run, forge, origin.repository_id, event.issue,
            caller=origin.sender, at=event.at, more=more, seen=Seen(comment=event.comment),
        )  # fmt: skip

    def _again(self, event: CheckRerequested, guid: str) -> Decision:
        """Somebody pressed 're-run': the same once more, on the texts that counted then."""
        number = number_of(event.run)
        if number is None:
            return Decision(because="the check run is not the bot's")
        forge = self._host.forge(event.origin.repository)
        policy = self.policy(forge)
        if refusal_of(policy, forge, event.origin.sender) is not None:
            return Decision(because=f"{event.origin.sender.login} may not call the bot")
        return follow_up.again(event, number, guid, forge, policy, self._earlier(event.run))
