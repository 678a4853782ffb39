"""The issue's own code: found, run, and compared."""

from __future__ import annotations

import subprocess
import sys

import pytest

from bot.team.examples import MARK, Ran, blocks, command, compared, outcomes, shown
from sandbox.port import Result


def ran(text: str) -> tuple[Ran, ...]:
    """The blocks of `text` as this interpreter runs them; they are this file's own."""
    line = command(blocks(text)).replace("python ", f"{sys.executable} ", 1)
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    return outcomes(Result(done.returncode, done.stdout + done.stderr, 0.1))


def test_a_session_is_compared_with_what_it_shows() -> None:
    found = ran("Look:\n```python\n>>> x = 3\n>>> x // 2\n1.5\n```\n")
    assert [(one.wanted, one.got) for one in found] == [(None, ""), ("1.5\n", "1\n")]
    assert [one.as_wanted for one in found] == [None, False]
    assert "the issue shows: 1.5" in shown(found)


def test_a_traceback_is_what_came_out() -> None:
    found = ran("```\n>>> 1 / 0\nTraceback (most recent call last):\n  ...\nZeroDivisionError: division by zero\n```")
    assert found[0].as_wanted is True


def test_blocks_share_their_names_and_a_script_counts_too() -> None:
    found = ran("~~~py\nx = 4\nprint(x)\n~~~\nthen\n```pycon\n>>> x + 1\n5\n```")
    assert found[0].got == "4\n"
    assert found[1].as_wanted is True


@pytest.mark.parametrize(
    "text",
    [
        "no code at all",
        "```js\nlet x = 1\n```",
        "```\nsome log\n```",
        "```python\nif broken\n```",
        "```python\nunclosed = 1\n",
    ],
)
def test_what_is_no_python_is_left_alone(text: str) -> None:
    assert blocks(text) == ()


@pytest.mark.parametrize("line", ["", MARK, MARK + "{}", MARK + "[[1]]", MARK + "[", MARK + '"x"'])
def test_output_that_the_project_forges_or_spoils_is_no_evidence(line: str) -> None:
    assert outcomes(Result(0, f"noise\n{line}\n", 0.1)) == ()


def test_what_changed_is_told_in_a_sentence() -> None:
    before, after = (Ran("half(3)\n", "1.5\n", "1\n"),), (Ran("half(3)\n", "1.5\n", "1.5\n"),)
    assert compared(before, after) == "The issue's own `half(3)` gave `1` and gives `1.5` now."
    assert "same output" in compared(before, before)
    assert compared((), ()) == ""


def test_code_that_says_nothing_of_the_project_is_not_spoken_of() -> None:
    """Such as one that uses a name which the issue does not give: it fails alike whatever is changed."""
    unknown = Ran("shown(event)", None, "Traceback (most recent call last):\nNameError: name 'event' is not defined")
    silent = Ran("import this", None, "")
    assert compared([unknown, silent], [unknown, silent]) == ""
    spoken = Ran("half(3)", None, "1")
    assert "same output" in compared([unknown, spoken], [unknown, spoken])
    assert shown([unknown]) == ""
    assert shown([unknown, spoken]) == "half(3)\n-> 1"


def test_a_name_that_the_project_lacks_itself_is_shown() -> None:
    trace = (
        'Traceback (most recent call last):\n  File "<issue>", line 1, in <module>\n  File "calc.py", line 3, in half\n'
    )
    ran = Ran("half(3)", None, f"{trace}NameError: name 'nubmer' is not defined")
    assert "nubmer" in shown([ran])
    assert shown([Ran("half(3)", None, "NameError: name 'half' is not defined")]) == ""
