"""A whole run without the command line: real git, real containers, a model that plays a script."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from bot import wiring
from bot.forge.local_repo import LocalRepo
from bot.llm.budget import Limits
from bot.llm.port import Completion, Model
from bot.llm.prices import price
from bot.llm.recorded import Recorded
from bot.secrets_mask import Mask
from bot.service.effects import Seconds
from bot.service.job import Job, Workshop
from bot.service.order import Ended, Order
from bot.settings import load_settings
from bot.task import Task
from bot.transcript import Transcript
from repo_tools.checkout import open_local
from repo_tools.index import Index
from sandbox.docker_engine import DockerSandbox
from sandbox.memory import RecipeMemory

T = TypeVar("T")

PYPROJECT = """
[build-system]
requires = ["setuptools>=68"]
build-backend = "setuptools.build_meta"

[project]
name = "calc"
version = "1.0"

[tool.setuptools]
py-modules = ["calc"]

[tool.pytest.ini_options]
testpaths = ["tests"]
"""
CODE = "def half(number):\n    return number // 2\n"
TESTS = "from calc import half\n\n\ndef test_even():\n    assert half(4) == 2\n"
PROJECT = {"pyproject.toml": PYPROJECT, "calc.py": CODE, "tests/test_calc.py": TESTS}
SECONDS = Seconds(tests=60, command=30)
LIMITS = Limits(usd=3, tokens=2_000_000, calls=60, minutes=10)
ISSUE = ("half(3) is wrong", "`half(3)` gives 1, I expect 1.5.")


def repository(folder: Path, files: Mapping[str, str], *, commit: bool = True) -> Path:
    """A git repository with one commit of `files`."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    who = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
    if commit:
        subprocess.run(["git", "add", "-A"], cwd=folder, check=True)
        subprocess.run(["git", *who, "commit", "-q", "-m", "one"], cwd=folder, check=True)
    return folder


def at_once(name: str, work: Callable[[], T]) -> T:
    """A step that is not stored."""
    return work()


@dataclass
class Run:
    """A run and what it left."""

    ended: Ended
    repo: Path
    transcript: Path


def solve(
    folder: Path,
    repo: Path,
    script: Mapping[str, Sequence[Completion]] | Model,
    *,
    issue: tuple[str, str] = ISSUE,
    seconds: Seconds = SECONDS,
    limits: Limits = LIMITS,
    strategy: str = "self-collaboration",
) -> Run:
    """Carry out one run on `repo`."""
    settings = load_settings(state_dir=folder / "state")
    with open_local(repo) as repository, Transcript(folder / "transcript.jsonl", Mask()) as transcript:
        commit = repository.resolve()
        order = Order(
            run="20260101-000000-test-0000",
            task=Task("calc", *issue, commit.id, 7, strategy=strategy),
            repository=repo,
            limits=limits,
            models={},
            started=datetime(2026, 1, 1, tzinfo=UTC),
        )
        sandbox = DockerSandbox(wiring.sandbox_settings(settings, order.run, wiring.local_name(repo)))
        shop = Workshop(
            model=Recorded.script(script) if isinstance(script, Mapping) else script,
            sandbox=sandbox,
            index=Index.open(folder / "index"),
            publisher=wiring.Folder(LocalRepo(repository, folder / "published")),
            recipes=RecipeMemory(folder / "recipes"),
            request_tokens=settings.request_tokens_for,
            price=lambda role, usage: price("gpt-5-mini", usage),
            seconds=seconds,
            base_image=settings.base_image,
        )
        ended = Job(order, commit, shop, at_once, transcript).carry_out()
    return Run(ended, repo, folder / "transcript.jsonl")
