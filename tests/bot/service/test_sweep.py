"""The sweep over all repositories: what one of them is like is no matter to the others."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from bot.forge.events import Rules
from bot.forge.port import Access
from bot.service.desk import Desk
from bot.service.intake import Intake
from bot.service.policy import Policy
from bot.service.sweep import Sweep
from tests.contracts.github_place import Place, place
from tests.fakes.github_server import acts
from tests.fakes.github_server.faults import Fault

LABEL = "agent:fix"
POLICY = Policy(Rules(frozenset({LABEL})), LABEL, Access.WRITE, "team")


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Place]:
    with place(tmp_path, "app") as made:
        yield made


@pytest.fixture
def sweep(here: Place, tmp_path: Path) -> Iterator[Sweep]:
    host, desk = here.host(), Desk(f"sqlite:///{tmp_path / 'service.sqlite'}")
    yield Sweep(host, Intake(host, POLICY, lambda _: None), desk, timedelta(0))
    desk.close()


@pytest.mark.parametrize("fault", [Fault(403, "Repository access blocked"), Fault(451, "Unavailable")])
def test_a_repository_that_cannot_be_looked_into_does_not_keep_the_others_waiting(
    here: Place, sweep: Sweep, fault: Fault
) -> None:
    scene = here.scene
    issue = here.issue(LABEL)
    more = [scene.world.create_repository(f"octo/{name}") for name in ("before", "later")]
    scene.world.install(scene.app, *more)
    for repository in more:
        acts.open_issue(scene.world, repository, scene.person("rita"), "It breaks", "So:", [LABEL])
    assert set(sweep.waiting()) == {("octo/widgets", issue.number), ("octo/before", 1), ("octo/later", 1)}
    scene.github.faults.plan("GET", "octo/widgets/contents", fault)
    assert set(sweep.waiting()) == {("octo/before", 1), ("octo/later", 1)}
