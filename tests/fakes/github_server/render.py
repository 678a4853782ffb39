"""How accounts, repositories, issues and Apps look in GitHub's answers. Every answer parses in `githubkit`'s models."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from tests.fakes.github_server.state import (
    Account,
    App,
    Comment,
    Event,
    Installation,
    Issue,
    Label,
    Reaction,
    Repository,
)
from tests.fakes.github_server.world import World

Json = dict[str, Any]
CONTENTS = ("+1", "-1", "laugh", "confused", "heart", "hooray", "eyes", "rocket")
OF_A_REPOSITORY = {
    "archive_url": "/{archive_format}{/ref}", "assignees_url": "/assignees{/user}", "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}", "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}", "commits_url": "/commits{/sha}", "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}", "contributors_url": "/contributors", "deployments_url": "/deployments",
    "downloads_url": "/downloads", "events_url": "/events", "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}", "git_refs_url": "/git/refs{/sha}", "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks", "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}", "issues_url": "/issues{/number}", "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}", "languages_url": "/languages", "merges_url": "/merges",
    "milestones_url": "/milestones{/number}", "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}", "releases_url": "/releases{/id}", "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}", "subscribers_url": "/subscribers", "subscription_url": "/subscription",
    "tags_url": "/tags", "teams_url": "/teams", "trees_url": "/git/trees{/sha}",
}  # fmt: skip
OF_A_USER = {
    "followers_url": "/followers", "following_url": "/following{/other_user}", "gists_url": "/gists{/gist_id}",
    "starred_url": "/starred{/owner}{/repo}", "subscriptions_url": "/subscriptions", "organizations_url": "/orgs",
    "repos_url": "/repos", "events_url": "/events{/privacy}", "received_events_url": "/received_events",
}  # fmt: skip


def when(moment: datetime | None) -> str | None:
    """A time as GitHub writes it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None


def node(kind: str, number: int) -> str:
    """A GraphQL node id."""
    return f"{kind}_{base64.urlsafe_b64encode(str(number).encode()).rstrip(b'=').decode()}"


def user(world: World, account: Account) -> Json:
    """`simple-user`."""
    url = f"{world.api}/users/{account.login}"
    return {
        "login": account.login,
        "id": account.id,
        "node_id": node("U", account.id),
        "avatar_url": f"{world.origin}/avatars/u/{account.id}?v=4",
        "gravatar_id": "",
        "url": url,
        "html_url": f"{world.origin}/{account.login.replace('[bot]', '')}",
        **{name: url + path for name, path in OF_A_USER.items()},
        "type": account.type,
        "user_view_type": "public",
        "site_admin": False,
    }


def public_user(world: World, account: Account) -> Json:
    """`public-user`."""
    nothing = dict.fromkeys(("company", "location", "hireable", "bio", "twitter_username"))
    numbers = dict.fromkeys(("public_repos", "public_gists", "followers", "following"), 0)
    dates = dict.fromkeys(("created_at", "updated_at"), "2020-01-01T00:00:00Z")
    named = {"name": account.login, "email": account.email, "blog": ""}
    return user(world, account) | nothing | numbers | dates | named


def collaborator(world: World, repository: Repository, account: Account) -> Json:
    """`repository-collaborator-permission`: `permission` folds maintain into write and triage into read."""
    role = world.role(repository, account)
    named = repository.roles.get(account.login, role)
    ladder = ("read", "triage", "write", "maintain", "admin")
    reached = ladder.index(role) if role in ladder else -1
    spelled = {"read": "pull", "write": "push"}
    permissions = {spelled.get(name, name): at <= reached for at, name in enumerate(ladder)}
    folded = {"maintain": "write", "triage": "read"}.get(role, role)
    shown = user(world, account) | {"permissions": permissions, "role_name": named}
    return {"permission": folded, "role_name": named, "user": shown}


