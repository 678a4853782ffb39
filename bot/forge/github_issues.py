"""The conversation on GitHub: the issue, who labelled it, the comments that count, the one progress comment."""

from __future__ import annotations

import contextlib
from datetime import datetime

from github.IssueComment import IssueComment
from github.IssueEvent import IssueEvent

from bot.forge.connection import named
from bot.forge.github_access import Permissions
from bot.forge.github_comments import OwnComments
from bot.forge.github_session import Session, actor
from bot.forge.identity import Phase
from bot.forge.port import Issue, Labelling, NotThere
from bot.task import Comment

SEEN = "eyes"
"""The reaction that says so; given twice, GitHub keeps one."""
STATE_LABEL = "agent-fix:"
_LAST_EDIT = """query($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) { issue(number: $number) { lastEditedAt } }
}"""


class GitHubIssues:
    """`bot.forge.port.Issues` on GitHub."""

    def __init__(self, session: Session, permissions: Permissions) -> None:
        self._session = session
        self._permissions = permissions
        self._own = OwnComments(session)

    def read(self, number: int) -> Issue:
        """See the port."""
        with named(f"Reading issue {number}"):
            it = self._session.on(Phase.READ).get_issue(number)
            if not str(it.repository_url).lower().endswith(f"/repos/{self._session.name}".lower()):
                raise NotThere(f"Issue {number} moved to another repository ({it.html_url}).")
            return Issue(
                number=it.number,
                title=it.title,
                body=it.body or "",
                author=actor(it.user).login,
                open=it.state == "open",
                locked=it.locked,
                labels=frozenset(label.name for label in it.labels),
                assignees=tuple(user.login for user in it.assignees),
                is_pull_request=it.pull_request is not None,
            )

    def labelling(self, number: int, label: str) -> Labelling | None:
        """See the port."""
        with named(f"Looking for the label on issue {number}"):
            events = list(self._session.issue(Phase.READ, number).get_events())
            newest = _newest_setting(events, label)
            if newest is None:
                return None
            changed = self._changed(number, events, newest.created_at)
        return Labelling(newest.id, actor(newest.actor), newest.created_at, edited_since=changed)

    def edited_since(self, number: int, at: datetime) -> bool:
        """See the port."""
        with named(f"Looking for edits of issue {number}"):
            return self._changed(number, list(self._session.issue(Phase.READ, number).get_events()), at)

    def _changed(self, number: int, events: list[IssueEvent], at: datetime) -> bool:
        """Of new titles the events tell, of new bodies only GraphQL."""
        if any(one.event == "renamed" and one.created_at >= at for one in events):
            return True
        edited = self._last_edit(number)
        return edited is not None and edited >= at

    def _last_edit(self, number: int) -> datetime | None:
        owner, _, name = self._session.name.partition("/")
        variables = {"owner": owner, "name": name, "number": number}
        _, answer = self._session.connection(Phase.READ).graphql_query(_LAST_EDIT, variables)
        at = answer["data"]["repository"]["issue"]["lastEditedAt"]
        return datetime.fromisoformat(at) if at else None

    def comments(self, number: int, before: datetime) -> tuple[Comment, ...]:
        """See the port."""
        with named(f"Reading the comments on issue {number}"):
            listed = list(self._session.issue(Phase.READ, number).get_comments())
        # An edit in the very second of the label could be after it: only earlier seconds count.
        counted = [it for it in listed if max(it.created_at, it.updated_at) < before]
        return tuple(Comment(it.user.login, it.body) for it in counted if self._permissions.count(actor(it.user)))

    def saw(self, number: int, comment: int | None = None) -> None:
        """See the port."""
        with named(f"Showing on issue {number} that it was seen"):
            if comment is None:
                self._session.issue(Phase.TALK, number).create_reaction(SEEN)
                return
            url = f"/repos/{self._session.name}/issues/comments/{comment}"
            talking = self._session.connection(Phase.TALK)
            IssueComment(talking, {}, {"url": url}, completed=True).create_reaction(SEEN)

    def shown(self, number: int) -> str | None:
        """See the port."""
        return self._own.shown(number)

    def progress(self, number: int, body: str) -> None:
        """See the port."""
        self._own.progress(number, body)

    def answer(self, number: int, comment: int, body: str) -> None:
        """See the port."""
        self._own.answer(number, comment, body)

    def mark(self, number: int, state: str | None) -> None:
        """See the port."""
        wanted = f"{STATE_LABEL}{state}" if state else None
        with named(f"Labelling issue {number}"):
            it = self._session.issue(Phase.TALK, number)
            there = {label.name for label in it.get_labels()}
            if wanted is not None and wanted not in there:
                it.add_to_labels(wanted)
            stale = {name for name in there if name.startswith(STATE_LABEL)} - {wanted}
            events = list(it.get_events()) if stale else []
            for name in sorted(stale):
                newest = _newest_setting(events, name)
                if newest is None or actor(newest.actor).id != self._session.me.id:
                    continue
                with contextlib.suppress(NotThere), named(f"Taking the label {name} away"):
                    it.remove_from_labels(name)


def _newest_setting(events: list[IssueEvent], label: str) -> IssueEvent | None:
    """The event that set the label, if none after it took it away."""
    about = [one for one in events if one.event in ("labeled", "unlabeled") and one.label and one.label.name == label]
    return about[-1] if about and about[-1].event == "labeled" else None
