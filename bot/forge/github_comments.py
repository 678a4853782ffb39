"""The bot's own comments on GitHub: the one that is kept up to date, and answers to who asked."""

from __future__ import annotations

from github.IssueComment import IssueComment

from bot.errors import BadInput
from bot.forge.connection import named, once
from bot.forge.github_session import Session, actor
from bot.forge.identity import Phase
from bot.forge.port import BODY_LIMIT, NotThere

PROGRESS_TAG = "<!-- agent-fix:progress -->"
TAG_CHARS = 100


class OwnComments:
    """The part of `bot.forge.port.Issues` that writes comments."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def shown(self, number: int) -> str | None:
        """See the port."""
        found = self._find(number)
        return found.body.removeprefix(PROGRESS_TAG).strip() if found is not None else None

    def progress(self, number: int, body: str) -> None:
        """See the port."""
        text = f"{PROGRESS_TAG}\n{_checked(body)}"
        where = (self._session.name, number)
        with named(f"Writing the progress comment on issue {number}"):
            known = self._session.shared.progress.get(where)
            kept = known is not None and self._edit(known, text)
            written = known[0] if known is not None and kept else self._write(number, text)
            self._session.shared.progress[where] = (written, text)

    def _edit(self, known: tuple[int, str], text: str) -> bool:
        """Edit a known comment; False if somebody deleted it."""
        if known[1] == text:
            return True
        talking = self._session.connection(Phase.TALK)
        url = f"/repos/{self._session.name}/issues/comments/{known[0]}"
        try:
            with named("Editing the progress comment"):
                IssueComment(talking, {}, {"url": url}, completed=True).edit(text)
        except NotThere:
            return False
        return True

    def _write(self, number: int, text: str) -> int:
        """Edit the comment that an earlier run or process wrote, or write the first one; gives its id."""
        found = self._find(number)
        if found is None:
            talking = self._session.issue(Phase.TALK, number)
            found = once(
                f"Writing the progress comment on issue {number}",
                find=lambda: self._find(number),
                make=lambda: talking.create_comment(text),
                settling=self._session.shared.api.settling,
            )
        if not self._edit((found.id, found.body), text):
            return self._write(number, text)
        return found.id

    def answer(self, number: int, comment: int, body: str) -> None:
        """See the port."""
        tag = f"<!-- agent-fix:answer {comment} -->"
        talking = self._session.issue(Phase.TALK, number)
        if self._find(number, tag) is None:
            once(
                f"Answering comment {comment} on issue {number}",
                find=lambda: self._find(number, tag),
                make=lambda: talking.create_comment(f"{tag}\n{_checked(body)}"),
                settling=self._session.shared.api.settling,
            )

    def _find(self, number: int, tag: str = PROGRESS_TAG) -> IssueComment | None:
        """The bot's own comment with a hidden tag; anybody can write the tag, only the bot its comments."""
        with named(f"Looking for the bot's comment on issue {number}"):
            for it in self._session.issue(Phase.TALK, number).get_comments():
                if actor(it.user).id == self._session.me.id and it.body.startswith(tag):
                    return it
        return None


def _checked(body: str) -> str:
    if len(body) > BODY_LIMIT - TAG_CHARS:
        raise BadInput(f"A comment of {len(body)} characters is more than GitHub takes ({BODY_LIMIT}): shorten it.")
    return body
