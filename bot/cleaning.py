"""Removing what runs left behind."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator

from bot import wiring
from bot.service.runs import all_runs
from bot.settings import Settings
from repo_tools.checkout import sweep as sweep_folders
from sandbox.docker_engine import sweep

DAY = 86_400


def swept(settings: Settings, days: float) -> Iterator[str]:
    """Remove the containers that crashed runs left, and the folders of old runs; a line for what was done."""
    gone = sweep(wiring.sandbox_settings(settings, "clean", "clean"))
    yield f"removed {gone} container{'' if gone == 1 else 's'} that nobody waits for"
    folders = sweep_folders()
    yield f"removed {folders} folder{'' if folders == 1 else 's'} of processes that were killed"
    yield from old_runs(settings, days)


def old_runs(settings: Settings, days: float) -> Iterator[str]:
    """Remove the folders of ended runs older than `days`; a line for each. An unfinished run is never removed."""
    for run in all_runs(settings.state_dir):
        if run.done and time.time() - run.path.stat().st_mtime > days * DAY:
            shutil.rmtree(run.path)
            yield f"removed the folder of {run.name}"
