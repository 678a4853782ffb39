"""A Python project's own manifests: pyproject.toml, setup.cfg and setup.py, merged to one view."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from sandbox.detect.files import Files, below, strings, table
from sandbox.detect.python.source import setup_arguments


@dataclass(frozen=True)
class Project:
    """A Python project's manifests, merged to one view."""

    name: str
    dynamic_version: bool
    backend: str
    requires_python: str
    dependencies: tuple[str, ...]
    extras: dict[str, list[str]]
    groups: dict[str, list[str]]
    installable: bool
    pyproject: dict[str, Any]
    setup_py: dict[str, object]


def read_project(files: Files, folder: str) -> Project:
    """The project in `folder`, from pyproject.toml, setup.cfg and setup.py."""
    pyproject = files.toml(below(folder, "pyproject.toml"))
    setup_cfg = files.ini(below(folder, "setup.cfg"))
    setup_py = setup_arguments(files, below(folder, "setup.py"))
    meta, poetry = table(pyproject, "project"), table(pyproject, "tool", "poetry")
    metadata, options = setup_cfg.get("metadata", {}), setup_cfg.get("options", {})
    extras = {
        **{name: strings(value) for name, value in table(setup_py, "extras_require").items()},
        **{name: lines(value) for name, value in setup_cfg.get("options.extras_require", {}).items()},
        **{name: [str(item) for item in strings(value)] for name, value in table(poetry, "extras").items()},
        **{name: strings(value) for name, value in table(meta, "optional-dependencies").items()},
    }
    build = table(pyproject, "build-system")
    has_setup = files.has(below(folder, "setup.py")) or bool(metadata.get("name") or options)
    return Project(
        name=str(meta.get("name") or poetry.get("name") or metadata.get("name") or setup_py.get("name") or ""),
        dynamic_version="version" in strings(meta.get("dynamic")) or not (meta.get("version") or poetry.get("version")),
        backend=str(build.get("build-backend") or ("setuptools.build_meta" if has_setup or meta else "")),
        requires_python=str(
            meta.get("requires-python")
            or options.get("python_requires")
            or setup_py.get("python_requires")
            or table(poetry, "dependencies").get("python")
            or ""
        ),
        dependencies=tuple(
            strings(meta.get("dependencies"))
            + lines(options.get("install_requires", ""))
            + strings(setup_py.get("install_requires"))
            + poetry_requirements(table(poetry, "dependencies"))
        ),
        extras=extras,
        groups={**_poetry_groups(poetry), **_groups(pyproject)},
        installable=bool(meta.get("name") or has_setup or (poetry.get("name") and poetry.get("package-mode", True))),
        pyproject=pyproject,
        setup_py=setup_py,
    )


def offered(choices: dict[str, list[str]], name: str) -> list[str]:
    """The requirement lines of a group or an extra, whichever way its name is spelled."""
    wanted = canonicalize_name(name)
    return next((rows for key, rows in choices.items() if canonicalize_name(key) == wanted), [])


def lines(text: str) -> list[str]:
    """The lines of an INI value, without comments and blanks."""
    found = (re.sub(r"(^|\s)#.*", "", line).strip() for line in (text or "").split("\n"))
    return [line for line in found if line]


def _groups(pyproject: dict[str, Any]) -> dict[str, list[str]]:
    """PEP 735 groups, includes resolved, and PDM's and uv's older places for them."""
    raw = table(pyproject, "dependency-groups")

    def flat(name: str, seen: tuple[str, ...]) -> Iterator[str]:
        key = next((key for key in raw if canonicalize_name(key) == canonicalize_name(name)), None)
        for item in raw.get(key, []) if key and isinstance(raw.get(key), list) and key not in seen else []:
            if isinstance(item, str):
                yield item
            elif isinstance(item, dict) and isinstance(item.get("include-group"), str):
                yield from flat(item["include-group"], (*seen, str(key)))

    groups = {name: list(flat(name, ())) for name in raw}
    for name, value in table(pyproject, "tool", "pdm", "dev-dependencies").items():
        groups.setdefault(name, strings(value))
    older = strings(table(pyproject, "tool", "uv").get("dev-dependencies"))
    if older:
        groups.setdefault("dev", older)
    return groups


def _poetry_groups(poetry: dict[str, Any]) -> dict[str, list[str]]:
    groups = {name: poetry_requirements(table(value, "dependencies")) for name, value in table(poetry, "group").items()}
    older = poetry_requirements(table(poetry, "dev-dependencies"))
    return {**({"dev": older} if older else {}), **groups}


def poetry_requirements(dependencies: dict[str, Any]) -> list[str]:
    """Poetry's own notation as standard requirement lines; path and git dependencies are left to Poetry."""
    found = []
    for name, value in dependencies.items():
        for entry in value if isinstance(value, list) else [value]:
            given = entry if isinstance(entry, dict) else {"version": entry}
            if name.lower() == "python" or not isinstance(given.get("version"), str):
                continue
            extras = ",".join(strings(given.get("extras")))
            marker = f" ; {given['markers']}" if isinstance(given.get("markers"), str) else ""
            line = f"{name}{f'[{extras}]' if extras else ''}{poetry_versions(given['version'])}{marker}"
            found += [line] if distribution(line) else []
    return found


def poetry_versions(text: str) -> str:
    """`^1.2` and `~1.2` as ranges, `1.2` as an exact version; anything with `||` as no limit."""
    if "||" in text or " or " in text:
        return ""
    parts = []
    for piece in filter(None, re.split(r"\s*,\s*|\s+(?=[<>=!^~])", text.strip())):
        match = re.fullmatch(r"(\^|~(?!=))\s*([\d.]+)\S*", piece)
        if match:
            numbers = [int(number) for number in match[2].strip(".").split(".")]
            at = (
                next((i for i, number in enumerate(numbers) if number), len(numbers) - 1)
                if match[1] == "^"
                else min(1, len(numbers) - 1)
            )
            upper = [*numbers[:at], numbers[at] + 1]
            parts.append(f">={match[2]},<{'.'.join(map(str, upper))}")
        elif piece != "*":
            parts.append(piece if piece[0] in "<>=!~" else f"=={piece}")
    return ",".join(parts)


def distribution(line: str) -> str:
    """The canonical name of the distribution that a requirement line asks for, empty if it names none."""
    try:
        return canonicalize_name(Requirement(line.split(" #", maxsplit=1)[0].strip()).name)
    except InvalidRequirement:
        return ""
