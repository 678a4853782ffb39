"""The listener: a signed delivery becomes a durable row and a 202; everything else happens later, elsewhere."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import FastAPI, Header, HTTPException, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel

from bot.errors import BadInput
from bot.forge import events
from bot.forge.events import PAYLOAD_LIMIT, Ignored, Rules
from bot.service.desk import NotKept
from bot.service.requests import Occurrence

LOG = logging.getLogger("agent-fix.listener")


class Taken(BaseModel):
    """What became of a delivery."""

    key: str | None
    """Under which it is kept; null if there is nothing to do."""
    because: str


class Problem(BaseModel):
    """Why a delivery was not taken."""

    detail: str


class TooLarge(Exception):
    """The body is larger than any that GitHub sends."""


REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "It is signed, but no delivery that GitHub would send"},
    401: {"model": Problem, "description": "It is not signed with the webhook secret"},
    413: {"model": Problem, "description": "It is larger than any that GitHub sends"},
    503: {"model": Problem, "description": "It could not be kept"},
}
BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}


def check_secret(secret: str) -> None:
    """Raise `BadInput` if there is none."""
    if not secret.strip():
        raise BadInput(
            "There is no webhook secret: set AGENT_FIX_WEBHOOK_SECRET to the one in the App's settings "
            "(`agent-fix setup` makes both). Without it, anybody could command the bot."
        )


def application(secret: str, rules: Rules, keep: Callable[[Occurrence], str]) -> FastAPI:
    """The listener as an ASGI application; `keep` stores an event and gives its key. Raises `BadInput`."""
    check_secret(secret)
    app = FastAPI(title="agent-fix", docs_url=None, redoc_url=None)

    @app.post("/webhook", status_code=202, response_model=Taken, responses=REFUSALS, openapi_extra=BODY)
    async def webhook(
        request: Request,
        _signature: Annotated[str | None, Header(alias="X-Hub-Signature-256")] = None,
        _event: Annotated[str | None, Header(alias="X-GitHub-Event")] = None,
        _guid: Annotated[str | None, Header(alias="X-GitHub-Delivery")] = None,
    ) -> Taken:
        """Take a delivery of GitHub's webhook."""
        try:
            body = await limited(request)
            event = events.receive(request.headers, body, secret=secret, rules=rules)
        except TooLarge:
            raise HTTPException(413, f"A delivery has at most {PAYLOAD_LIMIT} bytes.") from None
        except events.BadSignature as error:
            raise HTTPException(401, str(error)) from None
        except events.BadPayload as error:
            raise HTTPException(400, str(error)) from None
        guid = request.headers["X-GitHub-Delivery"]
        if isinstance(event, Ignored):
            LOG.info("delivery %s: ignored, %s", guid, event.because)
            return Taken(key=None, because=event.because)
        try:
            key = await run_in_threadpool(keep, Occurrence.of(event, guid))
        except NotKept as error:
            LOG.error("delivery %s: %s", guid, error)  # noqa: TRY400 - a database that is away, no defect
            raise HTTPException(503, "The database does not answer; deliver this again later.") from None
        LOG.info("delivery %s: %s kept", guid, type(event).__name__)
        return Taken(key=key, because="")

    @app.get("/health")
    async def health() -> dict[str, str]:
        """Whether the listener is up."""
        return {"status": "ok"}

    return app


async def limited(request: Request) -> bytes:
    """The body, as far as it may be long; what is longer is not even read. Raises `TooLarge`."""
    announced = request.headers.get("content-length", "")
    if announced.isdigit() and int(announced) > PAYLOAD_LIMIT:
        raise TooLarge
    chunks, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > PAYLOAD_LIMIT:
            raise TooLarge
        chunks.append(chunk)
    return b"".join(chunks)
