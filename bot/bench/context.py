"""How large the largest request of each role is in projects of very different sizes, and how many agents work there.

`agent-fix bench context [--lines 1000,10000] [--functions 2,8,32] [--out FILE]` makes projects of so many lines with
the same kind of issue, has self-organized agents solve it, played by rule, and prints the largest request of each role
in tokens. Nothing is run and no model is asked: what is measured is what would be sent.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bot.bench.made_projects import Player, Project, project
from bot.llm.budget import estimate_tokens
from bot.llm.port import Completion, Request, ToolCall
from bot.publish.verdict import baseline
from bot.team.delivery import Delivery
from bot.team.evidence import Assignment
from bot.team.loop import perform
from bot.team.scout import scout
from bot.team.steps import Ask, Note, Strategy
from bot.team.strategies.self_organized import self_organized
from repo_tools.index import Index
from repo_tools.tree import Tree
from repo_tools.view import View
from sandbox.port import Result, TestReport

LINES = "1000,10000,100000,1000000"
FUNCTIONS = "2,8,32"


@dataclass(frozen=True)
class Measured:
    """One project with one issue, solved."""

    lines: int
    functions: int
    files: int
    """That the change touches."""
    agents: int
    """Of the organization, without who writes the tests."""
    requests: int
    tokens: int
    """Of all requests."""
    largest: Mapping[str, int]
    """Role -> tokens of its largest request."""
    sound: bool
    seconds: float


class Dry:
    """A `bot.team.loop.Stage` on which nothing is run: the model plays by rule, tests are looked at."""

    def __init__(self, made: Project, index: Index) -> None:
        self._made = made
        self._model = Player()
        self._index = index
        self.requests: list[Request] = []
        self.agents: set[str] = set()

    def complete(self, request: Request) -> Completion:
        """The answer by rule."""
        self.requests.append(request)
        return self._model.complete(request)

    def run(self, *_: Any) -> Result:
        """As if every command had succeeded."""
        return Result(0, "", 0.0)

    def test(self, agent: str, tree: Tree, selection: tuple[str, ...], *_: Any) -> TestReport:  # noqa: ARG002
        """What the tests would say."""
        return self._made.report(tree, selection)

    def called(self, agent: str, call: ToolCall, result: str, ok: bool) -> None:
        """Nothing is recorded."""

    def view(self, tree: Tree) -> View:
        """The index, answering for `tree`."""
        return self._index.view(tree)

    def asked(self, ask: Ask) -> None:
        """Count the organization's agents."""
        if ask.role.name in ("mother", "child"):
            self.agents.add(ask.agent.partition("~")[0].partition("-")[2])

    def noted(self, note: Note) -> None:
        """Nothing is recorded."""

    def together(self, parts: Mapping[str, Callable[[], Strategy[Any]]], known_bad: frozenset[str]) -> list[Any]:
        """One after the other: none can tell the difference."""
        return [perform(make(), self, known_bad) for make in parts.values()]


def measure(lines: int, functions: int) -> Measured:
    """Have an issue that touches so many functions solved in a project of so many lines."""
    made, start = project(lines, functions), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="agent-fix-context-") as folder:
        index = Index.open(Path(folder))
        stage = Dry(made, index)
        seen = scout(stage.view(made.tree), made.task)
        work = Assignment(made.task, made.tree, baseline(made.report(made.tree, ())), seen.hints, seen.examples)
        delivery: Delivery = perform(self_organized(work), stage, work.known_bad)
        index.close()
    sizes = [(request.role, estimate_tokens(request)) for request in stage.requests]
    best = delivery.best
    return Measured(
        lines=made.lines,
        functions=functions,
        files=len(best.tree.patch.files) if best else 0,
        agents=len(stage.agents),
        requests=len(sizes),
        tokens=sum(size for _, size in sizes),
        largest={role: max(size for each, size in sizes if each == role) for role in sorted({r for r, _ in sizes})},
        sound=best is not None and best.sound,
        seconds=time.monotonic() - start,
    )


def table(found: Iterable[Measured]) -> str:
    """As Markdown."""
    rows = list(found)
    roles = sorted({role for one in rows for role in one.largest})
    head = [
        "Lines",
        "Functions",
        "Files",
        "Agents",
        "Requests",
        "Tokens",
        *(f"largest {role}" for role in roles),
        "Ready",
    ]
    lines = [f"| {' | '.join(head)} |", f"|{' ---: |' * len(head)}"]
    for one in rows:
        cells = [one.lines, one.functions, one.files, one.agents, one.requests, one.tokens]
        cells += [one.largest.get(role, 0) for role in roles]
        lines.append(f"| {' | '.join(f'{cell:,}' for cell in cells)} | {'yes' if one.sound else 'no'} |")
    return "\n".join(lines)


def spread(found: Iterable[Measured]) -> dict[int, dict[str, float]]:
    """Functions -> role -> how much larger its largest request is in one project than in another, as a share."""
    by_size: dict[int, list[Measured]] = {}
    for one in found:
        by_size.setdefault(one.functions, []).append(one)
    return {
        functions: {
            role: max(one.largest[role] for one in group) / min(one.largest[role] for one in group) - 1
            for role in group[0].largest
        }
        for functions, group in by_size.items()
    }


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", default=LINES)
    parser.add_argument("--functions", default=FUNCTIONS)
    parser.add_argument("--out", type=Path, help="a file for the figures as JSON")
    options = parser.parse_args(arguments)
    found = []
    for lines in map(int, options.lines.split(",")):
        for functions in map(int, options.functions.split(",")):
            found.append(measure(lines, functions))
            print(f"{lines:,} lines, {functions} functions: {found[-1].seconds:.1f} s", flush=True)
    print(f"\n{table(found)}\n")
    for functions, roles in spread(found).items():
        said = ", ".join(f"{role} {share:.1%}" for role, share in roles.items())
        print(f"{functions} functions, largest request in the largest project against the smallest: {said}")
    if options.out is not None:
        options.out.write_text(json.dumps([asdict(one) for one in found], indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
