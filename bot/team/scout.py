"""The first look at a repository, without a model."""

from __future__ import annotations

from dataclasses import dataclass

from bot.task import Task
from repo_tools.view import View


@dataclass(frozen=True)
class Scouted:
    """Two texts for prompts: where to look, and the tests nearest to the issue."""

    hints: str = ""
    examples: str = ""


def scout(view: View, task: Task) -> Scouted:  # noqa: ARG001 - the ranking is still to be put to use
    """Nothing yet."""
    return Scouted()
