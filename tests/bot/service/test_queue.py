"""Which run begins when: in a repository what a person waits for first, and never more at a time than allowed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from bot.service.desk import LATER, NOW

ROOT = Path(__file__).parent.parent.parent.parent
Events = list[tuple[str, str, float]]


def events(folder: Path, everywhere: int, repository: int, *wanted: str) -> Events:
    command = [sys.executable, "-m", "tests.bot.service.queue_program", str(folder), str(everywhere), str(repository)]
    done = subprocess.run(
        [*command, *wanted], cwd=ROOT, env=os.environ, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return [(name, kind, at) for name, kind, at in json.loads(done.stdout.splitlines()[-1])]


def begun(found: Events) -> list[str]:
    return [name for name, kind, _ in found if kind == "begin"]


def most_at_once(found: Events, among: set[str]) -> int:
    most = now = 0
    for name, kind, _ in sorted(found, key=lambda one: one[2]):
        now += (1 if kind == "begin" else -1) if name in among else 0
        most = max(most, now)
    return most


def test_what_a_person_waits_for_comes_before_what_the_sweep_found(tmp_path: Path) -> None:
    swept = [f"swept-{number}:o/b:{LATER}" for number in range(2)]
    found = events(tmp_path, 1, 1, f"first:o/a:{NOW}", *swept, f"asked-for:o/b:{NOW}")
    assert begun(found)[:2] == ["first", "asked-for"]
    assert most_at_once(found, set(begun(found))) == 1


def test_one_repository_has_no_more_than_its_share_and_another_goes_on_beside_it(tmp_path: Path) -> None:
    busy = {f"busy-{number}" for number in range(3)}
    found = events(tmp_path, 3, 1, *(f"{name}:o/busy:{NOW}" for name in sorted(busy)), f"other:o/quiet:{NOW}")
    assert most_at_once(found, busy) == 1
    assert most_at_once(found, {*busy, "other"}) == 2
    assert begun(found).index("other") <= 1