def repository(world: World, it: Repository, role: str | None = None) -> Json:
    """`full-repository`."""
    url, page = f"{world.api}/repos/{it.full_name}", f"{world.origin}/{it.full_name}"
    ladder = {"pull": "read", "triage": "triage", "push": "write", "maintain": "maintain", "admin": "admin"}
    order = list(ladder.values())
    opened = sum(issue.state == "open" for issue in it.issues.values())
    permissions = {name: role in order and order.index(role) >= order.index(least) for name, least in ladder.items()}
    return {
        "id": it.id,
        "node_id": node("R", it.id),
        "name": it.name,
        "full_name": it.full_name,
        "private": it.private,
        "owner": user(world, it.owner),
        "html_url": page,
        "description": None,
        "fork": False,
        "url": url,
        **{name: url + path for name, path in OF_A_REPOSITORY.items()},
        "git_url": f"git:{page.partition(':')[2]}.git",
        "ssh_url": f"git@localhost:{it.full_name}.git",
        "clone_url": f"{page}.git",
        "svn_url": page,
        "mirror_url": None,
        "homepage": None,
        "language": None,
        "license": None,
        "topics": [],
        "visibility": "private" if it.private else "public",
        "default_branch": it.default_branch,
        "archived": it.archived,
        "disabled": False,
        "is_template": False,
        "allow_forking": True,
        "web_commit_signoff_required": False,
        **dict.fromkeys(("has_issues", "has_projects", "has_wiki", "has_downloads"), True),
        **dict.fromkeys(("has_pages", "has_discussions"), False),
        **dict.fromkeys(("forks", "forks_count", "stargazers_count", "watchers", "watchers_count"), 0),
        **dict.fromkeys(("subscribers_count", "network_count", "size"), 0),
        "open_issues": opened,
        "open_issues_count": opened,
        **dict.fromkeys(("created_at", "updated_at", "pushed_at"), when(it.created_at)),
        **({"permissions": permissions} if role is not None else {}),
    }


def label(world: World, it: Repository, shown: Label) -> Json:
    """`label`."""
    return {
        "id": shown.id,
        "node_id": node("LA", shown.id),
        "url": f"{world.api}/repos/{it.full_name}/labels/{shown.name}",
        "name": shown.name,
        "color": shown.color,
        "default": False,
        "description": shown.description,
        "archived_at": None,
        "archived_by": None,
    }


def association(world: World, it: Repository, account: Account) -> str:
    """`author_association`, as unreliable as GitHub's: a private member of an organisation looks like anybody."""
    if account is it.owner:
        return "OWNER"
    return "COLLABORATOR" if account.login in it.roles and not it.private else "NONE"


def reactions(url: str, given: Sequence[Reaction]) -> Json:
    """`reaction-rollup`."""
    counts = {content: sum(reaction.content == content for reaction in given) for content in CONTENTS}
    return {"url": f"{url}/reactions", "total_count": len(given)} | counts


def reaction(world: World, it: Reaction) -> Json:
    """`reaction`."""
    return {
        "id": it.id,
        "node_id": node("REA", it.id),
        "user": user(world, it.user),
        "content": it.content,
        "created_at": when(it.at),
    }


