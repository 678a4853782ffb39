"""The REST API's check runs, which only Apps may write."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.fakes.github_server import acts, bare, render_pulls
from tests.fakes.github_server.exchange import NOT_FOUND, Answer, Call, Refusal, route
from tests.fakes.github_server.state import CheckRun

READ, WRITE = "checks=read", "checks=write"
ANNOTATIONS = 50
OUTPUT_LIMIT = 65_535
CONCLUSIONS = (
    "success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required",
)  # fmt: skip


def _app_only(call: Call) -> None:
    if call.caller.app is None:
        raise Refusal(403, "You must authenticate via a GitHub App.")


def _apply(call: Call, check: CheckRun) -> None:
    """Take over what the request says. Raises `Refusal` 422 as GitHub's request validation does."""
    given: dict[str, Any] = call.json
    output = given.get("output") or {}
    annotations = output.get("annotations", [])
    if len(annotations) > ANNOTATIONS:
        size = len(annotations)
        raise Refusal(422, f"Invalid request.\n\nNo more than {ANNOTATIONS} items are allowed; {size} were supplied.")
    for name in ("summary", "text"):
        if len((output.get(name) or "").encode()) > OUTPUT_LIMIT:
            raise Refusal(
                422,
                f"Invalid request.\n\nOnly {OUTPUT_LIMIT} characters are allowed; {len(output[name])} were supplied.",
            )
    if output and not {"title", "summary"} <= output.keys():
        missing = ", ".join(sorted({"title", "summary"} - output.keys()))
        raise Refusal(422, f'Invalid request.\n\n"{missing}" wasn\'t supplied.')
    for one in annotations:
        if one.get("annotation_level") not in ("notice", "warning", "failure") or not one.get("message"):
            raise Refusal(422, "Invalid request.\n\nFor 'allOf/0', an annotation is not valid.")
    conclusion = given.get("conclusion")
    if conclusion is not None and conclusion not in CONCLUSIONS:
        raise Refusal(422, f"Invalid request.\n\n{conclusion} is not a member of the conclusions.")
    if given.get("status") == "completed" and conclusion is None:
        raise Refusal(422, 'Invalid request.\n\n"conclusion" wasn\'t supplied.')
    check.name = given.get("name", check.name)
    check.external_id = given.get("external_id", check.external_id)
    check.details_url = given.get("details_url", check.details_url)
    check.status = "completed" if conclusion else given.get("status", check.status)
    check.conclusion = conclusion if check.status == "completed" else None
    check.output |= {name: value for name, value in output.items() if name != "annotations"}
    check.annotations += annotations
    if check.status != "queued":
        check.started_at = check.started_at or call.world.now()
    check.completed_at = call.world.now() if check.status == "completed" else None


@route("POST", "/repos/{owner}/{repo}/check-runs", needs=WRITE, role="write", by="account")
def create_check(call: Call) -> Answer:
    _app_only(call)
    sha, name = call.text("head_sha"), call.text("name")
    if not sha or not name:
        raise Refusal(422, 'Invalid request.\n\n"head_sha", "name" weren\'t supplied.')
    if not bare.has_commit(call.repository.path, sha):
        raise Refusal(422, f"No commit found for SHA: {sha}")
    app = call.caller.app
    assert app is not None
    check = CheckRun(call.world.new_id(), app, name, sha, suite=call.world.new_id())
    _apply(call, check)
    call.repository.checks.append(check)
    call.world.emit("check_run", "created", call.repository, call.account, check=check, only_app=app)
    return Answer(201, render_pulls.check(call.world, call.repository, check))


def _check(call: Call) -> CheckRun:
    for check in call.repository.checks:
        if check.id == int(call.args["check"]):
            return check
    raise Refusal(*NOT_FOUND)


@route("GET", "/repos/{owner}/{repo}/check-runs/{check}", needs=READ)
def read_check(call: Call) -> Answer:
    return Answer(200, render_pulls.check(call.world, call.repository, _check(call)))


@route("PATCH", "/repos/{owner}/{repo}/check-runs/{check}", needs=WRITE, role="write", by="account")
def change_check(call: Call) -> Answer:
    _app_only(call)
    check = _check(call)
    if check.app is not call.caller.app:
        raise Refusal(403, "Invalid app_id: a check run can only be modified by the GitHub App that created it.")
    _apply(call, check)
    return Answer(200, render_pulls.check(call.world, call.repository, check))


@route("GET", "/repos/{owner}/{repo}/check-runs/{check}/annotations", needs=READ)
def list_annotations(call: Call) -> Answer:
    blank = {
        "start_column": None,
        "end_column": None,
        "title": None,
        "raw_details": None,
        "blob_href": call.world.origin,
    }
    return call.page(_check(call).annotations, lambda one: blank | one)


@route("POST", "/repos/{owner}/{repo}/check-runs/{check}/rerequest", needs=WRITE, role="write", by="account")
def rerequest_check(call: Call) -> Answer:
    acts.rerequest(call.world, call.repository, _check(call), call.account)
    return Answer(201, {})


@route("GET", "/repos/{owner}/{repo}/commits/{ref}/check-runs", needs=READ)
def list_checks(call: Call) -> Answer:
    ref = call.args["ref"]
    sha = bare.head(call.repository.path, ref) or ref
    shown = [
        check
        for check in call.world.visible(call.repository.checks, "checks")
        if check.head_sha == sha
        and call.query.get("check_name", check.name) == check.name
        and call.query.get("app_id", str(check.app.id)) == str(check.app.id)
        and call.query.get("status", check.status) == check.status
    ]
    return call.page(shown, partial(render_pulls.check, call.world, call.repository), wrap="check_runs")
