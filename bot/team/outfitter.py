"""The role that is asked, once, how a project is set up, when nothing that was found out about it works.

Its answer is a recipe like any other: tried in the sandbox, taken if the project's tests pass with it, and never
trusted further than that. What it is shown comes from the repository and from logs, and may be hostile.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from pydantic import Field, ValidationError

from bot.llm.port import Completion, Message, Request
from bot.prompts import block, render
from bot.team import trim
from bot.team.roles import Role, Submission, Writes
from bot.team.tools import tools_of
from repo_tools.tree import Tree
from sandbox.manifests import is_manifest
from sandbox.memory import AUTOMATION
from sandbox.port import Recipe
from sandbox.recipe_file import RecipeFile, ReporterName

FILES, FILE_CHARACTERS, SHOWN_CHARACTERS = 400, 4_000, 40_000
"""How many paths are listed, how much of one file and of all files is shown."""
SOURCE = "a model's answer, proved by a run of the tests"


class Outfit(Submission):
    """How the project is set up and tested: bash lines, each run on its own in `workdir` by an unprivileged user."""

    possible: bool = Field(description="false if there are no tests that can be run in a container")
    reason: str = Field(min_length=3, max_length=1000, description="what was wrong with what was tried")
    packages: list[str] = Field([], max_length=60, description="Debian packages, installed first")
    setup: list[str] = Field([], max_length=30, description="commands with network that install what the tests need")
    build: list[str] = Field([], max_length=10, description="commands that compile, to repeat after a change")
    build_inputs: list[str] = Field([], max_length=30, description="patterns of the paths that `build` depends on")
    test: str = Field("", max_length=500, description="the test runner without the tests, such as python -m pytest")
    tests: list[str] = Field([], max_length=30, description="what the runner takes for the whole suite")
    reporter: ReporterName = Field("exit-code", description="how results are read; exit-code: as one test")
    workdir: str = Field(".", max_length=200, description="folder of the repository in which all commands run")
    env: dict[str, str] = Field({}, description="variables for set-up and tests")

    def recipe(self, base_image: str) -> Recipe | None:
        """The recipe that is meant, on `base_image`; `None` if there is none or it is no recipe."""
        if not self.possible:
            return None
        try:
            file = RecipeFile(**self.model_dump(exclude={"possible", "reason"}))
        except ValidationError:
            return None
        return replace(file.recipe(base_image), sources={"setup": SOURCE, "base_image": "the default"})


OUTFITTER = Role("outfitter", (), Writes.NOTHING, ("tried", "paths", "files"), Outfit, 1)


def request(tree: Tree, tried: str) -> Request:
    """What the role is asked; `tried` says what was tried and how it failed."""
    brief = {
        "tried": block("what was tried", trim.middle(tried, 12_000)),
        "paths": block("paths", "\n".join(sorted(tree.entries(), key=lambda path: (path.count("/"), path))[:FILES])),
        "files": _files(tree),
    }
    submit = tools_of(OUTFITTER)["submit"].spec
    opening = (Message("system", render("outfitter", {})), Message("user", render("outfitter_brief", brief)))
    return Request(OUTFITTER.name, opening, (submit,), OUTFITTER.name)


def answer(completion: Completion, base_image: str) -> Recipe | None:
    """The recipe in the role's reply, `None` if it gave none."""
    call = next((call for call in completion.tool_calls if call.name == "submit"), None)
    if call is None:
        return None
    try:
        return cast("Outfit", OUTFITTER.submits.model_validate_json(call.arguments)).recipe(base_image)
    except ValidationError:
        return None


def _files(tree: Tree) -> str:
    """The manifests and the automation of a repository, the shallow ones first."""
    wanted = [
        path for path in tree.entries() if is_manifest(path) or path.startswith((*AUTOMATION, "README", "CONTRIB"))
    ]
    shown: list[str] = []
    left = SHOWN_CHARACTERS
    for path in sorted(wanted, key=lambda path: (path.count("/"), path)):
        if "lock" in path:  # long, and named by the manifest beside it
            continue
        text = block(path, trim.middle(tree.read(path).decode("utf-8", "replace"), FILE_CHARACTERS))
        left -= len(text)
        if left < 0:
            break
        shown.append(text)
    return "\n\n".join(shown)
