"""The REST API's Apps, installations, tokens, deliveries, accounts and limits; and the page that makes an App."""

from __future__ import annotations

import json
from functools import partial

from tests.fakes.github_server import render, render_pulls
from tests.fakes.github_server.access import LEVELS, count
from tests.fakes.github_server.exchange import NOT_FOUND, Answer, Call, Refusal, route
from tests.fakes.github_server.state import App, Delivery, Installation
from tests.fakes.github_server.world import World


def _own_app(call: Call) -> App:
    assert call.caller.app is not None
    return call.caller.app


@route("GET", "/app", by="app")
def read_app(call: Call) -> Answer:
    app = _own_app(call)
    count = sum(one.app is app and not one.deleted for one in call.world.installations.values())
    return Answer(200, render.app(call.world, app) | {"installations_count": count})


@route("GET", "/app/installations", by="app")
def list_installations(call: Call) -> Answer:
    shown = [one for one in call.world.installations.values() if one.app is _own_app(call) and not one.deleted]
    return call.page(shown, partial(render.installation, call.world))


def _installation(call: Call) -> Installation:
    found = call.world.installations.get(int(call.args["installation"]))
    if found is None or found.app is not _own_app(call) or found.deleted:
        raise Refusal(*NOT_FOUND)
    return found


@route("GET", "/app/installations/{installation}", by="app")
def read_installation(call: Call) -> Answer:
    return Answer(200, render.installation(call.world, _installation(call)))


@route("GET", "/repos/{owner}/{repo}/installation", by="app")
def installation_of_repository(call: Call) -> Answer:
    found = call.world.installation_on(_own_app(call), call.repository)
    if found is None:
        raise Refusal(*NOT_FOUND)
    return Answer(200, render.installation(call.world, found))


@route("POST", "/app/installations/{installation}/access_tokens", by="app")
def create_access_token(call: Call) -> Answer:
    installation = _installation(call)
    if installation.suspended_at:
        raise Refusal(403, "This installation has been suspended")
    wanted = call.json or {}
    permissions = wanted.get("permissions") or dict(installation.permissions)
    for name, level in permissions.items():
        if LEVELS.index(installation.permissions.get(name, "none")) < LEVELS.index(level):
            raise Refusal(422, "The permissions requested are not granted to this installation.")
    repositories = _narrowed(call, installation, wanted)
    token = call.world.create_token(
        installation.app.bot, "installation", {"metadata": "read"} | permissions,
        repositories=repositories, installation=installation,
    )  # fmt: skip
    token.expires_at = call.world.now() + call.world.token_life
    body = {"token": token.value, "expires_at": render.when(token.expires_at), "permissions": token.permissions}
    body["repository_selection"] = "selected"
    if repositories is not None:
        body["repositories"] = [
            render.repository(call.world, call.world.repositories[one]) for one in sorted(repositories)
        ]
    return Answer(201, body)


def _narrowed(call: Call, installation: Installation, wanted: dict[str, object]) -> set[int] | None:
    names, ids = wanted.get("repositories"), wanted.get("repository_ids")
    if names is None and ids is None:
        return None
    reached = {call.world.repositories[one].name.lower(): one for one in installation.repositories}
    chosen = {reached.get(str(name).lower()) for name in names or ()} | set(ids or ())  # type: ignore[call-overload]
    if not chosen <= installation.repositories:
        raise Refusal(
            422, "There is at least one repository that does not exist or is not accessible to the parent installation."
        )
    return {one for one in chosen if one is not None}


@route("GET", "/installation/repositories", by="installation")
def list_installation_repositories(call: Call) -> Answer:
    installation, token = call.caller.installation, call.caller.token
    assert installation is not None
    assert token is not None
    chosen = installation.repositories & (token.repositories or installation.repositories)
    shown = [call.world.repositories[one] for one in sorted(chosen)]
    answer = call.page(shown, partial(render.repository, call.world), wrap="repositories")
    return Answer(200, answer.body | {"repository_selection": "selected"}, answer.headers)


