"""The stand-in as an HTTP server in a thread of its own."""

from __future__ import annotations

import hashlib
import json
import re
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, parse_qsl, unquote

import anyio
import anyio.to_thread
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.fakes.github_server import acts, git_http, graphql, routes_apps
from tests.fakes.github_server import routes_checks as _checks
from tests.fakes.github_server import routes_issues as _issues
from tests.fakes.github_server import routes_pulls as _pulls
from tests.fakes.github_server import routes_repositories as _repositories
from tests.fakes.github_server.access import admit, check_limits, count, identify
from tests.fakes.github_server.exchange import NOT_FOUND, Answer, Call, Caller, Refusal, find
from tests.fakes.github_server.faults import Fault, Faults
from tests.fakes.github_server.webhooks import Hooks
from tests.fakes.github_server.world import World

ROUTED = (_checks, _issues, _pulls, _repositories, routes_apps)
"""The modules whose import fills the table of routes."""
API, GRAPHQL = "/api/v3", "/api/graphql"
APP_PAGE = re.compile(r"(?:/organizations/(?P<organization>[^/]+))?/settings/apps/new")
METHODS = ["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE"]
MAX_BODY = 25 * 1024 * 1024


@dataclass(frozen=True)
class Seen:
    """A request that was answered: `at` in seconds of a monotonic clock, `who` a login or an App's slug."""

    method: str
    path: str
    status: int
    at: float
    who: str | None
    permissions: Mapping[str, str]
    body: Any


