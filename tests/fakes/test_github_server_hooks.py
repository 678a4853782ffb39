"""The webhooks of the stand-in GitHub, read as GitHub's own models have them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from githubkit.webhooks import parse, verify

from tests.fakes.github_server import acts
from tests.fakes.github_server.stage import stage
from tests.fakes.githubkits import app_kit
from tests.fakes.listener import Listener


@pytest.fixture
def listener() -> Iterator[Listener]:
    listener = Listener()
    yield listener
    listener.close()


def test_webhooks_are_signed_and_parse_in_githubs_own_models(tmp_path: Path, listener: Listener) -> None:
    with stage(tmp_path, hook=listener.url) as scene:
        world, repository, will = scene.world, scene.repository, scene.person("will")
        issue = acts.open_issue(world, repository, scene.person("rita"), "t", "b", ["bug"])
        acts.set_label(world, repository, issue, will, "agent:fix")
        acts.edit_issue(world, repository, issue, will, body="c")
        acts.unset_label(world, repository, issue, will, "agent:fix")
        comment = acts.comment(world, repository, issue, will, "/agent-fix")
        acts.edit_comment(world, repository, issue, comment, will, "/agent-fix retry")
        acts.set_state(world, repository, issue, will, "closed")
        acts.set_state(world, repository, issue, will, "open")
        acts.delete_issue(world, repository, issue, will)
        scene.commit("fix", {"a": "1"})
        pull = acts.open_pull(world, repository, will, head="fix", base="main", title="t", body=None)
        acts.comment(world, repository, pull, will, "/agent-fix revise")
        acts.review(world, repository, pull, scene.person("mary"), "changes_requested", "no", [("a", 1, "why?")])
        scene.commit("fix", {"a": "2"})
        acts.follow_branches(world, repository, will)
        acts.set_state(world, repository, pull, will, "closed")
        hooks, installation = scene.github.hooks, scene.installation
        for event, actions in (
            ("installation", ("created", "deleted")),
            ("installation_repositories", ("added", "removed")),
        ):
            for action in actions:
                hooks.emit_installation(event, action, installation, will, [repository])
        hooks.settle()
    kinds = []
    for headers, body in listener.got:
        assert verify("it is secret", body, headers["x-hub-signature-256"])
        event = parse(headers["x-github-event"], body)
        kinds.append(f"{headers['x-github-event']}.{event.action}")
        assert event.installation.id == scene.installation.id
        if headers["x-github-event"].startswith("issue"):
            assert event.repository.full_name == "octo/widgets"
            assert event.issue.number in (issue.number, pull.number)
    wanted = {
        "issues": ["opened", "labeled", "labeled", "edited", "unlabeled", "closed", "reopened", "deleted"],
        "issue_comment": ["created", "edited", "created"],
        "pull_request": ["opened", "synchronize", "closed"],
        "pull_request_review": ["submitted"],
        "pull_request_review_comment": ["created"],
        "installation": ["created", "deleted"],
        "installation_repositories": ["added", "removed"],
    }
    assert sorted(kinds) == sorted(f"{event}.{action}" for event, actions in wanted.items() for action in actions)


def test_a_failed_delivery_is_kept_and_comes_again_with_the_same_guid(tmp_path: Path, listener: Listener) -> None:
    with stage(tmp_path, hook=listener.url) as scene:
        listener.status = 500
        acts.open_issue(scene.world, scene.repository, scene.person("rita"), "t", "b")
        scene.github.hooks.settle()
        apps = app_kit(scene).rest.apps
        failed = apps.list_webhook_deliveries().parsed_data[0]
        assert (failed.status_code, failed.redelivery) == (500, False)
        listener.status = 202
        apps.redeliver_webhook_delivery(failed.id)
        scene.github.hooks.settle()
        again = apps.list_webhook_deliveries().parsed_data[0]
        assert (again.status_code, again.redelivery, again.guid) == (202, True, failed.guid)
        assert listener.got[0][1] == listener.got[1][1]
