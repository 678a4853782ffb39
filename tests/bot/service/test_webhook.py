"""The listener: what it takes, what it refuses, and how quickly."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import requests
import uvicorn
from fastapi import FastAPI

from bot.errors import BadInput
from bot.forge.events import PAYLOAD_LIMIT, Rules
from bot.service.desk import NotKept
from bot.service.requests import Occurrence
from bot.service.webhook import application
from tests.fakes.github_server.webhooks import headers, recorded

SECRET = "it is secret"


class Kept:
    """Stands for the database."""

    def __init__(self) -> None:
        self.all: Counter[str] = Counter()

    def __call__(self, it: Occurrence) -> str:
        self.all[it.guid] += 1
        return f"delivery-{it.guid}"


@contextmanager
def listening(app: FastAPI) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0), backlog=200) as found:
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [found]})
        thread.start()
        while not server.started:
            time.sleep(0.005)
        try:
            yield f"http://127.0.0.1:{found.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture
def kept() -> Kept:
    return Kept()


@pytest.fixture
def url(kept: Kept) -> Iterator[str]:
    with listening(application(SECRET, Rules(), kept)) as address:
        yield address


def labelled() -> bytes:
    payload = recorded("issues", "labeled")
    assert payload is not None
    payload["label"]["name"] = "agent:fix"
    payload["issue"]["state"] = "open"
    payload["sender"]["type"] = "User"
    payload["issue"].pop("pull_request", None)
    return json.dumps(payload).encode()


def deliver(
    url: str, body: bytes, guid: str = "g1", secret: str | None = SECRET, event: str = "issues"
) -> requests.Response:
    return requests.post(
        f"{url}/webhook", data=body, headers=headers(event, body, secret=secret, guid=guid), timeout=10
    )


def test_a_label_is_kept_and_answered_with_its_key(url: str, kept: Kept) -> None:
    answer = deliver(url, labelled())
    assert (answer.status_code, answer.json()["key"]) == (202, "delivery-g1")
    assert kept.all == {"g1": 1}


def test_what_does_not_matter_is_taken_and_not_kept(url: str, kept: Kept) -> None:
    body = labelled().replace(b"agent:fix", b"agent:fixes")
    answer = deliver(url, body)
    assert (answer.status_code, answer.json()["key"]) == (202, None)
    assert deliver(url, b"{}", event="watch").status_code == 202
    assert not kept.all


@pytest.mark.parametrize("secret", [None, "another"])
def test_what_is_not_signed_is_refused(url: str, kept: Kept, secret: str | None) -> None:
    answer = deliver(url, labelled(), secret=secret)
    assert answer.status_code == 401
    assert not kept.all


def test_what_is_signed_but_nonsense_is_refused(url: str, kept: Kept) -> None:
    assert deliver(url, b"[]").status_code == 400
    assert deliver(url, b"\xff\x00").status_code == 400
    assert not kept.all


@pytest.mark.parametrize("chunked", [False, True])
def test_more_than_github_sends_is_refused(url: str, chunked: bool) -> None:
    body = b"x" * (PAYLOAD_LIMIT + 1)
    data = iter([body]) if chunked else body
    try:
        answer = requests.post(f"{url}/webhook", data=data, headers={"X-GitHub-Event": "issues"}, timeout=20)
        assert answer.status_code == 413
    except requests.ConnectionError:
        pass  # it hung up before all of it was sent, which is as good


def test_without_secret_it_does_not_start(kept: Kept) -> None:
    with pytest.raises(BadInput, match="AGENT_FIX_WEBHOOK_SECRET"):
        application(" ", Rules(), kept)


def test_what_cannot_be_kept_is_not_said_to_be_taken() -> None:
    def keep(_: Occurrence) -> str:
        raise NotKept("it is away")

    with listening(application(SECRET, Rules(), keep)) as address:
        answer = deliver(address, labelled())
    assert (answer.status_code, "deliver this again" in answer.json()["detail"]) == (503, True)
