"""What people and bots do on the stand-in. Every act changes the state and sends the webhooks that GitHub would."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Concatenate, ParamSpec, TypeVar

from tests.fakes.github_server import bare
from tests.fakes.github_server.state import (
    Account,
    App,
    CheckRun,
    Comment,
    Event,
    Issue,
    Pull,
    Reaction,
    Repository,
    Review,
    ReviewComment,
)
from tests.fakes.github_server.world import World

Given = ParamSpec("Given")
Made = TypeVar("Made")


def locked(act: Callable[Concatenate[World, Given], Made]) -> Callable[Concatenate[World, Given], Made]:
    """Hold the world's lock while something is done, since the server answers in other threads meanwhile."""

    @functools.wraps(act)
    def holding(world: World, *args: Given.args, **kwargs: Given.kwargs) -> Made:
        with world.lock:
            return act(world, *args, **kwargs)

    return holding


def _event(world: World, issue: Issue, kind: str, actor: Account, app: App | None = None, **detail: object) -> None:
    issue.events.append(Event(world.new_id(), kind, actor, world.now(), app, detail))


def _number(repository: Repository) -> int:
    return max(repository.issues, default=0) + 1


@locked
def open_issue(
    world: World,
    repository: Repository,
    author: Account,
    title: str,
    body: str | None,
    labels: Sequence[str] = (),
    app: App | None = None,
) -> Issue:
    """Open an issue; labels of its template are there from the start and get events too."""
    now = world.now()
    issue = Issue(world.new_id(), _number(repository), title, body, author, now, now, app)
    repository.issues[issue.number] = issue
    for name in labels:
        label = world.label(repository, name)
        issue.labels.append(label)
        _event(world, issue, "labeled", author, app, label=label)
    world.emit("issues", "opened", repository, author, issue=issue)
    for label in issue.labels:
        world.emit("issues", "labeled", repository, author, issue=issue, label=label)
    return issue


@locked
def edit_issue(world: World, repository: Repository, issue: Issue, actor: Account, **changes: str) -> None:
    """Change title or body. Only the body counts as content with a time of its last edit; a title has an event."""
    issue.updated_at = world.now()
    if changes.get("title", issue.title) != issue.title:
        _event(world, issue, "renamed", actor, rename={"from": issue.title, "to": changes["title"]})
        issue.title = changes["title"]
    if changes.get("body", issue.body) != issue.body:
        issue.body = changes["body"]
        issue.last_edited_at = world.now()
    world.emit("pull_request" if issue.pull else "issues", "edited", repository, actor, issue=issue)


@locked
def set_label(
    world: World, repository: Repository, issue: Issue, actor: Account, name: str, app: App | None = None
) -> None:
    """Set a label; setting it twice does nothing."""
    label = world.label(repository, name)
    if label in issue.labels:
        return
    issue.labels.append(label)
    _event(world, issue, "labeled", actor, app, label=label)
    world.emit("pull_request" if issue.pull else "issues", "labeled", repository, actor, issue=issue, label=label)


@locked
def unset_label(
    world: World, repository: Repository, issue: Issue, actor: Account, name: str, app: App | None = None
) -> bool:
    """Take a label away; False if it was not there."""
    label = repository.labels.get(name.lower())
    if label is None or label not in issue.labels:
        return False
    issue.labels.remove(label)
    _event(world, issue, "unlabeled", actor, app, label=label)
    world.emit("pull_request" if issue.pull else "issues", "unlabeled", repository, actor, issue=issue, label=label)
    return True


@locked
def set_state(
    world: World, repository: Repository, issue: Issue, actor: Account, state: str, reason: str | None = None
) -> None:
    """Close or reopen an issue or pull request."""
    if issue.state == state:
        return
    closing = state == "closed"
    issue.state, issue.updated_at = state, world.now()
    issue.state_reason = (
        (reason or "completed") if closing and not issue.pull else ("reopened" if not closing else None)
    )
    issue.closed_at, issue.closed_by = (world.now(), actor) if closing else (None, None)
    _event(world, issue, "closed" if closing else "reopened", actor)
    world.emit(
        "pull_request" if issue.pull else "issues", "closed" if closing else "reopened", repository, actor, issue=issue
    )


@locked
def delete_issue(world: World, repository: Repository, issue: Issue, actor: Account) -> None:
    """Delete an issue; it answers 410 from now on."""
    issue.deleted = True
    world.emit("issues", "deleted", repository, actor, issue=issue)


@locked
def comment(
    world: World, repository: Repository, issue: Issue, author: Account, body: str, app: App | None = None
) -> Comment:
    """Say something on an issue or pull request."""
    now = world.now()
    made = Comment(world.new_id(), author, body, now, now, app)
    issue.comments.append(made)
    issue.updated_at = now
    world.emit("issue_comment", "created", repository, author, issue=issue, comment=made)
    return made


