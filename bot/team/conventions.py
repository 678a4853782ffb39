"""What a project asks of a change besides being right, as its files say it: versions, a changelog, its own rules."""

from __future__ import annotations

import re

from repo_tools.view import View

DECLARED = {
    "pyproject.toml": re.compile(r"^requires-python\s*=.*$", re.MULTILINE),
    "setup.cfg": re.compile(r"^python_requires\s*=.*$", re.MULTILINE),
    "setup.py": re.compile(r"python_requires\s*=\s*[\"'][^\"']*[\"']"),
    "package.json": re.compile(r'"engines"\s*:\s*\{[^}]*\}'),
    "go.mod": re.compile(r"^go\s+[\d.]+", re.MULTILINE),
    "Cargo.toml": re.compile(r"^(?:rust-version|edition)\s*=.*$", re.MULTILINE),
}
"""Manifest -> where it says which versions of the language the project supports."""
CHANGELOG = re.compile(r"(docs?/)?(changelog|changes|history|news)(\.(md|rst|txt|markdown))?", re.IGNORECASE)
FRAGMENTS = re.compile(
    r"(?:docs?/)?(changelog\.d|changes\.d|newsfragments|news|changelog|\.changes|\.changeset)/"
    r"(?:[^/]+\.(?:md|rst|txt)|\+?\d[^/]*)"
)
"""Files that a release puts together into the changelog, as towncrier and its like do."""
OPEN = re.compile(
    r"unreleased|in development|not (yet )?released|upcoming|\bnext\b|\bdev\b|\.dev\d|\btbd\b", re.IGNORECASE
)
"""How the heading of what is not released yet is told."""
RULES = ("AGENTS.md", "CLAUDE.md", ".github/copilot-instructions.md")
"""Where projects write to agents, the name that most of them read first: one file says it all."""
RULES_CHARS = 2400
HEADING_LINES = 25
SHOWN_LINES = 14
SHOWN_CHARS = 500


def supports(view: View) -> str:
    """What the project says it runs on, and where it says so; empty if it does not."""
    for path, declared in DECLARED.items():
        match = declared.search(view.read(path).decode("utf-8", "replace")) if view.tree.exists(path) else None
        if match:
            return f"{' '.join(match[0].split())} ({path})"
    return ""


def rules(view: View) -> str:
    """How the project wants code to be written, as it says to agents; empty if it does not."""
    there = set(view.files()).intersection(RULES)
    path = next((path for path in RULES if path in there), None)
    text = view.read(path).decode("utf-8", "replace").strip() if path else ""
    if len(text) <= RULES_CHARS:
        return f"{path}:\n{text}" if text else ""
    shown = text[:RULES_CHARS].rpartition("\n")[0] or text[:RULES_CHARS]
    return f"{path}:\n{shown}\n[… {len(text) - len(shown)} characters more: read the file if you need them …]"


def changelog(view: View) -> str:
    """Whether a change adds a line to the changelog, with the place where it would; empty without a changelog."""
    paths = sorted(view.files())
    folders = sorted({path.rpartition("/")[0] for path in paths if FRAGMENTS.fullmatch(path)})
    if folders:
        return f"It is put together from files in {folders[0]}/, named after pull requests: leave it to the maintainer."
    for path in (path for path in paths if CHANGELOG.fullmatch(path)):
        lines = view.read(path).decode("utf-8", "replace").splitlines()
        opening = next((at for at, line in enumerate(lines[:HEADING_LINES]) if OPEN.search(line)), None)
        if opening is None:
            return f"{path} has no section for what is not released yet: leave it alone."
        first = max(0, opening - 2)  # a version may stand above the words that say it is not released
        return "\n".join([f"{path}, from line {first + 1}:", *lines[first:][:SHOWN_LINES]])[:SHOWN_CHARS]
    return ""
