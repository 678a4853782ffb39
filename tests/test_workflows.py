"""The workflows and the Action: right by GitHub's schemas, with nothing in them that an attacker could use."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ACTION = ROOT / ".github" / "actions" / "agent-fix" / "action.yml"
TOOLS = Path(sys.executable).parent


@pytest.mark.parametrize(
    ("schema", "files"), [("vendor.github-workflows", WORKFLOWS), ("vendor.github-actions", [ACTION])]
)
def test_they_are_what_github_takes(schema: str, files: list[Path]) -> None:
    command = [str(TOOLS / "check-jsonschema"), "--builtin-schema", schema, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_they_offer_nothing_to_an_attacker() -> None:
    command = [str(TOOLS / "zizmor"), "--offline", "--no-progress", str(ROOT / ".github")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_everything_is_pinned_by_commit() -> None:
    used = [
        line.split("uses:")[1].strip()
        for file in [*WORKFLOWS, ACTION]
        for line in file.read_text("utf-8").splitlines()
        if re.match(r"\s*(- )?uses:", line)
    ]
    assert used
    loose = [one for one in used if not one.startswith("$/") and not re.search(r"@[0-9a-f]{40}( |$)", one)]
    assert not loose
