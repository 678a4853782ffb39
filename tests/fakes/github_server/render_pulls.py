"""How pull requests, reviews, check runs and deliveries look in GitHub's answers."""

from __future__ import annotations

import json

from tests.fakes.github_server import bare
from tests.fakes.github_server.render import (
    Json,
    app,
    association,
    issue,
    label,
    node,
    reactions,
    repository,
    user,
    when,
)
from tests.fakes.github_server.state import CheckRun, Delivery, Issue, Pull, Repository, Review, ReviewComment
from tests.fakes.github_server.world import World


def _side(world: World, it: Repository, branch: str, sha: str) -> Json:
    return {
        "label": f"{it.owner.login}:{branch}",
        "ref": branch,
        "sha": sha,
        "user": user(world, it.owner),
        "repo": repository(world, it),
    }


def pull(world: World, it: Repository, shown: Issue) -> Json:
    """`pull-request-simple`, as lists have it."""
    assert shown.pull is not None
    part = shown.pull
    url, page = (
        f"{world.api}/repos/{it.full_name}/pulls/{shown.number}",
        f"{world.origin}/{it.full_name}/pull/{shown.number}",
    )
    as_issue = issue(world, it, shown)
    same = ("id", "node_id", "number", "state", "locked", "title", "user", "body", "labels", "milestone", "created_at")
    more = ("updated_at", "closed_at", "assignee", "assignees", "author_association", "active_lock_reason")
    links = {
        "self": url, "html": page, "issue": as_issue["url"], "comments": as_issue["comments_url"],
        "review_comments": f"{url}/comments",
        "review_comment": f"{world.api}/repos/{it.full_name}/pulls/comments{{/number}}",
        "commits": f"{url}/commits", "statuses": f"{world.api}/repos/{it.full_name}/statuses/{part.head_sha}",
    }  # fmt: skip
    return {
        **{name: as_issue[name] for name in same + more},
        "url": url,
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "issue_url": as_issue["url"],
        **{
            f"{name}_url": links[name]
            for name in ("commits", "review_comments", "review_comment", "comments", "statuses")
        },
        "merged_at": when(part.merged_at),
        "merge_commit_sha": part.merge_commit,
        "requested_reviewers": [user(world, one) for one in part.reviewers],
        "requested_teams": [_team(world, it, name) for name in part.teams],
        "labels": [label(world, it, one) for one in shown.labels],
        "draft": part.draft,
        "head": _side(world, it, part.head, part.head_sha),
        "base": _side(world, it, part.base, _base(it, part)),
        "_links": {name: {"href": target} for name, target in links.items()},
        "auto_merge": None,
    }


def _base(it: Repository, part: Pull) -> str:
    return bare.head(it.path, part.base) or part.head_sha


def _team(world: World, it: Repository, slug: str) -> Json:
    url = f"{world.api}/organizations/{it.owner.id}/team/1"
    return {
        "id": 1, "node_id": node("T", 1), "url": url, "members_url": f"{url}/members{{/member}}", "name": slug,
        "description": None, "permission": "pull", "privacy": "closed", "html_url": world.origin, "slug": slug,
        "repositories_url": f"{url}/repos", "parent": None, "type": "organization", "organization_id": it.owner.id,
        "notification_setting": "notifications_enabled",
    }  # fmt: skip


def full_pull(world: World, it: Repository, shown: Issue) -> Json:
    """`pull-request`, as it is answered alone."""
    assert shown.pull is not None
    commits, added, deleted, files = bare.sizes(it.path, _base(it, shown.pull), shown.pull.head_sha)
    return pull(world, it, shown) | {
        "merged": shown.pull.merged_at is not None,
        "mergeable": None,
        "rebaseable": None,
        "mergeable_state": "draft" if shown.pull.draft else "unknown",
        "merged_by": user(world, shown.closed_by) if shown.pull.merged_at and shown.closed_by else None,
        "comments": len(shown.comments),
        "review_comments": len(shown.pull.remarks),
        "maintainer_can_modify": False,
        "commits": commits,
        "additions": added,
        "deletions": deleted,
        "changed_files": files,
    }


