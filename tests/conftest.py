"""What holds for all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.fakes.postgres import Postgres, postgres

# How long one example takes says more about the machine's load than about the code.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres]:
    """A real server, started for the first test that asks for it. Each test names a database of its own."""
    with postgres() as running:
        yield running
