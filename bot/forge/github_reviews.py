"""What people say about a pull request on GitHub, and the bot's answers."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from github.PullRequestComment import PullRequestComment

from bot.forge.connection import named, once
from bot.forge.github_access import Permissions
from bot.forge.github_issues import SEEN
from bot.forge.github_session import Session, actor
from bot.forge.identity import Phase
from bot.forge.port import Remark

if TYPE_CHECKING:
    from github.PullRequest import PullRequest

ANSWER_TAG = "<!-- agent-fix:answer -->"
_RESOLVED = """query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviewThreads(first: 100, after: $after) {
        nodes { isResolved comments(first: 1) { nodes { fullDatabaseId } } }
        pageInfo { endCursor hasNextPage }
      }
    }
  }
}"""


class _Said(NamedTuple):
    """A remark, when it was made, and which of two in one second came first."""

    at: datetime
    id: int
    remark: Remark


class GitHubReviews:
    """`bot.forge.port.Reviews` on GitHub."""

    def __init__(self, session: Session, permissions: Permissions) -> None:
        self._session = session
        self._permissions = permissions

    def remarks(self, number: int) -> tuple[Remark, ...]:
        """See the port."""
        with named(f"Reading the reviews of pull request {number}"):
            shown = self._session.on(Phase.READ).get_pull(number)
            said = self._of_reviews(shown) + self._of_threads(shown)
        return tuple(it.remark for it in sorted(said, key=lambda it: (it.at, it.id)))

    def _of_reviews(self, shown: PullRequest) -> list[_Said]:
        """The texts of whole reviews; what was said of an earlier commit was answered by the later one."""
        newest = [it for it in shown.get_reviews() if it.body and it.commit_id == shown.head.sha]
        return [
            _Said(it.submitted_at, it.id, Remark(it.user.login, it.body))
            for it in newest
            # A review that is not submitted yet has no time.
            if it.submitted_at is not None and self._permissions.count(actor(it.user))
        ]

    def _of_threads(self, shown: PullRequest) -> list[_Said]:
        """What stands in the threads that wait for an answer."""
        threads: dict[int, list[PullRequestComment]] = {}
        for it in shown.get_review_comments():
            threads.setdefault(it.in_reply_to_id or it.id, []).append(it)
        resolved = self._resolved(shown.number) if threads else set()
        waiting = [
            (first, thread)
            for first, thread in threads.items()
            if first not in resolved and actor(thread[-1].user).id != self._session.me.id
        ]
        return [
            _Said(it.created_at, it.id, Remark(it.user.login, it.body, it.path, _line(it), it.diff_hunk, first))
            for first, thread in waiting
            for it in thread
            if self._permissions.count(actor(it.user))
        ]

    def _resolved(self, number: int) -> set[int]:
        """The first comments of the threads that somebody resolved, which only GraphQL tells."""
        owner, _, name = self._session.name.partition("/")
        variables: dict[str, Any] = {"owner": owner, "name": name, "number": number, "after": None}
        resolved: set[int] = set()
        while True:
            _, answer = self._session.connection(Phase.READ).graphql_query(_RESOLVED, variables)
            threads = answer["data"]["repository"]["pullRequest"]["reviewThreads"]
            for thread in threads["nodes"]:
                first = thread["comments"]["nodes"]
                if thread["isResolved"] and first:
                    resolved.add(int(first[0]["fullDatabaseId"]))
            if not threads["pageInfo"]["hasNextPage"]:
                return resolved
            variables["after"] = threads["pageInfo"]["endCursor"]

    def saw(self, number: int, remark: int) -> None:
        """See the port."""
        with named(f"Showing on pull request {number} that a remark was seen"):
            url = f"/repos/{self._session.name}/pulls/comments/{remark}"
            talking = self._session.connection(Phase.PROPOSE)
            PullRequestComment(talking, {}, {"url": url}, completed=True).create_reaction(SEEN)

    def answer(self, number: int, thread: int, body: str) -> None:
        """See the port."""
        text = f"{ANSWER_TAG}\n{body}"
        shown = self._session.pull(Phase.PROPOSE, number)

        def find() -> PullRequestComment | None:
            with named(f"Looking for the answer on pull request {number}"):
                said = [it for it in shown.get_review_comments() if thread in (it.id, it.in_reply_to_id)]
            last = said[-1] if said else None
            own = last is not None and actor(last.user).id == self._session.me.id and last.body == text
            return last if own else None

        if find() is None:
            once(
                f"Answering on pull request {number}",
                find=find,
                make=lambda: shown.create_review_comment_reply(thread, text),
                settling=self._session.shared.api.settling,
            )


def _line(it: PullRequestComment) -> int | None:
    """The line in the file as it is now, or as it was when the remark was made."""
    raw = it.raw_data
    found = raw.get("line") or raw.get("original_line")
    return int(found) if found is not None else None
