"""From a repository's files to recipes for it, the most trusted first."""

from __future__ import annotations

from sandbox.detect.files import Files
from sandbox.detect.python import recipes as python
from sandbox.port import Recipe, Snapshot

BASE_IMAGE = "agent-fix-base:bookworm"


def candidates(snapshot: Snapshot, *, remembered: Recipe | None = None, base_image: str = BASE_IMAGE) -> list[Recipe]:
    """Recipes for a repository, the most trusted first; empty if no test suite is found."""
    files = Files(snapshot)
    found = [remembered] if remembered else []
    return found + python.detect(files, ".", base_image)
