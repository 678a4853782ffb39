"""The webhooks that the stand-in sends: GitHub's recorded payloads with fields changed, signed like GitHub's."""

from __future__ import annotations

import copy
import functools
import hashlib
import hmac
import json
import time
import uuid
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import requests

from tests.fakes.github_server import render, render_pulls
from tests.fakes.github_server.state import Account, App, Delivery, Installation, Issue, Repository, ReviewComment
from tests.fakes.github_server.world import World

RECORDED = Path(__file__).parents[2] / "data" / "webhooks" / "recorded.json"
SECONDS = 10
"""GitHub cuts the connection after ten seconds."""
SAME_SHAPE = {
    "issues.closed": "issues.reopened",
    "pull_request.reopened": "pull_request.closed",
    "issue_comment.deleted": "issue_comment.created",
}


@functools.cache
def _recorded() -> dict[str, Any]:
    return dict(json.loads(RECORDED.read_text("utf-8")))


def recorded(event: str, action: str | None) -> dict[str, Any] | None:
    """A copy of the recorded payload of that event and action, or of one with the same fields; None if none is kept."""
    name = f"{event}.{action}" if action else event
    found = _recorded().get(SAME_SHAPE.get(name, name))
    return None if found is None else copy.deepcopy(found) | ({"action": action} if action else {})


def changed(value: Any, changes: Any) -> Any:
    """`value` with the fields of `changes` put in at every depth."""
    if isinstance(value, dict) and isinstance(changes, dict):
        return value | {name: changed(value.get(name), new) for name, new in changes.items()}
    return changes


def headers(event: str, body: bytes, *, secret: str | None, guid: str, target: int = 1) -> dict[str, str]:
    """The headers of a delivery; without a secret there is no signature, as on GitHub."""
    plain = {
        "Content-Type": "application/json",
        "User-Agent": "GitHub-Hookshot/4c2e1f0",
        "Accept": "*/*",
        "X-GitHub-Delivery": guid,
        "X-GitHub-Event": event,
        "X-GitHub-Hook-ID": "401",
        "X-GitHub-Hook-Installation-Target-ID": str(target),
        "X-GitHub-Hook-Installation-Target-Type": "integration",
    }
    if secret is None:
        return plain
    key = secret.encode()
    return plain | {
        "X-Hub-Signature": "sha1=" + hmac.new(key, body, hashlib.sha1).hexdigest(),
        "X-Hub-Signature-256": "sha256=" + hmac.new(key, body, hashlib.sha256).hexdigest(),
    }


def payload(
    world: World, event: str, action: str, repository: Repository, sender: Account, **parts: Any
) -> dict[str, Any] | None:
    """The payload of an event, None for one of which no recording is kept."""
    base = recorded(event, action)
    if base is None:
        return None
    fields: dict[str, Any] = {
        "repository": render.repository(world, repository),
        "sender": render.user(world, sender),
    }
    issue: Issue | None = parts.get("issue")
    if issue is not None and event in ("issues", "issue_comment"):
        fields["issue"] = render.issue(world, repository, issue)
    elif issue is not None:
        shown = render_pulls.full_pull if event == "pull_request" else render_pulls.pull
        fields["pull_request"] = shown(world, repository, issue)
        fields |= {"number": issue.number} if event == "pull_request" else {}
    if label := parts.get("label"):
        fields["label"] = render.label(world, repository, label)
    if comment := parts.get("comment"):
        remark = isinstance(comment, ReviewComment)
        rendered = render_pulls.remark if remark else render.comment
        fields["comment"] = rendered(world, repository, issue, comment)  # type: ignore[operator]
    if review := parts.get("review"):
        fields["review"] = render_pulls.review(world, repository, issue, review) | {"state": review.state.lower()}  # type: ignore[arg-type]
    if check := parts.get("check"):
        fields["check_run"] = render_pulls.check(world, repository, check)
        fields["check_run"]["check_suite"] |= {"head_sha": check.head_sha}
    if action == "synchronize" and issue is not None and issue.pull is not None:
        fields |= {"before": parts["before"], "after": issue.pull.head_sha}
    return dict(changed(base, fields))