def issue(world: World, it: Repository, shown: Issue) -> Json:
    """`issue`; a pull request is one too and says so by its `pull_request`."""
    url, page = f"{world.api}/repos/{it.full_name}/issues/{shown.number}", f"{world.origin}/{it.full_name}"
    kind = "pull" if shown.pull else "issues"
    rendered = {
        "url": url,
        "repository_url": f"{world.api}/repos/{it.full_name}",
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "html_url": f"{page}/{kind}/{shown.number}",
        "id": shown.id,
        "node_id": node("PR" if shown.pull else "I", shown.id),
        "number": shown.number,
        "title": shown.title,
        "user": user(world, shown.author),
        "labels": [label(world, it, one) for one in shown.labels],
        "state": shown.state,
        "locked": shown.locked,
        "assignee": user(world, shown.assignees[0]) if shown.assignees else None,
        "assignees": [user(world, one) for one in shown.assignees],
        "milestone": None,
        "comments": len(shown.comments),
        "created_at": when(shown.created_at),
        "updated_at": when(shown.updated_at),
        "closed_at": when(shown.closed_at),
        "author_association": association(world, it, shown.author),
        "active_lock_reason": None,
        "body": shown.body,
        "closed_by": user(world, shown.closed_by) if shown.closed_by else None,
        "reactions": reactions(url, shown.reactions),
        "timeline_url": f"{url}/timeline",
        "performed_via_github_app": app(world, shown.app) if shown.app else None,
        "state_reason": shown.state_reason,
    }
    if shown.pull:
        pull = f"{page}/pull/{shown.number}"
        rendered["draft"] = shown.pull.draft
        rendered["pull_request"] = {
            "url": f"{world.api}/repos/{it.full_name}/pulls/{shown.number}",
            "html_url": pull,
            "diff_url": f"{pull}.diff",
            "patch_url": f"{pull}.patch",
            "merged_at": when(shown.pull.merged_at),
        }
    return rendered


def comment(world: World, it: Repository, on: Issue, shown: Comment) -> Json:
    """`issue-comment`."""
    url = f"{world.api}/repos/{it.full_name}/issues/comments/{shown.id}"
    kind = "pull" if on.pull else "issues"
    return {
        "url": url,
        "html_url": f"{world.origin}/{it.full_name}/{kind}/{on.number}#issuecomment-{shown.id}",
        "issue_url": f"{world.api}/repos/{it.full_name}/issues/{on.number}",
        "id": shown.id,
        "node_id": node("IC", shown.id),
        "user": user(world, shown.author),
        "created_at": when(shown.created_at),
        "updated_at": when(shown.updated_at),
        "body": shown.body,
        "author_association": association(world, it, shown.author),
        "reactions": reactions(url, shown.reactions),
        "performed_via_github_app": app(world, shown.app) if shown.app else None,
    }


def event(world: World, it: Repository, shown: Event) -> Json:
    """`issue-event-for-issue`."""
    detail = {
        name: {"name": value.name, "color": value.color} if isinstance(value, Label) else value
        for name, value in shown.detail.items()
    }
    return {
        "id": shown.id,
        "node_id": node("LE", shown.id),
        "url": f"{world.api}/repos/{it.full_name}/issues/events/{shown.id}",
        "actor": user(world, shown.actor),
        "event": shown.kind,
        "commit_id": None,
        "commit_url": None,
        "created_at": when(shown.at),
        **detail,
        "performed_via_github_app": app(world, shown.app) if shown.app else None,
    }


def app(world: World, it: App) -> Json:
    """`integration`."""
    return {
        "id": it.id,
        "client_id": it.client_id,
        "slug": it.slug,
        "node_id": node("A", it.id),
        "owner": user(world, it.owner),
        "name": it.name,
        "description": "",
        "external_url": "https://example.com",
        "html_url": f"{world.origin}/apps/{it.slug}",
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
        "permissions": it.permissions,
        "events": it.events,
    }


def installation(world: World, it: Installation) -> Json:
    """`installation`."""
    return {
        "id": it.id,
        "client_id": it.app.client_id,
        "account": user(world, it.account),
        "repository_selection": "selected",
        "access_tokens_url": f"{world.api}/app/installations/{it.id}/access_tokens",
        "repositories_url": f"{world.api}/installation/repositories",
        "html_url": f"{world.origin}/settings/installations/{it.id}",
        "app_id": it.app.id,
        "app_slug": it.app.slug,
        "target_id": it.account.id,
        "target_type": it.account.type,
        "permissions": it.permissions,
        "events": it.app.events,
        "created_at": when(it.created_at),
        "updated_at": when(it.created_at),
        "single_file_name": None,
        "has_multiple_single_files": False,
        "single_file_paths": [],
        "suspended_by": None,
        "suspended_at": when(it.suspended_at),
    }
