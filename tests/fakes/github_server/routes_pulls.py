"""The REST API's pull requests, reviews and review comments."""

from __future__ import annotations

from functools import partial

from tests.fakes.github_server import acts, bare, render_pulls
from tests.fakes.github_server.exchange import Answer, Call, Refusal, invalid, route
from tests.fakes.github_server.routes_issues import check_body, check_title, find_remark
from tests.fakes.github_server.state import Issue, Pull

READ, WRITE = "pull_requests=read", "pull_requests=write"


def _pull(call: Call) -> tuple[Issue, Pull]:
    issue = call.issue(pull=True)
    assert issue.pull is not None
    return issue, issue.pull


@route("GET", "/repos/{owner}/{repo}/pulls", needs=READ)
def list_pulls(call: Call) -> Answer:
    state, head = call.query.get("state", "open"), call.query.get("head", "")
    base = call.query.get("base")
    shown = [
        issue
        for issue in call.world.visible(call.repository.issues.values(), "pulls")
        if issue.pull
        and (state == "all" or issue.state == state)
        # Without an owner before a colon GitHub passes over the whole filter.
        and (":" not in head or head == f"{call.repository.owner.login}:{issue.pull.head}")
        and (base is None or issue.pull.base == base)
    ]
    shown.sort(key=lambda issue: issue.number, reverse=call.query.get("direction", "desc") == "desc")
    return call.page(shown, partial(render_pulls.pull, call.world, call.repository))


@route("POST", "/repos/{owner}/{repo}/pulls", needs=WRITE, by="account")
def create_pull(call: Call) -> Answer:
    token = call.caller.token
    if token is not None and token.kind == "actions" and not call.repository.actions_may_open_pulls:
        raise Refusal(403, "GitHub Actions is not permitted to create or approve pull requests.")
    title, body = check_title(call), check_body(call, "Issue", required=False)
    head, base = _branch(call, "head"), _branch(call, "base")
    if not title:
        raise invalid("Issue", "missing_field", field="title")
    for issue in call.repository.issues.values():
        if issue.pull and issue.state == "open" and (issue.pull.head, issue.pull.base) == (head, base):
            message = f"A pull request already exists for {call.repository.owner.login}:{head}."
            raise invalid("PullRequest", "custom", message=message)
    if call.json.get("draft") and not call.repository.drafts:
        raise Refusal(422, "Draft pull requests are not supported in this repository.")
    if not bare.differ(call.repository.path, base, head):
        raise invalid("PullRequest", "custom", message=f"No commits between {base} and {head}")
    made = acts.open_pull(
        call.world, call.repository, call.account, head=head, base=base, title=title, body=body,
        draft=bool(call.json.get("draft")), app=call.caller.app,
    )  # fmt: skip
    return Answer(201, render_pulls.full_pull(call.world, call.repository, made))


def _branch(call: Call, name: str) -> str:
    given = call.text(name)
    if not given:
        raise invalid("PullRequest", "missing_field", field=name)
    owner, colon, branch = given.rpartition(":")
    if (colon and owner != call.repository.owner.login) or bare.head(call.repository.path, branch) is None:
        raise invalid("PullRequest", "invalid", field=name)
    return branch


@route("GET", "/repos/{owner}/{repo}/pulls/{number}", needs=READ)
def read_pull(call: Call) -> Answer:
    return Answer(200, render_pulls.full_pull(call.world, call.repository, _pull(call)[0]))


@route("PATCH", "/repos/{owner}/{repo}/pulls/{number}", needs=WRITE, role="write", by="account")
def change_pull(call: Call) -> Answer:
    issue, part = _pull(call)
    title, body = check_title(call), check_body(call, "Issue", required=False)
    changes = {name: value for name, value in (("title", title), ("body", body)) if value is not None}
    if changes:
        acts.edit_issue(call.world, call.repository, issue, call.account, **changes)
    if call.text("base"):
        part.base = _branch(call, "base")
    if state := call.text("state"):
        acts.set_state(call.world, call.repository, issue, call.account, state)
    return Answer(200, render_pulls.full_pull(call.world, call.repository, issue))


@route("POST", "/repos/{owner}/{repo}/pulls/{number}/requested_reviewers", needs=WRITE, role="write", by="account")
def request_reviewers(call: Call) -> Answer:
    issue, part = _pull(call)
    people = [call.world.account(login) for login in call.json.get("reviewers", [])]
    teams = call.json.get("team_reviewers", [])
    if any(one is issue.author for one in people):
        raise Refusal(422, "Review cannot be requested from pull request author.")
    if teams or any(one.login not in call.repository.roles for one in people):
        raise Refusal(
            422,
            "Reviews may only be requested from collaborators. One or more of the users or teams you specified is not "
            f"a collaborator of the {call.repository.full_name} repository.",
        )
    part.reviewers += [one for one in people if one not in part.reviewers]
    return Answer(201, render_pulls.pull(call.world, call.repository, issue))


@route("GET", "/repos/{owner}/{repo}/pulls/{number}/reviews", needs=READ)
def list_reviews(call: Call) -> Answer:
    issue, part = _pull(call)
    own = call.caller.account
    listed = call.world.visible(part.reviews, "comments")
    shown = [one for one in listed if one.state != "PENDING" or one.author is own]
    return call.page(shown, partial(render_pulls.review, call.world, call.repository, issue))


@route("POST", "/repos/{owner}/{repo}/pulls/{number}/reviews", needs=WRITE, by="account")
def create_review(call: Call) -> Answer:
    issue, _ = _pull(call)
    states = {"APPROVE": "approved", "REQUEST_CHANGES": "changes_requested", "COMMENT": "commented"}
    event = call.text("event") or ""
    if event not in states:
        raise Refusal(422, "Unprocessable Entity", [{"message": "Variable $event was provided invalid value"}])
    if issue.author is call.account and event != "COMMENT":
        what = "approve" if event == "APPROVE" else "request changes on"
        raise Refusal(422, "Unprocessable Entity", [{"message": f"Can not {what} your own pull request"}])
    remarks = [(one["path"], one.get("line", 1), one["body"]) for one in call.json.get("comments", [])]
    made = acts.review(
        call.world, call.repository, issue, call.account, states[event], call.text("body") or "", remarks
    )
    return Answer(200, render_pulls.review(call.world, call.repository, issue, made))


@route("GET", "/repos/{owner}/{repo}/pulls/{number}/comments", needs=READ)
def list_remarks(call: Call) -> Answer:
    issue, part = _pull(call)
    shown = call.world.visible(part.remarks, "comments")
    return call.page(shown, partial(render_pulls.remark, call.world, call.repository, issue))


@route("GET", "/repos/{owner}/{repo}/pulls/comments/{comment}", needs=READ)
def read_remark(call: Call) -> Answer:
    return Answer(200, render_pulls.remark(call.world, call.repository, *find_remark(call)))


@route("POST", "/repos/{owner}/{repo}/pulls/{number}/comments/{comment}/replies", needs=WRITE, by="account")
def reply(call: Call) -> Answer:
    issue, first = find_remark(call)
    if issue is not call.issue(pull=True):
        raise Refusal(404, "Not Found")
    if first.in_reply_to is not None:
        raise Refusal(
            422,
            "Validation Failed",
            [{"resource": "PullRequestReviewComment", "code": "invalid", "field": "in_reply_to"}],
        )
    body = check_body(call, "PullRequestReviewComment", required=True)
    made = acts.answer(call.world, call.repository, issue, call.account, first, body or "", call.caller.app)
    return Answer(201, render_pulls.remark(call.world, call.repository, issue, made))
