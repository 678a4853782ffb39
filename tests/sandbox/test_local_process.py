"""The sandbox of plain processes keeps the same promises, but for those that need a container."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sandbox.errors import SandboxStopped, SandboxUnavailable, SetupFailed
from sandbox.local_process import LocalSandbox
from sandbox.port import Environment, Recipe, TestOutcome
from sandbox.settings import SandboxSettings
from tests.sandbox.conftest import PROJECT
from tests.sandbox.snapshots import LINK

RECIPE = Recipe(
    base_image="",
    setup=("date +%s%N > ~/made", "echo setting up; ls > listed"),
    test_command=f"{sys.executable} -m pytest",
    reporter="pytest",
    tests=("tests",),
)


@pytest.fixture
def local(settings: SandboxSettings) -> Iterator[LocalSandbox]:
    made = LocalSandbox(settings)
    yield made
    made.close()


@pytest.fixture
def prepared(local: LocalSandbox) -> Environment:
    return local.prepare(RECIPE, PROJECT)


def test_tests_are_told_apart_by_id(local: LocalSandbox, prepared: Environment) -> None:
    report = local.test(prepared, PROJECT, seconds=60)
    assert report.tests == {
        "tests/test_add.py::test_zero": TestOutcome.PASSED,
        "tests/test_add.py::test_add": TestOutcome.FAILED,
    }
    mended = PROJECT.but(**{"sums/__init__.py": "def add(a, b):\n    return a + b\n"})
    assert local.test(prepared, mended, selection=["tests/test_add.py::test_add"], seconds=60).good


def test_an_environment_is_made_once(local: LocalSandbox, prepared: Environment) -> None:
    assert prepared.built
    assert "setting up" in prepared.log
    again = local.prepare(RECIPE, PROJECT.but(**{"sums/more.py": ""}))
    assert (again.built, again.id) == (False, prepared.id)
    assert local.prepare(RECIPE, PROJECT.but(**{"pyproject.toml": ""})).built


def test_what_a_run_writes_is_undone(local: LocalSandbox, prepared: Environment) -> None:
    wreck = "rm -rf sums .git listed; echo x > ~/made; echo y > new; chmod 0 tests; echo done"
    assert local.run(prepared, PROJECT, wreck, seconds=20).output == "done\n"
    found = local.run(prepared, PROJECT, "ls; grep -c x ~/made; git status --short", seconds=20).output
    assert found.split() == ["listed", "pyproject.toml", "run.sh", "sums", "tests", "0", "??", "listed"]


def test_files_are_put_where_the_tree_says(local: LocalSandbox, prepared: Environment, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    linking = dataclasses.replace(RECIPE, setup=(f"mv sums real; ln -s {outside} sums; ln -s {outside}/f link",))
    environment = local.prepare(linking, PROJECT)
    changed = PROJECT.but(
        **{"sums/new.py": "in", "link": "file", "tests/test_add.py": None, "run.sh": None, "run.sh/x": (b"/etc", LINK)}
    )
    found = local.run(environment, changed, "cat sums/new.py link; readlink run.sh/x; ls tests", seconds=20).output
    assert found == "infile/etc\n"
    assert list(outside.iterdir()) == []
    with pytest.raises(ValueError, match="not a path inside a repository"):
        local.run(environment, PROJECT.but(**{"../x": ""}), "true", seconds=20)


def test_ends_are_told_apart(local: LocalSandbox, prepared: Environment) -> None:
    for command, expected in {
        "exit 3": (3, "exit"),
        "kill -9 $$": (137, "exit"),
        "sleep 60": (None, "timeout"),
        "yes": (None, "output"),
    }.items():
        result = local.run(prepared, PROJECT, command, seconds=2)
        assert (result.exit_code, result.ended) == expected, command


def test_what_is_left_running_does_not_hold_up(local: LocalSandbox, prepared: Environment) -> None:
    started = time.monotonic()
    result = local.run(prepared, PROJECT, "(sleep 5; touch ~/late) & setsid sleep 4 & echo left", seconds=20)
    assert (result.exit_code, result.output) == (0, "left\n")
    assert time.monotonic() - started < 3.5


def test_nothing_of_this_process_environment_is_seen(
    local: LocalSandbox, prepared: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-key-of-the-host")
    assert "a-key" not in local.run(prepared, PROJECT, "env", seconds=20).output


def test_a_stop_ends_what_runs_and_starts_nothing(local: LocalSandbox, prepared: Environment) -> None:
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(local.run, prepared, PROJECT, "sleep 60", seconds=60)
        time.sleep(1)
        told = time.monotonic()
        local.stop()
        with pytest.raises(SandboxStopped):
            running.result(20)
        assert time.monotonic() - told < 2
    with pytest.raises(SandboxStopped):
        local.run(prepared, PROJECT, "true", seconds=20)


def test_failures_are_named(local: LocalSandbox, prepared: Environment) -> None:
    with pytest.raises(SetupFailed, match="exit code 4"):
        local.prepare(dataclasses.replace(RECIPE, setup=("exit 4",)), PROJECT)
    with pytest.raises(SetupFailed, match="apt-get install no-such-package-there"):
        local.prepare(dataclasses.replace(RECIPE, packages=("no-such-package-there",)), PROJECT)
    with pytest.raises(SandboxUnavailable, match="prepare it again"):
        local.run(dataclasses.replace(prepared, id=prepared.id + "-gone"), PROJECT, "true", seconds=20)


def test_reports_that_are_none_are_not_read(local: LocalSandbox, settings: SandboxSettings) -> None:
    small = LocalSandbox(dataclasses.replace(settings, report=1000))
    environment = small.prepare(RECIPE, PROJECT)
    for code in ("os.mkfifo(out)", "os.symlink('/etc/passwd', out)", "open(out, 'w').write('<' * 2000)"):
        test = f"import os\nout = os.path.expanduser('~/../out/junit.xml')\n{code}\nos._exit(0)\n"
        report = small.test(environment, PROJECT.but(**{"tests/test_add.py": test}), seconds=20)
        assert report.tests == {RECIPE.test_command: TestOutcome.ERROR}
