"""What worked is recalled for the same manifests of the same repository, and for nothing else."""

from __future__ import annotations

from pathlib import Path

from sandbox.memory import RecipeMemory
from sandbox.port import Recipe
from tests.sandbox.snapshots import Files

PROJECT = Files({"pyproject.toml": "a", ".github/workflows/ci.yml": "b", "x.py": "c"})
RECIPE = Recipe(
    "image", ("a", "b"), "test", "pytest", ("t",), ("p",), ("make",), ("*.c",), "w", {"A": "1"}, {"setup": "s"}
)


def test_a_recipe_is_recalled_as_it_was(tmp_path: Path) -> None:
    RecipeMemory(tmp_path / "new").remember("me/project", PROJECT, {}, RECIPE)
    found = RecipeMemory(tmp_path / "new").recall("me/project", PROJECT.but(**{"x.py": "changed"}), {})
    assert found is not None
    assert found.sources.pop("memory").startswith("worked before")  # type: ignore[attr-defined]
    assert found == RECIPE


def test_a_changed_manifest_another_repository_or_a_broken_record_recall_nothing(tmp_path: Path) -> None:
    memory = RecipeMemory(tmp_path)
    memory.remember("me/project", PROJECT, {}, RECIPE)
    assert memory.recall("me/other", PROJECT, {}) is None
    for path in ("pyproject.toml", ".github/workflows/ci.yml", ".github/agent-fix.yml", "pytest.ini", ".node-version"):
        assert memory.recall("me/project", PROJECT.but(**{path: "changed"}), {}) is None
    assert memory.recall("me/project", PROJECT, {"vendored": "1" * 40}) is None
    for text in ("", "[]", "{}", "not json", '{"setup": 3}'):
        for file in tmp_path.iterdir():
            file.write_text(text)
        assert memory.recall("me/project", PROJECT, {}) is None
