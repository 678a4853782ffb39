"""A recipe that does what the project's automation does, line by line: for what no manifest explains."""

from __future__ import annotations

import re

from sandbox.detect.ci.automation import words_of
from sandbox.detect.ci.jobs import Job
from sandbox.port import Recipe

BESIDE = re.compile(
    r"codecov|coveralls|upload|\blint|ruff|flake8|black\b|mypy|pre-commit|prettier|eslint|git config|rustup"
    r"|apt(-get)? |brew |choco |docker|twine|publish|deploy|gh |aws |cache"
)
"""Lines that are not about the tests, or that cannot work here; Debian packages are installed otherwise."""
PROGRAMS = {
    "cargo": ("build-essential", "cargo-web", "rustc-web"),
    "mvn": ("default-jdk-headless", "maven"),
    "gradle": ("default-jdk-headless", "gradle"),
    "bundle": ("ruby", "ruby-dev", "bundler", "build-essential"),
    "rake": ("ruby", "rake"),
    "composer": ("php-cli", "php-xml", "php-mbstring", "composer", "unzip"),
    "phpunit": ("php-cli", "phpunit"),
    "cmake": ("build-essential", "cmake"),
    "ctest": ("build-essential", "cmake"),
    "meson": ("build-essential", "meson", "ninja-build"),
    "make": ("build-essential",),
    "gcc": ("build-essential",),
    "go": ("golang-go",),
    "npm": ("nodejs", "npm"),
    "yarn": ("nodejs", "npm", "yarnpkg"),
    "lua": ("lua5.4",),
    "busted": ("lua-busted",),
    "prove": ("perl",),
    "perl": ("perl",),
    "bats": ("bats",),
    "shellspec": ("shellcheck",),
    "Rscript": ("r-base-core",),
    "ghc": ("ghc",),
    "cabal": ("ghc", "cabal-install"),
    "mix": ("elixir",),
    "rebar3": ("rebar3",),
    "dune": ("ocaml-dune",),
    "swipl": ("swi-prolog-nox",),
    "emacs": ("emacs-nox",),
}
"""First word of a command -> the Debian packages that have it."""


def detect(jobs: list[Job], base_image: str) -> list[Recipe]:
    """The recipe of the likeliest test job, its suite as one test; none if no job or target runs tests."""
    for job in jobs:
        at = next((place for place, step in enumerate(job.steps) if step.tests), None)
        if at is None and job.name in ("test", "tests", "check"):
            at = len(job.steps) - 1
        if at is None or not job.steps:
            continue
        before = [step for step in job.steps[:at] if not BESIDE.search(step.line)]
        test = job.steps[at]
        programs = {words[0] for step in [*before, test] for words in words_of(step.line)}
        python = bool(programs & {"python", "python3", "pip", "pip3", "pytest", "tox", "nox", "poetry", "uv"})
        lines = [f"cd {step.folder} && {step.line}" if step.folder != "." else step.line for step in before]
        where = f"{job.source} ({job.name})"
        return [
            Recipe(
                base_image,
                setup=(*(["python3 -m venv ~/venv"] if python else []), *map(_editable, lines)),
                test_command=test.line,
                reporter="exit-code",
                packages=tuple(dict.fromkeys(name for word in sorted(programs) for name in PROGRAMS.get(word, ()))),
                workdir=test.folder,
                env={**job.env, **test.env},
                sources={"setup": where, "test_command": where, "env": where, "base_image": "the default"},
            )
        ]
    return []


def _editable(line: str) -> str:
    """An installation of the project itself, made so that a changed source file is what the tests see."""
    own = r"""(["']?\.(?:\[[^\]]*\])?["']?)(?=\s|$)"""
    return re.sub(rf"(\bpip3? install (?:-[qU]+ |--\w+ )*){own}", r"\1-e \2", line)