@locked
def edit_comment(world: World, repository: Repository, issue: Issue, made: Comment, actor: Account, body: str) -> None:
    """Change what a comment says."""
    made.body, made.updated_at = body, world.now()
    world.emit("issue_comment", "edited", repository, actor, issue=issue, comment=made)


@locked
def react(world: World, reactions: list[Reaction], user: Account, content: str) -> tuple[Reaction, bool]:
    """React to something; one reaction of a kind a person. The flag says whether it is new."""
    for known in reactions:
        if known.user is user and known.content == content:
            return known, False
    made = Reaction(world.new_id(), user, content, world.now())
    reactions.append(made)
    return made, True


@locked
def open_pull(
    world: World,
    repository: Repository,
    author: Account,
    *,
    head: str,
    base: str,
    title: str,
    body: str | None,
    draft: bool = False,
    app: App | None = None,
) -> Issue:
    """Open a pull request from a branch of the same repository; the branches must be there."""
    sha = bare.head(repository.path, head)
    assert sha is not None, f"no branch {head}"
    now = world.now()
    issue = Issue(world.new_id(), _number(repository), title, body, author, now, now, app)
    issue.pull = Pull(head, base, draft, sha)
    repository.issues[issue.number] = issue
    world.emit("pull_request", "opened", repository, author, issue=issue)
    return issue


@locked
def set_draft(world: World, repository: Repository, issue: Issue, actor: Account, draft: bool) -> None:
    """Make a pull request ready for review, or a draft again."""
    assert issue.pull is not None
    if issue.pull.draft != draft:
        issue.pull.draft = draft
        action = "converted_to_draft" if draft else "ready_for_review"
        world.emit("pull_request", action, repository, actor, issue=issue)


@locked
def merge(world: World, repository: Repository, issue: Issue, actor: Account) -> None:
    """Merge a pull request by moving its base to its head."""
    assert issue.pull is not None
    issue.pull.merged_at, issue.pull.merge_commit = world.now(), issue.pull.head_sha
    bare.git(repository.path, "update-ref", f"refs/heads/{issue.pull.base}", issue.pull.head_sha)
    set_state(world, repository, issue, actor, "closed")


@locked
def review(
    world: World,
    repository: Repository,
    issue: Issue,
    author: Account,
    state: str,
    body: str,
    remarks: Sequence[tuple[str, int, str]] = (),
) -> Review:
    """Review a pull request: `state` is approved, changes_requested or commented; remarks are (path, line, text)."""
    assert issue.pull is not None
    made = Review(world.new_id(), author, body, state.upper(), issue.pull.head_sha, world.now())
    issue.pull.reviews.append(made)
    world.emit("pull_request_review", "submitted", repository, author, issue=issue, review=made)
    for path, line, text in remarks:
        remark(world, repository, issue, author, text, review=made, path=path, line=line)
    return made


@locked
def remark(
    world: World,
    repository: Repository,
    issue: Issue,
    author: Account,
    body: str,
    *,
    review: Review,
    path: str,
    line: int | None,
    reply_to: ReviewComment | None = None,
    app: App | None = None,
) -> ReviewComment:
    """Say something on a line of a pull request, or answer in a thread."""
    assert issue.pull is not None
    now = world.now()
    made = ReviewComment(
        world.new_id(), author, body, now, now, app,
        review=review, path=path, line=line, diff_hunk="@@ -1,3 +1,3 @@\n line\n-old\n+new", commit_id=review.commit_id,
        in_reply_to=reply_to,
    )  # fmt: skip
    issue.pull.remarks.append(made)
    world.emit("pull_request_review_comment", "created", repository, author, issue=issue, comment=made)
    return made


@locked
def answer(
    world: World, repository: Repository, issue: Issue, author: Account, to: ReviewComment, body: str, app: App | None
) -> ReviewComment:
    """Answer the first comment of a thread; the answer is a review of its own, without text, as on GitHub."""
    assert issue.pull is not None
    made = Review(world.new_id(), author, "", "COMMENTED", issue.pull.head_sha, world.now())
    issue.pull.reviews.append(made)
    return remark(world, repository, issue, author, body, review=made, path=to.path, line=to.line, reply_to=to, app=app)


@locked
def rerequest(world: World, repository: Repository, check: CheckRun, actor: Account) -> None:
    """Press 're-run' on a check run."""
    world.emit("check_run", "rerequested", repository, actor, check=check, only_app=check.app)


@locked
def follow_branches(world: World, repository: Repository, actor: Account) -> None:
    """Let pull requests notice where their branches are now, as after a push."""
    for issue in repository.issues.values():
        if issue.pull is None or issue.state != "open":
            continue
        now = bare.head(repository.path, issue.pull.head)
        if now is None:
            set_state(world, repository, issue, actor, "closed")
        elif now != issue.pull.head_sha:
            before, issue.pull.head_sha = issue.pull.head_sha, now
            issue.updated_at = world.now()
            world.emit("pull_request", "synchronize", repository, actor, issue=issue, before=before)
