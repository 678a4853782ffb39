"""`bot.forge.port.Host` on GitHub: what a sweep goes over."""

from __future__ import annotations

from datetime import timedelta

from tests.contracts.github_place import Place
from tests.fakes.github_server import acts
from tests.fakes.listener import Listener


def test_an_app_finds_the_repositories_that_it_is_installed_on(app: Place) -> None:
    world, robot = app.scene.world, app.scene.app
    more = [world.create_repository(f"octo/more-{at}") for at in range(3)]
    elsewhere = world.create_repository("someone/else", private=True)
    suspended = world.create_repository("lapsed/one")
    archived = world.create_repository("octo/old")
    archived.archived = True
    world.create_repository("octo/not-ours")
    world.install(robot, *more, archived)
    world.install(robot, elsewhere)
    world.install(robot, suspended).suspended_at = world.now()
    wanted = {"octo/widgets", "octo/more-0", "octo/more-1", "octo/more-2", "someone/else"}
    assert set(app.host().repositories()) == wanted


def test_deliveries_that_nobody_took_are_found_and_come_again(app: Place, listener: Listener) -> None:
    scene, hooks = app.scene, app.scene.github.hooks
    scene.app.hook_url = listener.url
    listener.status = 500
    long_ago = app.issue()
    hooks.settle()
    scene.world.advance(3600)
    since = scene.world.now() - timedelta(seconds=1)
    failed = app.issue()
    hooks.settle()
    hooks.lose = True
    acts.set_label(scene.world, scene.repository, failed, scene.person("will"), "agent:fix")
    hooks.lose = False
    listener.status = 202
    acts.set_label(scene.world, scene.repository, long_ago, scene.person("will"), "agent:fix")
    hooks.settle()
    host = app.host()
    missed = host.missed(since)
    assert [(it.event, it.action, it.repository_id) for it in missed] == [
        ("issues", "labeled", scene.repository.id),
        ("issues", "opened", scene.repository.id),
    ]
    for delivery in missed:
        host.redeliver(delivery)
    hooks.settle()
    assert host.missed(since) == ()
    again = [headers["x-github-delivery"] for headers, _ in listener.got[-2:]]
    assert sorted(again) == sorted(it.guid for it in missed)


def test_many_deliveries_are_paged_through(app: Place) -> None:
    scene = app.scene
    scene.app.hook_url, scene.github.hooks.lose = "http://127.0.0.1:9/", True
    for _ in range(130):
        app.issue()
    assert len(app.host().missed(scene.world.now() - timedelta(hours=1))) == 130


def test_a_token_has_no_webhook(here: Place) -> None:
    if here.identity != "app":
        assert here.host().missed(here.scene.world.now()) == ()
