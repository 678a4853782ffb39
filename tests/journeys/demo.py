"""The bundled project, its issue and its recorded conversation, for journeys."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

DEMO = Path(__file__).parent.parent / "data" / "demo"
RECORDING = DEMO / "recording.jsonl"
ISSUE = DEMO / "issue.md"


def agent_fix(
    *words: str, state: Path, url: str = "", more: Mapping[str, str] | None = None, **options: Any
) -> subprocess.Popen[str]:
    """The command line as a process of its own, with its own state."""
    environment = os.environ | {"AGENT_FIX_STATE_DIR": str(state), "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": url}
    environment |= more or {}
    command = [sys.executable, "-c", "from bot.cli import main; main()", *words]
    root = Path(__file__).parent.parent.parent
    environment["PYTHONPATH"] = str(root)
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def ended(process: subprocess.Popen[str]) -> dict[str, Any]:
    """What `--json` printed."""
    out, err = process.communicate(timeout=500)
    assert out, err
    found: dict[str, Any] = json.loads(out)
    return found
