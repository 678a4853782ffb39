"""The plan of the house, enforced: who may import whom, how long things may be, what importing does."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("bot", "repo_tools", "sandbox")
FILES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))

FLOORS = [
    {
        "bot.__version__",
        "bot.task",
        "bot.errors",
        "bot.llm.port",
        "bot.llm.budget",
        "bot.forge.port",
        "bot.prompts",
        "bot.settings",
        "bot.repo_config",
    },
    {
        "bot.team",
        "bot.records",
        "bot.transcript",
        "bot.transcript_summary",
        "bot.transcript_view",
        "bot.secrets_mask",
        # What judges a change is asked by the team in each round, and again by those who publish.
        "bot.publish.verdict",
        "bot.publish.failures",
        "bot.publish.gate",
        "bot.publish.objection",
        "bot.publish.protected",
        "bot.publish.tampering",
        "bot.publish.python_tests",
        "bot.publish.sanitize",
        "bot.publish.security",
        "bot.publish.weak_patterns",
        "bot.publish.segments",
        "bot.publish.rendered",
        "bot.publish.hidden_text",
    },
    {"bot.forge", "bot.llm", "bot.publish"},
    {"bot.service"},
    {
        "bot.cli",
        "bot.wiring",
        "bot.__main__",
        "bot.console",
        "bot.commands",
        "bot.cleaning",
        "bot.doctor",
        "bot.replaying",
        "bot.bench",
    },
]
"""Each set may import the sets before it and itself."""

ONLY_IN = {
    "github": "bot/forge/",
    "git": "repo_tools/changes.py",
    "docker": "sandbox/",
    "openai": "bot/llm/openai_chat.py",
    "fastapi": "bot/service/",
    "dbos": "bot/service/",
    "tree_sitter": "repo_tools/",
    "genai_prices": "bot/llm/",
    "bandit": "bot/publish/security.py",
    "junitparser": "sandbox/",
    "markdown_it": "bot/publish/segments.py",
    "cmarkgfm": "bot/publish/rendered.py",
}


def name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            assert node.module is not None
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def floor(module: str) -> int | None:
    best, length = None, -1
    for number, members in enumerate(FLOORS):
        for member in members:
            if (module == member or module.startswith(member + ".")) and len(member) > length:
                best, length = number, len(member)
    return best


@pytest.mark.parametrize("path", FILES, ids=lambda path: name(path))
def test_imports_run_down_only(path: Path) -> None:
    module = name(path)
    for wanted in imports(path):
        package = wanted.split(".")[0]
        if package not in PACKAGES:
            continue
        if module.split(".")[0] in ("repo_tools", "sandbox"):
            assert package == module.split(".")[0], f"{module} imports {wanted}"
            continue
        if package == "bot" and wanted.count("."):
            here, there = floor(module), floor(wanted)
            if module == "bot":
                continue
            assert here is not None, f"{module} stands on no floor: add it to FLOORS"
            assert there is not None, f"{wanted} stands on no floor: add it to FLOORS"
            assert there <= here, f"{module} (floor {here}) imports {wanted} (floor {there})"


@pytest.mark.parametrize("path", FILES, ids=lambda path: name(path))
def test_foreign_libraries_stay_in_their_room(path: Path) -> None:
    place = path.relative_to(ROOT).as_posix()
    for wanted in imports(path):
        room = ONLY_IN.get(wanted.split(".")[0])
        assert room is None or place.startswith(room), f"{place} imports {wanted}, which belongs in {room}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: name(path))
def test_nothing_grows_too_long(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.count("\n") <= 400, f"{path} has more than 400 lines"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            limit = 150 if isinstance(node, ast.ClassDef) else 60
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= limit, f"{path}: {node.name} has {length} lines, more than {limit}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: name(path))
def test_the_environment_is_read_in_one_place(path: Path) -> None:
    if name(path) == "bot.settings" or name(path).startswith("sandbox.inside."):  # the latter is a container's own
        return
    tree = ast.parse(path.read_text("utf-8"))
    used = [
        node.lineno for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv")
    ]
    assert not used, f"{path}: reads the environment at lines {used}"


def test_importing_any_module_does_nothing() -> None:
    """No module writes, connects, starts threads or reads settings when it is imported."""
    program = (
        "import importlib, socket, sys, threading\n"
        "def no(*_, **__): raise AssertionError('connects on import')\n"
        "socket.socket.connect = no\n"
        f"for module in {[name(path) for path in FILES if name(path) != 'bot.__main__']!r}:\n"
        "    importlib.import_module(module)\n"
        "assert threading.active_count() == 1, threading.enumerate()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "", done.stdout
