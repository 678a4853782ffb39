"""The everyday promises of the sandbox on a real engine."""

from __future__ import annotations

from sandbox.docker_engine import DockerSandbox
from sandbox.port import Environment, TestOutcome
from sandbox.settings import SandboxSettings
from tests.sandbox.conftest import PROJECT, recipe
from tests.sandbox.snapshots import LINK, Files


def test_tests_are_told_apart_by_id(sandbox: DockerSandbox, environment: Environment) -> None:
    report = sandbox.test(environment, PROJECT, seconds=60)
    assert report.tests == {
        "tests/test_add.py::test_zero": TestOutcome.PASSED,
        "tests/test_add.py::test_add": TestOutcome.FAILED,
    }
    assert "assert -1 == 3" in report.messages["tests/test_add.py::test_add"]
    assert report.result.exit_code == 1
    assert not report.good


def test_a_change_is_put_into_each_run_and_does_not_stay(sandbox: DockerSandbox, environment: Environment) -> None:
    mended = PROJECT.but(**{"sums/__init__.py": "def add(a, b):\n    return a + b\n"})
    assert sandbox.test(environment, mended, seconds=60).good
    assert not sandbox.test(environment, PROJECT, seconds=60).good


def test_a_selection_stands_in_place_of_the_whole_suite(sandbox: DockerSandbox, environment: Environment) -> None:
    report = sandbox.test(environment, PROJECT, selection=["tests/test_add.py::test_zero"], seconds=60)
    assert report.tests == {"tests/test_add.py::test_zero": TestOutcome.PASSED}
    assert report.good


def test_files_appear_change_kind_and_go(sandbox: DockerSandbox, environment: Environment) -> None:
    changed = PROJECT.but(
        **{
            "run.sh": None,
            "run.sh/inner": "a folder now",
            "sums/__init__.py": (b"../tests/test_add.py", LINK),
            "tests/test_add.py": None,
            "new/deep/file": (b"#!/bin/sh\n", 0o100755),
        }
    )
    command = "cat run.sh/inner; readlink sums/__init__.py; ls tests; test -x new/deep/file && git status --short"
    lines = sandbox.run(environment, changed, command, seconds=20).output.splitlines()
    assert lines[:2] == ["a folder now../tests/test_add.py", " D run.sh"]
    assert {" T sums/__init__.py", " D tests/test_add.py", "?? new/"} <= set(lines)


def test_the_exit_code_is_the_commands_own(sandbox: DockerSandbox, environment: Environment) -> None:
    for code in (0, 3, 127, 137, 255):
        result = sandbox.run(environment, PROJECT, f"echo out; echo err >&2; exit {code}", seconds=20)
        assert (result.exit_code, result.output, result.ended) == (code, "out\nerr\n", "exit")


def test_colours_are_left_to_the_project_and_out_of_what_is_shown(
    sandbox: DockerSandbox, environment: Environment
) -> None:
    command = (
        r"printf '\033[1;31mred\033[0m and \033[38;5;9mplain\033[m\n'; echo ${NO_COLOR-unset} ${FORCE_COLOR-unset}"
    )
    assert sandbox.run(environment, PROJECT, command, seconds=20).output == "red and plain\nunset unset\n"


def test_names_of_any_bytes_come_and_go(sandbox: DockerSandbox, settings: SandboxSettings) -> None:
    odd = [b"caf\xe9".decode("utf-8", "surrogateescape"), "日本 $(x)\n'", "-rf", "x" * 200 + "/" + "y" * 200]
    tree = Files({name: name.encode("utf-8", "surrogateescape") for name in odd})
    environment = sandbox.prepare(recipe(setup=("true",)), tree)
    found = sandbox.run(
        environment, tree, "git status --short; find . -type f -not -path './.git/*' | wc -l", seconds=20
    )
    assert found.output == "5\n"  # one of them has a line break in its name
    gone = sandbox.run(environment, Files({"only": ""}), "find . -type f -not -path './.git/*'", seconds=20)
    assert gone.output == "./only\n"
