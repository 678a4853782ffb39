"""What tox, nox and Hatch are told to install and to run for a project's tests."""

from __future__ import annotations

import ast
import posixpath
import re
from dataclasses import dataclass, field
from typing import Any

from sandbox.detect.files import Files, below, strings, table
from sandbox.detect.python.project import Project, distribution, lines, offered
from sandbox.detect.python.source import assignments, literal, parsed

FOR_TESTS = re.compile(
    r"^(all[-_.])?(unit[-_.]?)?(tests?|testing|pytest|py|check|ci)([-_.]?(deps|requires|requirements|py3?|base))?$",
    re.IGNORECASE,
)
FOR_DEVELOPERS = re.compile(
    r"^(dev|devel|develop|development|developer|dev[-_.]?(deps|dependencies|requirements)|local)$", re.IGNORECASE
)
NOT_OURS = ("COVERAGE", "PIP_", "UV_", "PYTHONWARNINGS", "PYTHONDEVMODE", "VIRTUALENV_")
"""Variables of tox that are about its own work, or that would stop the set-up at the first warning."""
BASE_PYTHON = "3.11"
"""What the base image has. A project that excludes it gets another one from uv."""
EXTRAS = re.compile(r"\.\[([\w,\s.-]+)\]")
"""The project itself with extras, as pip takes it."""
TEST_FACTOR = re.compile(r"^(py\d*|py\d+\.\d+|\d\.\d+|tests?|unit)$")


@dataclass
class Needs:
    """What to install so that the tests run; each name with the place that says so."""

    extras: dict[str, str] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    packages: dict[str, str] = field(default_factory=dict)
    perhaps: dict[str, str] = field(default_factory=dict)
    """Packages that automation installs one by one: some are for the tests, some for its other work."""
    env: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Variable -> (value, place)."""
    commands: dict[str, str] = field(default_factory=dict)
    """Test commands as the project's own tools would run them."""

    def names(self) -> set[str]:
        """The canonical names of the packages listed one by one."""
        return {name for line in self.packages if (name := distribution(line))}


def tox_sections(files: Files, folder: str) -> tuple[dict[str, dict[str, str]], str]:
    """tox's environments, whichever file they stand in, and that file."""
    for path in (below(folder, "tox.ini"), below(folder, "setup.cfg")):
        found = {name: options for name, options in files.ini(path).items() if name.startswith("testenv")}
        if found:
            return found, path
    path = below(folder, "pyproject.toml")
    tox = table(files.toml(path), "tool", "tox")
    legacy = tox.get("legacy_tox_ini")
    if isinstance(legacy, str):
        return Files.ini_text(legacy), path
    found = {
        name if name == "testenv" else f"testenv:{name}": _plain(section)
        for name, section in [("testenv", table(tox, "env_run_base")), *table(tox, "env").items()]
        if section
    }
    return found, path


def _plain(section: dict[str, Any]) -> dict[str, str]:
    """A TOML environment of tox in the form of its INI: one entry a line."""
    plain = {}
    for key, value in section.items():
        rows = value if isinstance(value, list) else [value]
        plain[key] = "\n".join(
            " ".join(strings(row)) if isinstance(row, list) else str(row) for row in rows if not isinstance(row, dict)
        )
        if isinstance(value, dict):
            plain[key] = "\n".join(f"{name}={entry}" for name, entry in value.items() if isinstance(entry, str))
    return plain


def from_tox(files: Files, folder: str, needs: Needs) -> None:
    sections, path = tox_sections(files, folder)
    names = [name for name in sections if name == "testenv" or _is_test_environment(name.partition(":")[2])]
    for name in [name for name in names if not _is_of_another_python(name)] or names:
        options, environment = sections[name], name.partition(":")[2]
        where = f"{path} [{name}]"
        for line in _unconditional(options.get("deps", "")):
            _requirement_line(files, folder, line, where, needs)
        for extra in re.split(r"[\s,]+", " ".join(_all_factors(options.get("extras", "")))):
            needs.extras.setdefault(extra, where)
        for group in re.split(r"[\s,]+", " ".join(_unconditional(options.get("dependency_groups", "")))):
            needs.groups.setdefault(group, where)
        variables = options.get("set_env", "") or options.get("setenv", "")
        for line in _unconditional(variables) if not environment else ():
            key, equals, value = line.partition("=")
            if (
                equals
                and "{" not in value
                and re.fullmatch(r"\w+", key.strip())
                and not key.strip().startswith(NOT_OURS)
            ):
                needs.env.setdefault(key.strip(), (value.strip(), where))
        for line in _unconditional(options.get("commands", "")):
            needs.commands.setdefault(line, where)


def _is_test_environment(name: str) -> bool:
    factors = re.split(r"[-,{}]+", name)
    return all(TEST_FACTOR.match(factor) or factor.isdigit() for factor in factors if factor)


def _is_of_another_python(name: str) -> bool:
    """Whether a factor names a version of Python that is not the base image's: what it holds pulls others down."""
    named = {".".join(version) for version in re.findall(r"(?<![a-z])py(\d)\.?(\d+)", name)}
    named |= set(re.findall(r"(?<![\w.])([23]\.\d+)(?![\w.])", name))
    return bool(named) and BASE_PYTHON not in named


