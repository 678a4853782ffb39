"""What a Python project declares about testing, from everything that it says it in."""

from __future__ import annotations

import re

from packaging.utils import canonicalize_name

from sandbox.detect.files import Files, below, strings
from sandbox.detect.python.automation import from_automation
from sandbox.detect.python.project import Project, lines
from sandbox.detect.python.tools import FOR_DEVELOPERS, FOR_TESTS, Needs, from_hatch, from_nox, from_tox

REQUIREMENT_FILES = (
    "*requirements*.txt",
    "*requirements*.in",
    "*reqs*.txt",
)


def declared(files: Files, folder: str, project: Project) -> Needs:
    """Everything that the project's own configuration names for its tests."""
    needs = Needs()
    from_tox(files, folder, needs)
    from_nox(files, folder, project, needs)
    from_hatch(project, needs)
    from_automation(files, folder, project, needs)
    for kind, offered, chosen in (
        ("dependency-groups", project.groups, needs.groups),
        ("extras", project.extras, needs.extras),
    ):
        for name in preferred(list(offered)):
            chosen.setdefault(name, f"{kind}: {name}")
    for path in _requirement_files(files, folder):
        needs.files.setdefault(path, path)
    for line in strings(project.setup_py.get("tests_require")) + lines(
        files.ini(below(folder, "setup.cfg")).get("options", {}).get("tests_require", "")
    ):
        needs.packages.setdefault(line, "tests_require")
    needs.extras = {name: why for name, why in needs.extras.items() if _known(name, project.extras)}
    needs.groups = {name: why for name, why in needs.groups.items() if _known(name, project.groups)}
    return needs


def _known(name: str, offered: dict[str, list[str]]) -> bool:
    return canonicalize_name(name) in {canonicalize_name(key) for key in offered}


def preferred(names: list[str]) -> list[str]:
    """The names that are for tests; failing those, the ones for developers."""
    return [name for name in names if FOR_TESTS.match(name)] or [name for name in names if FOR_DEVELOPERS.match(name)]


def _requirement_files(files: Files, folder: str) -> list[str]:
    """Requirement files for tests, or else for developers, by their names."""
    prefix = "" if folder == "." else folder + "/"
    found: dict[str, str] = {}
    for path in files.glob(
        *(prefix + pattern for pattern in REQUIREMENT_FILES), prefix + "requirements/*", prefix + "*requirements/*.txt"
    ):
        rest = path[len(prefix) :]
        if rest.count("/") > 1 or not rest.endswith((".txt", ".in", ".pip")) or rest.startswith(("docs/", "doc/")):
            continue
        word = re.sub(r"(requirements|reqs)|\.(txt|in|pip)$", "", rest).strip("/-_. ").replace("/", "-")
        found.setdefault(word, rest)
    return [found[word] for word in preferred(list(found))]
