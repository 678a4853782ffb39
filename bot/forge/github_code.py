"""The git side of a repository on GitHub."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Mapping
from typing import TypeVar
from urllib.parse import quote, urlsplit

from bot.errors import Refused
from bot.forge.connection import named
from bot.forge.github_session import Session
from bot.forge.identity import Phase
from bot.forge.port import Moved, NotThere, Unavailable
from repo_tools import remotes
from repo_tools.checkout import Repository
from repo_tools.commits import Signature
from repo_tools.errors import AccessDenied, BranchMoved, GitFailed, PushRefused
from repo_tools.remotes import Remote

NOTES = "agent-fix"
_HINTS: Mapping[str, str] = {
    "without `workflows` permission": "A change to a workflow is for a person to make: leave those files out.",
    "without `workflow` scope": "A change to a workflow is for a person to make: leave those files out.",
    "protected branch hook declined": "A rule protects this branch: exempt `agent-fix/*` from it, or let the bot push.",
    "push declined due to repository rule violations": "A rule of the repository forbids it: exempt `agent-fix/*`.",
}
Result = TypeVar("Result")


class GitHubCode:
    """`bot.forge.port.Code` on GitHub."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def default_branch(self) -> str:
        """See the port."""
        return self._session.default_branch

    def file(self, path: str) -> str | None:
        """See the port."""
        try:
            with named(f"Reading {path}"):
                found = self._session.get("contents", quote(path))
        except NotThere:
            return None
        # A folder is listed; a submodule, and a link that leads to no file here, have no content.
        if not isinstance(found, dict) or "content" not in found:
            return None
        return base64.b64decode(found["content"]).decode("utf-8", "replace")

    def remote(self) -> Remote:
        """See the port."""
        return self._remote(Phase.CLONE)

    def branches(self, prefix: str) -> dict[str, str]:
        """See the port."""
        with named(f"Listing the branches {prefix}*"):
            refs = self._session.on(Phase.READ).get_git_matching_refs(f"heads/{prefix}")
            return {it.ref.removeprefix("refs/heads/"): it.object.sha for it in refs}

    def push(self, repository: Repository, commit: str, branch: str, *, expected: str | None) -> None:
        """See the port."""

        def send(remote: Remote) -> None:
            remotes.push(repository, remote, commit, branch, expected=expected)

        self._to_remote(f"Pushing {branch}", send)

    def note(self, repository: Repository, commit: str, text: str) -> None:
        """See the port."""
        signature = Signature(*self._session.author, when=int(time.time()))

        def write(remote: Remote) -> None:
            remotes.push_note(repository, remote, commit, text.encode(), signature, ref=NOTES)

        self._to_remote("Pushing the note", write)

    def _remote(self, phase: Phase) -> Remote:
        """Where the code is, with a token of that phase; by no weaker protocol than the API."""
        api = self._session.shared.api
        trusted = {"http.sslCAInfo": api.certificates} if api.certificates else {}
        token = self._session.shared.identity.token(self._session.name, phase)
        return Remote(self._session.clone_url, token, protocols=(urlsplit(api.url).scheme,), config=trusted)

    def _to_remote(self, what: str, act: Callable[[Remote], None]) -> None:
        """Do something with a remote that may be written to, once more if its token died meanwhile."""
        for renewed in (False, True):
            remote = self._remote(Phase.PUSH)
            try:
                return act(remote)
            except AccessDenied as error:
                died = "Authentication failed" in str(error) and self._session.shared.identity.forget(
                    str(remote.password)
                )
                if renewed or not died:
                    raise Refused(f"{what}: {error}") from error
            except BranchMoved as error:
                raise Moved(f"{what}: {error}.") from error
            except PushRefused as error:
                raise Refused(f"{what}: {error}.{_hint(str(error))}") from error
            except GitFailed as error:
                raise Unavailable(f"{what}: {error}") from error
        raise AssertionError("the second try returns or raises")


def _hint(reason: str) -> str:
    """The reader's next move for the reason in git's parentheses at the end, never for a name before it."""
    said = reason.rpartition("(")[2]
    return next((f" {hint}" for mark, hint in _HINTS.items() if mark in said), "")
