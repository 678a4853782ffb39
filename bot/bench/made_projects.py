"""Projects of any size with one kind of issue in them, and a model that solves it by rule: for measurements and tests.

The issue asks for a parameter in every function of a kind. How many of these there are is chosen apart from how many
lines the project has, so that one can be varied without the other.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bot.bench.tasks import FilesBase
from bot.llm.budget import estimate_tokens
from bot.llm.port import Completion, Message, Request, ToolCall, Usage
from bot.task import Task
from repo_tools.tree import Tree
from sandbox.port import Result, TestOutcome, TestReport

TITLE = "The scaling functions need an offset"
BODY = (
    "All functions whose names begin with `scale_` shall take a keyword-only parameter `offset`, 0 by default, that is "
    "added to their result: `scale_1(5, offset=2)` must be 2 more than `scale_1(5)`. Now it is a `TypeError`: "
    "unexpected keyword argument 'offset'. Nothing else changes."
)
WORDS = ("join", "parse", "merge", "fetch", "align", "count", "split", "trace", "order", "weigh", "adapt", "limit")
FILE_LINES = 250
A_FILE = 2
"""Functions of the kind in one file, so that the issue touches many files."""
EXISTING, NEW = "tests/test_units.py", "tests/test_offset.py"
SPECIFICATION = (
    "Each of these functions takes one more parameter, keyword-only: `offset`, 0 by default. It is added to the result "
    "that the function had before. Say so in the docstring. Example: scale_1(5, offset=2) == scale_1(5) + 2."
)


@dataclass(frozen=True)
class Project:
    """A made project."""

    files: Mapping[str, bytes]
    functions: Mapping[str, str]
    """Name of each function that the issue is about -> its file."""

    @property
    def tree(self) -> Tree:
        """The project unchanged."""
        return Tree(FilesBase(self.files))

    @property
    def task(self) -> Task:
        """The issue."""
        return Task("units", TITLE, BODY, self.tree.base.id)

    @property
    def lines(self) -> int:
        """Lines of all files."""
        return sum(data.count(b"\n") for data in self.files.values())

    def report(self, tree: Tree, selection: tuple[str, ...]) -> TestReport:
        """What the tests of `tree` say, by looking at its text: nothing is run."""
        outcomes = {f"{EXISTING}::test_there": TestOutcome.PASSED}
        messages: dict[str, str] = {}
        tests = tree.read(NEW).decode() if tree.exists(NEW) else ""
        for name in re.findall(r"^def test_(scale_\d+)", tests, re.MULTILINE):
            test, place = f"{NEW}::test_{name}", self.functions[name]
            said = failure(tree.read(place).decode(), name, place)
            outcomes[test] = TestOutcome.FAILED if said else TestOutcome.PASSED
            if said:
                messages[test] = said
        chosen = {
            test: outcome
            for test, outcome in outcomes.items()
            if not selection or any(test.startswith(one) for one in selection)
        }
        bad = TestOutcome.FAILED in chosen.values()
        return TestReport(chosen, {t: m for t, m in messages.items() if t in chosen}, Result(int(bad), "", 0.1))


def failure(text: str, name: str, path: str) -> str:
    """Why a test of a function fails, with the line that it is at; empty if it passes."""
    line = text[: text.index(f"def {name}(")].count("\n") + 1
    body = re.search(rf"^def {name}\((.*?)\).*?\n((?:    .*\n|\n)+)", text, re.MULTILINE)
    if body is None or "offset" not in body[1]:
        kind = f"TypeError: {name}() got an unexpected keyword argument 'offset'"
        return f"E   {kind}\n\n{NEW}:5: TypeError"
    if "+ offset" not in body[2]:
        return f"E   AssertionError: assert {name} adds the offset\n\n{path}:{line + 1}: AssertionError"
    return ""


def project(lines: int, functions: int, seed: int = 7) -> Project:
    """About `lines` lines of code with so many functions that the issue is about."""
    chance = random.Random(seed)  # noqa: S311 - the same project for the same seed, no secret
    names, files, found = list(range(1, functions + 1)), dict[str, bytes](), dict[str, str]()
    count = max(-(-functions // A_FILE), round(lines / FILE_LINES), 1)
    homes = sorted(chance.sample(range(count), -(-functions // A_FILE)))
    for number in range(count):
        path = f"units/{WORDS[number % len(WORDS)]}_{number}.py"
        own = names[homes.index(number) * A_FILE :][:A_FILE] if number in homes else []
        files[path] = "".join(module(number, own, chance, lines // count)).encode()
        found |= {f"scale_{name}": path for name in own}
    files["units/__init__.py"] = b'"""Units."""\n'
    files[EXISTING] = b"import units\n\n\ndef test_there():\n    assert units\n"
    return Project(files, found)


def module(number: int, scaling: list[int], chance: random.Random, lines: int) -> Iterator[str]:
    """The text of one file."""
    yield f'"""Part {number} of the units."""\n\nimport math\n'
    count = max(2, lines // 8)
    places = sorted(chance.sample(range(count), min(len(scaling), count)))
    for position in range(count):
        word = f"{chance.choice(WORDS)}_{chance.choice(WORDS)}_{number}_{position}"
        yield (
            f'\n\ndef {word}(value, level=1):\n    """{word.replace("_", " ").capitalize()}."""\n'
            f"    total = value * {chance.randint(2, 99)}\n    for step in range(level):\n"
            f"        total += math.floor(step / {chance.randint(2, 9)})\n    return total\n"
        )
        if position in places:
            name = scaling[places.index(position)]
            yield (f'\n\ndef scale_{name}(value):\n    """The value at scale {name}."""\n    return value * {name}\n')


class Player:
    """A `bot.llm.port.Model` that plays every role of an organization by rule, from what a request says alone."""

    def __init__(self, group: int = 4, most: int = 12) -> None:
        """`group` functions are one part as long as no more than `most` parts come of it."""
        self._group = group
        self._most = most

    def complete(self, request: Request) -> Completion:
        """The answer of whoever is asked."""
        first = request.messages[1].content
        if request.role == "reproducer":
            calls = self.tests(request.messages)
        elif request.role == "child":
            calls = [("submit", {"code": [mended(span, text) for span, text in shown(first)]})]
        elif "what is to be divided" in first:
            calls = [("submit", {"parts": self.parts(list(listed(first)))})]
        elif "what was executed and failed" in first:
            calls = [("submit", self.feedback(first))]
        else:
            calls = self.skeleton(request.messages)
        made = tuple(ToolCall(f"call-{n}", name, json.dumps(value)) for n, (name, value) in enumerate(calls))
        text = "".join(call.arguments for call in made)
        return Completion("", made, Usage(estimate_tokens(request), -(-len(text) // 4)), "by rule", 0.0)

    def tests(self, messages: tuple[Message, ...]) -> list[tuple[str, dict[str, object]]]:
        """The reproducer: look for the functions, write a test for each, hand over."""
        found = hits(messages)
        if not found:
            return [("search", {"pattern": r"^def scale_\d+"})]
        if any(call.name == "create" for message in messages for call in message.tool_calls):
            reason = "each fails with a TypeError: there is no parameter 'offset' yet"
            return [("submit", {"decision": "reproduced", "reason": reason})]
        text = "".join(
            f"\n\ndef test_{name}():\n    from {path.removesuffix('.py').replace('/', '.')} import {name}\n\n"
            f"    assert {name}(5, offset=2) == {name}(5) + 2\n"
            for path, name in found
        )
        return [("create", {"path": NEW, "text": text.lstrip()}), ("run_tests", {"tests": [NEW]})]

    def skeleton(self, messages: tuple[Message, ...]) -> list[tuple[str, dict[str, object]]]:
        """The root: look for the functions; write them itself if they are two at most, or hand them out."""
        found = hits(messages)
        if not found:
            return [("search", {"pattern": r"^def scale_\d+"})]
        decided: dict[str, object] = {
            "decision": "change",
            "diagnosis": "The scaling functions have no parameter for an offset.",
            "title": "Give the scaling functions an offset",
            "summary": "Each scaling function takes a keyword-only offset that is added to its result.",
        }
        spans = [(f"{path}::{name}", f"def {name}(value, *, offset=0):") for path, name in found]
        if len(spans) > 2:
            return [("submit", decided | {"parts": self.parts(spans)})]
        code = [{"span": span, "text": whole(span, signature)} for span, signature in spans]
        return [("submit", decided | {"code": code})]

    def parts(self, spans: list[tuple[str, str]]) -> list[dict[str, object]]:
        """Spans with their signatures, in groups."""
        each = max(self._group, -(-len(spans) // self._most))
        groups = [spans[start : start + each] for start in range(0, len(spans), each)]
        return [
            {"spans": [span for span, _ in group], "signatures": dict(group), "specification": SPECIFICATION}
            for group in groups
        ]

    def feedback(self, brief: str) -> dict[str, object]:
        """A mother after a failure: whoever owns a function that fails adds the offset."""
        failing = set(re.findall(r"test_(scale_\d+)", brief))
        told = "Add the offset to the result, as the specification says."
        children = re.findall(r"^([\d.]+)( \[in the trace[^:]*)?: (.*)", brief, re.MULTILINE)
        directions = []
        for child, blamed, owned in children:
            for name in sorted(failing & set(re.findall(r"scale_\d+", owned))):
                check = "" if blamed else f"grep -rqE '{name}.value, [*], offset=0' units"
                directions.append({"part": child, "direction": told, "check": check})
                break
        return {"cause": "The offset is taken and not added.", "directions": directions}


def hits(messages: tuple[Message, ...]) -> list[tuple[str, str]]:
    """Path and name of the functions that a search found."""
    found = [
        re.findall(r"^(\S+\.py):\d+: def (scale_\d+)\(", message.content, re.MULTILINE)
        for message in messages
        if message.role == "tool"
    ]
    return sorted({hit for one in found for hit in one if not hit[0].startswith("tests/")})


def shown(brief: str) -> Iterator[tuple[str, str]]:
    """Span and text of each piece of code in a child's brief."""
    code = re.search(r"<data your code (\w+)>\n(.*?)\n</data \1>", brief, re.DOTALL)
    for part in re.split(r"^### ", code[2] if code else "", flags=re.MULTILINE)[1:]:
        span, _, text = part.partition("\n")
        yield span, text.strip("\n")


def listed(brief: str) -> Iterator[tuple[str, str]]:
    """Span and new signature of each function in the outline of what is to be divided."""
    for span, name in re.findall(r"^(\S+::(scale_\d+)): lines ", brief, re.MULTILINE):
        yield span, f"def {name}(value, *, offset=0):"


def whole(span: str, signature: str) -> str:
    """A function with its offset."""
    number = span.rpartition("_")[2]
    return f'{signature}\n    """The value at scale {number}, and the offset."""\n    return value * {number} + offset'


def mended(span: str, text: str) -> dict[str, object]:
    """The edits that give a function its offset."""
    edits = []
    if "offset=0" not in text:
        edits.append({"old": "(value):", "new": "(value, *, offset=0):"})
    returned = re.search(r"return (.*)", text)
    if returned and "+ offset" not in text:
        edits.append({"old": returned[0], "new": f"{returned[0]} + offset"})
    return {"span": span, "edits": edits} if edits else {"span": span, "text": text}
