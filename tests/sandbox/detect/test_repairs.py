"""What a log shows to be missing is added; what it only claims is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sandbox.detect.files import Files as Detected
from sandbox.detect.repairs import repaired
from sandbox.port import Recipe
from tests.sandbox.snapshots import Files

RECIPE = Recipe("base", ("pip install -e .",), "python -m pytest", "pytest")
PROJECT = Files(
    {
        "pyproject.toml": '[project]\nname = "x"\n[project.optional-dependencies]\nfast = ["orjson>=3"]\n',
        ".gitmodules": '[submodule "d"]\n\tpath = tests/data\n\turl = https://example.com/d\n',
    }
)


def repair(log: str, recipe: Recipe = RECIPE, ended: str = "exit") -> Recipe | None:
    return repaired(recipe, log, Detected(PROJECT), ended)


@pytest.mark.parametrize(
    ("log", "package"),
    [
        ("error: command 'x86_64-linux-gnu-gcc' failed: No such file or directory", "build-essential"),
        ("x.c:1:10: fatal error: Python.h: No such file or directory", "python3-dev"),
        ("Error: pg_config executable not found.", "libpq-dev"),
        ("c/_cffi_backend.c:15:10: fatal error: ffi.h: No such file or directory", "libffi-dev"),
        ("error: can't find Rust compiler", "cargo"),
        ("ImportError: libGL.so.1: cannot open shared object file: No such file or directory", "libgl1"),
        ("/bin/sh: 1: dot: not found", "graphviz"),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'hg'", "mercurial"),
        ('exec: "gcc": executable file not found in $PATH', "build-essential"),
        ("Error: spawn java ENOENT", "default-jre-headless"),
        ("bash: line 1: unzip: command not found", "unzip"),
    ],
)
def test_debian_packages(log: str, package: str) -> None:
    better = repair(log)
    assert better is not None
    assert package in better.packages
    assert package in better.sources["repair"]
    again = repair(log, better)
    assert again is None or set(again.packages) > set(better.packages)


@pytest.mark.parametrize(
    ("log", "line"),
    [
        ("E   ModuleNotFoundError: No module named 'freezegun'", "freezegun"),
        ("E   ModuleNotFoundError: No module named 'orjson'", "'orjson>=3'"),
        ("E       fixture 'mocker' not found", "pytest-mock"),
        ("pytest: error: unrecognized arguments: --cov=x", "pytest-cov"),
        ("E   ModuleNotFoundError: No module named 'yaml.loader'", "PyYAML"),
    ],
)
def test_python_packages(log: str, line: str) -> None:
    better = repair(log)
    assert better is not None
    assert better.setup[-1] == f"~/venv/bin/python -m pip install --quiet {line}"


def test_what_is_added_holds_to_the_day_of_the_recipe() -> None:
    by_uv = replace(RECIPE, setup=("uv venv ~/venv", *RECIPE.setup))
    better = repair("No module named 'uvicorn'", by_uv)
    assert better is not None
    assert better.setup[-1] == "uv pip install --quiet --python ~/venv/bin/python uvicorn"


@pytest.mark.parametrize(
    "log",
    [
        "No module named 'evil_upload'",
        "fixture 'evil' not found",
        "unrecognized arguments: --evil; touch /tmp/x",
        "sh: evil$(touch): not found",
        "No such file or directory: '/repo/tests/data/../../../../etc/x'",
        "No such file or directory: '/repo/elsewhere/x'",
        "all is well",
        "",
    ],
)
def test_names_that_nobody_knows_are_never_installed(log: str) -> None:
    assert repair(log) is None


def test_c_sources_that_are_not_there_are_made_of_the_cython_sources_beside_them() -> None:
    files = Files({"pack/fast.pyx": "", "requirements.txt": "Cython==3.1\n", "setup.py": ""})
    recipe = replace(RECIPE, setup=("uv venv ~/venv", "uv pip install -e . pytest"))
    log = "cc1: fatal error: pack/fast.c: No such file or directory\nerror: pack/other.c: No such file or directory\n"
    better = repaired(recipe, log, Detected(files))
    assert better is not None
    first, cython, made, last = better.setup
    assert (first, last) == recipe.setup
    assert cython.endswith("Cython==3.1 setuptools")
    assert made == "~/venv/bin/cython -o pack/fast.c pack/fast.pyx"
    built = repaired(replace(recipe, build=("make",)), log, Detected(files))
    assert built is not None
    assert built.build == (made, "make")
    plus = repaired(recipe, log.replace("fast.c:", "fast.cpp:"), Detected(files))
    assert plus is not None
    assert plus.setup[2] == "~/venv/bin/cython --cplus -o pack/fast.cpp pack/fast.pyx"


def test_packages_that_this_debian_does_not_have_are_left_out() -> None:
    recipe = replace(RECIPE, packages=("libold1", "jq"))
    better = repair("E: Unable to locate package libold1", recipe)
    assert better is not None
    assert better.packages == ("jq",)
    assert repair("E: Unable to locate package unasked", recipe) is None


def test_a_suite_that_does_not_end_gets_a_limit_for_each_test() -> None:
    better = repair("", ended="timeout")
    assert better is not None
    assert better.test_command == "python -m pytest --timeout=30"
    assert better.setup[-1].endswith("pytest-timeout")
    assert repair("", better, ended="timeout") is None


def test_folders_of_a_submodule_that_could_not_be_fetched() -> None:
    log = "FileNotFoundError: [Errno 2] No such file or directory: '/repo/tests/data/cases'"
    better = repair(log)
    assert better is not None
    assert better.setup[-1] == "mkdir -p tests/data/cases"
    again = repair("AssertionError: assert [] == ['bad', 'good']", better)
    assert again is not None
    assert again.setup[-2:] == ("mkdir -p tests/data/cases/bad", "mkdir -p tests/data/cases/good")
    inner = repair(log, replace(RECIPE, workdir="tests"))
    assert inner is not None
    assert inner.setup[-1] == "mkdir -p data/cases"
