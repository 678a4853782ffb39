"""The recipe that a project writes itself: the part `environment` of `.github/agent-fix.yml`."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, field_validator

from sandbox.errors import BadRecipeFile
from sandbox.port import Recipe

PATH = ".github/agent-fix.yml"
KEY = "environment"

Line = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
ReporterName = Literal[
    "automake", "cargo", "ctest", "exit-code", "go", "gradle", "jest", "junit-console", "maven", "meson", "minitest",
    "mocha", "node", "phpunit", "pytest", "rspec", "tap", "test-unit", "unittest", "vitest",
]  # fmt: skip


REPORTER_NAMES: tuple[str, ...] = get_args(ReporterName)


class RecipeFile(BaseModel):
    """How the project is set up and tested. Commands are bash lines, run in the sandbox and not as root."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    test: Line = Field(description="The test runner without the tests to run, such as `python -m pytest`.")
    tests: list[Line] = Field([], description="What the runner takes on its command line for the whole suite.")
    reporter: ReporterName = Field("exit-code", description="How results are read; `exit-code`: as one test.")
    setup: list[Line] = Field([], description="Commands, with network, that install what the tests need.")
    packages: list[Line] = Field([], description="Debian packages to install before anything else.")
    build: list[Line] = Field([], description="Commands, without network, to repeat after a change of `build_inputs`.")
    build_inputs: list[Line] = Field([], description="Patterns of paths that `build` depends on; `*` also matches `/`.")
    workdir: Line = Field(".", description="The folder, from the top of the repository, in which all commands run.")
    env: dict[Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")], str] = Field(
        {}, description="Variables for set-up and tests. No secret belongs here."
    )
    base_image: Line | None = Field(None, description="An image to start from in place of the operator's.")

    @field_validator("workdir")
    @classmethod
    def _stays_inside(cls, value: str) -> str:
        if value.startswith("/") or ".." in value.split("/"):
            raise ValueError("must be a folder of the repository")
        return value

    def recipe(self, base_image: str) -> Recipe:
        """The recipe that this file means."""
        return Recipe(
            base_image=self.base_image or base_image,
            setup=tuple(self.setup),
            test_command=self.test,
            reporter=self.reporter,
            tests=tuple(self.tests),
            packages=tuple(self.packages),
            build=tuple(self.build),
            build_inputs=tuple(self.build_inputs),
            workdir=self.workdir,
            env=dict(self.env),
            sources={"setup": PATH, "test_command": PATH, "base_image": PATH if self.base_image else "the default"},
        )