@route("DELETE", "/installation/token", by="installation")
def revoke_token(call: Call) -> Answer:
    assert call.caller.token is not None
    call.caller.token.revoked = True
    return Answer(204)


@route("GET", "/app/hook/deliveries", by="app")
def list_deliveries(call: Call) -> Answer:
    """Newest first, paged by a cursor and not by numbers."""
    shown = [one for one in reversed(call.world.deliveries) if one.app is _own_app(call)]
    if cursor := call.query.get("cursor"):
        shown = [one for one in shown if one.id < int(cursor.removeprefix("v1_"))]
    size = min(int(call.query.get("per_page", "30")), 100)
    headers = {}
    if len(shown) > size:
        target = f"{call.world.api}/app/hook/deliveries?per_page={size}&cursor=v1_{shown[size - 1].id}"
        headers["Link"] = f'<{target}>; rel="next"'
    return Answer(200, [render_pulls.delivery(call.world, one) for one in shown[:size]], headers)


def _delivery(call: Call) -> Delivery:
    for one in call.world.deliveries:
        if one.id == int(call.args["delivery"]) and one.app is _own_app(call):
            return one
    raise Refusal(*NOT_FOUND)


@route("GET", "/app/hook/deliveries/{delivery}", by="app")
def read_delivery(call: Call) -> Answer:
    return Answer(200, render_pulls.delivery(call.world, _delivery(call), full=True))


@route("POST", "/app/hook/deliveries/{delivery}/attempts", by="app")
def redeliver(call: Call) -> Answer:
    call.world.redeliver(_delivery(call))
    return Answer(202, {})


@route("POST", "/app-manifests/{code}/conversions")
def convert_manifest(call: Call) -> Answer:
    """Make the App of a manifest: once only, and only within the hour."""
    made = call.world.manifests.pop(call.args["code"], None)
    if made is None:
        raise Refusal(*NOT_FOUND)
    owner, manifest = made
    hook = manifest.get("hook_attributes") or {}
    app = call.world.create_app(
        str(manifest.get("name", "")).lower().replace(" ", "-"),
        owner=owner.login,
        permissions=dict(manifest.get("default_permissions") or {}),  # type: ignore[call-overload]
        events=list(manifest.get("default_events") or []),  # type: ignore[call-overload]
        secret=f"{call.world.new_id():040x}",
        hook=hook.get("url"),  # type: ignore[attr-defined]
    )
    app.name = str(manifest["name"])
    secrets = {
        "client_id": app.client_id, "client_secret": app.client_secret, "webhook_secret": app.hook_secret,
        "pem": app.private_key,
    }  # fmt: skip
    return Answer(201, render.app(call.world, app) | secrets)


def register_manifest(world: World, owner: str, manifest: str, state: str) -> str:
    """What the button on the page 'Create GitHub App from manifest' does; gives the address to go back to."""
    wanted = json.loads(manifest)
    code = f"{world.new_id():040x}"
    world.manifests[code] = (world.account(owner), wanted)
    joint = "&" if "?" in wanted["redirect_url"] else "?"
    return f"{wanted['redirect_url']}{joint}code={code}&state={state}"


@route("GET", "/users/{login}")
def read_user(call: Call) -> Answer:
    account = call.world.accounts.get(call.args["login"].lower())
    if account is None:
        raise Refusal(*NOT_FOUND)
    return Answer(200, render.public_user(call.world, account))


@route("GET", "/user", by="account")
def read_own_user(call: Call) -> Answer:
    assert call.caller.token is not None
    if call.caller.token.kind in ("installation", "actions"):
        raise Refusal(403, "Resource not accessible by integration")
    return Answer(200, render.public_user(call.world, call.account))


@route("GET", "/rate_limit")
def read_limits(call: Call) -> Answer:
    now = count(call.world, call.caller, free=True)
    spelled = {name: int(now[f"X-RateLimit-{name.title()}"]) for name in ("limit", "remaining", "used", "reset")}
    return Answer(200, {"resources": {"core": spelled, "search": spelled}, "rate": spelled})
