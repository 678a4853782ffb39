"""Recorded runs on real projects end in the same change, byte for byte, when they are performed again.

The recordings are real conversations with a language model that saw nothing but the requests.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.records import RunStarted
from bot.transcript import read
from tests.data.demo.demo import project
from tests.journeys.demo import RECORDING, agent_fix, ended
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
