"""Ids of pytest's tests, whatever their names, can be given back to pytest and name the same tests."""

from __future__ import annotations

import dataclasses

import pytest

from sandbox.docker_engine import DockerSandbox
from sandbox.port import Environment, TestOutcome
from tests.sandbox.conftest import PROJECT
from tests.sandbox.snapshots import Files

PASSED, FAILED, ERROR, SKIPPED = TestOutcome.PASSED, TestOutcome.FAILED, TestOutcome.ERROR, TestOutcome.SKIPPED

NAMES = {
    "tests/test_add.py": None,
    "pytest.ini": "[pytest]\njunit_family = xunit2\naddopts = -x --import-mode=importlib --doctest-glob=*.rst\n",
    "tests/base.py": "class Shared:\n    def test_inherited(self):\n        pass\n",
    "tests/a/test_same.py": "def test_one():\n    pass\n",
    "tests/b/test_same.py": "def test_one():\n    assert 0, 'here'\n",
    "tests/test_classes.py": (
        "import sys, os; sys.path.insert(0, os.path.dirname(__file__))\nfrom base import Shared\n"
        "class TestOuter:\n    def test_f(self):\n        pass\n"
        "    class TestInner:\n        def test_f(self):\n            pass\n"
        "class TestHeir(Shared):\n    pass\n"
    ),
    "tests/test_params.py": (
        "import pytest\n@pytest.mark.parametrize('a', ['x::y', 'a/b.py', '[', ']', ' ', '$(touch /repo/pwned)', "
        " \"it's\", '\"',"
        " 'é', '\\x00', '\\n', '-k', '<&>', '日本', '\\U0001f600', '`id`', '\\\\'])\n"
        "def test_p(a):\n    pass\n"
    ),
    "tests/test_kinds.py": (
        "import pytest\n"
        "@pytest.fixture\ndef broken():\n    raise RuntimeError('set-up')\n"
        "@pytest.fixture\ndef late():\n    yield\n    raise RuntimeError('tear-down')\n"
        "def test_error(broken):\n    pass\n"
        "def test_late(late):\n    pass\n"
        "@pytest.mark.skip(reason='no')\ndef test_skip():\n    pass\n"
        "@pytest.mark.xfail\ndef test_expected():\n    assert 0\n"
        "@pytest.mark.xfail(strict=True)\ndef test_unexpected():\n    pass\n"
    ),
    "tests/test_broken.py": "import nothing_of_this_name\n",
    "tests/with space/tëst_ü.txt": "",
    "tests/doc.rst": ">>> 1 + 1\n2\n",
}


@pytest.fixture
def names() -> Files:
    return PROJECT.but(**NAMES)


def test_every_name_finds_its_test_again(sandbox: DockerSandbox, environment: Environment, names: Files) -> None:
    names = names.but(**{"tests/test_broken.py": None})
    all_tests = sandbox.test(environment, names, seconds=60)
    assert len([test for test in all_tests.tests if "test_p[" in test]) == 17, all_tests
    assert {
        "tests/a/test_same.py::test_one": PASSED,
        "tests/b/test_same.py::test_one": FAILED,
        "tests/test_classes.py::TestOuter::test_f": PASSED,
        "tests/test_classes.py::TestOuter::TestInner::test_f": PASSED,
        "tests/test_classes.py::TestHeir::test_inherited": PASSED,
        "tests/test_kinds.py::test_error": ERROR,
        "tests/test_kinds.py::test_late": ERROR,
        "tests/test_kinds.py::test_skip": SKIPPED,
        "tests/test_kinds.py::test_expected": SKIPPED,
        "tests/test_kinds.py::test_unexpected": FAILED,
        "tests/doc.rst::doc.rst": PASSED,
    }.items() <= all_tests.tests.items()
    assert "here" in all_tests.messages["tests/b/test_same.py::test_one"]
    assert set(all_tests.messages) == all_tests.having(FAILED, ERROR)

    again = sandbox.test(environment, names, selection=sorted(all_tests.tests), seconds=60)
    assert again.tests == all_tests.tests
    alone = [test for test in all_tests.tests if "touch" in test or "::y" in test]
    assert set(sandbox.test(environment, names, selection=alone, seconds=60).tests) == set(alone)


