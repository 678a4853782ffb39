"""Who is asking, and whether they may: tokens, App JWTs, permissions, roles, rate limits."""

from __future__ import annotations

import base64
import binascii
import time

import jwt

from tests.fakes.github_server.exchange import NOT_FOUND, Call, Caller, Refusal, Route
from tests.fakes.github_server.state import ROLES, App, Bucket, Repository, Token
from tests.fakes.github_server.world import World

LEVELS = ("none", "read", "write", "admin")
LIMITS = {"installation": 5000, "classic": 5000, "fine-grained": 5000, "actions": 1000}


def identify(world: World, authorization: str | None) -> Caller:
    """The caller behind an `Authorization` header of the API. Raises `Refusal` 401."""
    if not authorization:
        return Caller()
    scheme, _, value = authorization.partition(" ")
    if scheme.lower() == "basic":
        value = basic_password(authorization) or ""
    if value.count(".") == 2 and not value.startswith("gh"):
        return Caller(app=_app_of(world, value))
    token = live_token(world, value)
    if token is None:
        raise Refusal(401, "Bad credentials")
    return caller_of(world, token)


def caller_of(world: World, token: Token) -> Caller:
    """Who a live token speaks for. A job's token belongs to the App that GitHub itself runs for Actions."""
    app = world.actions if token.kind == "actions" else (token.installation.app if token.installation else None)
    return Caller(token.account, token, app, token.installation)


