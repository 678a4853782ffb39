"""Publishing a change: branch, pull request, note, check and answers.

Each method is safe to do again after a crash at any point: it looks at what is there before it adds to it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from bot.errors import Refused, public
from bot.forge.port import Check, Forge, Host, Moved, NotThere, Proposal, PullRequest
from bot.publish.blocks import content
from bot.publish.names import BRANCHES, branch
from bot.publish.proposal import CheckText
from bot.publish.revised import REVISIONS, Revised, revised_body, was_draft
from bot.publish.sanitize import code
from bot.service.decision import issue_of, own_pull
from bot.service.patience import fetched
from bot.service.requests import Publication, PublishedOn, RunRequest
from bot.task import Task
from repo_tools.changes import authors
from repo_tools.checkout import Repository
from repo_tools.commits import Signature, commit
from repo_tools.errors import CheckoutError
from repo_tools.mirrors import Mirrors
from repo_tools.patch import Patch
from repo_tools.tree import Tree

ACTIONS = "github-actions[bot]"
SENTENCES = {True: "The issue was closed meanwhile.", False: "The label was taken away meanwhile."}


class Patiently(Protocol):
    """Carries out an act on the forge as a durable step, later if it cannot be done now."""

    def __call__(self, name: str, act: Callable[[], Any]) -> Any:
        """What `act` gives: JSON."""


class Publishing:
    """The write side, for one process."""

    def __init__(self, host: Host, mirrors: Mirrors, mask: Callable[[str], str]) -> None:
        """`mask` takes secrets, and this installation's own addresses, out of every text before it is shown."""
        self._host = host
        self._mask = mask
        self._mirrors = mirrors

    def publish(self, it: Publication, patiently: Patiently) -> PublishedOn:
        """Branch, pull request, note and check of a change, or why there is none."""
        request = it.request
        unwanted = patiently("still wanted", lambda: self._unwanted(request))
        if unwanted:
            return PublishedOn(withheld=unwanted, cancelled=True)
        try:
            where = PublishedOn.model_validate(patiently("push", lambda: self._push(it).to_json()))
            if not where.branch:
                return where
            pull = patiently("pull request", lambda: self._propose(it, where))
        except Refused as error:
            return PublishedOn(withheld=public(error))
        done = where.model_copy(update=pull)
        patiently("note", lambda: self._note(it, done))
        patiently("check", lambda: self._check(it, done))
        for thread, answer in it.answers.items():
            patiently(f"answer {thread}", functools.partial(self._answer, it, thread, answer))
        return done

    def _unwanted(self, request: RunRequest) -> str:
        """Why nobody wants the change any more; empty if somebody does."""
        forge = self._host.forge(request.repository)
        try:
            if request.revision is not None:
                return "" if forge.pulls.read(request.revision.pull).open else "The pull request was closed meanwhile."
            issue = forge.issues.read(request.number)
        except NotThere as error:
            return str(error)
        if not issue.open:
            return SENTENCES[True]
        by_label = request.run.split("-")[2].startswith("l")
        return SENTENCES[False] if by_label and request.label not in issue.labels else ""

    def _push(self, it: Publication) -> PublishedOn:
        """The change as a commit on a branch: the open pull request's own, or else the next free name."""
        request = it.request
        forge = self._host.forge(request.repository)
        with fetched(self._mirrors, forge.code.remote(), it.base) as repository:
            tree = Tree(repository.resolve(it.base), Patch.from_json(it.files))
            signature = Signature(*forge.author, int(request.at.timestamp()))
            try:
                made = commit(repository, tree, self._mask(it.message), signature, sign_off=it.sign_off)
            except CheckoutError as error:
                said = "The change cannot be put into a commit: "
                raise Refused(f"{said}{error}", public=f"{said}{public(error)}") from error
            if request.revision is not None:
                forge.code.push(repository, made, request.revision.branch, expected=request.revision.head)
                return PublishedOn(branch=request.revision.branch, commit=made)
            own = own_pull(forge, request.number)
            if own is not None:
                return self._replaced(forge, repository, own, made, it)
            return self._new_branch(forge, repository, made, request)

    def _new_branch(self, forge: Forge, repository: Repository, made: str, request: RunRequest) -> PublishedOn:
        taken = forge.code.branches(f"{BRANCHES}issue-{request.number}")
        there = next((name for name, at in taken.items() if at == made and issue_of(name) == request.number), None)
        name = there or branch(Task(request.repository, request.title, "", "", request.number), taken)
        forge.code.push(repository, made, name, expected=None)
        return PublishedOn(branch=name, commit=made)

    def _replaced(
        self, forge: Forge, repository: Repository, own: PullRequest, made: str, it: Publication
    ) -> PublishedOn:
        """A new try in the place of the open one, unless somebody else has worked on that."""
        if own.head_commit == made:
            return PublishedOn(branch=own.head, commit=made)
        with fetched(self._mirrors, forge.code.remote(), own.head) as mirror:
            others = authors(mirror.resolve(it.base), mirror.resolve(own.head_commit)) - {forge.author[1]}
        if others:
            raise Refused(
                f"Somebody else committed to the open pull request #{own.number}; the bot does not write over that. "
                "Close it to have another one made."
            )
        try:
            forge.code.push(repository, made, own.head, expected=own.head_commit)
        except Moved as error:
            raise Refused(f"{error} Somebody else is at work there.") from error
        return PublishedOn(branch=own.head, commit=made)

    def _propose(self, it: Publication, where: PublishedOn) -> dict[str, Any]:
        request = it.request
        forge = self._host.forge(request.repository)
        if request.revision is not None:
            pull = self._revise(forge, it, where, request.revision.pull)
        else:
            before = next((one for one in forge.pulls.ours(where.branch) if one.head == where.branch), None)
            others = self._others(forge, request, before)
            title, body = self._mask(it.title), self._mask(f"{others}{it.body}")
            pull = forge.pulls.propose(Proposal(where.branch, request.branch, title, body, it.draft, it.reviewers))
            if before is not None and not before.draft and it.draft and not was_draft(before.body):
                pull = forge.pulls.revise(pull.number, body, draft=True)
        return {"pull": pull.number, "url": pull.url}

    @staticmethod
    def _others(forge: Forge, request: RunRequest, own: PullRequest | None) -> str:
        """What a reviewer should know of others who may be at work on the issue."""
        assigned = [one for one in forge.issues.read(request.number).assignees if one != request.caller]
        pulls = [one for one in forge.pulls.closing(request.number) if own is None or one != own.number]
        said = [f"The issue is assigned to {', '.join(code(one) for one in assigned)}."] if assigned else []
        said += (
            [f"Open pull requests say that they close it, too: {', '.join(f'#{one}' for one in pulls)}."]
            if pulls
            else []
        )
        if forge.author[0] == ACTIONS:
            said.append("It was opened with the workflow's own token: its checks wait until somebody approves them.")
        return f"> [!NOTE]\n> {' '.join(said)}\n\n" if said else ""

    def _revise(self, forge: Forge, it: Publication, where: PublishedOn, number: int) -> PullRequest:
        pull = forge.pulls.read(number)
        told = Revised(where.commit, it.request.caller, it.state, it.evidence, it.account)
        again = where.commit[:10] in (content(pull.body, REVISIONS) or "")
        body = pull.body if again else self._mask(revised_body(pull.body, told))
        # As the bot left it, it is the bot's to change; what a person made of it stays.
        own = was_draft(pull.body) is pull.draft
        draft = it.draft if own else pull.draft
        return forge.pulls.revise(number, body, draft=draft, reviewers=(it.request.caller,))

    def _note(self, it: Publication, done: PublishedOn) -> None:
        if not it.note:
            return
        forge = self._host.forge(it.request.repository)
        with fetched(self._mirrors, forge.code.remote(), it.base) as repository:
            try:
                forge.code.note(repository, done.commit, self._mask(it.note))
            except Refused:
                return  # the transcript is also in the pull request; a rule against notes is no reason to fail

    def _check(self, it: Publication, done: PublishedOn) -> str | None:
        conclusion: Any = it.conclusion
        said, mask = it.check or CheckText(it.title, it.body, ""), self._mask
        points = [replace(one, message=mask(one.message), title=mask(one.title)) for one in said.annotations]
        check = Check(it.request.run, mask(said.title), mask(said.summary), mask(said.text), conclusion, points)
        return self._host.forge(it.request.repository).checks.show(done.commit, check)

    def _answer(self, it: Publication, thread: int, answer: str) -> None:
        if it.request.revision is not None:
            self._host.forge(it.request.repository).reviews.answer(it.request.revision.pull, thread, self._mask(answer))
