"""Files that an issue seldom asks to change and that decide about more than the code: by name, as data."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Guard:
    """A kind of protected file."""

    rule: str
    why: str
    """Completes '… was changed: …'."""
    blocks: bool
    patterns: tuple[str, ...]


def _listed(names: str) -> tuple[str, ...]:
    return tuple(names.split())


GUARDS = (
    Guard(
        "git",
        "it decides what git fetches and runs at a checkout",
        True,
        (".gitmodules", ".gitattributes", ".gitconfig", ".lfsconfig", ".githooks/"),
    ),
    Guard("github", "what GitHub does with the repository is for its maintainers to decide", True, ("/.github/",)),
    Guard(
        "ci",
        "it decides what runs on other people's machines",
        True,
        _listed(
            ".gitlab-ci.yml .travis.yml .circleci/ azure-pipelines*.yml jenkinsfile appveyor.yml .appveyor.yml "
            ".buildkite/ .drone.yml bitbucket-pipelines.yml .cirrus.yml .woodpecker.yml .woodpecker/ .semaphore/ .ci/ "
            ".husky/ lefthook.yml .pre-commit-config.yaml .pre-commit-hooks.yaml .readthedocs.y*ml codecov.yml "
            ".codecov.yml .devcontainer/ .vscode/ .envrc sitecustomize.py usercustomize.py *.pth"
        ),
    ),
    Guard(
        "agent-instructions",
        "it instructs other programs like this one",
        True,
        _listed(
            "agents.md claude.md claude.local.md gemini.md .cursor/ .cursorrules .windsurf/ .windsurfrules .clinerules "
            ".claude/ .gemini/ .codex/ .openhands/ .roo/ .kiro/ .junie/ .continue/ .aider* .mcp.json mcp.json"
        ),
    ),
    Guard(
        "lock-file",
        "it pins what is installed, and is made by a program, not by hand",
        False,
        _listed(
            "poetry.lock uv.lock pdm.lock pipfile.lock pylock*.toml package-lock.json npm-shrinkwrap.json yarn.lock "
            "pnpm-lock.yaml bun.lock bun.lockb cargo.lock go.sum gemfile.lock composer.lock mix.lock flake.lock"
        ),
    ),
    Guard(
        "manifest",
        "it decides what is installed and built",
        False,
        _listed(
            "pyproject.toml setup.py setup.cfg requirements*.txt requirements*.in constraints*.txt pipfile tox.ini "
            "noxfile.py environment.y*ml package.json .npmrc .yarnrc* go.mod cargo.toml build.rs gemfile *.gemspec "
            "pom.xml build.gradle* settings.gradle* composer.json makefile dockerfile* docker-compose*.y*ml"
        ),
    ),
)
ARTEFACTS = _listed(
    "build/ dist/ __pycache__/ *.pyc *.pyo node_modules/ *.egg-info/ .eggs/ .tox/ .nox/ .venv/ .pytest_cache/ "
    ".mypy_cache/ .ruff_cache/ .hypothesis/ .coverage htmlcov/ *.so *.o *.class *.orig *.rej *.bak *.swp *~ .ds_store "
    "thumbs.db junit*.xml core.[0-9]* nohup.out"
)


def matches(path: str, pattern: str) -> bool:
    """Whether `pattern` takes in `path`. Case does not matter, `*` stands for anything.

    `name` is a file of that name in any folder, `name/` everything in folders of that name, `/folder/name` or
    `folder/name` one place, counted from the root.
    """
    path, pattern = path.lower(), pattern.lower()
    below = pattern.endswith("/")
    wanted = pattern.strip("/").removesuffix("/**")
    if "/" in pattern.strip("/") or pattern.startswith("/"):
        whole = wanted + ("/*" if below or pattern.endswith("/**") else "")
        return fnmatchcase(path, whole)
    *folders, name = path.split("/")
    return any(fnmatchcase(folder, wanted) for folder in folders) if below else fnmatchcase(name, wanted)
