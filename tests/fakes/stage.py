"""A stage for strategies without any I/O: the model is a script, the sandbox a function."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from bot.llm.port import Completion, Request, ToolCall, Usage
from bot.team.loop import perform
from bot.team.steps import Ask, Note, Strategy
from repo_tools.index import Index
from repo_tools.tree import Tree
from repo_tools.view import View
from sandbox.port import Lines, Result, TestOutcome, TestReport


def call(name: str, **arguments: Any) -> ToolCall:
    """A tool call; its id is given when it is used."""
    return ToolCall("", name, json.dumps(arguments))


def reply(*calls: ToolCall, text: str = "") -> Completion:
    """One completion that makes these calls."""
    numbered = tuple(ToolCall(f"call-{number}", one.name, one.arguments) for number, one in enumerate(calls))
    return Completion(text, numbered, Usage(100, 10), "script", 0.0)


def report(passed: Iterable[str] = (), failed: Mapping[str, str] | None = None) -> TestReport:
    """A report of tests that passed, and of failed ones with their texts."""
    failed = failed or {}
    outcomes = dict.fromkeys(passed, TestOutcome.PASSED) | dict.fromkeys(failed, TestOutcome.FAILED)
    return TestReport(outcomes, dict(failed), Result(1 if failed else 0, "", 0.1))


class Stage:
    """`bot.team.loop.Stage`: scripts by agent name, tests as a function of tree and selection."""

    def __init__(
        self,
        folder: Path,
        scripts: Mapping[str, Iterable[Completion]],
        tests: Callable[[Tree, tuple[str, ...]], TestReport],
        commands: Callable[[Tree, str], Result] = lambda tree, command: Result(0, f"ran {command}", 0.1),
        lines: Callable[[Tree, tuple[str, ...]], Mapping[str, Lines] | None] = lambda tree, selection: None,
    ) -> None:
        self._index = Index.open(folder)
        self._scripts = {agent: iter(script) for agent, script in scripts.items()}
        self._tests = tests
        self._commands = commands
        self._lines = lines
        self.requests: list[Request] = []
        self.asks: list[Ask] = []
        self.notes: list[Note] = []
        self.checked: list[tuple[Tree, tuple[str, ...], str]] = []
        self.answers: list[tuple[str, str, str, bool]] = []

    def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        return next(self._scripts[request.agent])

    def run(self, agent: str, tree: Tree, command: str) -> Result:
        return self._commands(tree, command)

    def test(
        self, agent: str, tree: Tree, selection: tuple[str, ...], reason: str, watch: tuple[str, ...] = ()
    ) -> TestReport:
        self.checked.append((tree, selection, reason))
        found = self._tests(tree, selection)
        return replace(found, lines=self._lines(tree, selection)) if watch else found

    def called(self, agent: str, call: ToolCall, result: str, ok: bool) -> None:
        self.answers.append((agent, call.name, result, ok))

    def view(self, tree: Tree) -> View:
        return self._index.view(tree)

    def asked(self, ask: Ask) -> None:
        self.asks.append(ask)

    def noted(self, note: Note) -> None:
        self.notes.append(note)

    def together(self, parts: Mapping[str, Callable[[], Strategy[Any]]], known_bad: frozenset[str]) -> list[Any]:
        return [perform(make(), self, known_bad) for make in parts.values()]

    @property
    def agents(self) -> list[str]:
        """Who was asked, in order."""
        return [ask.agent for ask in self.asks]
