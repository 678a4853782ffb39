"""Recorded runs on real projects end in the same change, byte for byte, when they are performed again.

The recordings are real conversations with a language model that saw nothing but the requests.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bot.records import RunStarted, Stopped
from bot.transcript import read
from tests.data.demo.demo import project
from tests.fakes.chat_server import Answer, chat_server, error, reply
from tests.journeys.demo import RECORDING, agent_fix, ended
from tests.journeys.github.projects import widgets
from tests.journeys.harness import repository
from tests.journeys.sdists import sdist

RECORDINGS = Path(__file__).parent.parent / "data" / "recordings"
PROJECTS = {
    "humanize": ("4.15.0", "1dd098483eb1c7ee8e32eb2e99ad1910baefa4b75c3aff3a82f4d78688993b10"),
    "structlog": ("25.5.0", "098522a3bebed9153d4570c6d0288abf80a031dfdb2048d59a49e9dc2190fc98"),
}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", PROJECTS)
def test_a_recorded_run_ends_in_the_same_change(tmp_path: Path, name: str) -> None:
    recording = RECORDINGS / f"{name}.jsonl"
    repo = sdist(name, *PROJECTS[name], tmp_path)
    first = read(recording)[0]
    assert isinstance(first, RunStarted)
    assert first.note.startswith("A recording")
    words = ("replay", str(recording), "--repo", str(repo), "--loose", "--json")
    result = ended(agent_fix(*words, state=tmp_path / "state"))
    assert result["outcome"] == "fixed"
    assert result["calls"] > 3


EDITS, SUBMIT = (
    reply("", [{"name": name, "arguments": json.dumps(arguments)} for name, arguments in calls])
    for calls in widgets().parts["issue"]["single"]
)
STOPS: dict[str, tuple[tuple[Answer, ...], dict[str, str]]] = {
    "error": ((EDITS, error(401, "no such key")), {}),
    "over-budget": ((EDITS, SUBMIT), {"AGENT_FIX_BUDGET_CALLS": "1"}),
    "timed-out": ((replace(EDITS, hang=4), SUBMIT), {"AGENT_FIX_MAX_MINUTES": "0.05"}),
}


@pytest.mark.parametrize("outcome", STOPS)
def test_what_stopped_a_run_stops_its_replay(tmp_path: Path, outcome: str) -> None:
    made, (answers, limits) = widgets(), STOPS[outcome]
    repo = repository(tmp_path / "repo", {name: data.decode() for name, data in made.files.items()})
    words = ("run", "--repo", str(repo), "--title", made.title, "--body", made.body, "--json")
    with chat_server(*answers) as model:
        first = ended(agent_fix(*words, state=tmp_path / "state", url=model.url, more={**made.settings, **limits}))
    words = ("replay", first["transcript"], "--repo", str(repo), "--json")
    again = ended(agent_fix(*words, state=tmp_path / "state", more=made.settings))
    assert (first["outcome"], again["outcome"], again["calls"]) == (outcome, outcome, first["calls"])
    (stopped,) = [record.text for record in read(Path(first["transcript"])) if isinstance(record, Stopped)]
    assert again["reason"].startswith(stopped)


def test_a_recording_that_was_tampered_with_is_noticed(tmp_path: Path) -> None:
    lines = RECORDING.read_text("utf-8").splitlines()
    tampered = tmp_path / "tampered.jsonl"
    changed = [line.replace('"mode": "100644", "data": "', '"mode": "100644", "data": "IyB4Cg', 1) for line in lines]
    assert changed != lines
    tampered.write_text("\n".join(changed) + "\n", "utf-8")
    words = ("replay", str(tampered), "--repo", str(project(tmp_path)), "--loose", "--json")
    process = agent_fix(*words, state=tmp_path / "state")
    _, err = process.communicate(timeout=500)
    assert process.returncode != 0
    assert "another change" in err
