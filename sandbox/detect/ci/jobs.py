"""What a project's automation runs: jobs of CI services, and the lines of the scripts and targets that these call."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field

from sandbox.detect.files import Files, below

TESTING = re.compile(
    r"(^|[\s/;&|])(py\.test|pytest|unittest|tox|nox|(npm|yarn|pnpm) (run )?t(est\S*)?|jest|vitest|mocha|go test"
    r"|cargo test|ctest|make (test|check)\S*|just test\S*|rake|rspec|phpunit|composer test|mvnw?|gradlew?"
    r"|dotnet test|meson test|scripts?/(run-?)?tests?\S*|hatch (test|run)|pdm run test|poetry run)\b"
)
NOT_TESTING = re.compile(
    r"lint|format|docs?\b|deploy|release|publish|codeql|coverage|benchmark|typ(e|ing)|mypy|fuzz|wheels?|stale|emscripten|pyodide"
    r"|wasm|primer|latest|nightly|minimal|oldest|minimum|upstream|downstream|canary|windows|macos|conda|pypy|slow",
    re.IGNORECASE,
)
NAMES_OF_TESTS = re.compile(r"test|^ci$|^build$|unit", re.IGNORECASE)
DEEPEST = 3
"""Scripts that call scripts: deeper than this nobody goes to install a project."""


@dataclass(frozen=True)
class Step:
    """One command line."""

    line: str
    folder: str = "."
    env: dict[str, str] = field(default_factory=dict)

    @property
    def tests(self) -> bool:
        """Whether it runs tests, rather than to install what runs them."""
        return bool(TESTING.search(self.line)) and not re.search(r"\binstall\b(?!.*(&&|;))", self.line)


@dataclass
class Job:
    """The commands of one job, in order."""

    source: str
    name: str
    steps: list[Step] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    """Language -> version, as the job sets it up."""
    services: tuple[str, ...] = ()

    @property
    def weight(self) -> int:
        """How surely this is the job that runs the tests; 0 if it runs none."""
        tested = any(step.tests for step in self.steps)
        if not tested:
            return 0
        label = f"{posixpath.basename(self.source)} {self.name}"
        named = 5 * bool(NAMES_OF_TESTS.search(self.name)) + 3 * ("test" in label)
        return 10 + named - 8 * bool(NOT_TESTING.search(label))


def lines_of(script: str) -> list[str]:
    """The command lines of a shell text: continued lines joined, comments and flow words left out."""
    joined = re.sub(r"\s*\\\n\s*", " ", script)
    rows = (re.sub(r"^(sudo|time)\s+(-\S+\s+)*", "", row.strip()) for row in joined.split("\n"))
    flow = re.compile(r"^(#.*|(if|fi|then|else|elif|for|while|do|done|case|esac|set|echo|exit|export)\b.*|[})]|\(|)$")
    return [row for row in rows if not flow.match(row)]


def expanded(files: Files, steps: list[Step], depth: int = 0) -> Iterator[Step]:
    """The steps, those that call a script or a target of the repository followed by the lines of that."""
    for step in steps:
        yield step
        inner = _called(files, step) if depth < DEEPEST else []
        yield from expanded(files, [Step(line, step.folder, step.env) for line in inner], depth + 1)


def _called(files: Files, step: Step) -> list[str]:
    try:
        words = shlex.split(step.line)
    except ValueError:
        return []
    if words and words[0] in ("bash", "sh", "source", "."):
        words = words[1:]
    if not words:
        return []
    if words[0] in ("make", "just"):
        return [line for word in words[1:] for line in target_lines(files, step.folder, words[0], word)]
    path = below(step.folder, words[0])
    return lines_of(files.text(path)) if "/" in words[0] and files.has(path) and len(files.text(path)) < 20_000 else []


def target_lines(files: Files, folder: str, tool: str, target: str) -> list[str]:
    """The lines of a target in a Makefile or a justfile, its variables put in."""
    names = ("Makefile", "makefile", "GNUmakefile") if tool == "make" else ("justfile", "Justfile", ".justfile")
    path = next((below(folder, name) for name in names if files.has(below(folder, name))), "")
    text = files.text(path)
    variables = dict(re.findall(r"^(\w+)\s*[:?]?=\s*[\"']?(.*?)[\"']?$", text, re.MULTILINE))
    rule = rf"^@?{re.escape(target)}\b[^\n:=]*:(?!=)[^\n]*\n((?:[ \t]+[^\n]*\n|\n)*)"
    found = re.search(rule, text + "\n", re.MULTILINE)
    if not target or not found:
        return []
    use = re.compile(r"\$[({](\w+)[)}]|\{\{\s*(\w+)\s*\}\}")
    body = use.sub(lambda match: variables.get(match[1] or match[2], ""), found[1])
    return [line.lstrip("@-") for line in lines_of(body)]
