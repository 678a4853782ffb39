"""What a patch may not do, whatever its tests say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from bot.publish.objection import Objection
from bot.publish.protected import ARTEFACTS, GUARDS, matches
from bot.publish.sanitize import INVISIBLE, code
from bot.publish.security import weaknesses
from bot.publish.tampering import tampering
from bot.secrets_mask import PATTERNS
from repo_tools.patch import EXECUTABLE, REGULAR, SYMLINK, FileState
from repo_tools.paths import defect
from repo_tools.text_file import decode
from repo_tools.tree import Tree

SUBMODULE = 0o160000
NAMED = 5
"""Objections of one rule that are told one by one; the others are counted."""
CHURN_LINES, CHURN_PART = 10, 0.25
SECRETS = {kind: re.compile(pattern) for kind, pattern in PATTERNS.items()}
KNOWS_OF_TESTS = re.compile(
    r"PYTEST_CURRENT_TEST|[\"'](?:pytest|unittest)[\"'] in sys\.modules|\bimport _pytest\b|\bfrom _pytest\b"
    r"|\b(?:JEST|VITEST)_WORKER_ID\b"
)


@dataclass(frozen=True)
class Policy:
    """What a repository lets the bot do. Patterns are those of `bot.publish.protected.matches`."""

    allow: tuple[str, ...] = ()
    """Files that may be changed although they are protected."""
    protect: tuple[str, ...] = ()
    """More files that may not be changed."""
    max_files: int = 60
    max_lines: int = 3_000
    """Lines added and removed; what only moved does not count."""


@dataclass(frozen=True)
class Change:
    """One path of a patch. Texts are `None` where there is no file, or a binary one."""

    path: str
    was: int | None
    """Its mode before; `None` for a new file."""
    now: FileState | None
    before: str | None
    after: str | None

    @cached_property
    def lines(self) -> tuple[Counter[str], Counter[str]]:
        """The lines that are gone and those that are new, wherever they stand."""
        before, after = (Counter(text.split("\n") if text else []) for text in (self.before, self.after))
        return before - after, after - before

    @property
    def new_text(self) -> str:
        """The new lines in their order."""
        fresh = self.lines[1]
        return "\n".join(line for line in (self.after or "").split("\n") if line in fresh)


def objections(tree: Tree, tests: Collection[str], policy: Policy) -> list[Objection]:
    """Everything that speaks against publishing the patch of `tree`; `tests` are the test files among its paths."""
    changes = [_change(tree, path, state) for path, state in sorted(tree.patch.files.items())]
    found: list[Objection] = [*_size(changes, policy), *_churn(changes)]
    for change in changes:
        found += _path(tree, change)
        found += _protected(change, policy)
        found += _mode(change)
        found += _content(change, change.path in tests)
        if any(matches(change.path, pattern) for pattern in ARTEFACTS) and change.was is None and change.now:
            found.append(Objection(change.path, "artefact", f"{code(change.path)} looks like a build product.", False))
    pairs = {change.path: (change.before, change.after) for change in changes if change.before != change.after}
    return _bounded([*found, *tampering(pairs, tests), *weaknesses(pairs, tests)])


def _change(tree: Tree, path: str, state: FileState | None) -> Change:
    entry = tree.base.entries().get(path)
    was = entry[0] if entry else None
    before = _text(tree.base.read(path)) if was in (REGULAR, EXECUTABLE) else None
    return Change(path, was, state, before, _text(state.data) if state and state.mode != SYMLINK else None)


def _text(data: bytes) -> str | None:
    file = decode(data)
    return file.text if file else None


def _size(changes: list[Change], policy: Policy) -> Iterator[Objection]:
    if len(changes) > policy.max_files:
        text = f"The patch changes {len(changes):,} files, more than the {policy.max_files:,} that one may."
        yield Objection("", "size", text, True)
    lines = sum(sum(counter.values()) for change in changes for counter in change.lines)
    lines += sum(len(change.now.data) // 80 for change in changes if change.now and change.after is None)
    if lines > policy.max_lines:
        text = f"The patch changes {lines:,} lines, more than the {policy.max_lines:,} that one may."
        yield Objection("", "size", text, True)


def _churn(changes: list[Change]) -> Iterator[Objection]:
    """Lines that differ in nothing but trailing white space, tabs, line ends, inner spaces or quotes."""
    noise = total = 0
    for change in changes:
        gone, new = change.lines
        total += sum(gone.values()) + sum(new.values())
        noise += 2 * sum((_shapes(gone) & _shapes(new)).values())
    if noise > CHURN_LINES and noise > CHURN_PART * total:
        text = f"{noise:,} of the {total:,} changed lines differ in white space, line ends or quotes alone."
        yield Objection("", "churn", text, False)


def _shapes(lines: Counter[str]) -> Counter[tuple[int, str]]:
    shapes: Counter[tuple[int, str]] = Counter()
    for line, number in lines.items():
        flat = line.expandtabs()
        shape = re.sub(r"\s+", "", flat).replace("'", '"')
        if shape:
            shapes[len(flat) - len(flat.lstrip()), shape] += number
    return shapes


def _path(tree: Tree, change: Change) -> Iterator[Objection]:
    wrong = defect(change.path)
    if wrong:
        yield Objection(change.path, "path", f"{code(change.path)} cannot be a file of the repository: {wrong}.", True)
    parts = change.path.split("/")
    for length in range(1, len(parts)):
        above = "/".join(parts[:length])
        if change.now and tree.exists(above):
            text = f"{code(change.path)} lies below {code(above)}, which is no folder."
            yield Objection(change.path, "path", text, True)


def _protected(change: Change, policy: Policy) -> Iterator[Objection]:
    if any(matches(change.path, pattern) for pattern in policy.allow):
        return
    if any(matches(change.path, pattern) for pattern in policy.protect):
        text = f"{code(change.path)} was changed, which the repository's configuration forbids."
        yield Objection(change.path, "protected", text, True)
    for guard in GUARDS:
        if any(matches(change.path, pattern) for pattern in guard.patterns):
            yield Objection(change.path, guard.rule, f"{code(change.path)} was changed: {guard.why}.", guard.blocks)


def _mode(change: Change) -> Iterator[Objection]:
    now = change.now.mode if change.now else None
    name, was = code(change.path), change.was
    if SUBMODULE in (was, now):
        yield Objection(change.path, "submodule", f"{name} is a submodule, and it was changed.", True)
    elif now == SYMLINK or (was == SYMLINK and now is not None):
        yield Objection(change.path, "symlink", f"{name} is or was a symbolic link, and it was changed.", True)
    elif now not in (None, REGULAR, EXECUTABLE):
        yield Objection(change.path, "mode", f"{name} has a mode that no file may have ({now:o}).", True)
    elif was is not None and now is not None and was != now:
        yield Objection(change.path, "mode", f"The mode of {name} was changed from {was:o} to {now:o}.", False)
    elif was is None and now == EXECUTABLE and change.now and not change.now.data.startswith(b"#!"):
        yield Objection(change.path, "mode", f"{name} is new and executable, but no script.", False)


def _content(change: Change, is_test: bool) -> Iterator[Objection]:
    name = code(change.path)
    if change.now is None and is_test and change.was is not None and change.before is None:
        yield Objection(change.path, "test-changed", f"{name}, which tests may read, was deleted.", False)
    if change.now is None or change.now.mode == SYMLINK:
        return
    if change.after is None:
        yield Objection(change.path, "binary", f"{name} is binary, and cannot be reviewed as a difference.", False)
        return
    new = change.new_text
    for kind, pattern in SECRETS.items():
        if pattern.search(new):
            text = f"{name} has a new line that looks like a secret ({kind})."
            yield Objection(change.path, "secret", text, True)
    hidden = len(INVISIBLE.findall(new.replace("\r", "").removeprefix("\ufeff")))
    if hidden:
        yield Objection(change.path, "invisible", f"{name} gains {hidden:,} characters that cannot be seen.", False)
    if not is_test and KNOWS_OF_TESTS.search(new):
        yield Objection(change.path, "test-detected", f"{name} asks whether it is being tested.", True)


def _bounded(found: Iterable[Objection]) -> list[Objection]:
    """The objections, those that block first; many of one rule are counted."""
    told: dict[str, list[Objection]] = {}
    for one in sorted(found, key=lambda one: not one.blocks):
        told.setdefault(one.rule, []).append(one)
    kept = []
    for rule, ones in told.items():
        kept += ones[:NAMED]
        if len(ones) > NAMED:
            text = f"{len(ones) - NAMED:,} more files give the same reason ({rule})."
            kept.append(Objection("", rule, text, any(one.blocks for one in ones[NAMED:])))
    return kept
