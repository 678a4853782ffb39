"""Proving recipes by running them in the real engine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from sandbox.docker_engine import DockerSandbox
from sandbox.errors import SandboxUnavailable, SetupFailed, TestsUnrunnable
from sandbox.port import Environment, Recipe, Result, Snapshot, TestOutcome, TestReport
from sandbox.proving import MOST_WAYS, commonest, first_line, out_of_reach, prove, telling_lines
from sandbox.recipe import candidates
from sandbox.settings import SandboxSettings
from sandbox.setups import failed
from tests.sandbox.conftest import PROJECT, recipe
from tests.sandbox.snapshots import Files

THING = Files(
    {
        "pyproject.toml": '[build-system]\nrequires = ["flit_core"]\nbuild-backend = "flit_core.buildapi"\n'
        '[project]\nname = "thing"\nversion = "1"\ndescription = "x"\n[dependency-groups]\ntest = ["pytest"]\n',
        "thing.py": "ONE = 1\n",
        "tests/test_thing.py": "import thing\n\n\ndef test_one():\n    assert thing.ONE == 1\n",
    }
)
LACKING = PROJECT.but(
    **{
        "tests/test_add.py": "def test_there():\n    pass\n",
        "tests/test_more.py": "import parameterized\n\n\ndef test_more():\n    assert parameterized\n",
    }
)


def test_a_found_recipe_is_proved(sandbox: DockerSandbox, settings: SandboxSettings) -> None:
    proof = prove(sandbox, THING, candidates(THING, base_image=settings.base_image), seconds=60)
    assert proof.report.good
    assert dict(proof.report.tests) == {"tests/test_thing.py::test_one": TestOutcome.PASSED}
    assert proof.failures == ()


def test_what_a_log_shows_to_be_missing_is_added(sandbox: DockerSandbox) -> None:
    lacking = recipe()
    broken = replace(lacking, setup=("echo 'no such thing' && exit 3",), sources={"setup": "a broken one"})
    told: list[str] = []
    proof = prove(sandbox, LACKING, [broken, lacking], seconds=60, on_attempt=told.append)
    assert proof.report.good
    assert proof.recipe.setup == (*lacking.setup, "~/venv/bin/python -m pip install --quiet parameterized")
    assert "no module named parameterized" in proof.recipe.sources["repair"]
    assert [attempt.stage for attempt in proof.failures] == ["setup", "tests"]
    assert "no such thing" in "\n".join(proof.failures[0].lines)
    again = ["set-up by a recipe", "running the whole suite"]
    assert told == ["set-up by a broken one", *again, *again]


class Chain:
    """A sandbox whose suite stops at the first module that was not installed, as one with a long conftest does."""

    def __init__(self, *modules: str) -> None:
        self.modules = modules

    def prepare(self, recipe: Recipe, snapshot: Snapshot) -> Environment:
        return Environment("image", recipe, True, "", 0.0)

    def run(self, environment: Environment, snapshot: Snapshot, command: str, *, seconds: float) -> Result:
        return Result(0, "", 0.0)

    def test(
        self, environment: Environment, snapshot: Snapshot, *, selection: Iterable[str] = (), seconds: float
    ) -> TestReport:
        installed = {line.rpartition(" ")[2] for line in environment.recipe.setup}
        lacking = next((name for name in self.modules if name not in installed), "")
        if not lacking:
            return TestReport({"t": TestOutcome.PASSED}, {}, Result(0, "", 0.0))
        said = f"ModuleNotFoundError: No module named '{lacking}'"
        return TestReport({"pytest": TestOutcome.ERROR}, {"pytest": said}, Result(4, said, 0.0))


def test_what_shows_only_after_a_repair_is_added_too() -> None:
    chain = ("trio", "uvicorn", "trustme", "cryptography", "chardet")
    proof = prove(Chain(*chain), PROJECT, [recipe()])
    assert [line.rpartition(" ")[2] for line in proof.recipe.setup[2:]] == list(chain)
    assert [attempt.stage for attempt in proof.failures] == ["tests"] * len(chain)


@pytest.mark.parametrize("before", [0, MOST_WAYS - 2, MOST_WAYS - 1])
def test_what_the_last_way_lacks_is_added_like_that_of_any_other(before: int) -> None:
    class Stubborn(Chain):
        def prepare(self, recipe: Recipe, snapshot: Snapshot) -> Environment:
            if recipe.setup[0].startswith("hopeless"):
                raise SetupFailed("it cannot be set up", "")
            return super().prepare(recipe, snapshot)

    proof = prove(Stubborn("trio"), PROJECT, [*(recipe(setup=(f"hopeless {n}",)) for n in range(before)), recipe()])
    assert proof.recipe.setup[-1].rpartition(" ")[2] == "trio"


def test_repairs_come_to_an_end_and_the_other_ways_have_their_turn() -> None:
    endless = (
        "trio",
        "uvicorn",
        "click",
        "rich",
        "redis",
        "toml",
        "tox",
        "idna",
        "yarl",
        "mock",
        "ddt",
        "six",
        "numpy",
    )
    with pytest.raises(TestsUnrunnable, match=r"1\. a recipe, with trio .*six.*: no test passed\n .*numpy") as caught:
        prove(Chain(*endless), PROJECT, [recipe()])
    assert "2. " not in str(caught.value)
    other = recipe(setup=tuple(f"pip install {name}" for name in endless))
    assert prove(Chain(*endless), PROJECT, [recipe(), other]).recipe == other


def test_without_a_sound_recipe_the_best_one_is_taken(sandbox: DockerSandbox) -> None:
    project = LACKING.but(**{"tests/test_more.py": "import module_of_nobody\n"})
    command = "python -m pytest --continue-on-collection-errors"
    proof = prove(sandbox, project, [recipe(test_command=command)], seconds=60)
    assert proof.report.having(TestOutcome.PASSED) == {"tests/test_add.py::test_there"}


def test_failures_tell_what_was_tried(sandbox: DockerSandbox) -> None:
    with pytest.raises(TestsUnrunnable, match=r"no test suite was found.*agent-fix\.yml"):
        prove(sandbox, Files({"README": ""}), [])
    broken = recipe(setup=("echo 'error: quota of wombats exceeded' >&2; exit 7",))
    with pytest.raises(SetupFailed, match="quota of wombats"):
        prove(sandbox, PROJECT, [broken], seconds=60)
    with pytest.raises(SetupFailed, match="not the name of a variable: 'A-B'"):
        prove(sandbox, PROJECT, [recipe(env={"A-B": "c"})], seconds=60)
    absent = recipe(base_image="agent-fix-no-such-image:1")
    with pytest.raises(SandboxUnavailable, match="agent-fix-no-such-image:1"):
        prove(sandbox, PROJECT, [absent])
    with pytest.raises(SetupFailed, match=r"1\..*agent-fix-no-such-image:1(.|\n)*2\..*(.|\n)*quota of wombats"):
        prove(sandbox, PROJECT, [absent, broken])
    with pytest.raises(TestsUnrunnable, match="no test passed"):
        prove(sandbox, Files({"tests/a.py": ""}), [recipe(setup=(), test_command="python3 -c 1 ;")])


def test_a_suite_that_takes_too_long_is_better_than_none(sandbox: DockerSandbox) -> None:
    cases = "import time, unittest\n\n\nclass Case(unittest.TestCase):\n    def test_a(self):\n        pass\n\n"
    project = PROJECT.but(**{"tests/test_add.py": f"{cases}    def test_b(self):\n        time.sleep(600)\n"})
    slow = recipe(test_command="python -m unittest", reporter="unittest", tests=("discover", "-s", "tests"))
    proof = prove(sandbox, project, [slow], seconds=6)
    assert not proof.whole
    assert proof.report.having(TestOutcome.PASSED) == {"test_add.Case.test_a"}
    assert "timeout limit" in proof.failures[0].reason


def test_failures_are_summed_up_by_what_most_of_them_say() -> None:
    tests = dict.fromkeys("abcd", TestOutcome.FAILED) | {"e": TestOutcome.PASSED}
    messages = {"a": "x\nno network\n", "b": "no network", "c": "else"}
    report = TestReport(tests, messages, Result(1, "", 1.0))
    assert commonest(report) == "4 of 5 tests fail, 2 of them with: no network"
    assert not commonest(TestReport({"e": TestOutcome.PASSED}, {}, Result(0, "", 1.0)))


@pytest.mark.parametrize(
    ("message", "apart"),
    [
        ("t.py:3: in test\nE   socket.gaierror: [Errno -2] Name or service not known\n\nt.py:3: gaierror", True),
        ("a.py:9\nE   OSError: down\n\nhttpx/default.py:84: ConnectError", True),
        ('--- FAIL: TestGet\n    a_test.go:9: Get "http://x": dial tcp: lookup x: no such host\n--- after', True),
        ("Error: getaddrinfo EAI_AGAIN x\n    at GetAddrInfoReqWrap.onlookup", True),
        ("    except socket.gaierror:\n>       assert 1 == 2\nE   assert 1 == 2\n\nt.py:3: AssertionError", False),
        ("assert 1 == 2", False),
        ("", False),
    ],
)
def test_failures_for_want_of_the_network_are_told_by_what_they_say_themselves(message: str, apart: bool) -> None:
    report = TestReport({"a": TestOutcome.FAILED}, {"a": message}, Result(1, "", 1.0))
    assert out_of_reach(report) == ({"a"} if apart else set())
    assert ("1 for want of the network or a service" in commonest(report)) is apart


def test_a_set_up_that_reached_no_host_says_what_an_operator_can_do() -> None:
    log = "\n$ go mod download\ngo: x@v1: Get: dial tcp: lookup proxy.example: no such host\n\n[exit code 1]\n"
    said = first_line(str(failed("the set-up", Result(1, log, 1.0))))
    assert "name a mirror in AGENT_FIX_SETUP_ENV" in said
    earlier = f"{log}\n$ make\nerror: no rule\n\n[exit code 1]\n"
    assert first_line(str(failed("the set-up", Result(1, earlier, 1.0)))) == "the set-up ended with exit code 1:"


def test_the_lines_that_matter_are_few_and_of_different_kinds() -> None:
    log = "\n".join(["fine", *(f"ERROR tests/test_{i}.py - gone" for i in range(50)), "fatal: cannot open /x", "done"])
    assert telling_lines(log) == ("ERROR tests/test_0.py - gone", "fatal: cannot open /x")
    assert telling_lines("one\ntwo\n") == ("one", "two")
    assert telling_lines("") == ()
