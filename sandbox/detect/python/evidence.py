"""What is known about one Python project and its tests, put together, gaps filled by what the tests use."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from packaging.utils import canonicalize_name

from sandbox.detect.files import Files, below
from sandbox.detect.python.known import FIXTURES, IMPORTS, OTHER_NAMES
from sandbox.detect.python.needs import declared
from sandbox.detect.python.project import Project, distribution, lines, offered, read_project
from sandbox.detect.python.pytest_config import Pytest, configuration, option_plugin, plugins, test_files
from sandbox.detect.python.source import Uses, uses
from sandbox.detect.python.tools import Needs
from sandbox.port import Recipe


@dataclass(frozen=True)
class Evidence:
    """Everything that was found out about one Python project, before any recipe is made of it."""

    files: Files
    folder: str
    project: Project
    needs: Needs
    config: Pytest
    tests: list[str]
    uses: Uses

    def chosen(self) -> set[str]:
        """Canonical names of what the chosen groups, extras, files and packages bring directly."""
        rows = [line for name in self.needs.groups for line in offered(self.project.groups, name)]
        rows += [line for name in self.needs.extras for line in offered(self.project.extras, name)]
        rows += [line for path in self.needs.files for line in requirement_lines(self.files, below(self.folder, path))]
        rows += self.project.dependencies
        return {name for line in rows if (name := distribution(line))} | self.needs.names()


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


def gather(files: Files, folder: str) -> Evidence | None:
    """The evidence for the Python project in `folder`, `None` if there are no tests in Python."""
    project, config = read_project(files, folder), configuration(files, folder)
    tests = test_files(files, folder, config)
    if all(path.endswith("conftest.py") for path in tests):
        return None
    found = Evidence(files, folder, project, declared(files, folder, project), config, tests, uses(files, tests))
    _complete(found)
    return found


def listed(files: Files, project: Project) -> dict[str, str]:
    """Canonical name -> requirement line, of everything that the project declares anywhere."""
    rows = [line for group in [*project.groups.values(), *project.extras.values()] for line in group]
    for path in files.glob("*requirements*.txt", "requirements/*.txt"):
        rows += requirement_lines(files, path)
    own = canonicalize_name(project.name)
    return {name: line for line in rows if (name := distribution(line)) and name != own}


def _complete(found: Evidence) -> None:
    """Add what the tests use and nothing chosen so far brings: the project's own lines first."""
    needs, folder = found.needs, found.folder
    prefers = not found.project.installable or ("pytest" not in found.chosen() and not needs.files)
    if prefers and found.files.has(below(folder, "requirements.txt")):
        needs.files.setdefault("requirements.txt", "requirements.txt")
    direct = {distribution(line) for line in found.project.dependencies}
    used = {canonicalize_name(OTHER_NAMES.get(name, name)) for name in found.uses.imports | found.uses.optional}
    for line, why in needs.perhaps.items():
        if distribution(line).startswith("pytest") or distribution(line) in used - direct:
            needs.packages.setdefault(line, why)
    own, known = found.chosen(), listed(found.files, found.project)
    for name in sorted(found.uses.imports | found.uses.optional):
        wanted = canonicalize_name(OTHER_NAMES.get(name, name))
        if wanted in known and wanted not in own and name not in sys.stdlib_module_names:
            needs.packages.setdefault(known[wanted], f"tests import {name}")
    own |= needs.names()
    for line, why in plugins(found.config, found.uses).items():
        module = distribution(line).replace("-", "_")
        if distribution(line) not in own and not _is_local(found, module):
            needs.packages.setdefault(line, why)
    if "pytest" not in own | needs.names() and found.project.name != "pytest":
        needs.packages["pytest"] = "the runner"


def missing(recipe: Recipe, log: str, files: Files) -> Iterator[tuple[str, str]]:
    """Requirement lines for what a pytest log calls missing, each with its symptom: declared or well-known ones."""
    known = listed(files, read_project(files, recipe.workdir))
    for name in sorted(set(re.findall(r"No module named '?(\w+)", log))):
        line = known.get(canonicalize_name(OTHER_NAMES.get(name, name))) or IMPORTS.get(name)
        if line:
            yield line, f"no module named {name}"
    for name in sorted(set(re.findall(r"fixture '(\w+)' not found", log))):
        if FIXTURES.get(name):
            yield FIXTURES[name], f"no fixture {name}"
    for word in sorted(set(re.findall(r"unrecognized arguments: (\S+)", log))):
        line = option_plugin(word)
        if line:
            yield line, f"no option {word}"


def _is_local(found: Evidence, module: str) -> bool:
    prefix = "" if found.folder == "." else found.folder + "/"
    return any(
        found.files.has(f"{prefix}{root}{module}{end}")
        for root in ("", "src/", "tests/", "test/")
        for end in (".py", "/__init__.py")
    )
