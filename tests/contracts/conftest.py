"""Each contract is kept by the bot as an App, as a person and as a job."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contracts.github_place import IDENTITIES, Place, place
from tests.fakes.listener import Listener


@pytest.fixture(params=IDENTITIES)
def here(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    with place(tmp_path, request.param) as here:
        yield here


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Place]:
    with place(tmp_path, "app") as here:
        yield here


@pytest.fixture
def listener() -> Iterator[Listener]:
    listener = Listener()
    yield listener
    listener.close()
