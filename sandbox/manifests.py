"""Which files a set-up depends on: a change of one of them makes a new environment, a change of another file none.

Sources that are compiled by the set-up are no manifests: a recipe lists them as `build_inputs`, and a check
builds them again.
"""

from __future__ import annotations

import posixpath
import re
from fnmatch import fnmatchcase

from sandbox.port import Recipe
from sandbox.trees import Entries

PATTERNS = {
    "Python": (
        *("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "noxfile.py", "MANIFEST.in", ".python-version"),
        *("*requirements*.txt", "*requirements*.in", "requirements/*", "*constraints*.txt", "Pipfile", "Pipfile.lock"),
        *("poetry.lock", "uv.lock", "pdm.lock", "pixi.lock", "pylock*.toml", "environment.yml"),
    ),
    "JavaScript": (
        *("package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml"),
        *("pnpm-workspace.yaml", ".npmrc", ".yarnrc.yml", "lerna.json", ".nvmrc", ".node-version"),
    ),
    "Go": ("go.mod", "go.sum", "go.work"),
    "Rust": ("Cargo.toml", "Cargo.lock", ".cargo/config.toml", "rust-toolchain", "rust-toolchain.toml"),
    "Java": (
        *("pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"),
        *("gradle.properties", "gradle.lockfile", "*.versions.toml"),
    ),
    "Ruby": ("Gemfile", "Gemfile.lock", "*.gemspec"),
    "PHP": ("composer.json", "composer.lock"),
    "C and C++": ("CMakeLists.txt", "meson.build", "configure.ac", "Makefile.am", "conanfile.*", "vcpkg.json"),
    "C#": ("*.csproj", "*.sln", "Directory.Build.props", "Directory.Packages.props", "packages.lock.json"),
}
"""Language -> patterns of `fnmatch`, which hold in any folder."""


MAKERS = re.compile(r"\b(make|just)\b")
MAKEFILES = ("GNUmakefile", "makefile", "Makefile", "justfile", "Justfile", ".justfile", "*.mk")
LISTS = (".txt", ".in")


def manifests(recipe: Recipe, entries: Entries) -> dict[str, tuple[int, str]]:
    """The files that decide about a recipe's set-up: those of `PATTERNS`, and those that its commands name.

    A list of requirements that is named may include its neighbours, and a target is what its file says: these count.
    """
    words = {word for line in recipe.setup for word in re.split(r"[\s'\"=;&|<>()]+", line)}
    named = {posixpath.normpath(posixpath.join(recipe.workdir, word)) for word in words if word}
    lists = {posixpath.dirname(path) for path in named & entries.keys() if path.endswith(LISTS)}
    made = any(MAKERS.search(line) for line in recipe.setup)

    def decides(path: str) -> bool:
        beside = path.endswith(LISTS) and posixpath.dirname(path) in lists
        return path in named or beside or is_manifest(path) or (made and _matches(path, MAKEFILES))

    return {path: entry for path, entry in entries.items() if decides(path)}


def is_manifest(path: str) -> bool:
    """Whether a file decides, by its name, about what a set-up installs."""
    return any(_matches(path, names) for names in PATTERNS.values())


def _matches(path: str, names: tuple[str, ...]) -> bool:
    return any(fnmatchcase(f"/{path}", f"*/{name}") for name in names)
