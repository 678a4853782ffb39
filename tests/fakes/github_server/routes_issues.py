"""The REST API's issues, comments, labels, events and reactions."""

from __future__ import annotations

from functools import partial

from tests.fakes.github_server import acts, render
from tests.fakes.github_server.exchange import NOT_FOUND, Answer, Call, Refusal, invalid, route
from tests.fakes.github_server.state import Comment, Issue, ReviewComment

BODY_LIMIT = 65_536
TITLE_LIMIT = 256
TALK = "issues=write; pull_requests=write"
LISTEN = "issues=read; pull_requests=read"


def check_body(call: Call, resource: str, *, required: bool) -> str | None:
    """The body of what is written. Comments and issues word the same limit differently, as on GitHub."""
    body = call.text("body")
    if required and not (body or "").strip():
        raise invalid(resource, "unprocessable", field="data", message="Body cannot be blank")
    if body is not None and len(body) > BODY_LIMIT:
        if resource == "IssueComment":
            message = f"Body is too long (maximum is {BODY_LIMIT} characters)"
            raise invalid(resource, "unprocessable", field="data", message=message)
        raise invalid(
            resource, "custom", field="body", message=f"body is too long (maximum is {BODY_LIMIT} characters)"
        )
    return body


def check_title(call: Call) -> str | None:
    """The title of an issue or pull request."""
    title = call.text("title")
    if title is not None and len(title) > TITLE_LIMIT:
        message = f"title is too long (maximum is {TITLE_LIMIT} characters)"
        raise invalid("Issue", "custom", field="title", message=message)
    return title


@route("GET", "/repos/{owner}/{repo}/issues", needs="issues=read")
def list_issues(call: Call) -> Answer:
    wanted = {name.lower() for name in call.query.get("labels", "").split(",") if name}
    state = call.query.get("state", "open")
    shown = [
        issue
        for issue in call.world.visible(call.repository.issues.values(), "issues")
        if not issue.deleted
        and (state == "all" or issue.state == state)
        and wanted <= {label.name.lower() for label in issue.labels}
    ]
    updated = call.query.get("sort") == "updated"
    shown.sort(key=lambda issue: (issue.updated_at if updated else issue.created_at, issue.number))
    if call.query.get("direction", "desc") == "desc":
        shown.reverse()
    return call.page(shown, partial(render.issue, call.world, call.repository))


@route("POST", "/repos/{owner}/{repo}/issues", needs="issues=write", by="account")
def create_issue(call: Call) -> Answer:
    title, body = check_title(call), check_body(call, "Issue", required=False)
    if not title:
        raise invalid("Issue", "missing_field", field="title")
    may_label = call.world.has_role(call.repository, call.account, "triage") or call.caller.app is not None
    labels = [name if isinstance(name, str) else name["name"] for name in call.json.get("labels", [])]
    made = acts.open_issue(
        call.world, call.repository, call.account, title, body, labels if may_label else (), call.caller.app
    )
    return Answer(201, render.issue(call.world, call.repository, made))


@route("GET", "/repos/{owner}/{repo}/issues/{number}", needs=LISTEN)
def read_issue(call: Call) -> Answer:
    return Answer(200, render.issue(call.world, call.repository, call.issue()))


@route("PATCH", "/repos/{owner}/{repo}/issues/{number}", needs=TALK, role="triage", by="account")
def change_issue(call: Call) -> Answer:
    issue = call.issue()
    title, body = check_title(call), check_body(call, "Issue", required=False)
    changes = {name: value for name, value in (("title", title), ("body", body)) if value is not None}
    if changes:
        acts.edit_issue(call.world, call.repository, issue, call.account, **changes)
    if state := call.text("state"):
        acts.set_state(call.world, call.repository, issue, call.account, state, call.text("state_reason"))
    return Answer(200, render.issue(call.world, call.repository, issue))


@route("GET", "/repos/{owner}/{repo}/issues/{number}/events", needs=LISTEN)
def list_events(call: Call) -> Answer:
    shown = call.world.visible(call.issue().events, "events")
    return call.page(shown, partial(render.event, call.world, call.repository))


@route("GET", "/repos/{owner}/{repo}/issues/{number}/comments", needs=LISTEN)
def list_comments(call: Call) -> Answer:
    issue = call.issue()
    shown = call.world.visible(issue.comments, "comments")
    if since := call.query.get("since"):
        shown = [comment for comment in shown if (render.when(comment.updated_at) or "") >= since]
    return call.page(shown, partial(render.comment, call.world, call.repository, issue))


@route("POST", "/repos/{owner}/{repo}/issues/{number}/comments", needs=TALK, by="account")
def create_comment(call: Call) -> Answer:
    issue = call.issue()
    body = check_body(call, "IssueComment", required=True)
    if issue.locked and not (call.caller.app or call.world.has_role(call.repository, call.account, "write")):
        raise Refusal(403, "Unable to create comment because issue is locked.")
    made = acts.comment(call.world, call.repository, issue, call.account, body or "", call.caller.app)
    return Answer(201, render.comment(call.world, call.repository, issue, made))


def _comment(call: Call) -> tuple[Issue, Comment]:
    for issue in call.repository.issues.values():
        for comment in issue.comments:
            if comment.id == int(call.args["comment"]) and not issue.deleted:
                return issue, comment
    raise Refusal(*NOT_FOUND)


