"""The few fields of the GraphQL API that REST has no word for, executed by a real GraphQL engine."""

from __future__ import annotations

import re
from typing import Any

from graphql import GraphQLError, GraphQLResolveInfo, build_schema, graphql_sync

from tests.fakes.github_server import acts, render
from tests.fakes.github_server.access import reaches, satisfies
from tests.fakes.github_server.exchange import Answer, Call
from tests.fakes.github_server.state import Issue, Repository

SCHEMA = build_schema("""
scalar DateTime
scalar URI
type Query {
  repository(owner: String!, name: String!): Repository
  viewer: User!
}
type User { login: String! databaseId: Int }
type Repository {
  issue(number: Int!): Issue
  pullRequest(number: Int!): PullRequest
}
type Issue {
  id: ID!
  lastEditedAt: DateTime
  closedByPullRequestsReferences(first: Int, includeClosedPrs: Boolean): PullRequestConnection
}
type PullRequestConnection { nodes: [PullRequest] }
type PullRequest {
  id: ID!
  number: Int!
  isDraft: Boolean!
  reviewThreads(first: Int, after: String): PullRequestReviewThreadConnection!
}
type PullRequestReviewThreadConnection { nodes: [PullRequestReviewThread] pageInfo: PageInfo! }
type PageInfo { endCursor: String hasNextPage: Boolean! }
type PullRequestReviewThread {
  isResolved: Boolean!
  comments(first: Int): PullRequestReviewCommentConnection!
}
type PullRequestReviewCommentConnection { nodes: [PullRequestReviewComment] }
type PullRequestReviewComment { fullDatabaseId: BigInt }
scalar BigInt
input MarkPullRequestReadyForReviewInput { pullRequestId: ID! clientMutationId: String }
input ConvertPullRequestToDraftInput { pullRequestId: ID! clientMutationId: String }
type MarkPullRequestReadyForReviewPayload { clientMutationId: String pullRequest: PullRequest }
type ConvertPullRequestToDraftPayload { clientMutationId: String pullRequest: PullRequest }
type Mutation {
  markPullRequestReadyForReview(input: MarkPullRequestReadyForReviewInput!): MarkPullRequestReadyForReviewPayload
  convertPullRequestToDraft(input: ConvertPullRequestToDraftInput!): ConvertPullRequestToDraftPayload
}
""")


def _typed(message: str, kind: str) -> GraphQLError:
    return GraphQLError(message, extensions={"type": kind})


class _Thread:
    def __init__(self, first: Any) -> None:
        self.isResolved = first.resolved
        self.first = first

    def comments(self, _: GraphQLResolveInfo, first: int = 0) -> dict[str, Any]:
        return {"nodes": [{"fullDatabaseId": str(self.first.id)}][:first]}


class _Pull:
    def __init__(self, issue: Issue) -> None:
        assert issue.pull is not None
        self.id = render.node("PR", issue.id)
        self.number = issue.number
        self.isDraft = issue.pull.draft
        self.pull = issue.pull

    def reviewThreads(self, _: GraphQLResolveInfo, first: int = 0, after: str | None = None) -> dict[str, Any]:
        threads = [_Thread(remark) for remark in self.pull.remarks if remark.in_reply_to is None]
        start = int(after or 0)
        end = start + first
        return {
            "nodes": threads[start:end],
            "pageInfo": {"endCursor": str(end), "hasNextPage": len(threads) > end},
        }


class _Repository:
    def __init__(self, call: Call, repository: Repository) -> None:
        self.call = call
        self.shown = repository

    def _find(self, number: int, kind: str, *, pull: bool) -> Issue:
        issue = self.shown.issues.get(number)
        if issue is None or issue.deleted or (issue.pull is not None) != pull:
            raise _typed(f"Could not resolve to {kind} with the number of {number}.", "NOT_FOUND")
        return issue

    def issue(self, _: GraphQLResolveInfo, number: int) -> dict[str, Any]:
        issue = self._find(number, "an Issue", pull=False)
        word = re.compile(rf"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?) #{number}\b", re.IGNORECASE)
        pulls = [one for one in self.shown.issues.values() if one.pull and one.state == "open"]

        def closing(_: GraphQLResolveInfo, first: int = 0, includeClosedPrs: bool = False) -> dict[str, Any]:  # noqa: N803
            assert not includeClosedPrs, "the stand-in knows of open ones alone"
            return {"nodes": [_Pull(one) for one in pulls if word.search(one.body or "")][:first]}

        return {
            "id": render.node("I", issue.id),
            "lastEditedAt": render.when(issue.last_edited_at),
            "closedByPullRequestsReferences": closing,
        }

    def pullRequest(self, _: GraphQLResolveInfo, number: int) -> _Pull:
        return _Pull(self._find(number, "a PullRequest", pull=True))


class _Root:
    def __init__(self, call: Call) -> None:
        self.call = call

    def viewer(self, _: GraphQLResolveInfo) -> dict[str, Any]:
        return {"login": self.call.account.login, "databaseId": self.call.account.id}

    def repository(self, _: GraphQLResolveInfo, owner: str, name: str) -> _Repository:
        found = self.call.world.repository(f"{owner}/{name}")
        if found is None or not reaches(self.call.world, self.call.caller, found):
            raise _typed(f"Could not resolve to a Repository with the name '{owner}/{name}'.", "NOT_FOUND")
        return _Repository(self.call, found)

    def markPullRequestReadyForReview(self, _: GraphQLResolveInfo, input: dict[str, str]) -> dict[str, Any]:  # noqa: A002
        return self._set_draft(input["pullRequestId"], draft=False)

    def convertPullRequestToDraft(self, _: GraphQLResolveInfo, input: dict[str, str]) -> dict[str, Any]:  # noqa: A002
        return self._set_draft(input["pullRequestId"], draft=True)

    def _set_draft(self, node_id: str, *, draft: bool) -> dict[str, Any]:
        for repository in self.call.world.repositories.values():
            for issue in repository.issues.values():
                if issue.pull and render.node("PR", issue.id) == node_id:
                    token = self.call.caller.token
                    limited = token is not None and token.kind != "classic"
                    if limited and not satisfies(self.call.caller, "pull_requests=write"):
                        raise _typed("Resource not accessible by integration", "FORBIDDEN")
                    acts.set_draft(self.call.world, repository, issue, self.call.account, draft)
                    return {"pullRequest": _Pull(issue)}
        raise _typed(f"Could not resolve to a node with the global id of '{node_id}'", "NOT_FOUND")


def answer(call: Call) -> Answer:
    """Answer one GraphQL request: always 200, errors are in the body."""
    result = graphql_sync(SCHEMA, call.json["query"], _Root(call), variable_values=call.json.get("variables"))
    body: dict[str, Any] = {"data": result.data}
    if result.errors:
        body["errors"] = [
            {"type": error.extensions["type"], "path": error.path, "message": error.message}
            if error.extensions
            else {"message": error.message}
            for error in result.errors
        ]
    return Answer(200, body)
