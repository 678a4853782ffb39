"""The parts of a change: what differs in one place of one file of code. Each can be taken back alone."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from repo_tools import python_code
from repo_tools.file_kinds import FileKind, kinds
from repo_tools.patch import EXECUTABLE, REGULAR
from repo_tools.test_files import is_test
from repo_tools.tree import Tree

NEAR = 2
"""Places with no more unchanged lines between them are one part."""
STUBS = ".pyi"
WORDS = re.compile(rb"\s*(//|/\*(?!.*\*/\s*\S)|\*(?=\s|/\s*$|$)|#(?=[\s!]|$)|$)")
"""Lines of a comment, in languages that are not parsed; in doubt it is code, such as C's `*p = 1;`."""
PLACE = re.compile(r"(?P<path>[^\s:`'\"(]+):(?P<first>\d+)(?:-(?P<last>\d+))?")


@dataclass(frozen=True)
class Hunk:
    """One part: lines `first` to `last` of the file as it is now, counted from 1, in the place of `old`.

    `last` is `first - 1` where lines were only taken out. A whole new file has `old` None.
    """

    path: str
    first: int
    last: int
    old: tuple[bytes, ...] | None

    @property
    def place(self) -> str:
        """`path:first-last`, for people."""
        if self.old is None:
            return self.path
        lines = f"{self.first}-{self.last}" if self.last > self.first else str(self.first)
        return f"{self.path}:{lines}"

    @property
    def lines(self) -> range:
        """The lines that are new."""
        return range(self.first, self.last + 1)


def code_files(tree: Tree) -> tuple[str, ...]:
    """The changed or new files of code that are there now: no tests, documents, stubs, data or generated files."""
    paths = sorted(tree.entries())
    kind_of = dict(zip(paths, kinds(paths), strict=True))
    return tuple(
        path
        for path in sorted(tree.patch.files)
        if kind_of.get(path) in (FileKind.SOURCE, FileKind.TOOLING)
        and tree.mode(path) in (REGULAR, EXECUTABLE)
        and not is_test(path)
        and not path.endswith(STUBS)
    )


def changed_lines(tree: Tree, path: str) -> frozenset[int]:
    """The lines of a file, counted from 1 as it is now, that are new or changed."""
    old = tree.base.read(path) if path in tree.base.entries() else b""
    matcher = difflib.SequenceMatcher(None, old.splitlines(), tree.read(path).splitlines(), autojunk=False)
    return frozenset(
        line + 1 for kind, _, _, first, end in matcher.get_opcodes() if kind != "equal" for line in range(first, end)
    )


def hunks(tree: Tree) -> tuple[Hunk, ...]:
    """The parts of the change to code that may decide what it does, file by file from the top; words are none."""
    found = [one for path in code_files(tree) for one in _of_file(tree, path)]
    return tuple(one for one in found if not only_words(tree, one))


def _of_file(tree: Tree, path: str) -> Iterator[Hunk]:
    new = tree.read(path).split(b"\n")
    if path not in tree.base.entries():
        yield Hunk(path, 1, len(new), None)
        return
    old = tree.base.read(path).split(b"\n")
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(NEAR // 2):
        parts = [part for part in group if part[0] != "equal"]
        yield Hunk(path, parts[0][3] + 1, parts[-1][4], tuple(old[parts[0][1] : parts[-1][2]]))


def without(tree: Tree, hunk: Hunk) -> Tree:
    """`tree` with one part taken back; parts above it in the same file stand where they stood."""
    if hunk.old is None:
        return tree.without_file(hunk.path)
    lines = tree.read(hunk.path).split(b"\n")
    return tree.with_file(hunk.path, b"\n".join([*lines[: hunk.first - 1], *hunk.old, *lines[hunk.last :]]))


def only_words(tree: Tree, hunk: Hunk) -> bool:
    """Whether a part changes nothing but comments, documentation or white space: no test could tell."""
    if hunk.old is None:
        return False
    now, then = _meaning(hunk.path, tree.read(hunk.path)), _meaning(hunk.path, without(tree, hunk).read(hunk.path))
    if now is not None and then is not None:
        return now == then
    lines = tree.read(hunk.path).split(b"\n")[hunk.first - 1 : hunk.last]
    return all(WORDS.match(line) for line in (*lines, *hunk.old))


def _meaning(path: str, data: bytes) -> str | None:
    """Python's code without its documentation, in a form that can be compared."""
    module = _parsed(path, data)
    if module is None:
        return None
    for node in ast.walk(module):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and _documented(node):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.dump(module)


def _documented(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return ast.get_docstring(node, clean=False) is not None


def named(hunk: Hunk, texts: Iterable[str]) -> bool:
    """Whether one of `texts` names a place in a part, as `path:line` or `path:first-last`."""
    for text in texts:
        for found in PLACE.finditer(text):
            first, last = int(found["first"]), int(found["last"] or found["first"])
            if found["path"] == hunk.path and first <= hunk.last and hunk.first <= last:
                return True
    return False


def shift(path: str, line: int, taken: Iterable[Hunk]) -> int:
    """How far a line of a file moves when parts above it are taken back."""
    return sum(len(one.old or ()) - len(one.lines) for one in taken if one.path == path and one.last < line)


def standing(hunk: Hunk, taken: Iterable[Hunk]) -> Hunk:
    """A part where it stands once others were taken back."""
    by = shift(hunk.path, hunk.first, taken)
    return replace(hunk, first=hunk.first + by, last=hunk.last + by)


def retold(text: str, taken: Collection[Hunk]) -> str:
    """A text with the places that it names where they stand once parts were taken back."""

    def place(found: re.Match[str]) -> str:
        lines = [int(line) for line in (found["first"], found["last"]) if line]
        return f"{found['path']}:{'-'.join(str(line + shift(found['path'], line, taken)) for line in lines)}"

    return PLACE.sub(place, text)


def unused_import(tree: Tree, hunk: Hunk) -> bool:
    """Whether a part does nothing but import what its file does not use. Python alone."""
    module = _parsed(hunk.path, tree.read(hunk.path))
    if module is None or hunk.old is None or hunk.path.endswith("__init__.py"):
        return False
    new = [node for node in ast.walk(module) if isinstance(node, ast.stmt) and node.lineno in hunk.lines]
    brought: set[str] = set()
    for node in new:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            return False
        brought |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    names = {node.id for node in ast.walk(module) if isinstance(node, ast.Name)}
    texts = {node.value for node in ast.walk(module) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return bool(brought) and not brought & (names | texts | {"*"})


def _parsed(path: str, data: bytes) -> ast.Module | None:
    if not path.endswith(".py"):
        return None
    try:
        return python_code.module(data)
    except (SyntaxError, ValueError, RecursionError):
        return None
