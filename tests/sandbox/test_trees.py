"""How two trees differ, whatever became of files, folders and links."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sandbox.folders import apply
from sandbox.trees import Difference, difference, entries_from_json, entries_to_json
from tests.sandbox.snapshots import LINK, Files

NAMES = st.sampled_from(["a", "b", "c"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
CONTENTS = st.sampled_from(["x", "y", (b"z", 0o100755), (b"a", LINK), (b"..", LINK)])


def without_clashes(files: dict[str, object]) -> Files:
    """A path that is a file is no folder too."""
    kept = {path: value for path, value in files.items() if not any(path.startswith(other + "/") for other in files)}
    return Files(kept)  # type: ignore[arg-type]


TREES = st.dictionaries(PATHS, CONTENTS, max_size=6).map(without_clashes)


@given(before=TREES, after=TREES)
def test_the_difference_leads_from_one_to_the_other(before: Files, after: Files) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        apply(root, before, Difference(frozenset(before.entries()), frozenset()))
        changes = difference(before.entries(), after.entries())
        apply(root, after, changes)
        found = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_symlink() or path.is_file()}
        assert found == set(after.files)
        for path in after.files:
            here = root / path
            assert (str(here.readlink()).encode() if here.is_symlink() else here.read_bytes()) == after.read(path)
        assert changes.paths <= before.entries().keys() | after.entries().keys()


@given(tree=TREES)
def test_equal_trees_do_not_differ(tree: Files) -> None:
    assert not difference(tree.entries(), tree.entries()).paths


def test_names_that_are_not_utf8_survive() -> None:
    name = b"caf\xe9".decode("utf-8", "surrogateescape")
    assert entries_from_json(entries_to_json({name: (0o100644, "i")})) == {name: (0o100644, "i")}
