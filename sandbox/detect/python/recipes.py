"""Recipes for Python projects: uv makes the environment, the project's own manifests say what goes in."""

from __future__ import annotations

import re
import shlex
import sys
from dataclasses import dataclass

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from sandbox.detect.files import Files, table
from sandbox.detect.python.known import OTHER_NAMES
from sandbox.detect.python.needs import declared
from sandbox.detect.python.project import Project, below, distribution, lines, poetry_versions, read_project
from sandbox.detect.python.pytest_config import Pytest, configuration, plugins, switches, test_files
from sandbox.detect.python.source import Uses, uses
from sandbox.detect.python.tools import Needs
from sandbox.detect.python.version import pretended
from sandbox.port import Recipe

BASE_PYTHON = "3.11"
"""What the base image has. A project that excludes it gets another one from uv."""
PYTHON = "~/venv/bin/python"
"""The sandbox puts the folder of this virtual environment at the head of the `PATH`."""


@dataclass(frozen=True)
class _Python:
    """Everything that was found out about one project, before any recipe is made of it."""

    files: Files
    folder: str
    project: Project
    needs: Needs
    config: Pytest
    tests: list[str]
    uses: Uses

    def listed(self) -> dict[str, str]:
        """Canonical name -> requirement line, of everything that the project declares anywhere."""
        rows = [line for group in [*self.project.groups.values(), *self.project.extras.values()] for line in group]
        for path in self.files.glob("*requirements*.txt", "requirements/*.txt"):
            rows += requirement_lines(self.files, path)
        own = canonicalize_name(self.project.name)
        return {name: line for line in rows if (name := distribution(line)) and name != own}

    def chosen(self) -> set[str]:
        """Canonical names of what the chosen groups, extras, files and packages bring directly."""
        rows = [line for name in self.needs.groups for line in _offered(self.project.groups, name)]
        rows += [line for name in self.needs.extras for line in _offered(self.project.extras, name)]
        rows += [line for path in self.needs.files for line in requirement_lines(self.files, below(self.folder, path))]
        rows += self.project.dependencies
        return {name for line in rows if (name := distribution(line))} | self.needs.names()


def _offered(offered: dict[str, list[str]], name: str) -> list[str]:
    wanted = canonicalize_name(name)
    return next((rows for key, rows in offered.items() if canonicalize_name(key) == wanted), [])


def requirement_lines(files: Files, path: str, seen: tuple[str, ...] = ()) -> list[str]:
    """The lines of a requirements file, those of the files it includes too."""
    found = []
    for line in lines(files.text(path)):
        include = re.match(r"^(?:-r|--requirement)[ =]?\s*(\S+)", line)
        if include and path not in seen:
            found += requirement_lines(files, below(path.rpartition("/")[0] or ".", include[1]), (*seen, path))
        elif not include:
            found.append(line)
    return found


def detect(files: Files, folder: str, base_image: str) -> list[Recipe]:
    """Recipes for the Python project in `folder`, the one that leans most on the project's own word first."""
    project, config = read_project(files, folder), configuration(files, folder)
    tests = test_files(files, folder, config)
    if not any(not path.endswith("conftest.py") for path in tests):
        return []
    used = uses(files, tests)
    found = _Python(files, folder, project, declared(files, folder, project), config, tests, used)
    _complete(found)
    recipes = []
    if files.has(below(folder, "uv.lock")) and table(project.pyproject, "project"):
        recipes.append(_recipe(found, base_image, _locked_by_uv(found), "uv.lock"))
    if files.has(below(folder, "poetry.lock")):
        recipes.append(_recipe(found, base_image, _locked_by_poetry(found), "poetry.lock"))
    recipes.append(_recipe(found, base_image, _declared(found), "what the manifests name for tests"))
    recipes.append(
        _recipe(found, base_image, _bare(found), "the project alone, with the test tools that its tests use")
    )
    return recipes


def _complete(found: _Python) -> None:
    """Add what the tests use and nothing chosen so far brings: the project's own lines first."""
    needs, folder = found.needs, found.folder
    prefers = not found.project.installable or ("pytest" not in found.chosen() and not needs.files)
    if prefers and found.files.has(below(folder, "requirements.txt")):
        needs.files.setdefault("requirements.txt", "requirements.txt")
    own, listed = found.chosen(), found.listed()
    for name in sorted(found.uses.imports | found.uses.optional):
        known = canonicalize_name(OTHER_NAMES.get(name, name))
        if known in listed and known not in own and name not in sys.stdlib_module_names:
            needs.packages.setdefault(listed[known], f"tests import {name}")
    own |= needs.names()
    for line, why in plugins(found.config, found.uses).items():
        module = distribution(line).replace("-", "_")
        if distribution(line) not in own and not _is_local(found, module):
            needs.packages.setdefault(line, why)
    if "pytest" not in own | needs.names() and found.project.name != "pytest":
        needs.packages["pytest"] = "the runner"


def _is_local(found: _Python, module: str) -> bool:
    prefix = "" if found.folder == "." else found.folder + "/"
    return any(
        found.files.has(f"{prefix}{root}{module}{end}")
        for root in ("", "src/", "tests/", "test/")
        for end in (".py", "/__init__.py")
    )


def _start(found: _Python) -> list[str]:
    """A virtual environment of a Python that the project accepts."""
    wanted = found.project.requires_python
    wanted = poetry_versions(wanted) if re.match(r"^[\^~]\s*\d", wanted) else wanted
    try:
        fits = SpecifierSet(wanted).contains(f"{BASE_PYTHON}.2")
    except InvalidSpecifier:
        fits = True
    choice = "python3" if fits else wanted
    return [
        "python3 -m venv ~/.tools && ~/.tools/bin/python -m pip install --quiet --disable-pip-version-check uv"
        " && mkdir -p ~/.local/bin && ln -s ~/.tools/bin/uv ~/.local/bin/uv",
        f"uv venv --quiet --seed --python {shlex.quote(choice)} ~/venv",
    ]


