"""The listener keeps to its own description, whatever it is sent, and whoever sends it."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

from bot.forge.events import Rules
from bot.service.webhook import application

SECRET = "secret"
LISTENER = application(SECRET, Rules(), lambda it: f"delivery-{it.guid}")


async def signed(scope: Any, receive: Any, send: Any) -> None:
    """The listener behind somebody who signs everything as a delivery of GitHub's."""
    if scope["type"] != "http":
        return await LISTENER(scope, receive, send)
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)

    async def again() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    mark = "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    own = {b"x-hub-signature-256": mark.encode(), b"x-github-event": b"issues", b"x-github-delivery": b"g-1"}
    headers = [(name, value) for name, value in scope["headers"] if name not in own] + list(own.items())
    return await LISTENER(scope | {"headers": headers}, again, send)


ANYBODY = schemathesis.openapi.from_asgi("/openapi.json", LISTENER)
GITHUB = schemathesis.openapi.from_asgi("/openapi.json", signed)


@ANYBODY.parametrize()
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_it_keeps_to_its_description(case: schemathesis.Case) -> None:
    case.call_and_validate()


@GITHUB.parametrize()
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_it_keeps_to_its_description_with_what_is_signed(case: schemathesis.Case) -> None:
    # What a body must hold depends on the event that a header names: no description can say that.
    answer = case.call_and_validate(excluded_checks=[positive_data_acceptance])
    assert answer.status_code != 401
