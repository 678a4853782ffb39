"""Drawn inputs: which functions can be called, that a planted crash is found, and that forged output is no evidence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bot.team.fuzz import MARK, NUMBER, Target, command, compared, outcomes, targets
from repo_tools.tree import Tree
from sandbox.port import Result
from tests.fakes.memory_base import MemoryBase

OLD = "def half(number: float) -> float:\n    return number / 2\n"
PATH = "src/pkg/calc.py"


def changed(old: str, new: str, path: str = PATH) -> Tree:
    return Tree(MemoryBase({path: old.encode(), "src/pkg/__init__.py": b"", "README.md": b""})).with_file(
        path, new.encode()
    )


def ran(folder: Path, tree: Tree, found: tuple[Target, ...]) -> list[list[tuple[str, str]]]:
    """What this interpreter makes of the functions; they are this file's own."""
    for path in tree.entries():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(tree.read(path))
    line = command(found).replace("python ", f"{sys.executable} -B ", 1)
    environment = {"PYTHONPATH": str(folder / "src"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        ["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return outcomes(Result(done.returncode, done.stdout + done.stderr, 0.1), len(found))


def told(folder: Path, old: str, new: str) -> str:
    tree = changed(old, new)
    found = targets(tree)
    return compared(found, ran(folder / "old", Tree(tree.base), found), ran(folder / "new", tree, found))


def test_a_planted_crash_is_shown_with_its_input(tmp_path: Path) -> None:
    said = told(tmp_path, OLD, OLD.replace("number / 2", "1 / (2 / number)"))
    assert said.startswith("`half(number=")
    assert "ends in `ZeroDivisionError` now" in said
    assert f"of {NUMBER} drawn inputs" in said


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (OLD.replace("/ 2", "* 0.5"), "nothing raises that did not before: `half`"),
        (OLD.replace("    return", "    print('noise')\n    return"), "nothing raises"),
        (OLD.replace("    return", "    import os\n    os._exit(0)\n    return"), ""),
        (OLD.replace("return", "while number == 0: pass\n    return"), "ends in `does not end` now"),
        ("import nothing_of_this_name\n" + OLD, ""),
    ],
    ids=["the same", "prints", "ends the process", "endless", "cannot be loaded"],
)
def test_what_the_change_does_is_told(tmp_path: Path, new: str, said: str) -> None:
    found = told(tmp_path, OLD, new)
    assert said in found
    assert bool(found) is bool(said)


def test_what_raised_before_may_raise_now(tmp_path: Path) -> None:
    strict = OLD.replace("    return", "    if number < 0:\n        raise ValueError\n    return")
    assert "nothing raises" in told(tmp_path, strict, strict.replace("ValueError", "ArithmeticError"))


@pytest.mark.parametrize(
    ("parameters", "kinds"),
    [
        ("a: int, b: str = ''", {"a": "int", "b": "str"}),
        ("a: list[int], *, b: 'bytes'", {"a": ["list", ["int"]], "b": "bytes"}),
        ("a: int | None, b: Optional[str]", {"a": ["or", ["int", "None"]], "b": ["or", ["str", "None"]]}),
        ("a: dict[str, list[float]]", {"a": ["dict", ["str", ["list", ["float"]]]]}),
        ("a: tuple[int, str], b=3", {"a": ["tuple", ["int", "str"]], "b": "int"}),
        ("a: int, b: Thing = THING", {"a": "int"}),
        ("a: typing.Sequence[bool]", {"a": ["list", ["bool"]]}),
    ],
)
def test_types_say_what_is_drawn(parameters: str, kinds: dict[str, object]) -> None:
    code = f"def f({parameters}):\n    return 1\n"
    (found,) = targets(changed(code, code.replace("1", "2")))
    assert found == Target(PATH, "f", kinds)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def f(a):\n    return 1\n", "def f(a):\n    return 2\n"),
        ("def f(a: Thing):\n    return 1\n", "def f(a: Thing):\n    return 2\n"),
        ("def f():\n    return 1\n", "def f():\n    return 2\n"),
        ("def f(a: int):\n    return 1\n", "def f(a: int, b: int):\n    return 2\n"),
        ("def f(a: int):\n    yield 1\n", "def f(a: int):\n    yield 2\n"),
        ("async def f(a: int):\n    return 1\n", "async def f(a: int):\n    return 2\n"),
        ("@cached\ndef f(a: int):\n    return 1\n", "@cached\ndef f(a: int):\n    return 2\n"),
        ("x = 1\ndef f(a: int):\n    return 1\n", "x = 2\ndef f(a: int):\n    return 1\n"),
        ("def f(a: int):\n    return 1\n", "def f(a: int)\n"),
    ],
)
def test_what_cannot_be_called_or_did_not_change_is_left_alone(old: str, new: str) -> None:
    assert targets(changed(old, new)) == ()


@pytest.mark.parametrize("line", ["", MARK, MARK + "{}", MARK + "[[1]]", MARK + "[", MARK + '"x"', MARK + "[[], []]"])
def test_output_that_the_project_forges_or_spoils_is_no_evidence(line: str) -> None:
    assert outcomes(Result(0, f"noise\n{line}\n", 0.1), 1) == []
