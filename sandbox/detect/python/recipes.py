"""Recipes for Python projects: uv makes the environment, the project's own manifests say what goes in."""

from __future__ import annotations

import posixpath
import re
import shlex
from dataclasses import replace

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from sandbox.detect.files import Files, below, strings, table
from sandbox.detect.python.evidence import Evidence, gather, listed
from sandbox.detect.python.project import distribution, offered, poetry_versions
from sandbox.detect.python.pytest_config import plugins, switches
from sandbox.detect.python.tools import BASE_PYTHON
from sandbox.detect.python.version import pretended
from sandbox.port import Recipe

COMPILING = ("mesonpy", "scikit", "maturin", "setuptools-rust", "cython", "cffi", "pybind11", "nanobind", "mypyc")
"""Words of a build system by which a project has parts in another language."""
DECLARED = "what the manifests name for tests"
SOURCES = (
    *("*.c", "*.h", "*.cc", "*.cpp", "*.cxx", "*.hh", "*.hpp", "*.inc", "*.S", "*.f", "*.f90", "*.rs", "*.i"),
    *("*.pyx", "*.pxd", "*.pxi", "*.in", "*.tp", "*.def", "*meson.build", "*meson_options.txt", "*CMakeLists.txt"),
)
COMPILER = ("build-essential", "python3-dev", "pkg-config")
VALUED = frozenset(
    {
        *("-k", "-m", "-n", "-p", "-c", "-o", "-W", "--cov", "--cov-config", "--cov-report", "--ignore", "--rootdir"),
        *("--basetemp", "--junitxml", "--junit-xml", "--dist", "--confcutdir", "--deselect"),
    }
)
"""Options of pytest whose next word is their value."""
PYTHON = "~/venv/bin/python"
"""The sandbox puts the folder of this virtual environment at the head of the `PATH`."""


def detect(files: Files, folder: str, base_image: str) -> list[Recipe]:
    """Recipes for the Python project in `folder`, the one that leans most on the project's own word first."""
    found = gather(files, folder)
    if found is None:
        return []
    ways: list[tuple[str, list[str]]] = []
    if _locked_for_uv(found):
        ways.append(("uv.lock", _locked_by_uv(found)))
    if files.has(below(folder, "poetry.lock")):
        ways.append(("poetry.lock", _locked_by_poetry(found)))
        ways.append(("what the manifests name for tests, in the versions of poetry.lock", _held_to_poetry(found)))
    ways.append((DECLARED, _declared(found)))
    ways.append(("the project alone, with the test tools that its tests use", _bare(found)))
    recipes = [_recipe(found, base_image, install, source) for source, install in ways]
    return [*_django(found, recipes[-2]), *recipes, *_unittest(found, recipes[-2])]


def _locked_for_uv(found: Evidence) -> bool:
    """Whether a lock file of uv is for this project: in its own folder, or in that of the workspace around it."""
    uv = table(found.project.pyproject, "tool", "uv")
    if not table(found.project.pyproject, "project") and "workspace" not in uv:
        return False
    here = found.folder
    while here != "." and not found.files.has(below(here, "uv.lock")):
        here = posixpath.dirname(here) or "."
    around = table(found.files.toml(below(here, "pyproject.toml")), "tool", "uv", "workspace")
    return found.files.has(below(here, "uv.lock")) and (here == found.folder or bool(around))


def _django(found: Evidence, recipe: Recipe) -> list[Recipe]:
    """A Django site without pytest's plug-in for it is tested by its own command."""
    manage = below(found.folder, "manage.py")
    if not found.files.has(manage) or "DJANGO_SETTINGS_MODULE" in found.config.options:
        return []
    sources = {**recipe.sources, "test_command": manage, "reporter": "its exit code", "tests": "all apps"}
    return [replace(recipe, test_command="python manage.py test", reporter="exit-code", tests=(), sources=sources)]


def _unittest(found: Evidence, recipe: Recipe) -> list[Recipe]:
    """Suites that know nothing of pytest can do without it."""
    if not found.uses.unittest or "pytest" in found.uses.imports | found.uses.optional:
        return []
    folder = next((name for name in ("tests", "test") if found.files.has_folder(below(found.folder, name))), ".")
    package = found.files.has(below(found.folder, f"{folder}/__init__.py"))
    tests = ("discover", "-s", folder, *(("-t", ".") if package else ()))
    sources = {**recipe.sources, "test_command": "tests are cases of unittest", "reporter": "unittest"}
    return [replace(recipe, test_command="python -m unittest", reporter="unittest", tests=tests, sources=sources)]


def _start(found: Evidence) -> list[str]:
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


def install(words: list[str]) -> str:
    """The command that installs these words, options and requirement lines, into the virtual environment."""
    return f"uv pip install --quiet --python {PYTHON} " + " ".join(shlex.quote(word) for word in words)


def _own(found: Evidence) -> list[str]:
    """The words that install the project itself, editable so that a changed source file is what the tests see."""
    if not found.project.installable:
        return []
    extras = ",".join(sorted(found.needs.extras))
    return ["-e", f".[{extras}]" if extras else "."]


def _locked_by_uv(found: Evidence) -> list[str]:
    words = ["UV_PROJECT_ENVIRONMENT=~/venv uv sync --quiet --frozen --inexact --no-default-groups"]
    words += [f"--group {shlex.quote(name)}" for name in found.needs.groups]
    words += [f"--extra {shlex.quote(name)}" for name in found.needs.extras]
    if table(found.project.pyproject, "tool", "uv", "workspace"):
        words.append("--all-packages")
    return [" ".join(words), *_rest(found)]


