"""JUnit's own console, for Java that is compiled without a build tool."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from sandbox.port import Result, TestOutcome
from sandbox.runners import junit
from sandbox.runners.base import Asked, Findings, Reporter
from sandbox.runners.xml import java_name

CLASSES = r"^(.*\.)?(Test[^.]*|[^.]*Tests?|[^.]*TestCase)$"
"""The classes that Maven takes for tests."""
LEFT_OUT = "left-out.txt"
"""A file of `~/classes`: the test sources that do not compile, one a line with what the compiler says of it."""


class JunitConsole(Reporter):
    """Ids are `package.Class#test`. Sources that were left out by the build stand as errors under their path."""

    def command(self, asked: Asked) -> str:
        chosen = [java_name(test, "#") for test in asked.chosen]
        words = [f"--select-{'method' if '#' in name else 'class'}={name}" for name in chosen]
        options = ["--details=none", "--disable-banner", f"--include-classname={CLASSES}"]
        return (
            f'{asked.recipe.test_command} {shlex.join(options)} --reports-dir="$AGENT_FIX_OUT"'
            f" {shlex.join(words or asked.recipe.tests)}\n"
            "code=$?\n"
            f'[ ! -s ~/classes/{LEFT_OUT} ] || cp ~/classes/{LEFT_OUT} "$AGENT_FIX_OUT/"\n'
            'exit "$code"'
        )

    def read(self, asked: Asked, result: Result, files: Mapping[str, bytes]) -> Findings:
        found = [
            (f"{case.classname}#{case.name.removesuffix('()')}", case.outcome, case.message)
            for name in sorted(files)
            if name.endswith(".xml")
            for case in junit.cases(files[name])
        ]
        if found and not asked.chosen:
            found += left_out(files.get(LEFT_OUT, b"").decode("utf-8", "replace"))
        return found


def left_out(text: str) -> Findings:
    """The test sources that could not be compiled."""
    rows = (line.partition(": ") for line in text.splitlines() if line.strip())
    return [(path, TestOutcome.ERROR, f"left out, as it does not compile here: {said}") for path, _, said in rows]
