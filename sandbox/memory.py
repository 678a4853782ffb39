"""The recipes that worked, kept by what they depend on: the manifests and the automation of a repository."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from sandbox.manifests import is_manifest
from sandbox.port import Recipe, Snapshot

VERSION = 3
"""Raised when a recipe of the same manifests should be found anew."""
AUTOMATION = (
    *(".github/workflows/", ".github/agent-fix.yml", ".gitlab-ci.yml", ".devcontainer", ".gitmodules", "scripts/"),
    *("Makefile", "makefile", "GNUmakefile", "justfile", "Justfile", "Rakefile"),
    *("pytest.ini", "jest.config.", "vitest.config.", ".mocharc", "phpunit.xml"),
)
"""How the paths begin that say, beside the manifests, how a project is tested."""


def manifests_key(snapshot: Snapshot, submodules: Mapping[str, str]) -> str:
    """A name for everything that finding a recipe looks at but the tests: equal for equal files."""
    entries = snapshot.entries()
    kept = {path: entry for path, entry in entries.items() if is_manifest(path) or path.startswith(AUTOMATION)}
    rows = json.dumps([VERSION, sorted((path, *entry) for path, entry in kept.items()), sorted(submodules.items())])
    return hashlib.sha256(rows.encode("utf-8", "surrogatepass")).hexdigest()


class RecipeMemory:
    """Recipes in a folder, one file each. Several processes may use it at once.

    A recipe fetches its submodules by their commits, so these are part of what it is kept by.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def recall(self, repository: str, snapshot: Snapshot, submodules: Mapping[str, str]) -> Recipe | None:
        """What worked for these manifests of this repository; `None` too for a record that cannot be used any more."""
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            data = json.loads(self._file(repository, snapshot, submodules).read_text("utf-8"))
            lists = {name: tuple(data[name]) for name in ("setup", "tests", "packages", "build", "build_inputs")}
            recipe = Recipe(**{**data, **lists})
            return dataclasses.replace(
                recipe, sources={**recipe.sources, "memory": "worked before for these manifests"}
            )
        return None

    def remember(self, repository: str, snapshot: Snapshot, submodules: Mapping[str, str], recipe: Recipe) -> None:
        """Keep a recipe that was proved. Raises `OSError`."""
        file = self._file(repository, snapshot, submodules)
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            json.dump(dataclasses.asdict(recipe), out)
        Path(name).replace(file)

    def _file(self, repository: str, snapshot: Snapshot, submodules: Mapping[str, str]) -> Path:
        key = f"{repository}\0{manifests_key(snapshot, submodules)}".encode("utf-8", "surrogatepass")
        return self._folder / f"{hashlib.sha256(key).hexdigest()}.json"