def _locked_by_poetry(found: Evidence) -> list[str]:
    words = [
        "~/.tools/bin/python -m pip install --quiet poetry",
        "&& VIRTUAL_ENV=~/venv ~/.tools/bin/poetry install --no-ansi --no-interaction --all-extras",
    ]
    groups = [name for name in found.needs.groups if name in table(found.project.pyproject, "tool", "poetry", "group")]
    words += [f"--with {shlex.quote(name)}" for name in groups]
    return [" ".join(words), *_rest(found)]


VERSIONS = (
    "import sys, tomllib; rows = tomllib.load(sys.stdin.buffer)['package']; names = [row['name'] for row in rows];"
    " [print(row['name'] + '==' + row['version'])"
    " for row in rows if names.count(row['name']) == 1 and 'source' not in row]"
)
"""Python that prints what a lock file of Poetry holds from the registry, one version of each, as constraints."""


def _held_to_poetry(found: Evidence) -> list[str]:
    """Without Poetry itself, which knows no mirror of the registry."""
    listing = f"~/.tools/bin/python -c {shlex.quote(VERSIONS)} <poetry.lock >~/locked.txt"
    return [listing, *(f"{line} --constraint ~/locked.txt" for line in _declared(found))]


def _rest(found: Evidence) -> list[str]:
    """After a lock file: the requirement files and single packages, which a lock does not know of."""
    words = [word for path in found.needs.files for word in ("-r", path) if found.needs.files[path] != path]
    words += found.needs.packages
    return [install(words)] if words else []


def _declared(found: Evidence) -> list[str]:
    words = _own(found)
    standard = {canonicalize_name(name) for name in table(found.project.pyproject, "dependency-groups")}
    for name in found.needs.groups:
        words += ["--group", name] if canonicalize_name(name) in standard else offered(found.project.groups, name)
    words += [word for path in found.needs.files for word in ("-r", path)]
    words += [*found.needs.packages]
    if not found.project.installable:
        words += found.project.dependencies
    return [install(words)] if words else []


def _bare(found: Evidence) -> list[str]:
    """For projects whose full list of tools cannot be had any more: only what the tests use."""
    known, own = listed(found.files, found.project), {distribution(line) for line in found.project.dependencies}
    wanted = {"pytest": "pytest"} | {distribution(line): line for line in found.needs.packages}
    wanted |= {distribution(line): line for line in plugins(found.config, found.uses)}
    wanted = {
        name: known.get(name, line)
        for name, line in wanted.items()
        if name not in own | {canonicalize_name(found.project.name)}
    }
    return [install([*(["-e", "."] if found.project.installable else found.project.dependencies), *wanted.values()])]


def _recipe(found: Evidence, base_image: str, install: list[str], source: str) -> Recipe:
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
    compiled = _compiled(found)
    sources |= {"build": compiled[0]} if compiled else {}
    return Recipe(
        base_image,
        setup=(
            *_start(found),
            *install,
            *(compiled[1] if compiled else ()),
        ),
        test_command=" ".join(command),
        reporter="pytest",
        tests=tuple(paths),
        packages=COMPILER if compiled else (),
        build=("uv pip install --quiet --offline --no-deps --no-build-isolation --python ~/venv/bin/python -e .",)
        if compiled
        else (),
        build_inputs=SOURCES if compiled else (),
        workdir=found.folder,
        env=env,
        sources=sources,
    )


def _compiled(found: Evidence) -> tuple[str, list[str]] | None:
    """For a project with parts in a compiled language: how that is known, and the set-up that its rebuilding needs."""
    requires = strings(table(found.project.pyproject, "build-system").get("requires"))
    setup = found.files.text(below(found.folder, "setup.py"))
    word = next((word for word in COMPILING if word in " ".join([found.project.backend, *requires]).lower()), "")
    word = word or next(
        (word for word in ("ext_modules", "Extension(", "cythonize", "cffi_modules") if word in setup), ""
    )
    if not word or not found.project.installable:
        return None
    return f"the build uses {word}", [install(requires or ["setuptools", "wheel"])]


def _limits(found: Evidence) -> tuple[list[str], str]:
    """The folders to collect from where the project's configuration does not say, and why these."""
    if found.config.testpaths:
        return [], f"{found.config.path}: testpaths"
    for command, where in found.needs.commands.items():
        words = command.replace("{posargs:", " ").replace("}", " ").split()
        at = next((i for i, word in enumerate(words) if word.rsplit("/", 1)[-1] in ("pytest", "py.test")), None)
        if at is not None:
            paths = _paths(found, words[at + 1 :])
            if paths:
                return paths, f"{where}: {command}"
    for name in ("tests", "test", "testing"):
        prefix = below(found.folder, name) + "/"
        if any(path.startswith(prefix) for path in found.tests):
            return [name], f"the folder {name}"
    return [], "the whole repository: no folder for tests"


def _paths(found: Evidence, words: list[str]) -> list[str]:
    """The words of pytest's command line that are paths of the repository, and not the value of an option."""
    paths = []
    for before, word in zip(["", *words], words, strict=False):
        path = below(found.folder, word)
        there = found.files.has_folder(path) or (word.endswith(".py") and found.files.has(path))
        if there and before not in VALUED and not word.startswith("-"):
            paths.append(word.removeprefix("./").rstrip("/"))
    return paths