class Hooks:
    """Sends deliveries in the background and remembers what became of each."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.lose = False
        """Whether deliveries are recorded as failed without being sent, as when the listener is away."""
        self._pool = ThreadPoolExecutor(8, thread_name_prefix="hookshot")
        self._sent: list[Future[None]] = []

    def emit(
        self,
        event: str,
        action: str,
        repository: Repository,
        sender: Account,
        *,
        only_app: App | None = None,
        **parts: Any,
    ) -> None:
        """Send an event to every App that is installed on the repository and subscribed to it."""
        for app in self.world.apps.values():
            installation = self.world.installation_on(app, repository)
            if installation is None or event not in app.events or only_app not in (None, app) or not app.hook_url:
                continue
            content = payload(self.world, event, action, repository, sender, **parts)
            if content is not None:
                self._deliver(app, installation, repository, event, content)

    def emit_installation(
        self, event: str, action: str, installation: Installation, sender: Account, repositories: list[Repository]
    ) -> None:
        """Send an event about the installation itself, which every App gets."""
        content = recorded(event, action)
        if content is None or not installation.app.hook_url:
            return
        brief = [
            {
                name: render.repository(self.world, one)[name]
                for name in ("id", "node_id", "name", "full_name", "private")
            }
            for one in repositories
        ]
        place = "repositories" if event == "installation" else f"repositories_{action}"
        fields = {
            "installation": render.installation(self.world, installation),
            "sender": render.user(self.world, sender),
            place: brief,
        }
        self._deliver(installation.app, installation, None, event, changed(content, fields))

    def _deliver(
        self, app: App, installation: Installation, repository: Repository | None, event: str, content: dict[str, Any]
    ) -> None:
        if repository is not None:
            content["installation"] = {"id": installation.id, "node_id": render.node("IN", installation.id)}
        body = json.dumps(content).encode()
        guid = str(uuid.uuid4())
        made = headers(event, body, secret=app.hook_secret, guid=guid, target=app.id)
        self._send(
            Delivery(
                self.world.new_id(),
                guid,
                app,
                event,
                content.get("action"),
                installation,
                repository,
                self.world.now(),
                False,
                made,
                body,
            )
        )

    def redeliver(self, earlier: Delivery) -> Delivery:
        """Send a delivery again: a new delivery with the same GUID, body and signature."""
        again = Delivery(
            self.world.new_id(), earlier.guid, earlier.app, earlier.event, earlier.action, earlier.installation,
            earlier.repository, self.world.now(), True, earlier.headers, earlier.body,
        )  # fmt: skip
        self._send(again)
        return again

    def _send(self, delivery: Delivery) -> None:
        self.world.deliveries.append(delivery)
        if self.lose:
            delivery.status, delivery.status_code = "failed to connect to host", 502
            return
        self._sent.append(self._pool.submit(self._post, delivery))

    def _post(self, delivery: Delivery) -> None:
        assert delivery.app.hook_url is not None
        began = time.monotonic()
        try:
            answer = requests.post(
                delivery.app.hook_url,
                data=delivery.body,
                headers=delivery.headers,
                timeout=SECONDS,
                allow_redirects=False,
            )
            delivery.status_code, delivery.answer = answer.status_code, answer.text
            delivery.status = "OK" if answer.ok else "Invalid HTTP Response: " + str(answer.status_code)
        except requests.Timeout:
            delivery.status, delivery.status_code = "timed out", 504
        except requests.RequestException:
            delivery.status, delivery.status_code = "failed to connect to host", 502
        delivery.duration = time.monotonic() - began

    def settle(self) -> None:
        """Wait until everything that was sent so far has been answered or given up."""
        while self._sent:
            self._sent.pop(0).result()

    def close(self) -> None:
        """Send nothing more."""
        self._pool.shutdown(cancel_futures=True)
