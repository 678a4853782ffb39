"""The few fields of GitHub's webhook payloads that the bot reads; whatever else they hold is passed over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import AwareDatetime, BaseModel

from bot.forge.port import Actor


class User(BaseModel):
    login: str
    id: int
    type: str

    @property
    def actor(self) -> Actor:
        return Actor(self.login, self.id, self.type)


class Repository(BaseModel):
    id: int
    full_name: str


class Installation(BaseModel):
    id: int


class Label(BaseModel):
    name: str


class Issue(BaseModel):
    number: int
    title: str
    body: str | None
    user: User | None
    state: str
    labels: list[Label] = []
    pull_request: Mapping[str, Any] | None = None


class Payload(BaseModel):
    action: str
    repository: Repository
    sender: User
    installation: Installation | None = None


class Issues(Payload):
    issue: Issue
    label: Label | None = None


class Comment(BaseModel):
    id: int
    body: str | None
    created_at: AwareDatetime


class IssueComment(Payload):
    issue: Issue
    comment: Comment


class Head(BaseModel):
    ref: str
    sha: str
    repo: Repository | None


class Pull(BaseModel):
    number: int
    head: Head


class Review(BaseModel):
    id: int
    state: str
    body: str | None


class PullRequestReview(Payload):
    pull_request: Pull
    review: Review


class Remark(BaseModel):
    id: int
    pull_request_review_id: int | None
    body: str


class PullRequestReviewComment(Payload):
    pull_request: Pull
    comment: Remark


class PullRequest(Payload):
    pull_request: Pull


class CheckRun(BaseModel):
    external_id: str | None
    head_sha: str


class CheckRunEvent(Payload):
    check_run: CheckRun


class RepositoryName(BaseModel):
    id: int
    full_name: str


class InstallationEvent(BaseModel):
    action: str
    sender: User
    installation: Installation
    repositories: list[RepositoryName] = []
    repositories_added: list[RepositoryName] = []
    repositories_removed: list[RepositoryName] = []
