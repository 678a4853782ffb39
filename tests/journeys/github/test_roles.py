"""Listener, publisher and worker as processes of their own, each with its own secret and none of the others'."""

from __future__ import annotations

from pathlib import Path

from tests.journeys.github.projects import widgets
from tests.journeys.github.town import town


def test_each_role_needs_its_own_secret_alone(tmp_path: Path) -> None:
    with town(tmp_path, widgets()) as here:
        reads = here.scene.job_token({"contents": "read", "issues": "read"})
        here.serve("listener", without="GITHUB_APP|OPENAI")
        here.serve("publisher", without="WEBHOOK_SECRET|OPENAI")
        here.serve("worker", without="WEBHOOK_SECRET|GITHUB_APP", settings={"AGENT_FIX_GITHUB_TOKEN": reads.value})
        issue = here.issue()
        here.label(issue)
        here.settled(issue, "Fixed", pulls=1)
        assert here.pull(issue).author.login == "agent-fix[bot]"
        assert here.asked() == here.model.project.whole


def test_a_listener_without_secret_does_not_start(tmp_path: Path) -> None:
    with town(tmp_path, widgets()) as here:
        process = here.serve("publisher", without="WEBHOOK_SECRET|OPENAI")
        here.kill(process)
        try:
            here.serve("listener", without="WEBHOOK_SECRET")
        except AssertionError as error:
            assert "There is no webhook secret" in str(error)
        else:
            raise AssertionError("it started")
