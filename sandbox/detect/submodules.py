"""The folders of a repository that belong to other repositories. A snapshot holds their commits, not their files."""

from __future__ import annotations

import posixpath
import re
import shlex

from sandbox.detect.files import Files

BRANCH = re.compile(r"[A-Za-z0-9][\w./-]*")
UNFETCHED = "could not be fetched and is left empty: tests that need it are not all there"
ADDRESS = re.compile(r"https://[\w.-]+(:\d+)?/[\w./~+-]+")


def fetch_submodules(files: Files, folder: str) -> list[str]:
    """Set-up lines, for a recipe that works in `folder`, that fetch each submodule: as committed, where that is known.

    What cannot be fetched is left as an empty folder, as git leaves it: most suites can do without.
    """
    sections = {section.get("path", "").strip("/"): section for section in files.ini(".gitmodules").values()}
    lines = []
    for path, commit in files.submodules().items():
        place = shlex.quote(posixpath.relpath(path, folder))
        told = shlex.quote(f"The submodule {path} {UNFETCHED}.")
        empty = f"mkdir -p {place} && echo {told}"
        address = sections.get(path, {}).get("url", "")
        if not ADDRESS.fullmatch(address):
            lines.append(empty)
            continue
        branch = sections[path].get("branch", "")
        newest = f"--depth 1 --branch {branch}" if BRANCH.fullmatch(branch) else "--depth 1"
        clone = f"git clone -q {'' if commit else newest + ' '}{shlex.quote(address)} {place}"
        checkout = f" && git -C {place} checkout -q {commit}" if commit else ""
        lines.append(f"{{ {clone}{checkout} && rm -rf {place}/.git; }} || {{ {empty}; }}")
    return lines


def unfetched(log: str) -> list[str]:
    """What the log of a set-up says of submodules that it could not fetch, a sentence for each."""
    return re.findall(rf"^The submodule .* {UNFETCHED}\.$", log, re.MULTILINE)


def missing_folders(log: str, files: Files) -> list[str]:
    """The folders inside of submodules that a log says are not there; relative to the repository."""
    found = []
    for path in files.submodules():
        for match in re.finditer(
            rf"[Nn]o such file or directory(?:, \w+ |: )'/(?:[^'\n]*/)?{re.escape(path)}((?:/[\w.-]+)*)'", log
        ):
            inner = posixpath.normpath(path + match[1])
            if inner.startswith(path) and inner not in found:
                found.append(inner)
    return found


def expected_names(log: str, made: str) -> list[str]:
    """The folders that a suite wants to list in `made`, a folder of a submodule that could only be left empty."""
    match = re.search(r"assert \[\] == \[((?:'[\w-]+'(?:, )?)+)\]", log)
    return [f"{made}/{name}" for name in re.findall(r"'([\w-]+)'", match[1])] if match else []
