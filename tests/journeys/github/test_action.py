"""The Action: a job of GitHub Actions that carries out one event, and is green only if something was fixed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from tests.fakes.github_server import acts
from tests.fakes.github_server.stage import PERMISSIONS
from tests.journeys.github.projects import widgets
from tests.journeys.github.town import ROOT, Town, setup_environment, town


def started(here: Town, event: str, body: bytes, *words: str, state: str = "state") -> subprocess.Popen[str]:
    """A job at work."""
    folder = here.folder / "job"
    folder.mkdir(exist_ok=True)
    (folder / "event.json").write_bytes(body)
    for name in ("output", "summary"):
        (folder / name).write_text("")
    token = here.scene.job_token({name: level for name, level in PERMISSIONS.items() if name != "checks"})
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(here.folder),
        "PYTHONPATH": str(ROOT),
        "AGENT_FIX_STATE_DIR": str(here.folder / state),
        "AGENT_FIX_GITHUB_TOKEN": token.value,
        "AGENT_FIX_GITHUB_PAUSE": "0",
        "AGENT_FIX_GRACE_MINUTES": "0",
        **here.model.project.settings,
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": here.model.url,
        "GITHUB_EVENT_NAME": event,
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_REPOSITORY": here.repository.full_name,
        "GITHUB_API_URL": here.scene.github.api,
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        **{f"AGENT_FIX_MODEL_{role.upper()}": role for role in here.model.project.roles},
        **{name: os.environ[name] for name in ("SSL_CERT_FILE", "DOCKER_HOST") if name in os.environ},
        **setup_environment(),
    }
    command = [sys.executable, "-c", "from bot.cli import main; main()", "action", *words]
    return subprocess.Popen(
        command, env=environment, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def ended(here: Town, process: subprocess.Popen[str]) -> tuple[int, dict[str, str], str, str]:
    """Exit code, outputs, summary and log of a job."""
    log, _ = process.communicate(timeout=280)
    folder = here.folder / "job"
    outputs = dict(line.split("=", 1) for line in (folder / "output").read_text().splitlines())
    return process.returncode, outputs, (folder / "summary").read_text(), log


def job(here: Town, event: str, body: bytes, *words: str, state: str = "state") -> tuple[int, dict[str, str], str, str]:
    """A whole job."""
    return ended(here, started(here, event, body, *words, state=state))


def payload(here: Town) -> bytes:
    """The body of the newest delivery about a label."""
    newest: Any = [one for one in here.scene.world.deliveries if one.action == "labeled"][-1]
    return bytes(newest.body)


def test_the_label_the_schedule_and_nothing_to_do(tmp_path: Path) -> None:
    with town(tmp_path) as here:
        here.scene.github.hooks.lose = True
        issue = here.issue()
        code, outputs, _, log = job(here, "schedule", b"{}", "--look")
        assert (code, outputs) == (0, {"issues": "[]"}), log
        here.label(issue)
        code, outputs, _, log = job(here, "schedule", b"{}", "--look")
        assert (code, json.loads(outputs["issues"])) == (0, [issue.number]), log
        code, outputs, summary, log = job(here, "schedule", b"{}", "--issue", str(issue.number))
        assert (code, outputs["outcome"]) == (0, "fixed"), log
        pull = here.pull(issue)
        assert outputs["pull-request"].endswith(f"/octo/widgets/pull/{pull.number}")
        assert pull.author.login == "github-actions[bot]"
        assert "its checks wait until somebody approves them" in (pull.body or "")
        assert Path(outputs["transcript"]).is_file()
        assert "## agent-fix: Fixed" in summary
        assert "| suite | before | with the change |" in summary
        assert "::notice title=agent-fix" in log
        assert re.search(r"(?m)^::notice file=tests/test_writing\.py,line=\d+,endLine=\d+,title=Fails without", log)
        asked = here.asked()
        code, outputs, summary, log = job(here, "issues", payload(here))
        assert (code, outputs["outcome"]) == (13, "nothing"), log
        assert "Nothing was done" in summary
        assert (here.asked(), len(here.pulls(issue))) == (asked, 1)
        acts.set_state(here.scene.world, here.repository, pull, here.scene.person("ann"), "closed")
        code, outputs, _, log = job(here, "schedule", b"{}", "--look")
        assert (code, outputs) == (0, {"issues": "[]"}), log  # it was answered, though nobody took the answer
        code, outputs, _, log = job(here, "schedule", b"{}", "--issue", str(issue.number), state="new")
        assert (code, outputs["outcome"], here.asked()) == (13, "nothing", asked), log


def test_a_job_that_is_cancelled_says_so_in_the_seconds_it_is_given(tmp_path: Path) -> None:
    with town(tmp_path, widgets()) as here:
        here.scene.github.hooks.lose = True
        issue, called = here.issue(), threading.Event()
        here.label(issue)
        processes: list[subprocess.Popen[str]] = []
        told: list[float] = []

        def cancel() -> None:
            processes[0].send_signal(signal.SIGINT)
            told.append(time.monotonic())
            called.wait(20)  # the model would answer late

        here.at_request(1, cancel)
        processes.append(started(here, "issues", payload(here)))
        try:
            code, outputs, summary, log = ended(here, processes[0])
        finally:
            called.set()
        assert (code, outputs["outcome"]) == (10, "cancelled"), log
        assert time.monotonic() - told[0] < 7
        assert "The job was cancelled." in summary
        assert here.headline(issue) == "Cancelled"
        assert "The job was cancelled." in here.own_comments(issue)[0].body
        assert here.pulls(issue) == []
