"""What a run needs, looked at one by one; each finding says how to mend it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator

from bot import wiring
from bot.llm.openai_chat import trouble
from bot.settings import Settings
from sandbox.health import Finding
from sandbox.health import examine as examine_sandbox

FREE_BYTES = 5_000_000_000
GIT_FLOOR = (2, 38)


def examine(settings: Settings) -> Iterator[Finding]:
    """Engine, base image, network to the model, git, disk."""
    yield from examine_sandbox(wiring.sandbox_settings(settings, "doctor", "doctor"))
    yield _model(settings)
    yield _git()
    yield _disk(settings)


def _model(settings: Settings) -> Finding:
    server = wiring.server(settings)
    if not server.api_key:
        return Finding("model", False, "there is no key: set OPENAI_API_KEY, and OPENAI_BASE_URL for another provider")
    found = trouble(server, settings.model)
    if found is None:
        return Finding("model", True, f"{settings.model} at {server.base_url}")
    return Finding("model", False, f"{server.base_url}: {found}")


def _git() -> Finding:
    program = shutil.which("git")
    if program is None:
        return Finding("git", False, "not installed: install the package git")
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout.strip()  # noqa: S603
    numbers = tuple(int(part) for part in said.split()[-1].split(".")[:2] if part.isdigit())
    well = numbers >= GIT_FLOOR
    return Finding(
        "git", well, said if well else f"{said} is too old: {'.'.join(map(str, GIT_FLOOR))} or newer is needed"
    )


def _disk(settings: Settings) -> Finding:
    try:
        settings.state_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return Finding("disk", False, f"{settings.state_dir}: {error.strerror}; set AGENT_FIX_STATE_DIR to a folder")
    free = shutil.disk_usage(settings.state_dir).free
    text = f"{free / 1e9:.1f} GB free in {settings.state_dir}"
    if free >= FREE_BYTES:
        return Finding("disk", True, text)
    return Finding("disk", False, f"{text}, less than {FREE_BYTES / 1e9:.0f} GB: make room, or set AGENT_FIX_STATE_DIR")
