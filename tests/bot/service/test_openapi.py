"""The listener keeps to its own description, whatever it is sent."""

from __future__ import annotations

import schemathesis
from hypothesis import HealthCheck, settings

from bot.forge.events import Rules
from bot.service.webhook import application

SCHEMA = schemathesis.openapi.from_asgi(
    "/openapi.json", application("secret", Rules(), lambda it: f"delivery-{it.guid}")
)


@SCHEMA.parametrize()
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_it_keeps_to_its_description(case: schemathesis.Case) -> None:
    case.call_and_validate()
