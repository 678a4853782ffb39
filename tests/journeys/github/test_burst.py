"""A thousand deliveries over fifty connections, to one process that has all roles and works on them meanwhile."""

from __future__ import annotations

import http.client
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from dbos import DBOSClient

from tests.fakes.github_server.webhooks import headers
from tests.fakes.postgres import Postgres
from tests.journeys.github.projects import widgets
from tests.journeys.github.town import SECRET, Town, town

CONNECTIONS, DELIVERIES, AGAIN = 50, 1000, 100
PATIENCE_SECONDS = 10.0
"""So long GitHub waits for an answer. How quick one is on a free machine is measured, not tested."""


def burst(here: Town, bodies: list[bytes], guids: list[str]) -> float:
    """Deliver everything, and some of it twice; gives the longest time that an answer took."""

    def connection(number: int) -> float:
        slowest, client = 0.0, http.client.HTTPConnection("127.0.0.1", here.port, timeout=60)
        for at in range(number, DELIVERIES + AGAIN, CONNECTIONS):
            guid, body = guids[at % DELIVERIES], bodies[at % len(bodies)]
            began = time.monotonic()
            client.request("POST", "/webhook", body, headers("issues", body, secret=SECRET, guid=guid))
            answer = client.getresponse()
            assert (answer.status, guid in answer.read().decode()) == (202, True)
            slowest = max(slowest, time.monotonic() - began)
        client.close()
        return slowest

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        return max(pool.map(connection, range(CONNECTIONS)))


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_none_is_lost_none_is_doubled_and_each_is_answered_while_github_waits(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    database = ""
    if kind == "postgres":
        server: Postgres = request.getfixturevalue("postgres_server")
        database = server.url("burst")
    with town(tmp_path, widgets(), database=database) as here:
        here.scene.github.hooks.lose = True
        for _ in range(CONNECTIONS):
            here.label(here.issue(), by="tim")  # who may not call the bot: that is said, and no run is begun
        bodies = [one.body for one in here.scene.world.deliveries if one.action == "labeled"]
        here.serve()
        told = [str(uuid.uuid4()) for _ in range(DELIVERIES)]
        assert burst(here, bodies, told) < PATIENCE_SECONDS
        client = DBOSClient(system_database_url=here.database)
        kept = client.list_workflows(name="receive", load_input=False, load_output=False)
        client.destroy()
        assert sorted(one.workflow_id for one in kept) == sorted(f"delivery-{guid}" for guid in told)
