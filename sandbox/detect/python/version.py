"""A version for projects that take theirs from git tags, which a container does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator

from packaging.version import InvalidVersion, Version

from sandbox.detect.files import Files, below, strings, table
from sandbox.detect.python.project import Project

CHANGELOGS = ("CHANGELOG", "CHANGES", "HISTORY", "NEWS", "RELEASE_NOTES", "RELEASES", "CHANGE_LOG")
NUMBER = re.compile(r"(?<![\w.])v?(\d+(?:\.\d+){1,3}(?:(?:a|b|rc|\.post)\d+)?)(?![\w.]*\d)")
UNKNOWN = "9999.0"
"""Above every limit that a test or another package is likely to ask for."""

VARIABLES = (
    ("poetry-dynamic-versioning", "POETRY_DYNAMIC_VERSIONING_BYPASS"),
    ("uv-dynamic-versioning", "UV_DYNAMIC_VERSIONING_BYPASS"),
    ("pbr", "PBR_VERSION"),
    ("pdm-backend", "PDM_BUILD_SCM_VERSION"),
    ("setuptools-scm", "SETUPTOOLS_SCM_PRETEND_VERSION"),
    ("setuptools_scm", "SETUPTOOLS_SCM_PRETEND_VERSION"),
    ("hatch-vcs", "SETUPTOOLS_SCM_PRETEND_VERSION"),
    ("flit-scm", "SETUPTOOLS_SCM_PRETEND_VERSION"),
    ("flit_scm", "SETUPTOOLS_SCM_PRETEND_VERSION"),
    ("vcs-versioning", "SETUPTOOLS_SCM_PRETEND_VERSION"),
)
"""What a build asks for -> the variable by which it takes a version that is told."""


def pretended(files: Files, folder: str, project: Project) -> dict[str, tuple[str, str]]:
    """Variable -> (version, where that version was found), for a project whose version comes from git alone."""
    tools = table(project.pyproject, "tool")
    if not project.dynamic_version or table(tools, "setuptools", "dynamic").get("version"):
        return {}
    build = " ".join(strings(table(project.pyproject, "build-system").get("requires"))).lower()
    setup = files.text(below(folder, "setup.py")) + files.text(below(folder, "setup.cfg"))
    wanted = {variable for tool, variable in VARIABLES if re.search(rf"(?<![\w-]){tool}(?![\w-])", build)}
    if "use_scm_version" in setup:
        wanted.add("SETUPTOOLS_SCM_PRETEND_VERSION")
    if re.search(r"\bpbr\b", setup):
        wanted.add("PBR_VERSION")
    if table(tools, "hatch", "version").get("path"):
        wanted.discard("SETUPTOOLS_SCM_PRETEND_VERSION")
    if "pdm" in project.backend and table(tools, "pdm", "version").get("source") != "scm":
        wanted.discard("PDM_BUILD_SCM_VERSION")
    if not wanted:
        return {}
    version, where = next(_versions(files, folder, project))
    return dict.fromkeys(sorted(wanted), (version, where))


def _versions(files: Files, folder: str, project: Project) -> Iterator[tuple[str, str]]:
    """The project's version as its own files tell it, the surest first; always ends with one."""
    fallback = table(project.pyproject, "tool", "setuptools_scm").get("fallback_version")
    if isinstance(fallback, str):
        yield fallback, "pyproject.toml [tool.setuptools_scm] fallback_version"
    citation = files.yaml(below(folder, "CITATION.cff")).get("version")
    yield from _highest(str(citation or ""), "CITATION.cff")
    for name in files.within(folder):
        if name.split(".")[0].upper().replace("-", "_") in CHANGELOGS:
            yield from _highest(_headings(files.text(below(folder, name))), name)
    for path in files.glob("doc*/change*", "doc*/history*", "doc*/news*", "doc*/release*", "doc*/whats*"):
        yield from _highest(_headings(files.text(path)), path)
    yield UNKNOWN, "no file tells a version"


def _headings(text: str) -> str:
    """The lines that look like headings: marked with `#`, or underlined."""
    rows = text.split("\n")
    marked = [row for row in rows if row.startswith("#")]
    underlined = [rows[i] for i in range(len(rows) - 1) if re.fullmatch(r"([=~^*+\-])\1{2,}\s*", rows[i + 1])]
    return "\n".join([*marked, *underlined][:400])


def _highest(text: str, where: str) -> Iterator[tuple[str, str]]:
    found = []
    for match in NUMBER.finditer(text):
        try:
            version = Version(match[1])
        except InvalidVersion:
            continue
        if not (1990 < version.major < 2100 and re.search(rf"{re.escape(match[0])}-\d\d", text)):
            found.append(version)
    if found:
        highest = max(found)
        release = [*highest.release, 0, 0][:3]
        yield f"{release[0]}.{release[1]}.{release[2] + 1}", f"{where}: the release after {highest}"