class GitHubServer:
    """A GitHub of one's own: `with GitHubServer(folder) as github`. Its `world` is the state, its people `acts`."""

    def __init__(self, folder: Path) -> None:
        self.world = World(folder)
        self.faults = Faults()
        self.hooks = Hooks(self.world)
        self.seen: list[Seen] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.world.origin = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.world.emit = self.hooks.emit
        self.world.redeliver = self.hooks.redeliver
        application = Starlette(routes=[Route("/{path:path}", self._endpoint, methods=METHODS)])
        config = uvicorn.Config(application, log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
        self._uvicorn = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._uvicorn.run, kwargs={"sockets": [self._socket]}, daemon=True)

    @property
    def api(self) -> str:
        """The base URL of the REST API."""
        return self.world.api

    def __enter__(self) -> GitHubServer:
        self._thread.start()
        while not self._uvicorn.started:
            time.sleep(0.005)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._uvicorn.should_exit = True
        self._thread.join(10)
        self.hooks.close()
        self._socket.close()

    def requests(self, method: str, path: str) -> list[Seen]:
        """The answered requests with that method whose whole path (after `/api/v3`) matches the pattern."""
        return [one for one in self.seen if one.method == method and re.fullmatch(path, one.path)]

    async def _endpoint(self, request: Request) -> Response:
        raw = request.scope["raw_path"].decode().partition("?")[0]
        body = await request.body()
        fault = self.faults.take(request.method, raw)
        if fault is not None:
            if fault.call is not None:
                await anyio.to_thread.run_sync(fault.call)
            if fault.hang and not fault.after:
                await anyio.sleep(fault.hang)
        response = await anyio.to_thread.run_sync(self._respond, request, raw, body, fault)
        if fault is not None and fault.after:
            await anyio.sleep(fault.hang)
        return response

    def _respond(self, request: Request, raw: str, body: bytes, fault: Fault | None) -> Response:
        instead = fault.answer() if fault else None
        if instead is not None and fault is not None and not fault.after:
            return self._finish(request, raw, Caller(), instead, body)
        if match := git_http.PATH.fullmatch(unquote(raw)):
            response = self._git(match, request, raw, body)
            return response if instead is None else Response(status_code=instead.status)
        if (page := APP_PAGE.fullmatch(raw)) and request.method == "POST":
            return self._create_app(page["organization"] or "somebody", request, body)
        with self.world.lock:
            caller, answer = self._rest(request, raw, body)
            return self._finish(request, raw, caller, instead or answer, body)

    def _create_app(self, owner: str, request: Request, body: bytes) -> Response:
        """The page on which somebody makes an App from a manifest, and the click on its button at once."""
        [manifest] = parse_qs(body.decode())["manifest"]
        with self.world.lock:
            target = routes_apps.register_manifest(self.world, owner, manifest, request.query_params.get("state", ""))
        return Response(status_code=302, headers={"Location": target})

    def _git(self, match: re.Match[str], request: Request, raw: str, body: bytes) -> Response:
        answer, touched, caller = git_http.serve(
            self.world, match, request.method, request.url.query, request.headers, body
        )
        if touched is not None and caller.account is not None:
            with self.world.lock:
                acts.follow_branches(self.world, touched, caller.account)
        self._note(request, raw, caller, answer.status, None)
        return Response(answer.body, answer.status, dict(answer.headers))

    def _rest(self, request: Request, raw: str, body: bytes) -> tuple[Caller, Answer]:
        caller = Caller()
        try:
            caller = identify(self.world, request.headers.get("authorization"))
            check_limits(self.world, caller, request.method)
            return caller, self._dispatch(caller, request, raw, body)
        except Refusal as refusal:
            return caller, refusal.answer

    def _dispatch(self, caller: Caller, request: Request, raw: str, body: bytes) -> Answer:
        if "user-agent" not in request.headers:
            raise Refusal(
                403, "Request forbidden by administrative rules. Please make sure your request has a User-Agent"
            )
        if len(body) > MAX_BODY:
            raise Refusal(413, "Payload too large")
        try:
            content = json.loads(body) if body else {}
        except ValueError:
            raise Refusal(400, "Problems parsing JSON") from None
        query = dict(parse_qsl(request.url.query, keep_blank_values=True))
        path = raw.removeprefix(API)
        if raw == GRAPHQL and request.method == "POST":
            if caller.token is None:
                raise Refusal(401, "This endpoint requires you to be authenticated.")
            return graphql.answer(Call(self.world, caller, "POST", raw, query, request.headers, content))
        if not raw.startswith(API + "/"):
            raise Refusal(*NOT_FOUND)
        path = self._by_id(path)
        known, args = find(request.method, path)
        call = Call(self.world, caller, request.method, path, query, request.headers, content)
        call.args = {name: unquote(value) for name, value in args.items()}
        if "owner" in args:
            repository = self.world.repository(f"{call.args['owner']}/{call.args['repo']}")
            if repository is None:
                raise Refusal(*NOT_FOUND)
            call.repository = repository
        admit(call, known)
        if "owner" in args and f"{call.args['owner']}/{call.args['repo']}".lower() != call.repository.full_name.lower():
            return self._moved(call, path)
        return known.handler(call)

    def _by_id(self, path: str) -> str:
        """The path by name of a path by id, to which redirects lead."""
        match = re.fullmatch(r"/repositories/(\d+)(.*)", path)
        found = self.world.repositories.get(int(match[1])) if match else None
        return f"/repos/{found.full_name}{match[2]}" if match and found else path

    def _moved(self, call: Call, path: str) -> Answer:
        rest = path.split("/", 4)[4:]
        target = f"{self.world.api}/repositories/{call.repository.id}" + "".join(f"/{part}" for part in rest)
        status, message = (301, "Moved Permanently") if call.method == "GET" else (307, "Temporary Redirect")
        return Answer(status, {"message": message, "url": target}, {"Location": target})

    def _finish(self, request: Request, raw: str, caller: Caller, answer: Answer, body: bytes) -> Response:
        content = b"" if answer.body is None else json.dumps(answer.body).encode()
        tag = f'W/"{hashlib.sha256(content).hexdigest()}"'
        status = answer.status
        if request.method == "GET" and status == 200 and tag in request.headers.get("if-none-match", ""):
            status, content = 304, b""
        headers = {
            "Content-Type": "application/json; charset=utf-8",
            "X-GitHub-Media-Type": "github.v3; format=json",
            "X-GitHub-Request-Id": f"{self.world.new_id():X}",
            **count(self.world, caller, free=status == 304),
            **({"ETag": tag, "Cache-Control": "private, max-age=60, s-maxage=60"} if answer.status == 200 else {}),
            **(
                {"X-OAuth-Scopes": ", ".join(caller.token.scopes)}
                if caller.token and caller.token.kind == "classic"
                else {}
            ),
            **answer.headers,
        }
        if status in (204, 304):
            headers.pop("Content-Type")
        self._note(request, raw, caller, status, body)
        return Response(content, status, headers)

    def _note(self, request: Request, raw: str, caller: Caller, status: int, body: bytes | None) -> None:
        who = caller.account.login if caller.account else (caller.app.slug if caller.app else None)
        permissions = dict(caller.token.permissions) if caller.token else {}
        try:
            content = json.loads(body) if body else None
        except ValueError:
            content = None
        path = raw.removeprefix(API)
        self.seen.append(Seen(request.method, path, status, time.monotonic(), who, permissions, content))