def _all_factors(text: str) -> list[str]:
    return [re.sub(r"^[\w.,!{}-]+:\s+", "", line) for line in lines(text)]


def _unconditional(text: str) -> list[str]:
    """tox lines that hold in a plain test environment: no factor, a test's or a Python's factor, or a negated one."""
    kept = []
    for line in lines(text.replace("\\\n", " ")):
        match = re.match(r"^([\w.,!{}-]+):\s+(.*)$", line)
        if not match:
            kept.append(line)
        elif match[1].startswith("!") or (
            not _is_of_another_python(match[1])
            and any(TEST_FACTOR.match(factor) for factor in re.split(r"[,{}-]+", match[1]) if factor)
        ):
            kept.append(match[2])
    return kept


def _requirement_line(files: Files, folder: str, line: str, where: str, needs: Needs) -> None:
    line = re.sub(r"\{(toxinidir|tox_root)\}/?", "", line)
    file = re.match(r"^(?:-r|--requirement)[ =]?\s*(\S+)", line)
    own = EXTRAS.match(re.sub(r"^-e\s*", "", line))
    if file and files.has(below(folder, file[1])):
        needs.files.setdefault(posixpath.normpath(file[1]), where)
    elif own:
        for extra in own[1].split(","):
            needs.extras.setdefault(extra.strip(), where)
    elif distribution(line) and "@" not in line:
        needs.packages.setdefault(line, where)


def from_nox(files: Files, folder: str, project: Project, needs: Needs) -> None:
    """`session.install(...)` in the sessions of a noxfile that are for tests."""
    path = below(folder, "noxfile.py")
    tree = parsed(files.text(path))
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef) or not re.match(r"^(unit_?)?(tests?|pytest|unit)", function.name):
            continue
        given = _parameters(function, assignments(tree), project)
        for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
            if not isinstance(call.func, ast.Attribute):
                continue
            words = [word for word in (_word(argument, given) for argument in call.args) if word is not None]
            if call.func.attr in ("install", "run_install"):
                installed(files, folder, words, f"{path} {function.name}", needs)
            elif call.func.attr == "run" and "pytest" in words:
                needs.commands.setdefault(" ".join(words), f"{path} {function.name}")


def _word(node: ast.expr, given: dict[str, str]) -> str | None:
    """A word of a command: written out, a parameter, or the project's folder (an expression) with extras of it."""
    if isinstance(node, ast.Name):
        return given.get(node.id)
    if isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else "." for part in node.values]
        text = "".join(map(str, parts))
        return text if EXTRAS.fullmatch(text) else None
    value = literal(node, {})
    return value if isinstance(value, str) else None


def _parameters(function: ast.FunctionDef, names: dict[str, ast.expr], project: Project) -> dict[str, str]:
    """Parameter of a session -> the project with extras: of several such values the one that brings most.

    nox runs a session for each value, and with extras that a value leaves out tests are skipped.
    """
    given = {}
    for mark in function.decorator_list:
        if not isinstance(mark, ast.Call) or len(mark.args) < 2 or "parametrize" not in ast.unparse(mark.func):
            continue
        name, values = literal(mark.args[0], {}), mark.args[1]
        values = names.get(values.id, values) if isinstance(values, ast.Name) else values
        words = [word for node in ast.walk(values) if isinstance(node, ast.expr) and (word := _word(node, {}))]
        own = [word for word in words if EXTRAS.fullmatch(word)]
        if isinstance(name, str) and own:
            given[name] = max(own, key=lambda word: _brings(word, project))
    return given


def _brings(word: str, project: Project) -> int:
    """How many requirement lines the extras of the project bring."""
    match = EXTRAS.fullmatch(word)
    return sum(len(offered(project.extras, name.strip())) for name in match[1].split(",")) if match else 0


def installed(files: Files, folder: str, words: list[str], where: str, needs: Needs) -> None:
    """The words of a `pip install` command line."""
    words = list(words)
    while words:
        word = words.pop(0)
        if word in ("-r", "--requirement") and words:
            _requirement_line(files, folder, f"-r {words.pop(0)}", where, needs)
        elif word == "--group" and words:
            needs.groups.setdefault(words.pop(0), where)
        elif word.startswith("--group="):
            needs.groups.setdefault(word.partition("=")[2], where)
        elif word in ("-c", "--constraint", "-e", "--editable") and words:
            _requirement_line(files, folder, words.pop(0) if word in ("-e", "--editable") else "", where, needs)
        elif not word.startswith("-"):
            _requirement_line(files, folder, word, where, needs)


def from_hatch(project: Project, needs: Needs) -> None:
    for name, environment in table(project.pyproject, "tool", "hatch", "envs").items():
        if not isinstance(environment, dict) or not (name in {"default", "hatch-test"} or FOR_TESTS.match(name)):
            continue
        where = f"pyproject.toml [tool.hatch.envs.{name}]"
        for line in strings(environment.get("dependencies")) + strings(environment.get("extra-dependencies")):
            needs.packages.setdefault(line, where)
        for extra in strings(environment.get("features")):
            needs.extras.setdefault(extra, where)
        for group in strings(environment.get("dependency-groups")):
            needs.groups.setdefault(group, where)
        for script in table(environment, "scripts").values():
            for line in strings(script):
                needs.commands.setdefault(line, where)
