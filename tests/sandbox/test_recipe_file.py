"""`.github/agent-fix.yml`: strict, with errors that say where and what to write, and the same after a round trip."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import bot.repo_config
from bot.errors import BadInput
from sandbox import recipe_file
from sandbox.errors import BadRecipeFile
from sandbox.port import Recipe
from sandbox.recipe import candidates
from sandbox.report import REPORTERS
from tests.sandbox.snapshots import Files

SCHEMA = Path(bot.repo_config.__file__).with_name("agent-fix.schema.json")
FULL = """\
environment:
  base_image: mine:1
  packages: [libpq-dev]
  workdir: backend
  env:
    MODE: "1"
  setup:
    - python3 -m venv ~/venv
    - pip install -e . pytest
  build: [make]
  build_inputs: ["*.c"]
  test: python -m pytest
  tests: [tests/unit]
  reporter: pytest
"""


def test_the_written_recipe_comes_before_everything() -> None:
    files = Files({".github/agent-fix.yml": FULL, "pyproject.toml": "", "tests/test_a.py": "def test_a(): ...\n"})
    remembered = Recipe("image", (), "true", "exit-code")
    first, second, *rest = candidates(files, remembered=remembered, base_image="base")
    assert first.base_image == "mine:1"
    assert first.setup == ("python3 -m venv ~/venv", "pip install -e . pytest")
    assert (first.test_command, first.tests, first.reporter) == ("python -m pytest", ("tests/unit",), "pytest")
    assert (first.workdir, first.env, first.packages) == ("backend", {"MODE": "1"}, ("libpq-dev",))
    assert (first.build, first.build_inputs) == (("make",), ("*.c",))
    assert second is remembered
    assert rest


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("environment:\n  tset: make\n", "line 2: unknown key `tset`; did you mean `test`?"),
        ("environment:\n  tset: make\n", "line 1: `environment.test` is missing"),
        (
            "environment:\n  test: make\n  env:\n    A: 1\n",
            "line 4: `environment.env.A` must be text: put it in",
        ),
        ("environment:\n  test: make\n  setup: make all\n", "line 3: `environment.setup` must be a list"),
        ("environment:\n  test: make\n  setup:\n  - a\n  - 3\n", "line 5: `environment.setup.1` must be text"),
        (
            "environment:\n  test: make\n  reporter: pytets\n",
            "line 3: `environment.reporter`: input should be 'automake'",
        ),
        ("environment:\n  test: make\n  workdir: ../x\n", "must be a folder of the repository"),
        ("environment:\n  test: make\n  env: {'1A': x}\n", "line 3: `environment.env.1A`"),
        ("environment:\n  zzz: make\n  test: a\n", "unknown key `zzz`; there are `test`, `tests`"),
        ("environment: 3\n", "line 1: `environment`"),
        ("a: [\n", "line 2: not YAML"),
        ("- a\n", "must be a mapping"),
        ("a: !!python/object:os.system x\n", "not YAML"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_the_right_key(text: str, said: str) -> None:
    with pytest.raises(BadInput) as caught:
        bot.repo_config.read(text)
    assert ".github/agent-fix.yml, line" in str(caught.value)
    assert said in str(caught.value)


def test_the_same_mistakes_stop_the_search_for_recipes() -> None:
    with pytest.raises(BadRecipeFile, match="did you mean `test`"):
        candidates(Files({".github/agent-fix.yml": "environment:\n  tset: make\n"}))


def test_unknown_parts_of_the_file_are_the_bot_s_business() -> None:
    with pytest.raises(BadInput, match="line 1: unknown key `enviroment`; did you mean `environment`"):
        bot.repo_config.read("enviroment:\n  test: make\n")
    assert recipe_file.read("enviroment:\n  test: make\n") is None
    assert bot.repo_config.read("").environment is None


def test_what_is_written_is_what_is_read() -> None:
    recipe = recipe_file.RecipeFile.model_validate(yaml.safe_load(FULL)["environment"]).recipe("base")
    again = recipe_file.read(recipe_file.to_yaml(recipe, "base"))
    assert again is not None
    assert again.recipe("base") == recipe
    found = candidates(Files({"pyproject.toml": "", "tests/test_a.py": "def test_a(): ...\n"}))[0]
    text = recipe_file.to_yaml(found, found.base_image)
    assert "base_image" not in text
    assert "# from what the manifests name for tests" in text
    again = recipe_file.read(text)
    assert again is not None
    assert again.recipe(found.base_image).setup == found.setup


def test_a_recipe_is_explained_with_its_sources() -> None:
    told = recipe_file.explain(candidates(Files({"tests/test_a.py": "def test_a(): ...\n"}))[0])
    assert "tests           python -m pytest" in told
    assert "package pytest: the runner" in told


def test_every_reporter_can_be_named() -> None:
    assert set(REPORTERS) <= set(recipe_file.REPORTER_NAMES)


def test_the_shipped_schema_is_the_one_that_is_checked() -> None:
    assert SCHEMA.read_text("utf-8") == bot.repo_config.schema()


@pytest.mark.parametrize(("text", "accepted"), [(FULL, True), (FULL.replace("setup:", "steps:"), False), ("{}", True)])
def test_the_schema_says_the_same_as_the_reader(text: str, accepted: bool, tmp_path: Path) -> None:
    file = tmp_path / "agent-fix.yml"
    file.write_text(text)
    command = [str(Path(sys.executable).with_name("check-jsonschema")), "--schemafile", str(SCHEMA), str(file)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode == 0) is accepted, done.stdout + done.stderr
