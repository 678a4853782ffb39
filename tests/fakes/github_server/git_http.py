"""git over smart HTTP: real `git http-backend` on the real repository, with GitHub's own rules at the door."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from tests.fakes.github_server.access import LEVELS, basic_password, caller_of, live_token, reaches
from tests.fakes.github_server.exchange import Caller
from tests.fakes.github_server.state import Repository, Token
from tests.fakes.github_server.world import World

PATH = re.compile(
    r"/(?P<owner>[^/]+)/(?P<repo>[^/]+?)(?:\.git)?/(?P<service>info/refs|git-upload-pack|git-receive-pack)"
)


@dataclass(frozen=True)
class GitAnswer:
    """Status, headers and bytes of an answer to git."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def _plain(status: int, text: str, headers: Mapping[str, str] | None = None) -> GitAnswer:
    return GitAnswer(status, {"Content-Type": "text/plain; charset=UTF-8"} | dict(headers or {}), text.encode())


def serve(
    world: World, match: re.Match[str], method: str, query: str, headers: Mapping[str, str], body: bytes
) -> tuple[GitAnswer, Repository | None, Caller]:
    """Answer one request of a git client. The repository is given back if the request may have changed it."""
    pushes = "git-receive-pack" in (match["service"], query.removeprefix("service="))
    password = basic_password(headers.get("authorization"))
    challenge = {"WWW-Authenticate": 'Basic realm="GitHub"'}
    with world.lock:
        repository = world.repository(f"{match['owner']}/{match['repo']}")
        token = live_token(world, password) if password is not None else None
        caller = caller_of(world, token) if token else Caller()
        if password is not None and token is None:
            return (
                _plain(
                    401,
                    "Invalid username or token. Password authentication is not supported for Git operations.\n",
                    challenge,
                ),
                None,
                caller,
            )
        if repository is None or not reaches(world, caller, repository):
            return (_plain(404, "Repository not found.\n") if token else _plain(401, "", challenge)), None, caller
        if f"{match['owner']}/{match['repo']}".lower() != repository.full_name.lower():
            where = f"{world.origin}/{repository.full_name}.git/{match['service']}" + (f"?{query}" if query else "")
            return GitAnswer(301, {"Location": where}, b""), None, caller
        if (refused := _refused(world, repository, token, pushes)) is not None:
            return (_plain(401, "", challenge) if token is None else _plain(403, refused)), None, caller
        extra = _rules(repository, token) if pushes else {}
    answer = _run(repository, match["service"], method, query, headers, body, extra)
    return answer, repository if match["service"] == "git-receive-pack" else None, caller


def _refused(world: World, repository: Repository, token: Token | None, pushes: bool) -> str | None:
    """What GitHub says to somebody who may not do this, None if they may."""
    if token is None:
        return "" if pushes or repository.private else None
    level = LEVELS.index("write" if pushes else "read")
    if token.kind == "classic":
        may = world.has_role(repository, token.account, "write" if pushes else "read") and (
            not pushes or bool({"repo", "public_repo"} & set(token.scopes))
        )
        if not may:
            return f"Permission to {repository.full_name}.git denied to {token.account.login}.\n"
        return None
    chosen = token.repositories
    if chosen is None and token.installation is not None:
        chosen = token.installation.repositories
    has = token.permissions.get("contents", "none") if chosen is None or repository.id in chosen else "none"
    if not pushes and not repository.private:
        return None
    if LEVELS.index(has) < level:
        return "Write access to repository not granted.\n" if pushes else "Repository not found.\n"
    if token.kind == "fine-grained" and not world.has_role(repository, token.account, "write" if pushes else "read"):
        return f"Permission to {repository.full_name}.git denied to {token.account.login}.\n"
    if pushes and repository.archived:
        return "This repository was archived so it is read-only.\n"
    return None


def _rules(repository: Repository, token: Token | None) -> dict[str, str]:
    """What `proc_receive.py` has to know of the pusher."""
    protected = ":".join(f"refs/heads/{name}" for name in sorted(repository.protected))
    rules = {"STAND_IN_PROTECTED": protected}
    assert token is not None
    if token.kind == "classic":
        if "workflow" not in token.scopes:
            rules["STAND_IN_WORKFLOWS"] = "Personal Access Token|workflow|scope"
    elif token.permissions.get("workflows") != "write":
        rules["STAND_IN_WORKFLOWS"] = "GitHub App|workflows|permission"
    return rules


def _run(
    repository: Repository,
    service: str,
    method: str,
    query: str,
    headers: Mapping[str, str],
    body: bytes,
    extra: Mapping[str, str],
) -> GitAnswer:
    """Run `git http-backend` as a web server would, by CGI."""
    environment = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_PROJECT_ROOT": str(repository.path),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": f"/{service}",
        "REQUEST_METHOD": method,
        "QUERY_STRING": query,
        "CONTENT_TYPE": headers.get("content-type", ""),
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_CONTENT_ENCODING": headers.get("content-encoding", ""),
        "REMOTE_USER": "pusher",
        "REMOTE_ADDR": "127.0.0.1",
        **({"GIT_PROTOCOL": headers["git-protocol"]} if "git-protocol" in headers else {}),
        **extra,
    }
    done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env=environment, check=True)
    head, _, content = done.stdout.partition(b"\r\n\r\n")
    shown = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
    return GitAnswer(int(shown.pop("Status", "200").split(" ")[0]), shown, content)
