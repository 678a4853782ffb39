"""Pull requests on GitHub."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from github.GithubException import (
    BadCredentialsException,
    GithubException,
    RateLimitExceededExceedsMaxWait,
    RateLimitExceededException,
)

from bot.errors import Refused
from bot.forge.connection import named, once
from bot.forge.github_code import GitHubCode
from bot.forge.github_session import Session, actor
from bot.forge.identity import Phase
from bot.forge.port import Proposal, PullRequest

if TYPE_CHECKING:
    from github.PullRequest import PullRequest as Shown

_CLOSING = """query($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    issue(number: $number) {
      closedByPullRequestsReferences(first: 20, includeClosedPrs: false) { nodes { number } }
    }
  }
}"""


class GitHubPulls:
    """`bot.forge.port.Pulls` on GitHub."""

    def __init__(self, session: Session, code: GitHubCode) -> None:
        self._session = session
        self._code = code

    def read(self, number: int) -> PullRequest:
        """See the port."""
        with named(f"Reading pull request {number}"):
            return self._value(self._session.on(Phase.READ).get_pull(number))

    def ours(self, prefix: str) -> tuple[PullRequest, ...]:
        """See the port."""
        found = [self._value(it) for branch in self._code.branches(prefix) for it in self._open_from(branch)]
        return tuple(sorted((it for it in found if it.ours), key=lambda it: it.number))

    def closing(self, issue: int) -> tuple[int, ...]:
        """See the port."""
        owner, _, name = self._session.name.partition("/")
        variables = {"owner": owner, "name": name, "number": issue}
        try:
            with named(f"Looking for pull requests that close issue {issue}"):
                _, answer = self._session.connection(Phase.READ).graphql_query(_CLOSING, variables)
        except Refused:
            return ()  # an Enterprise Server of some years ago does not know the question
        found = answer["data"]["repository"]["issue"]["closedByPullRequestsReferences"]
        return tuple(sorted(one["number"] for one in found["nodes"]))

    def revise(self, number: int, body: str, *, draft: bool, reviewers: tuple[str, ...] = ()) -> PullRequest:
        """See the port."""
        with named(f"Bringing pull request {number} up to date"):
            shown = self._session.on(Phase.PROPOSE).get_pull(number)
            # The body says who made it a draft: it changes last, so that this can be done again after a crash.
            self._set_draft(shown, draft=draft)
            if (shown.body or "") != body:
                shown.edit(body=body)
        self._ask(shown, reviewers)
        return self._value(shown)

    def propose(self, proposal: Proposal) -> PullRequest:
        """See the port."""
        there = next(iter(self._open_from(proposal.head)), None)
        shown = there or self._create(proposal)
        if self._value(shown).ours:
            with named(f"Bringing pull request {shown.number} up to date"):
                self._bring_up_to_date(shown, proposal)
            self._ask(shown, proposal.reviewers)
        return self._value(shown)

    def _open_from(self, branch: str) -> list[Shown]:
        """The open pull requests from a branch of this repository."""
        with named(f"Looking for pull requests from {branch}"):
            head = f"{self._session.owner}:{branch}"
            return list(self._session.on(Phase.PROPOSE).get_pulls(state="open", head=head))

    def _create(self, proposal: Proposal, *, draft: bool | None = None) -> Shown:
        """Open a pull request; one that another process opened meanwhile is adopted."""
        wanted = proposal.draft if draft is None else draft

        def make() -> Shown:
            try:
                return self._session.on(Phase.PROPOSE).create_pull(
                    proposal.base, proposal.head, title=proposal.title, body=proposal.body, draft=wanted
                )
            except GithubException as error:
                if error.status == 422 and "already exists" in str(error.data):
                    found = find()
                    if found is not None:
                        return found
                raise

        def find() -> Shown | None:
            return next(iter(self._open_from(proposal.head)), None)

        try:
            return once(
                f"Opening the pull request from {proposal.head}",
                find=find,
                make=make,
                settling=self._session.shared.api.settling,
            )
        except Refused as error:
            if wanted and "Draft pull requests are not supported" in str(error):
                return self._create(proposal, draft=False)
            if "not permitted to create" in str(error):
                raise Refused(
                    f"{error} Allow it in the repository's settings (Actions, General, 'Allow GitHub Actions to create "
                    "and approve pull requests'), or give the bot an App's token."
                ) from error
            raise

    def _bring_up_to_date(self, shown: Shown, proposal: Proposal) -> None:
        if (shown.title, shown.body or "") != (proposal.title, proposal.body):
            shown.edit(title=proposal.title, body=proposal.body)
        if not proposal.draft:
            self._set_draft(shown, draft=False)

    @staticmethod
    def _set_draft(shown: Shown, *, draft: bool) -> None:
        if shown.draft and not draft:
            shown.mark_ready_for_review()
        elif draft and not shown.draft:
            # Where there are no drafts, the text alone says that it is one.
            try:
                shown.convert_to_draft()
            except (RateLimitExceededException, RateLimitExceededExceedsMaxWait, BadCredentialsException):
                raise
            except GithubException as error:
                if error.status >= 500:
                    raise

    def _ask(self, shown: Shown, reviewers: Iterable[str]) -> None:
        """Ask for reviews, each by itself: GitHub refuses a whole list for one who cannot be asked."""
        asked = {it.login.lower() for it in shown.requested_reviewers or ()}
        asked |= {f"{self._session.owner}/{it.slug}".lower() for it in shown.requested_teams or ()}
        for name in dict.fromkeys(reviewers):
            if name.lower() in asked or name.lower() == self._session.me.login.lower():
                continue
            owner, slash, team = name.partition("/")
            try:
                with named(f"Asking {name} for a review"):
                    if not slash:
                        shown.create_review_request(reviewers=[name])
                    elif owner.lower() == self._session.owner.lower():
                        shown.create_review_request(team_reviewers=[team])
            except Refused:
                continue

    def _value(self, it: Shown) -> PullRequest:
        own_branch = it.head.repo is not None and it.head.repo.id == it.base.repo.id
        return PullRequest(
            number=it.number,
            url=it.html_url,
            title=it.title,
            body=it.body or "",
            head=it.head.ref,
            head_commit=it.head.sha,
            base=it.base.ref,
            author=actor(it.user),
            open=it.state == "open",
            draft=it.draft,
            merged=it.merged_at is not None,
            opened=it.created_at,
            ours=own_branch and actor(it.user).id == self._session.me.id,
        )