def test_a_file_that_cannot_be_collected_is_an_error_of_it(
    sandbox: DockerSandbox, environment: Environment, names: Files
) -> None:
    report = sandbox.test(environment, names, seconds=60)
    assert report.tests["tests/test_broken.py"] == ERROR
    assert "nothing_of_this_name" in report.messages["tests/test_broken.py"]
    assert not report.good


def test_files_may_be_named_from_the_root_or_the_working_folder(
    sandbox: DockerSandbox, environment: Environment
) -> None:
    inner = dataclasses.replace(environment.recipe, workdir="tests", tests=())
    inside = dataclasses.replace(environment, recipe=inner)
    for name in ("tests/test_add.py::test_zero", "test_add.py::test_zero"):
        report = sandbox.test(inside, PROJECT, selection=[name], seconds=60)
        assert report.tests == {"test_add.py::test_zero": PASSED}


@pytest.mark.parametrize(
    ("changes", "selection"),
    [
        ({"tests/test_add.py": None, "tests/empty.txt": ""}, []),
        ({"tests/conftest.py": "raise SystemExit(0)\n"}, []),
        ({"tests/conftest.py": "import nothing_of_this_name\n"}, []),
        ({}, ["tests/test_add.py::test_of_no_such_name"]),
        ({"tests/test_add.py": "import time\ntime.sleep(60)\n"}, []),
    ],
)
def test_a_runner_that_did_not_do_its_work_is_no_pass(
    changes: dict[str, str | None], selection: list[str], sandbox: DockerSandbox, environment: Environment
) -> None:
    report = sandbox.test(environment, PROJECT.but(**changes), selection=selection, seconds=5)
    assert report.tests == {"python -m pytest": ERROR}
    assert report.messages["python -m pytest"]
    assert not report.good


def test_of_a_run_without_its_own_end_what_came_before_is_known(
    sandbox: DockerSandbox, environment: Environment
) -> None:
    end = "__import__('os').abort()"
    tests = f"def test_a(): pass\ndef test_b(): assert 0, 'seen'\ndef test_c(): {end}\ndef test_d(): pass\n"
    report = sandbox.test(environment, PROJECT.but(**{"tests/test_add.py": tests}), seconds=60)
    assert report.tests == {
        "python -m pytest": ERROR,
        "tests/test_add.py::test_a": PASSED,
        "tests/test_add.py::test_b": FAILED,
        "tests/test_add.py::test_c": ERROR,
    }
    assert "running when the run ended" in report.messages["tests/test_add.py::test_c"]
    assert "seen" in report.messages["tests/test_add.py::test_b"]
    assert not report.good


@pytest.mark.parametrize("test", ["--collect-only", "-k x", "", "a\0b"])
def test_what_is_no_name_of_a_test_is_refused(test: str, sandbox: DockerSandbox, environment: Environment) -> None:
    with pytest.raises(ValueError, match="neither a test id nor a test file"):
        sandbox.test(environment, PROJECT, selection=[test], seconds=20)


def test_a_pytest_within_a_test_is_left_alone(sandbox: DockerSandbox, environment: Environment) -> None:
    inner = (
        "import subprocess, sys, os\n"
        "def test_inner(tmp_path):\n"
        "    assert 'agent' not in os.environ.get('PYTHONPATH', '')\n"
        "    (tmp_path / 'test_x.py').write_text('def test_x(): assert 0')\n"
        "    done = subprocess.run([sys.executable, '-m', 'pytest', str(tmp_path)], capture_output=True, text=True)\n"
        "    assert '1 failed' in done.stdout\n"
    )
    report = sandbox.test(environment, PROJECT.but(**{"tests/test_add.py": inner}), seconds=60)
    assert report.tests == {"tests/test_add.py::test_inner": PASSED}