def _install(words: list[str]) -> str:
    return f"uv pip install --quiet --python {PYTHON} " + " ".join(shlex.quote(word) for word in words)


def _own(found: _Python) -> list[str]:
    """The words that install the project itself, editable so that a changed source file is what the tests see."""
    if not found.project.installable:
        return []
    extras = ",".join(sorted(found.needs.extras))
    return ["-e", f".[{extras}]" if extras else "."]


def _locked_by_uv(found: _Python) -> list[str]:
    words = ["UV_PROJECT_ENVIRONMENT=~/venv uv sync --quiet --frozen --inexact --no-default-groups"]
    words += [f"--group {shlex.quote(name)}" for name in found.needs.groups]
    words += [f"--extra {shlex.quote(name)}" for name in found.needs.extras]
    if table(found.project.pyproject, "tool", "uv", "workspace"):
        words.append("--all-packages")
    return [" ".join(words), *_rest(found)]


def _locked_by_poetry(found: _Python) -> list[str]:
    words = [
        "~/.tools/bin/python -m pip install --quiet poetry",
        "&& VIRTUAL_ENV=~/venv ~/.tools/bin/poetry install --quiet --no-interaction --all-extras",
    ]
    groups = [name for name in found.needs.groups if name in table(found.project.pyproject, "tool", "poetry", "group")]
    words += [f"--with {shlex.quote(name)}" for name in groups]
    return [" ".join(words), *_rest(found)]


def _rest(found: _Python) -> list[str]:
    """After a lock file: the requirement files and single packages, which a lock does not know of."""
    words = [word for path in found.needs.files for word in ("-r", path) if found.needs.files[path] != path]
    words += found.needs.packages
    return [_install(words)] if words else []


def _declared(found: _Python) -> list[str]:
    poetry = table(found.project.pyproject, "tool", "poetry")
    words = _own(found)
    for name in found.needs.groups:
        if poetry and name not in table(found.project.pyproject, "dependency-groups"):
            words += _offered(found.project.groups, name)
        else:
            words += ["--group", name]
    words += [word for path in found.needs.files for word in ("-r", path)]
    words += [*found.needs.packages]
    if not found.project.installable:
        words += found.project.dependencies
    return [_install(words)] if words else []


def _bare(found: _Python) -> list[str]:
    """For projects whose full list of tools cannot be had any more: only what the tests use."""
    listed, own = found.listed(), {distribution(line) for line in found.project.dependencies}
    wanted = {"pytest": "pytest"} | {distribution(line): line for line in found.needs.packages}
    wanted |= {distribution(line): line for line in plugins(found.config, found.uses)}
    wanted = {
        name: listed.get(name, line)
        for name, line in wanted.items()
        if name not in own | {canonicalize_name(found.project.name)}
    }
    return [_install([*(["-e", "."] if found.project.installable else found.project.dependencies), *wanted.values()])]


def _recipe(found: _Python, base_image: str, install: list[str], source: str) -> Recipe:
    needs = found.needs
    env = {name: value for name, (value, _) in needs.env.items()}
    sources = {"setup": source, "reporter": "pytest", "base_image": "the default"}
    for variable, (version, where) in pretended(found.files, found.folder, found.project).items():
        env[variable] = version
        sources[f"env {variable}"] = where
    for kind, chosen in (
        ("extra", needs.extras),
        ("group", needs.groups),
        ("file", needs.files),
        ("package", needs.packages),
    ):
        sources |= {f"{kind} {name}": why for name, why in chosen.items()}
    paths, why = _limits(found)
    command = ["python -m pytest --continue-on-collection-errors", *switches(found.config, found.chosen())]
    if not found.project.installable:
        env["PYTHONPATH"] = "src" if found.files.has_folder(below(found.folder, "src")) else "."
    sources |= {"tests": why} | {f"env {name}": where for name, (_, where) in needs.env.items()}
    setup = (*_start(found), *_folders(found), *install)
    return Recipe(
        base_image,
        setup,
        " ".join(command),
        "pytest",
        tests=tuple(paths),
        workdir=found.folder,
        env=env,
        sources=sources,
    )


def _folders(found: _Python) -> list[str]:
    """Submodules are not part of a snapshot; their empty folders are, as git leaves them."""
    missing = [shlex.quote(path) for path in found.files.submodules()]
    return [f"mkdir -p {' '.join(missing)}"] if missing and found.folder == "." else []


def _limits(found: _Python) -> tuple[list[str], str]:
    """The folders to collect from where the project's configuration does not say, and why these."""
    if found.config.testpaths:
        return [], f"{found.config.path}: testpaths"
    for command, where in found.needs.commands.items():
        words = command.replace("{posargs:", " ").replace("}", " ").split()
        if any(word.rsplit("/", 1)[-1] in ("pytest", "py.test") for word in words):
            paths = [
                word.strip("/")
                for word in words
                if found.files.has_folder(below(found.folder, word))
                or (word.endswith(".py") and found.files.has(below(found.folder, word)))
            ]
            if paths:
                return paths, f"{where}: {command}"
    for name in ("tests", "test", "testing"):
        prefix = below(found.folder, name) + "/"
        if any(path.startswith(prefix) for path in found.tests):
            return [name], f"the folder {name}"
    return [], "the whole repository: no folder for tests"
