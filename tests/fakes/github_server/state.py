"""What the stand-in GitHub remembers, as plain records. `acts.py` changes them, `render*.py` shows them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

ROLES = ("none", "read", "triage", "write", "maintain", "admin")
"""Roles in a repository, the weakest first."""


@dataclass(eq=False)
class Account:
    login: str
    id: int
    type: str = "User"
    email: str | None = None


@dataclass(eq=False)
class App:
    id: int
    slug: str
    name: str
    owner: Account
    bot: Account
    permissions: dict[str, str]
    events: list[str]
    private_key: str = field(repr=False)
    public_key: str = field(repr=False)
    hook_url: str | None = None
    hook_secret: str | None = field(default=None, repr=False)
    client_id: str = ""
    client_secret: str = field(default="", repr=False)


@dataclass(eq=False)
class Installation:
    id: int
    app: App
    account: Account
    permissions: dict[str, str]
    created_at: datetime
    repositories: set[int] = field(default_factory=set)
    suspended_at: datetime | None = None
    deleted: bool = False


@dataclass(eq=False)
class Token:
    """A credential. `kind`: classic, fine-grained, installation or actions."""

    value: str = field(repr=False)
    account: Account
    kind: str
    permissions: dict[str, str]
    repositories: set[int] | None = None
    """Ids it is narrowed to; None: all that the account or installation reaches."""
    expires_at: datetime | None = None
    installation: Installation | None = None
    scopes: tuple[str, ...] = ()
    revoked: bool = False


@dataclass(eq=False)
class Bucket:
    """What one caller has used of its rate limits."""

    limit: int
    used: int = 0
    window_ends: int = 0
    writes: list[float] = field(default_factory=list)


@dataclass(eq=False)
class Label:
    id: int
    name: str
    color: str = "ededed"
    description: str | None = None


@dataclass(eq=False)
class Reaction:
    id: int
    user: Account
    content: str
    at: datetime


@dataclass(eq=False)
class Born:
    """Something that lists may not show yet while GitHub is only eventually consistent."""

    born: float = field(default_factory=time.monotonic, kw_only=True)


@dataclass(eq=False)
class Event(Born):
    id: int
    kind: str
    actor: Account
    at: datetime
    app: App | None = None
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class Comment(Born):
    id: int
    author: Account
    body: str
    created_at: datetime
    updated_at: datetime
    app: App | None = None
    reactions: list[Reaction] = field(default_factory=list)


@dataclass(eq=False)
class Review(Born):
    id: int
    author: Account
    body: str
    state: str
    commit_id: str
    submitted_at: datetime | None
    """None while it is pending, and shown to its author alone."""


@dataclass(eq=False)
class ReviewComment(Comment):
    review: Review | None = None
    path: str = ""
    line: int | None = None
    diff_hunk: str = ""
    commit_id: str = ""
    in_reply_to: ReviewComment | None = None
    resolved: bool = False


@dataclass(eq=False)
class Pull:
    """The part of a pull request that an issue does not have. `head` is a branch of the same repository."""

    head: str
    base: str
    draft: bool
    head_sha: str
    """The last known commit of `head`; kept when the branch goes."""
    merged_at: datetime | None = None
    merge_commit: str | None = None
    reviewers: list[Account] = field(default_factory=list)
    teams: list[str] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)
    remarks: list[ReviewComment] = field(default_factory=list)


@dataclass(eq=False)
class Issue(Born):
    id: int
    number: int
    title: str
    body: str | None
    author: Account
    created_at: datetime
    updated_at: datetime
    app: App | None = None
    state: str = "open"
    state_reason: str | None = None
    closed_at: datetime | None = None
    closed_by: Account | None = None
    last_edited_at: datetime | None = None
    locked: bool = False
    deleted: bool = False
    transferred_to: str | None = None
    """`owner/name/number` of where the issue is now."""
    labels: list[Label] = field(default_factory=list)
    assignees: list[Account] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    reactions: list[Reaction] = field(default_factory=list)
    pull: Pull | None = None


@dataclass(eq=False)
class CheckRun(Born):
    id: int
    app: App
    name: str
    head_sha: str
    suite: int
    status: str = "queued"
    conclusion: str | None = None
    external_id: str = ""
    details_url: str | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    output: dict[str, Any] = field(default_factory=dict)
    annotations: list[dict[str, Any]] = field(default_factory=list)


@dataclass(eq=False)
class Repository:
    id: int
    owner: Account
    name: str
    path: Path
    """The bare git repository."""
    default_branch: str
    private: bool
    created_at: datetime
    roles: dict[str, str] = field(default_factory=dict)
    """Login -> role name, which may be a custom one that `custom_roles` explains."""
    custom_roles: dict[str, str] = field(default_factory=dict)
    protected: set[str] = field(default_factory=set)
    drafts: bool = True
    """Whether draft pull requests are supported (they are not in private repositories of the free plan)."""
    actions_may_open_pulls: bool = True
    archived: bool = False
    labels: dict[str, Label] = field(default_factory=dict)
    issues: dict[int, Issue] = field(default_factory=dict)
    checks: list[CheckRun] = field(default_factory=list)
    former_names: set[str] = field(default_factory=set)

    @property
    def full_name(self) -> str:
        return f"{self.owner.login}/{self.name}"


@dataclass(eq=False)
class Delivery:
    id: int
    guid: str
    app: App
    event: str
    action: str | None
    installation: Installation | None
    repository: Repository | None
    at: datetime
    redelivery: bool
    headers: dict[str, str]
    body: bytes
    status: str = "pending"
    status_code: int = 0
    duration: float = 0.0
    answer: str = ""
