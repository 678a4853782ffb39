"""The changes that an agent may make to a tree. A refusal is written for a model: what is wrong, and what to do."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from repo_tools.nearest import explain_many, explain_missing
from repo_tools.patch import SYMLINK
from repo_tools.paths import defect
from repo_tools.text_file import TextFile, decode, numbered
from repo_tools.tree import Tree

SyntaxCheck = Callable[[str, bytes], str | None]
"""(path, bytes) -> what is wrong with the syntax and where (`line 12, …`); `None` if nothing, or nobody can tell."""

_MAX_LINES, _MAX_CHARACTERS = 800, 40_000
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\udc80-\udcff\\]")
_LFS = b"version https://git-lfs.github.com/spec/"


class EditRefused(Exception):
    """The tree stays as it was; the text tells a model why, and what to do instead."""


def apply_edits(
    tree: Tree, path: str, edits: Sequence[tuple[str, str]], *, syntax_error: SyntaxCheck = lambda _path, _data: None
) -> Tree:
    """`tree` with each (old, new) of `edits` made in one file, in turn: all of them or none.

    An old text must be in the file exactly once when its turn comes; an empty one stands for the end of the file.
    Line ends are `\\n` in the edits whatever they are in the file; these, its encoding, mark and mode stay.
    Raises `EditRefused`.
    """
    path = _existing(tree, path)
    before = tree.read(path)
    file = decode(before)
    if file is None:
        raise EditRefused(f"{path} is binary ({len(before)} bytes): it cannot be edited as text.")
    if not edits:
        raise EditRefused(f"No edits were given for {path}: give at least one pair of old and new text.")
    refused: list[str] = []
    made: list[str] = []
    for number, (old, new) in enumerate(edits, 1):
        try:
            file = _edited(file, old.replace("\r\n", "\n"), new.replace("\r\n", "\n"))
            made.append(str(number))
        except EditRefused as refusal:
            refused.append(f"Edit {number} of {len(edits)} on {path} was refused. {refusal}")
    if refused:
        if made:
            refused.append(f"Edits that fit: {', '.join(made)}.")
        refused.append("Nothing was changed. Send all edits of this call again, corrected.")
        raise EditRefused("\n".join(refused))
    after = file.encode()
    _check_syntax(path, before, after, syntax_error)
    return tree.with_file(path, after)


def create(tree: Tree, path: str, text: str, *, executable: bool = False) -> Tree:
    """`tree` with a new file, in UTF-8. Raises `EditRefused`, also if there is something at `path`."""
    path = _free(tree, path)
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise EditRefused(
            f"The text holds half a character (a lone surrogate) at {error.start}: leave it out."
        ) from error
    return tree.with_file(path, data, 0o100755 if executable else 0o100644)


def rename(tree: Tree, old: str, new: str) -> Tree:
    """`tree` with one file under another path, bytes and mode unchanged. Raises `EditRefused`."""
    old = _existing(tree, old, link=True)
    without = tree.without_file(old)
    return without.with_file(_free(without, new), tree.read(old), tree.mode(old))


def delete(tree: Tree, path: str) -> Tree:
    """`tree` without one file; of a symbolic link, the link goes. Raises `EditRefused`."""
    return tree.without_file(_existing(tree, path, link=True))


def read_lines(tree: Tree, path: str, first: int = 1, last: int | None = None) -> str:
    """Lines `first` to `last` (from 1, both included) with their numbers, under a line that says what is shown.

    At most 800 lines and 40,000 characters. Raises `EditRefused` if there is no such file.
    """
    path = _existing(tree, path)
    data = tree.read(path)
    file = decode(data)
    if file is None:
        return f"{path} is binary ({len(data)} bytes) and cannot be shown."
    lines = file.plain.split("\n")
    if lines[-1] == "":
        lines.pop()
    traits = list(file.traits())
    if data.startswith(_LFS):
        traits.append("a Git LFS pointer: the real contents are not in the repository")
    about = f"; {'; '.join(traits)}" if traits else ""
    if not lines:
        return f"{path} is empty{about}."
    start = max(first, 1)
    if start > len(lines):
        return f"{path} has {len(lines)} lines{about}: there is no line {first}."
    end = min(len(lines) if last is None else max(last, start), len(lines), start + _MAX_LINES - 1)
    shown = numbered(lines[start - 1 : end], start)
    if len(shown) > _MAX_CHARACTERS:
        shown = shown[:_MAX_CHARACTERS].rpartition("\n")[0]
        end = start + shown.count("\n")
    return f"{path}, lines {start}-{end} of {len(lines)}{about}\n{shown}"


def _edited(file: TextFile, old: str, new: str) -> TextFile:
    if old == new:
        raise EditRefused("Old and new text are equal: it would change nothing.")
    if not old:
        ended = not file.plain or file.plain.endswith("\n")
        appended = file.replaced(len(file.plain), len(file.plain), new if ended else f"\n{new}")
        _check_characters(file, appended, new)
        return appended
    places = _places(file.plain, old)
    if not places:
        raise EditRefused(f"The old text is not in the file. {explain_missing(file.plain, old, new)}")
    if len(places) > 1:
        raise EditRefused(explain_many(file.plain, old, places))
    edited = file.replaced(places[0], places[0] + len(old), new)
    _check_characters(file, edited, new)
    return edited


def _places(text: str, part: str) -> list[int]:
    """Where `part` begins in `text`, overlaps included: of two that overlap, neither is meant more than the other."""
    found, at = [], text.find(part)
    while at >= 0:
        found.append(at)
        at = text.find(part, at + 1)
    return found


def _check_characters(file: TextFile, edited: TextFile, new: str) -> None:
    try:
        edited.encode()
    except UnicodeEncodeError as error:
        lost = edited.text[error.start]
        raise EditRefused(
            f"The file's encoding is {file.encoding}, which lacks {lost!r} (U+{ord(lost):04X}): "
            "write it as an escape of the language, or do without it."
        ) from error
    unknown = {c for c in new if ord(c) > 127} - set(file.text) if file.guessed else set()
    if unknown:
        raise EditRefused(
            f"The file's encoding is unknown (not UTF-8, nothing declared), so {min(unknown)!r}, which is not in it "
            "yet, cannot be written safely: write it as an escape of the language, or do without it."
        )


def _check_syntax(path: str, before: bytes, after: bytes, syntax_error: SyntaxCheck) -> None:
    wrong = syntax_error(path, after)
    if wrong is None or syntax_error(path, before) is not None:
        return
    place = re.search(r"line (\d+)", wrong)
    file = decode(after)
    excerpt = ""
    if place and file:
        start = max(int(place.group(1)) - 4, 0)
        excerpt = "\nSo it would read:\n" + numbered(file.plain.split("\n")[start : start + 7], start + 1)
    raise EditRefused(f"The edit would break the syntax of {path}: {wrong}. Nothing was changed.{excerpt}")


def _existing(tree: Tree, path: str, *, link: bool = False) -> str:
    path = _inside(tree, path)
    if not tree.exists(path):
        raise EditRefused(f"There is no file {path!r}. {_instead(tree, path)}")
    if tree.mode(path) == SYMLINK and not link:
        target = tree.read(path).decode("utf-8", "replace")
        raise EditRefused(
            f"{path!r} is a symbolic link to {target!r}: name the file itself, if it is in the repository."
        )
    return path


def _free(tree: Tree, path: str) -> str:
    path = _inside(tree, path)
    if _UNPRINTABLE.search(path):
        raise EditRefused(f"{path!r} cannot be the name of a new file: no control characters, no backslash.")
    if tree.exists(path):
        raise EditRefused(f"{path!r} is there already: edit it, or delete it first.")
    if any(other.startswith(f"{path}/") for other in tree.entries()):
        raise EditRefused(f"{path!r} is a folder: give the path of a file in it.")
    return path


def _inside(tree: Tree, path: str) -> str:
    """`path` without a leading `./`, if it stays in the tree and passes through folders only."""
    plain = re.sub(r"\A(\./+)+", "", path)
    wrong = defect(plain)
    if wrong is not None:
        known = [str(PurePosixPath(*PurePosixPath(plain).parts[n:])) for n in range(1, plain.count("/") + 1)]
        near = next((f" Do you mean {other!r}?" for other in known if tree.exists(other)), "")
        raise EditRefused(f"The path {path!r} is refused: {wrong}.{near}")
    mounted = [sub for sub in tree.base.submodules() if f"{plain}/".startswith(f"{sub}/")]
    if mounted:
        raise EditRefused(
            f"{path!r} lies in the submodule {mounted[0]!r}, which is another repository: leave it alone."
        )
    for above in [str(parent) for parent in PurePosixPath(plain).parents][:-1]:
        if tree.exists(above):
            what = "a symbolic link" if tree.mode(above) == SYMLINK else "a file"
            raise EditRefused(f"The path {path!r} leads through {above!r}, which is {what}, not a folder.")
    return plain


def _instead(tree: Tree, path: str) -> str:
    """What to name instead of a path that does not exist."""
    paths = list(tree.entries())
    inside = [other for other in paths if other.startswith(f"{path}/")]
    if inside:
        return f"It is a folder; files in it: {', '.join(inside[:10])}."
    name, folder = PurePosixPath(path).name, f"{PurePosixPath(path).parent}/".removeprefix("./")
    same = [other for other in paths if other.endswith(f"/{name}") or other == name]
    beside = [other for other in paths if other.startswith(folder)]
    near = same[:5] or difflib.get_close_matches(path, beside[:5000], n=3)
    return f"Nearest: {', '.join(near)}." if near else "Search for it, or list what is there."
