"""How a project configures pytest, and which plugins that configuration cannot do without."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from sandbox.detect.files import Files, below, strings, table
from sandbox.detect.python.known import FIXTURES, IMPORTS, INI_OPTIONS, MARKS, OPTIONS
from sandbox.detect.python.project import distribution, lines
from sandbox.detect.python.source import Uses

NOT_TESTS = re.compile(
    r"(^|/)(\.[^/]+|node_modules|docs?|examples?|bench(mark(s|ing)?)?|build|dist|venv|vendor(ed)?|_vendor|third_party)/"
)


@dataclass(frozen=True)
class Pytest:
    """A project's pytest configuration."""

    path: str = ""
    addopts: tuple[str, ...] = ()
    testpaths: tuple[str, ...] = ()
    python_files: tuple[str, ...] = ("test_*.py", "*_test.py")
    options: dict[str, str] = field(default_factory=dict)


def configuration(files: Files, folder: str) -> Pytest:
    """The configuration that pytest itself would choose in `folder`."""
    for name, options in _candidates(files, folder):
        if options is None:
            continue
        return Pytest(
            path=below(folder, name),
            addopts=tuple(_words(options.get("addopts"))),
            testpaths=tuple(_words(options.get("testpaths"))),
            python_files=tuple(_words(options.get("python_files"))) or Pytest.python_files,
            options={key: str(value) for key, value in options.items()},
        )
    return Pytest()


def _candidates(files: Files, folder: str) -> Iterator[tuple[str, dict[str, object] | None]]:
    for name in ("pytest.ini", ".pytest.ini"):
        if files.has(below(folder, name)):
            yield name, dict(files.ini(below(folder, name)).get("pytest", {}))
    tool = table(files.toml(below(folder, "pyproject.toml")), "tool", "pytest")
    if tool:
        yield "pyproject.toml", table(tool, "ini_options") or tool
    for name, section in (("tox.ini", "pytest"), ("setup.cfg", "tool:pytest")):
        options = files.ini(below(folder, name)).get(section)
        yield name, dict(options) if options is not None else None


def _words(value: object) -> list[str]:
    if not isinstance(value, str):
        return strings(value)
    try:
        return shlex.split("\n".join(lines(value)))
    except ValueError:
        return value.split()


def test_files(files: Files, folder: str, config: Pytest) -> list[str]:
    """The Python files below `folder` that hold tests, by name, plus each conftest.py."""
    prefix = "" if folder == "." else folder + "/"
    found = []
    limits = tuple(below(folder, path) for path in config.testpaths if files.has_folder(below(folder, path)))
    for path in files.glob(prefix + "*.py"):
        name = path.rsplit("/", 1)[-1]
        if limits and not path.startswith(tuple(limit + "/" for limit in limits)) and "." not in limits:
            continue
        if NOT_TESTS.search(path[len(prefix) :]):
            continue
        if (
            name == "conftest.py"
            or any(fnmatchcase(name, pattern.rsplit("/", 1)[-1]) for pattern in config.python_files)
            or name in ("tests.py", "test.py")
        ):
            found.append(path)
    return found


def option_plugin(word: str) -> str:
    """The plugin that a word of pytest's command line belongs to, empty if none is known."""
    fitting = [
        known for known in OPTIONS if re.match(rf"{known}(-|=|$)" if known.startswith("--") else rf"{known}\d*$", word)
    ]
    return OPTIONS[max(fitting, key=len)] if fitting else ""


def plugins(config: Pytest, uses: Uses) -> dict[str, str]:
    """Distribution -> why, for what the configuration and the tests cannot do without."""
    found: dict[str, str] = {}
    for word in config.addopts:
        if option_plugin(word):
            found.setdefault(option_plugin(word), f"{config.path}: addopts has {word}")
    for option in config.options:
        if option in INI_OPTIONS:
            found.setdefault(INI_OPTIONS[option], f"{config.path}: {option}")
    for line in lines(config.options.get("required_plugins", "")):
        for requirement in re.split(r"\s+(?=[A-Za-z])", line):
            if distribution(requirement):
                found.setdefault(requirement, f"{config.path}: required_plugins")
    for kind, names, known in (
        ("fixture", uses.fixtures - uses.defined, FIXTURES),
        ("mark", uses.marks, MARKS),
        ("import", uses.imports, IMPORTS),
    ):
        for name in sorted(names):
            if known.get(name):
                found.setdefault(known[name], f"tests use the {kind} {name}")
    return found


def switches(config: Pytest, names: set[str]) -> list[str]:
    """Options that make a run repeatable and its exit code about tests alone."""
    found = []
    if "pytest-cov" in names and any(word.startswith("--cov") for word in config.addopts):
        found.append("--no-cov")
    if "pytest-randomly" in names:
        found.append("-p no:randomly")
    return found