def basic_password(authorization: str | None) -> str | None:
    """The password of a Basic header; the user name never matters to GitHub."""
    scheme, _, value = (authorization or "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        return base64.b64decode(value).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return None


def live_token(world: World, value: str) -> Token | None:
    """The token of that value if it still works."""
    token = world.tokens.get(value)
    if token is None or token.revoked or (token.expires_at is not None and token.expires_at <= world.now()):
        return None
    if token.installation is not None and (token.installation.deleted or token.installation.suspended_at):
        return None
    return token


def _app_of(world: World, value: str) -> App:
    """The App that signed the JWT, which must be RS256 and live for at most ten minutes."""
    try:
        claimed = jwt.decode(value, options={"verify_signature": False, "verify_exp": False, "verify_iat": False})
    except jwt.PyJWTError:
        raise Refusal(401, "A JSON web token could not be decoded") from None
    for app in world.apps.values():
        if str(claimed.get("iss")) in (str(app.id), app.client_id):
            break
    else:
        raise Refusal(401, "Integration not found")
    try:
        claims = jwt.decode(
            value, app.public_key, algorithms=["RS256"], options={"verify_exp": False, "verify_iat": False}
        )
    except jwt.PyJWTError:
        raise Refusal(401, "A JSON web token could not be decoded") from None
    now = time.time()
    if claims["exp"] <= now:
        raise Refusal(
            401,
            "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the "
            "assertion expires",
        )
    if claims["exp"] > now + 600:
        raise Refusal(401, "'Expiration time' claim ('exp') is too far in the future")
    if claims["iat"] > now + 60:
        raise Refusal(
            401, "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"
        )
    return app


def permission(caller: Caller, name: str) -> str:
    """The level that an installation's, an Actions or a fine-grained token has for one permission."""
    assert caller.token is not None
    return caller.token.permissions.get(name, "none")


def satisfies(caller: Caller, needs: str) -> bool:
    """Whether the token has one of the alternatives of `needs`, such as `issues=write; pull_requests=write`."""
    for alternative in needs.split(";"):
        pairs = [part.strip().partition("=") for part in alternative.split(",")]
        if all(LEVELS.index(permission(caller, name)) >= LEVELS.index(level) for name, _, level in pairs):
            return True
    return False


def reaches(world: World, caller: Caller, repository: Repository) -> bool:
    """Whether the caller may know that the repository exists."""
    token = caller.token
    if token is None:
        return not repository.private
    if token.installation is not None:
        chosen = token.repositories if token.repositories is not None else token.installation.repositories
        return repository.id in chosen & token.installation.repositories or not repository.private
    if token.repositories is not None and repository.id not in token.repositories:
        return not repository.private
    return token.kind == "actions" or world.has_role(repository, token.account, "read")


def admit(call: Call, route: Route) -> None:
    """Let the call through to its route, or raise the `Refusal` that GitHub would answer with."""
    caller = call.caller
    if route.by == "app":
        if caller.app is None or caller.token is not None:
            raise Refusal(401, "A JSON web token could not be decoded")
        return
    if caller.app is not None and caller.token is None:
        raise (
            Refusal(401, "Requires authentication")
            if route.by != "anyone"
            else Refusal(403, "Resource not accessible by integration")
        )
    if route.by == "installation" and caller.installation is None:
        raise Refusal(
            403,
            "You must authenticate with an installation access token in order to list repositories for an "
            "installation.",
        )
    if route.by == "account" and caller.token is None:
        raise Refusal(401, "Requires authentication")
    if "owner" in call.args:
        _admit_to_repository(call, route)


def _admit_to_repository(call: Call, route: Route) -> None:
    caller, repository = call.caller, call.repository
    if not reaches(call.world, caller, repository):
        raise Refusal(*NOT_FOUND)
    token = caller.token
    if token is None:
        return
    writes = "=write" in route.needs
    headers = {"X-Accepted-GitHub-Permissions": route.needs} if route.needs else {}
    if token.kind in ("installation", "actions"):
        narrowed = (
            token.repositories
            if token.repositories is not None
            else (token.installation.repositories if token.installation else None)
        )
        foreign = narrowed is not None and repository.id not in narrowed
        if route.needs and (
            (foreign and (writes or repository.private)) or (not foreign and not satisfies(caller, route.needs))
        ):
            raise Refusal(403, "Resource not accessible by integration", headers=headers)
    elif token.kind == "fine-grained" and route.needs and not satisfies(caller, route.needs):
        raise Refusal(403, "Resource not accessible by personal access token", headers=headers)
    elif token.kind == "classic" and writes and not {"repo", "public_repo"} & set(token.scopes):
        raise Refusal(*NOT_FOUND)
    if token.installation is None and token.kind != "actions":
        role = call.world.role(repository, token.account)
        if ROLES.index(role) < ROLES.index(route.role):
            raise Refusal(*((403, "Must have admin rights to Repository.") if route.method != "GET" else NOT_FOUND))
    if writes and repository.archived:
        raise Refusal(403, "Repository was archived so is read-only.")


def bucket(world: World, caller: Caller) -> Bucket:
    """Where the caller's requests are counted, in windows of an hour."""
    if caller.token is not None:
        key, limit = caller.token.value, LIMITS[caller.token.kind]
    else:
        key, limit = (caller.app.slug, 5000) if caller.app is not None else ("", 60)
    found = world.buckets.setdefault(key, Bucket(limit))
    if found.window_ends <= time.time():
        found.used, found.window_ends = 0, int(time.time()) + 3600
    return found


def count(world: World, caller: Caller, *, free: bool) -> dict[str, str]:
    """Count a request against the primary limit and give the headers that say where it stands."""
    its = bucket(world, caller)
    if not free and its.used < its.limit:
        its.used += 1
    return {
        "X-RateLimit-Limit": str(its.limit),
        "X-RateLimit-Remaining": str(its.limit - its.used),
        "X-RateLimit-Used": str(its.used),
        "X-RateLimit-Reset": str(its.window_ends),
        "X-RateLimit-Resource": "core",
    }


def check_limits(world: World, caller: Caller, method: str) -> None:
    """Raise the `Refusal` of the primary limit, or of the secondary one on the creation of content."""
    its = bucket(world, caller)
    if its.used >= its.limit:
        who = caller.account.id if caller.account else 0
        raise Refusal(403, f"API rate limit exceeded for user ID {who}.")
    if method == "POST":
        now = time.monotonic()
        its.writes = [at for at in its.writes if at > now - 60] + [now]
        if len(its.writes) > world.forbid_writes_per_minute:
            raise Refusal(
                403,
                "You have exceeded a secondary rate limit and have been temporarily blocked from content creation. "
                "Please retry your request again later.",
                headers={"Retry-After": "60"},
            )
