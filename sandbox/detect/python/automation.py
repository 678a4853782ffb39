"""What the commands of a project's automation say about its Python environment and its test command."""

from __future__ import annotations

import itertools
import posixpath

from sandbox.detect.ci.automation import jobs_with_tests, words_of
from sandbox.detect.ci.jobs import expanded
from sandbox.detect.files import Files
from sandbox.detect.python.project import Project, distribution
from sandbox.detect.python.tools import Needs, installed

TOOLS = frozenset(
    {
        *(
            "pip",
            "setuptools",
            "wheel",
            "virtualenv",
            "build",
            "twine",
            "pipx",
            "uv",
            "poetry",
            "pdm",
            "hatch",
            "pipenv",
        ),
        *("tox", "tox-uv", "tox-gh", "tox-gh-actions", "nox", "pre-commit", "codecov", "coveralls", "cibuildwheel"),
        *("mypy", "ruff", "flake8", "black", "isort", "pylint", "pyright", "sphinx", "check-manifest", "codespell"),
    }
)
"""What automation installs for itself, not for the tests."""
RUNNERS = frozenset({"tox", "nox"})
"""They make environments of their own; what is installed to start them is not for the tests."""
MANAGERS = ("uv", "poetry", "pdm", "hatch")
GROUPS = ("--group", "--with", "-G", "--only-group", "--only")
EXTRAS = ("--extra", "-E", "--extras")


def from_automation(files: Files, folder: str, project: Project, needs: Needs) -> None:
    """Add what the jobs that test install, and how they start pytest."""
    for job in jobs_with_tests(files):
        where = f"{job.source} ({job.name})"
        for step in expanded(files, job.steps):
            if step.folder not in (folder, "."):
                continue
            for words in words_of(step.line):
                _command(files, folder, words, where, needs)
                if words[0] in MANAGERS and "--all-extras" in words and not RUNNERS & set(words):
                    needs.extras.update({name: where for name in project.extras if name not in needs.extras})


def _command(files: Files, folder: str, words: list[str], where: str, needs: Needs) -> None:
    names = [posixpath.basename(word) for word in words]
    if "install" in names and any(name.startswith("pip") for name in names[: names.index("install")]):
        rest = [word for word in words[names.index("install") + 1 :] if distribution(word) not in TOOLS]
        apart = Needs(extras=needs.extras, groups=needs.groups, files=needs.files)
        installed(files, folder, rest, where, apart)
        needs.perhaps |= apart.packages
    manages = names[0] in MANAGERS and names[1:2] in (["sync"], ["install"], ["run"])
    if manages and not RUNNERS & set(names):
        parts = [part for word in words for part in (word.split("=", 1) if word.startswith("--") else [word])]
        for option, value in itertools.pairwise(parts):
            for name in value.split(","):
                if option in GROUPS:
                    needs.groups.setdefault(name, where)
                elif option in EXTRAS:
                    needs.extras.setdefault(name, where)
    if "pytest" in names or "py.test" in names:
        needs.commands.setdefault(" ".join(words), where)
