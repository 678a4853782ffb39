"""What a project asks of a change is read from its files."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.team.conventions import RULES_CHARS, SHOWN_CHARS, changelog, rules, supports
from repo_tools.index import Index
from repo_tools.tree import Tree
from repo_tools.view import View
from tests.fakes.memory_base import MemoryBase


def view(folder: Path, files: dict[str, str]) -> View:
    return Index.open(folder).view(Tree(MemoryBase({path: text.encode() for path, text in files.items()})))


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("pyproject.toml", '[project]\nrequires-python = ">=3.8"\n', 'requires-python = ">=3.8"'),
        ("setup.py", 'setup(python_requires="~=3.7")\n', 'python_requires="~=3.7"'),
        ("package.json", '{"engines": {\n "node": ">=16"\n}}', '"engines": { "node": ">=16" }'),
        ("go.mod", "module x\n\ngo 1.19\n", "go 1.19"),
        ("README", "python 2", ""),
    ],
)
def test_what_the_project_says_it_supports_is_known(tmp_path: Path, path: str, text: str, said: str) -> None:
    assert supports(view(tmp_path, {path: text})) == (f"{said} ({path})" if said else "")


@pytest.mark.parametrize("heading", ["## Unreleased", "## [Unreleased]", "Version 9.1.0 (in development)", "2.0.dev0"])
@pytest.mark.parametrize("path", ["CHANGELOG.md", "CHANGES.rst", "docs/changelog.md", "HISTORY"])
def test_the_open_section_of_a_changelog_is_shown(tmp_path: Path, path: str, heading: str) -> None:
    said = changelog(view(tmp_path, {path: f"# Changes\n\n{heading}\n\n- Add a thing.\n" + "- Old.\n" * 400}))
    assert said.startswith(f"{path}, from line 1:\n# Changes\n\n{heading}")
    assert "- Add a thing." in said
    assert len(said) <= SHOWN_CHARS


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"CHANGES": "1.0 (2020-01-01)\n\n- First.\n"}, "CHANGES has no section"),
        ({"changelog.d/12.change.md": "A thing.", "CHANGELOG.md": "## Unreleased\n"}, "files in changelog.d/"),
        ({"newsfragments/12.bugfix": "A thing."}, "files in newsfragments/"),
        ({"src/changes.py": "x = 1"}, ""),
        ({"news/__init__.py": "", "changelog/render.py": "x = 1"}, ""),
    ],
)
def test_who_keeps_no_open_section_gets_no_line(tmp_path: Path, files: dict[str, str], said: str) -> None:
    found = changelog(view(tmp_path, files))
    assert said in found
    assert bool(found) is bool(said)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"AGENTS.md": "Use tabs.\n", "CLAUDE.md": "See AGENTS.md."}, "AGENTS.md:\nUse tabs."),
        ({".github/copilot-instructions.md": "No comments.", "docs/AGENTS.md": "x"}, "No comments."),
        ({"AGENTS.md": " \n"}, ""),
        ({"README.md": "Use tabs."}, ""),
    ],
)
def test_what_a_project_says_to_agents_is_read_from_one_file(tmp_path: Path, files: dict[str, str], said: str) -> None:
    found = rules(view(tmp_path, files))
    assert found.endswith(said)
    assert bool(found) == bool(said)


def test_of_long_rules_the_beginning_is_shown_and_what_is_missing_is_said(tmp_path: Path) -> None:
    lines = [f"Rule {number} holds." for number in range(1000)]
    found = rules(view(tmp_path, {"AGENTS.md": "\n".join(lines)}))
    shown = found.splitlines()
    assert shown[1:-1] == lines[: len(shown) - 2]
    assert len("\n".join(shown[1:-1])) <= RULES_CHARS
    assert f"{len(chr(10).join(lines)) - len(chr(10).join(shown[1:-1]))} characters more" in shown[-1]