def _check_author(call: Call, comment: Comment) -> None:
    if comment.author is call.account:
        return
    if call.caller.app is not None:
        raise Refusal(403, "Resource not accessible by integration")
    if not call.world.has_role(call.repository, call.account, "write"):
        raise Refusal(403, "Must have admin rights to Repository.")


@route("GET", "/repos/{owner}/{repo}/issues/comments/{comment}", needs=LISTEN)
def read_comment(call: Call) -> Answer:
    return Answer(200, render.comment(call.world, call.repository, *_comment(call)))


@route("PATCH", "/repos/{owner}/{repo}/issues/comments/{comment}", needs=TALK, by="account")
def change_comment(call: Call) -> Answer:
    issue, comment = _comment(call)
    _check_author(call, comment)
    body = check_body(call, "IssueComment", required=True)
    acts.edit_comment(call.world, call.repository, issue, comment, call.account, body or "")
    return Answer(200, render.comment(call.world, call.repository, issue, comment))


@route("DELETE", "/repos/{owner}/{repo}/issues/comments/{comment}", needs=TALK, by="account")
def delete_comment(call: Call) -> Answer:
    issue, comment = _comment(call)
    _check_author(call, comment)
    issue.comments.remove(comment)
    call.world.emit("issue_comment", "deleted", call.repository, call.account, issue=issue, comment=comment)
    return Answer(204)


@route("POST", "/repos/{owner}/{repo}/issues/{number}/reactions", needs=TALK, by="account")
def react_to_issue(call: Call) -> Answer:
    return _react(call, call.issue())


@route("POST", "/repos/{owner}/{repo}/issues/comments/{comment}/reactions", needs=TALK, by="account")
def react_to_comment(call: Call) -> Answer:
    return _react(call, _comment(call)[1])


@route("GET", "/repos/{owner}/{repo}/issues/comments/{comment}/reactions", needs=LISTEN)
def list_reactions(call: Call) -> Answer:
    return call.page(_comment(call)[1].reactions, partial(render.reaction, call.world))


@route("POST", "/repos/{owner}/{repo}/pulls/comments/{comment}/reactions", needs="pull_requests=write", by="account")
def react_to_remark(call: Call) -> Answer:
    return _react(call, find_remark(call)[1])


def find_remark(call: Call) -> tuple[Issue, ReviewComment]:
    """The review comment of the path, and the pull request that it is on."""
    for issue in call.repository.issues.values():
        for remark in issue.pull.remarks if issue.pull else ():
            if remark.id == int(call.args["comment"]):
                return issue, remark
    raise Refusal(*NOT_FOUND)


def _react(call: Call, target: Issue | Comment) -> Answer:
    content = call.text("content")
    if content not in render.CONTENTS:
        raise invalid("Reaction", "invalid", field="content")
    made, new = acts.react(call.world, target.reactions, call.account, content)
    return Answer(201 if new else 200, render.reaction(call.world, made))


@route("GET", "/repos/{owner}/{repo}/issues/{number}/labels", needs=LISTEN)
def list_issue_labels(call: Call) -> Answer:
    return call.page(call.issue().labels, partial(render.label, call.world, call.repository))


@route("POST", "/repos/{owner}/{repo}/issues/{number}/labels", needs=TALK, role="triage", by="account")
def add_labels(call: Call) -> Answer:
    issue = call.issue()
    names = call.json if isinstance(call.json, list) else call.json.get("labels", [])
    for name in names:
        acts.set_label(call.world, call.repository, issue, call.account, name, call.caller.app)
    return Answer(200, [render.label(call.world, call.repository, label) for label in issue.labels])


@route("DELETE", "/repos/{owner}/{repo}/issues/{number}/labels/{name}", needs=TALK, role="triage", by="account")
def remove_label(call: Call) -> Answer:
    issue = call.issue()
    name = call.args["name"]
    if not acts.unset_label(call.world, call.repository, issue, call.account, name, call.caller.app):
        raise Refusal(404, "Label does not exist")
    return Answer(200, [render.label(call.world, call.repository, label) for label in issue.labels])


@route("GET", "/repos/{owner}/{repo}/labels/{name}", needs=LISTEN)
def read_label(call: Call) -> Answer:
    label = call.repository.labels.get(call.args["name"].lower())
    if label is None:
        raise Refusal(*NOT_FOUND)
    return Answer(200, render.label(call.world, call.repository, label))


@route("POST", "/repos/{owner}/{repo}/labels", needs=TALK, role="write", by="account")
def create_label(call: Call) -> Answer:
    name = call.text("name")
    if not name:
        raise invalid("Label", "missing_field", field="name")
    if name.lower() in call.repository.labels:
        raise invalid("Label", "already_exists", field="name")
    label = call.world.label(call.repository, name)
    label.color = call.text("color") or label.color
    label.description = call.text("description")
    return Answer(201, render.label(call.world, call.repository, label))


@route("GET", "/repos/{owner}/{repo}/collaborators/{login}/permission", needs="metadata=read", role="write")
def read_permission(call: Call) -> Answer:
    account = call.world.accounts.get(call.args["login"].lower())
    if account is None:
        raise Refusal(*NOT_FOUND)
    if account.type != "User":
        raise Refusal(404, f"{account.login} is not a user")
    return Answer(200, render.collaborator(call.world, call.repository, account))