def review(world: World, it: Repository, on: Issue, shown: Review) -> Json:
    """`pull-request-review`."""
    url, page = f"{world.api}/repos/{it.full_name}/pulls/{on.number}", f"{world.origin}/{it.full_name}/pull/{on.number}"
    return {
        "id": shown.id,
        "node_id": node("PRR", shown.id),
        "user": user(world, shown.author),
        "body": shown.body,
        "state": shown.state,
        "html_url": f"{page}#pullrequestreview-{shown.id}",
        "pull_request_url": url,
        "author_association": association(world, it, shown.author),
        "_links": {"html": {"href": f"{page}#pullrequestreview-{shown.id}"}, "pull_request": {"href": url}},
        "submitted_at": when(shown.submitted_at),
        "commit_id": shown.commit_id,
    }


def remark(world: World, it: Repository, on: Issue, shown: ReviewComment) -> Json:
    """`pull-request-review-comment`."""
    pull_url = f"{world.api}/repos/{it.full_name}/pulls/{on.number}"
    url = f"{world.api}/repos/{it.full_name}/pulls/comments/{shown.id}"
    page = f"{world.origin}/{it.full_name}/pull/{on.number}#discussion_r{shown.id}"
    answers = {"in_reply_to_id": shown.in_reply_to.id} if shown.in_reply_to else {}
    return {
        "url": url,
        "pull_request_review_id": shown.review.id if shown.review else None,
        "id": shown.id,
        "node_id": node("PRRC", shown.id),
        "diff_hunk": shown.diff_hunk,
        "path": shown.path,
        "position": 1,
        "original_position": 1,
        "commit_id": shown.commit_id,
        "original_commit_id": shown.commit_id,
        **answers,
        "user": user(world, shown.author),
        "body": shown.body,
        "created_at": when(shown.created_at),
        "updated_at": when(shown.updated_at),
        "html_url": page,
        "pull_request_url": pull_url,
        "author_association": association(world, it, shown.author),
        "_links": {"self": {"href": url}, "html": {"href": page}, "pull_request": {"href": pull_url}},
        "reactions": reactions(url, shown.reactions),
        "start_line": None,
        "original_start_line": None,
        "start_side": None,
        "line": shown.line,
        "original_line": shown.line,
        "side": "RIGHT",
        "subject_type": "line",
    }


def check(world: World, it: Repository, shown: CheckRun) -> Json:
    """`check-run`."""
    url = f"{world.api}/repos/{it.full_name}/check-runs/{shown.id}"
    page = f"{world.origin}/{it.full_name}/runs/{shown.id}"
    output = {name: shown.output.get(name) for name in ("title", "summary", "text")}
    return {
        "id": shown.id,
        "name": shown.name,
        "node_id": node("CR", shown.id),
        "head_sha": shown.head_sha,
        "external_id": shown.external_id,
        "url": url,
        "html_url": page,
        "details_url": shown.details_url or page,
        "status": shown.status,
        "conclusion": shown.conclusion,
        "started_at": when(shown.started_at),
        "completed_at": when(shown.completed_at),
        "output": output | {"annotations_count": len(shown.annotations), "annotations_url": f"{url}/annotations"},
        "check_suite": {"id": shown.suite},
        "app": app(world, shown.app),
        "pull_requests": [
            _linked(world, it, one) for one in it.issues.values() if one.pull and one.pull.head_sha == shown.head_sha
        ],
    }


def _linked(world: World, it: Repository, one: Issue) -> Json:
    assert one.pull is not None
    url = f"{world.api}/repos/{it.full_name}"

    def side(branch: str, sha: str) -> Json:
        return {"ref": branch, "sha": sha, "repo": {"id": it.id, "url": url, "name": it.name}}

    return {
        "id": one.id,
        "number": one.number,
        "url": f"{url}/pulls/{one.number}",
        "head": side(one.pull.head, one.pull.head_sha),
        "base": side(one.pull.base, _base(it, one.pull)),
    }


def delivery(world: World, shown: Delivery, *, full: bool = False) -> Json:
    """`hook-delivery-item`, or `hook-delivery` with what was sent and answered."""
    brief = {
        "id": shown.id,
        "guid": shown.guid,
        "delivered_at": when(shown.at),
        "redelivery": shown.redelivery,
        "duration": round(shown.duration, 2),
        "status": shown.status,
        "status_code": shown.status_code,
        "event": shown.event,
        "action": shown.action,
        "installation_id": shown.installation.id if shown.installation else None,
        "repository_id": shown.repository.id if shown.repository else None,
        "throttled_at": None,
    }
    if not full:
        return brief
    return brief | {
        "url": shown.app.hook_url or "",
        "request": {"headers": dict(shown.headers), "payload": json.loads(shown.body)},
        "response": {"headers": {}, "payload": shown.answer},
    }
