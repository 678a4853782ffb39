"""Something new of several files: an architect designs them before any code, and the code is held to the design."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pydantic import Field

from bot.publish.objection import Objection
from bot.publish.sanitize import code
from bot.team.roles import LOOK, Change, Role, Submission, Writes
from repo_tools.languages import Unparsed, language_of
from repo_tools.paths import defect
from repo_tools.symbols import definitions
from repo_tools.test_files import is_test
from repo_tools.tree import Tree

LEAST_FILES = 3
"""Fewer new files than these need no design of their own."""
NAME = re.compile(
    r"(?:class|def|func|function|const|struct|type|interface|trait|fn)\s+(?:\([^)]*\)\s*)?(\w+)|^\s*(\w+)"
)


class NewFile(Submission):
    """One file to be made."""

    path: str = Field(min_length=1, max_length=200)
    purpose: str = Field(min_length=5, max_length=300, description="what it is responsible for, in one sentence")
    interface: list[str] = Field(
        default=[],
        max_length=20,
        description="the signature of each definition that others use, such as def load(path: str) -> Config",
    )


class Architecture(Submission):
    """The design of what is new: the tree of its files, what each offers, how data goes through them."""

    files: list[NewFile] = Field(min_length=1, max_length=30, description="every new file but the tests")
    data_flow: str = Field(min_length=20, description="who calls whom with what, from the input to the result")
    decisions: list[str] = Field(default=[], max_length=8, description="what was chosen and why; no new dependency")
    people: str = Field(
        default="",
        description="only if people use it: commands or screens, what each shows, and what is said of wrong input",
    )


ARCHITECT = Role("architect", LOOK, Writes.NOTHING, ("issue", "plan", "hints", "baseline"), Architecture, 8)


def is_new(paths: list[str]) -> bool:
    """Whether what an analyst names as new files is worth a design."""
    return len(paths) >= LEAST_FILES


def objection(design: Architecture, tree: Tree) -> str:
    """Why a design cannot be taken, for the architect; empty if it can."""
    said: list[str] = []
    seen: set[str] = set()
    for file in design.files:
        wrong = defect(file.path)
        if wrong:
            said.append(f"{file.path} cannot be a file: {wrong}.")
        elif file.path in seen:
            said.append(f"{file.path} is there twice.")
        elif tree.exists(file.path):
            said.append(f"{file.path} exists: only new files are designed; what is there is changed by the plan.")
        elif is_test(file.path):
            said.append(f"{file.path} is a test: those are the tester's.")
        seen.add(file.path)
    return " ".join(said[:6])


def unfinished(design: Architecture | None, submitted: Change, tree: Tree) -> str:
    """Why code cannot be handed over yet, for the coder; empty if it can. Who finds the plan wrong may stop."""
    if design is None or submitted.plan_fault:
        return ""
    missing = list(_missing(design, tree))
    return f"{' '.join(missing[:6])} Make it so, or say in plan_fault what is wrong with the design." if missing else ""


def shortfalls(design: Architecture | None, tree: Tree) -> tuple[Objection, ...]:
    """What a state lacks of the design: it is a draft as long as it does."""
    return tuple(Objection("", "design", text, False) for text in _missing(design, tree)) if design else ()


def _missing(design: Architecture, tree: Tree) -> Iterator[str]:
    for file in design.files:
        if not tree.exists(file.path):
            yield f"The design has a file {code(file.path)}, which was not made."
            continue
        lacking = [name for name in map(_name, file.interface) if name and name not in _names(tree, file.path)]
        if lacking:
            yield f"{code(file.path)} lacks what the design has there: {', '.join(map(code, lacking[:5]))}."


def _name(signature: str) -> str:
    found = NAME.search(signature)
    return (found[1] or found[2] or "") if found else ""


def _names(tree: Tree, path: str) -> set[str]:
    """All names that a file defines; in a language that is not parsed, its words."""
    text = tree.read(path)
    language = language_of(path)
    try:
        found = definitions(language, text) if language else None
    except Unparsed:
        found = None
    words = set(re.findall(r"\w+", text.decode("utf-8", "replace")))
    return words if found is None else {part for one in found for part in one.name.split(".")} | _assigned(text)


def _assigned(text: bytes) -> set[str]:
    """Names at the beginning of lines that are given a value, imported or exported."""
    lines = text.decode("utf-8", "replace").splitlines()
    chosen = [line for line in lines if re.match(r"\s*(\w+\s*[:=]|from\b|import\b|export\b|module\.)", line)]
    return set(re.findall(r"\w+", "\n".join(chosen)))