def load(text: str) -> tuple[dict[str, Any], yaml.Node | None]:
    """The top mapping of the file and its syntax tree. Raises `BadRecipeFile` for what is no mapping of YAML."""
    try:
        data, tree = yaml.safe_load(text), yaml.compose(text, yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{PATH}, line {mark.line + 1}" if mark else PATH
        raise BadRecipeFile(f"{where}: not YAML: {getattr(error, 'problem', None) or error}") from error
    if data is None:
        return {}, None
    if not isinstance(data, dict):
        raise BadRecipeFile(f"{PATH}, line 1: the file must be a mapping such as `{KEY}: {{test: make test}}`")
    return data, tree


def read(text: str) -> RecipeFile | None:
    """The recipe in the text of `.github/agent-fix.yml`, `None` if it has none; other parts are not looked at.

    Raises `BadRecipeFile` with the line, what is wrong there, and the nearest right key.
    """
    data, tree = load(text)
    if KEY not in data:
        return None
    try:
        return RecipeFile.model_validate(data[KEY])
    except ValidationError as error:
        raise BadRecipeFile(explained(error, tree, (KEY,), RecipeFile)) from error


def explained(error: ValidationError, tree: yaml.Node | None, inside: tuple[str, ...], model: type[BaseModel]) -> str:
    """One line for each mistake that `model` found in the part `inside` of a file: place, key, what to write."""
    rows = []
    unknown_first = sorted(error.errors(), key=lambda mistake: mistake["type"] != "extra_forbidden")
    for mistake in unknown_first:
        path = (*inside, *mistake["loc"])
        path = path[:-1] if path[-1] == "[key]" else path
        name = ".".join(map(str, path))
        wrong = mistake["type"]
        if wrong == "extra_forbidden":
            said = f"unknown key `{path[-1]}`{_nearest(str(path[-1]), _keys(model, mistake['loc']))}"
        elif wrong == "missing":
            said = f"`{name}` is missing"
        elif wrong == "string_type":
            said = f"`{name}` must be text: put it in quotes"
        elif wrong == "list_type":
            said = f"`{name}` must be a list, each entry on a line after `- `"
        else:
            said = f"`{name}`: {mistake['msg'][0].lower()}{mistake['msg'][1:]}"
        rows.append(f"{PATH}, line {_line(tree, path)}: {said}")
    return "\n".join(rows)


def _keys(model: type[BaseModel], path: tuple[int | str, ...]) -> Iterable[str]:
    """The keys that may stand where the last step of a path does."""
    for step in path[:-1]:
        kind = model.model_fields[str(step)].annotation
        model = next(part for part in (kind, *get_args(kind)) if isinstance(part, type) and issubclass(part, BaseModel))
    return model.model_fields


def _nearest(key: str, known: Iterable[str]) -> str:
    names = list(known)
    near = difflib.get_close_matches(key, names, 1, 0.5)
    return f"; did you mean `{near[0]}`?" if near else f"; there are {', '.join(f'`{name}`' for name in names)}"


def _line(tree: yaml.Node | None, path: tuple[int | str, ...]) -> int:
    """The line of the last key or entry of a path that stands in the file."""
    line, node = 1, tree
    for step in path:
        if isinstance(node, yaml.MappingNode):
            match = next(((key, value) for key, value in node.value if key.value == str(step)), None)
            if match is None:
                break
            line, node = match[0].start_mark.line + 1, match[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = node.start_mark.line + 1
        else:
            break
    return line


def to_yaml(recipe: Recipe, default_image: str) -> str:
    """`.github/agent-fix.yml` for a recipe, with where each part came from as comments."""
    values: Mapping[str, Any] = {
        "base_image": recipe.base_image if recipe.base_image != default_image else None,
        "packages": list(recipe.packages),
        "workdir": recipe.workdir if recipe.workdir != "." else None,
        "env": dict(recipe.env),
        "setup": list(recipe.setup),
        "build": list(recipe.build),
        "build_inputs": list(recipe.build_inputs),
        "test": recipe.test_command,
        "tests": list(recipe.tests),
        "reporter": recipe.reporter,
    }
    rows = ["# How agent-fix sets this project up and tests it.", f"{KEY}:"]
    for key, value in values.items():
        if not value:
            continue
        source = recipe.sources.get("test_command" if key == "test" else key)
        rows += [f"  # from {line}" for line in (source or "").splitlines() if key != "reporter"]
        text = yaml.safe_dump({key: value}, sort_keys=False, allow_unicode=True, width=1000)
        rows += [f"  {row}" for row in text.rstrip("\n").split("\n")]
    return "\n".join(rows) + "\n"


def explain(recipe: Recipe) -> str:
    """A recipe for people: each part, and below it where it came from."""
    parts: list[tuple[str, Iterable[str]]] = [
        ("base image", [recipe.base_image]),
        ("Debian packages", [" ".join(recipe.packages)] if recipe.packages else []),
        ("folder", [recipe.workdir]),
        ("variables", [f"{name}={value}" for name, value in recipe.env.items()]),
        ("set-up", recipe.setup),
        ("build", recipe.build),
        ("tests", [" ".join([recipe.test_command, *recipe.tests])]),
        ("results", [recipe.reporter]),
        ("from", [f"{what}: {where}" for what, where in recipe.sources.items()]),
    ]
    rows = []
    for title, lines in parts:
        for number, line in enumerate(lines):
            rows.append(f"{title if not number else '':<16}{line}")
    return "\n".join(rows) + "\n"
