"""The stand-in GitHub's API, checked from outside by a client generated from GitHub's own description, and by hand."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from githubkit.exception import RequestFailed

from tests.fakes.github_server import acts, bare
from tests.fakes.github_server.exchange import ROUTES
from tests.fakes.github_server.faults import BAD_GATEWAY, LOST_ANSWER, Fault, told_to_wait
from tests.fakes.github_server.stage import EVENTS, PERMISSIONS, Stage, stage
from tests.fakes.githubkits import NAME, OWNER, Kit, app_kit, installation_token, kit, message, status


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Stage]:
    with stage(tmp_path) as scene:
        yield scene


def walk_issues(will: Kit) -> None:
    issues, reactions = will.rest.issues, will.rest.reactions
    number = issues.create(OWNER, NAME, title="It breaks", body="Look").parsed_data.number
    assert issues.create_label(OWNER, NAME, name="bug", color="ff0000").parsed_data
    added = issues.add_labels(OWNER, NAME, number, labels=["bug", "agent:fix"]).parsed_data
    assert [label.name for label in added] == ["bug", "agent:fix"]
    assert issues.get_label(OWNER, NAME, "bug").parsed_data.color == "ff0000"
    assert len(issues.list_labels_on_issue(OWNER, NAME, number).parsed_data) == 2
    assert [label.name for label in issues.remove_label(OWNER, NAME, number, "agent:fix").parsed_data] == ["bug"]
    assert issues.update(OWNER, NAME, number, title="It breaks often").parsed_data.title == "It breaks often"
    kinds = [event.event for event in issues.list_events(OWNER, NAME, number).parsed_data]
    assert kinds == ["labeled", "labeled", "unlabeled", "renamed"]
    comment = issues.create_comment(OWNER, NAME, number, body="Seen").parsed_data
    assert issues.update_comment(OWNER, NAME, comment.id, body="Seen it").parsed_data.body == "Seen it"
    assert issues.get_comment(OWNER, NAME, comment.id).parsed_data.user.login == "will"
    assert reactions.create_for_issue(OWNER, NAME, number, content="heart").parsed_data
    assert reactions.create_for_issue_comment(OWNER, NAME, comment.id, content="eyes").status_code == 201
    assert reactions.create_for_issue_comment(OWNER, NAME, comment.id, content="eyes").status_code == 200
    assert len(reactions.list_for_issue_comment(OWNER, NAME, comment.id).parsed_data) == 1
    assert len(issues.list_comments(OWNER, NAME, number).parsed_data) == 1
    issues.delete_comment(OWNER, NAME, comment.id)
    assert issues.get(OWNER, NAME, number).parsed_data.comments == 0
    assert [issue.number for issue in issues.list_for_repo(OWNER, NAME, labels="bug").parsed_data] == [number]


def walk_pulls(will: Kit, mary: Kit, head: str) -> None:
    pulls = will.rest.pulls
    made = pulls.create(OWNER, NAME, title="Mend", head=head, base="main", body="Closes #1", draft=True).parsed_data
    assert made.draft
    assert made.commits == 1
    number = made.number
    assert pulls.update(OWNER, NAME, number, title="Mend it").parsed_data.title == "Mend it"
    reviewed = pulls.request_reviewers(OWNER, NAME, number, data={"reviewers": ["mary"]}).parsed_data
    assert [one.login for one in reviewed.requested_reviewers or []] == ["mary"]
    remarks = [{"path": "widgets.py", "line": 2, "body": "Why two?"}]
    assert mary.rest.pulls.create_review(
        OWNER, NAME, number, event="REQUEST_CHANGES", body="No", comments=remarks
    ).parsed_data
    assert pulls.list_reviews(OWNER, NAME, number).parsed_data[0].state == "CHANGES_REQUESTED"
    remark = pulls.list_review_comments(OWNER, NAME, number).parsed_data[0]
    answered = pulls.create_reply_for_review_comment(OWNER, NAME, number, remark.id, body="Because").parsed_data
    assert answered.in_reply_to_id == remark.id
    assert pulls.get_review_comment(OWNER, NAME, remark.id).parsed_data.body == "Why two?"
    assert will.rest.reactions.create_for_pull_request_review_comment(
        OWNER, NAME, remark.id, content="eyes"
    ).parsed_data
    assert pulls.get(OWNER, NAME, number).parsed_data.review_comments == 2
    assert [pull.number for pull in pulls.list(OWNER, NAME, head=f"{OWNER}:{head}").parsed_data] == [number]


def walk_checks(bot: Kit, sha: str) -> None:
    checks = bot.rest.checks
    made = checks.create(OWNER, NAME, data={"name": "agent-fix", "head_sha": sha, "status": "in_progress"}).parsed_data
    annotation = {"path": "widgets.py", "start_line": 1, "end_line": 1, "annotation_level": "notice", "message": "Here"}
    output = {"title": "Done", "summary": "Good", "annotations": [annotation]}
    done = checks.update(
        OWNER, NAME, made.id, data={"status": "completed", "conclusion": "success", "output": output}
    ).parsed_data
    assert done.completed_at is not None
    assert checks.get(OWNER, NAME, made.id).parsed_data.output.annotations_count == 1
    assert checks.list_annotations(OWNER, NAME, made.id).parsed_data[0].message == "Here"
    assert [run.id for run in checks.list_for_ref(OWNER, NAME, sha, app_id=done.app.id).parsed_data.check_runs] == [
        made.id
    ]
    assert checks.rerequest_run(OWNER, NAME, made.id).status_code == 201


def walk_apps(scene: Stage, bot: Kit, will: Kit) -> None:
    apps = app_kit(scene).rest.apps
    assert apps.get_authenticated().parsed_data.slug == "agent-fix"
    installation = apps.list_installations().parsed_data[0].id
    assert apps.get_installation(installation).parsed_data.app_slug == "agent-fix"
    assert apps.get_repo_installation(OWNER, NAME).parsed_data.id == installation
    assert bot.rest.apps.list_repos_accessible_to_installation().parsed_data.total_count == 1
    delivery = apps.list_webhook_deliveries().parsed_data[0]
    assert apps.get_webhook_delivery(delivery.id).parsed_data.guid == delivery.guid
    assert apps.redeliver_webhook_delivery(delivery.id).status_code == 202
    assert will.rest.users.get_authenticated().parsed_data.login == "will"
    assert will.rest.users.get_by_username("agent-fix[bot]").parsed_data.type == "Bot"
    assert will.rest.rate_limit.get().parsed_data.resources.core.limit == 5000
    manifest = {"name": "Fixer", "url": "https://example.com", "redirect_url": "http://127.0.0.1:9/done"}
    page = requests.post(
        f"{scene.world.origin}/settings/apps/new?state=s",
        {"manifest": json.dumps(manifest)},
        allow_redirects=False,
        timeout=9,
    )
    code = page.headers["Location"].partition("code=")[2].partition("&")[0]
    assert "PRIVATE KEY" in will.rest.apps.create_from_manifest(code).parsed_data.pem
    assert status(lambda: will.rest.apps.create_from_manifest(code)) == 404


def walk_repository(will: Kit, sha: str) -> None:
    assert will.rest.repos.get(OWNER, NAME).parsed_data.default_branch == "main"
    assert will.rest.repos.get_content(OWNER, NAME, "README.md").parsed_data.size == 8
    refs = will.rest.git.list_matching_refs(OWNER, NAME, "heads/agent-fix/").parsed_data
    assert [(ref.ref, ref.object_.sha) for ref in refs] == [("refs/heads/agent-fix/issue-1", sha)]
    assert will.rest.git.get_ref(OWNER, NAME, "heads/agent-fix/issue-1").parsed_data.object_.sha == sha
    assert will.rest.repos.get_collaborator_permission_level(OWNER, NAME, "tim").parsed_data.role_name == "triage"


def test_every_answer_parses_in_the_models_of_githubs_own_description(scene: Stage) -> None:
    scene.app.hook_url = "http://127.0.0.1:9/nobody-listens"
    sha = scene.commit("agent-fix/issue-1", {"widgets.py": "def size():\n    return 2\n"})
    will, mary = kit(scene, scene.token_of("will").value), kit(scene, scene.token_of("mary").value)
    bot = kit(scene, installation_token(scene))
    walk_issues(will)
    walk_pulls(will, mary, "agent-fix/issue-1")
    walk_checks(bot, sha)
    walk_repository(will, sha)
    scene.github.hooks.settle()
    walk_apps(scene, bot, will)
    assert bot.rest.apps.revoke_installation_access_token().status_code == 204
    assert status(lambda: bot.rest.repos.get(OWNER, NAME)) == 401
    answered = [one for one in scene.github.seen if one.status < 300]
    unchecked = [
        f"{known.method} {known.pattern.pattern}"
        for known in ROUTES
        if not any(known.method == one.method and known.pattern.fullmatch(one.path) for one in answered)
    ]
    assert not unchecked


def test_roles_keep_what_permissions_fold(scene: Stage) -> None:
    scene.repository.roles["sue"] = "security-lead"
    scene.repository.custom_roles["security-lead"] = "write"
    for login in ("sue", "nobody"):
        scene.world.account(login)
    read = kit(scene, scene.token_of("will").value).rest.repos.get_collaborator_permission_level
    shown = {login: read(OWNER, NAME, login).parsed_data for login in ("ann", "mary", "will", "tim", "nobody", "sue")}
    assert {login: (it.permission, it.role_name) for login, it in shown.items()} == {
        "ann": ("admin", "admin"),
        "mary": ("write", "maintain"),
        "will": ("write", "write"),
        "tim": ("read", "triage"),
        "nobody": ("read", "read"),
        "sue": ("write", "security-lead"),
    }
    assert status(lambda: read(OWNER, NAME, "agent-fix[bot]")) == 404
    assert status(lambda: read(OWNER, NAME, "no-such-user")) == 404


def test_what_cannot_be_made_answers_422_as_github_does(scene: Stage) -> None:
    scene.commit("fix", {"a": "1"})
    bare.git(scene.repository.path, "update-ref", "refs/heads/same", "refs/heads/main")
    will = kit(scene, scene.token_of("will").value)
    create, issues = will.rest.pulls.create, will.rest.issues
    number = create(OWNER, NAME, title="t", head="fix", base="main").parsed_data.number
    again = message(lambda: create(OWNER, NAME, title="t", head="fix", base="main"))
    assert again["message"] == "Validation Failed"
    assert again["errors"][0]["message"] == "A pull request already exists for octo:fix."
    nothing = message(lambda: create(OWNER, NAME, title="t", head="same", base="main"))
    assert nothing["errors"][0]["message"] == "No commits between main and same"
    missing = message(lambda: create(OWNER, NAME, title="t", head="gone", base="main"))
    assert missing["errors"][0] == {"resource": "PullRequest", "code": "invalid", "field": "head"}
    scene.repository.drafts = False
    scene.commit("other", {"a": "2"})
    assert (
        "Draft pull requests"
        in message(lambda: create(OWNER, NAME, title="t", head="other", base="main", draft=True))["message"]
    )
    long = "é" * 65_537
    assert "too long" in message(lambda: issues.create_comment(OWNER, NAME, number, body=long))["errors"][0]["message"]
    assert "too long" in message(lambda: will.rest.pulls.update(OWNER, NAME, number, body=long))["errors"][0]["message"]
    assert issues.create_comment(OWNER, NAME, number, body=long[:-1]).parsed_data
    ask = will.rest.pulls.request_reviewers
    assert "author" in message(lambda: ask(OWNER, NAME, number, data={"reviewers": ["will"]}))["message"]
    assert "collaborator" in message(lambda: ask(OWNER, NAME, number, data={"reviewers": ["rita"]}))["message"]
    sha = bare.head(scene.repository.path, "fix")
    # The generated client checks this limit itself, so this one is asked by hand.
    many = [{"path": "a", "start_line": 1, "end_line": 1, "annotation_level": "notice", "message": "m"}] * 51
    data = {"name": "c", "head_sha": sha, "output": {"title": "t", "summary": "s", "annotations": many}}
    headers = {"Authorization": f"token {installation_token(scene)}"}
    url = f"{scene.github.api}/repos/octo/widgets/check-runs"
    assert requests.post(url, json=data, headers=headers, timeout=9).status_code == 422
    assert status(lambda: will.rest.checks.create(OWNER, NAME, data={"name": "c", "head_sha": sha})) == 403


def test_tokens_do_what_they_were_narrowed_to_and_no_longer_than_they_live(scene: Stage) -> None:
    other = scene.world.create_repository("octo/other", private=True)
    scene.world.install(scene.app, other)
    narrow = kit(scene, installation_token(scene, repositories=[NAME], permissions={"issues": "write"}))
    issue = acts.open_issue(scene.world, scene.repository, scene.person("rita"), "t", "b")
    assert narrow.rest.issues.create_comment(OWNER, NAME, issue.number, body="b").parsed_data
    refused = message(lambda: narrow.rest.pulls.create(OWNER, NAME, title="t", head="x", base="main"))
    assert refused["message"] == "Resource not accessible by integration"
    assert status(lambda: narrow.rest.repos.get(OWNER, "other")) == 404
    assert status(lambda: narrow.rest.users.get_authenticated()) == 403
    assert status(lambda: installation_token(scene, permissions={"administration": "read"})) == 422
    assert status(lambda: installation_token(scene, repositories=["nothing"])) == 422
    scene.world.advance(3601)
    assert status(lambda: narrow.rest.repos.get(OWNER, NAME)) == 401


@pytest.mark.parametrize(("long", "size"), [(True, range(450, 620)), (False, range(40, 41))])
def test_installation_tokens_come_in_both_forms(scene: Stage, long: bool, size: range) -> None:
    scene.world.long_tokens = long
    token = installation_token(scene)
    assert token.startswith("ghs_")
    assert len(token) in size
    assert (token.count(".") == 2) == long


def test_lists_come_in_pages_and_unchanged_answers_are_free(scene: Stage) -> None:
    for at in range(5):
        acts.open_issue(scene.world, scene.repository, scene.person("rita"), f"number {at}", None)
    headers = {"Authorization": f"token {scene.token_of('will').value}"}
    url = f"{scene.github.api}/repos/octo/widgets/issues?per_page=2"
    titles = []
    first = requests.get(url, headers=headers, timeout=9)
    page = first
    while True:
        titles += [issue["title"] for issue in page.json()]
        if "next" not in page.links:
            break
        page = requests.get(page.links["next"]["url"], headers=headers, timeout=9)
    assert titles == [f"number {at}" for at in (4, 3, 2, 1, 0)]
    same = requests.get(url, headers=headers | {"If-None-Match": first.headers["ETag"]}, timeout=9)
    assert (same.status_code, same.content) == (304, b"")
    assert same.headers["X-RateLimit-Used"] == page.headers["X-RateLimit-Used"]
    acts.open_issue(scene.world, scene.repository, scene.person("rita"), "news", None)
    assert requests.get(url, headers=headers | {"If-None-Match": first.headers["ETag"]}, timeout=9).status_code == 200


def test_a_renamed_repository_redirects(scene: Stage) -> None:
    headers = {"Authorization": f"token {scene.token_of('will').value}"}
    scene.repository.former_names.add("octo/gadgets")
    url = f"{scene.github.api}/repos/octo/gadgets"
    moved = requests.get(url, headers=headers, timeout=9, allow_redirects=False)
    assert moved.status_code == 301
    assert requests.get(url, headers=headers, timeout=9).json()["full_name"] == "octo/widgets"
    posted = requests.post(f"{url}/issues", json={"title": "t"}, headers=headers, timeout=9, allow_redirects=False)
    assert posted.status_code == 307
    assert posted.json()["url"].endswith(f"/repositories/{scene.repository.id}/issues")


def test_faults_come_on_demand(scene: Stage) -> None:
    will, faults = kit(scene, scene.token_of("will").value), scene.github.faults
    issue = acts.open_issue(scene.world, scene.repository, scene.person("rita"), "t", "b")
    say = will.rest.issues.create_comment
    faults.plan("POST", "/comments", BAD_GATEWAY)
    assert status(lambda: say(OWNER, NAME, issue.number, body="lost")) == 502
    assert not issue.comments
    faults.plan("POST", "/comments", LOST_ANSWER)
    assert status(lambda: say(OWNER, NAME, issue.number, body="made")) == 502
    assert [comment.body for comment in issue.comments] == ["made"]
    faults.plan("GET", "/issues", told_to_wait(7), skip=1)
    will.rest.issues.get(OWNER, NAME, issue.number)
    with pytest.raises(RequestFailed) as failed:
        will.rest.issues.get(OWNER, NAME, issue.number)
    assert (failed.value.response.status_code, failed.value.response.headers["Retry-After"]) == (403, "7")
    called = threading.Event()
    faults.plan("*", "/issues", Fault(call=called.set))
    will.rest.issues.get(OWNER, NAME, issue.number)
    assert called.is_set()


def test_lists_can_lag_behind(scene: Stage) -> None:
    will = kit(scene, scene.token_of("will").value)
    issue = acts.open_issue(scene.world, scene.repository, scene.person("rita"), "t", "b")
    scene.world.lag["comments"] = 60
    will.rest.issues.create_comment(OWNER, NAME, issue.number, body="new")
    assert will.rest.issues.list_comments(OWNER, NAME, issue.number).parsed_data == []
    scene.world.lag.clear()
    assert len(will.rest.issues.list_comments(OWNER, NAME, issue.number).parsed_data) == 1


def test_a_jobs_token_opens_pull_requests_only_where_the_setting_allows_it(scene: Stage) -> None:
    job = kit(scene, scene.job_token({"contents": "write", "pull_requests": "write"}).value)
    scene.commit("fix", {"a": "1"})
    scene.repository.actions_may_open_pulls = False
    refused = message(lambda: job.rest.pulls.create(OWNER, NAME, title="t", head="fix", base="main"))
    assert refused["message"] == "GitHub Actions is not permitted to create or approve pull requests."
    scene.repository.actions_may_open_pulls = True
    made = job.rest.pulls.create(OWNER, NAME, title="t", head="fix", base="main").parsed_data
    assert made.user.login == "github-actions[bot]"


def test_the_stage_asks_for_no_more_than_the_bot_needs() -> None:
    assert {"workflows", "actions", "administration"}.isdisjoint(PERMISSIONS)
    assert "push" not in EVENTS
