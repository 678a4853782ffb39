"""The index lives between runs: it parses what is new alone, is shared by processes, and heals."""

from __future__ import annotations

import random
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repo_tools.errors import ObjectMissing
from repo_tools.index import Index
from repo_tools.patch import EXECUTABLE, SYMLINK, FileState
from repo_tools.store import IndexUnusable
from repo_tools.symbols import Definition
from repo_tools.tree import PastChange, Tree
from repo_tools.view import View
from tests.fakes.memory_base import MemoryBase, memory_tree
from tests.repo_tools.samples import SOURCES

ROOT = Path(__file__).parents[2]


class Watched(MemoryBase):
    """A base that tells which files were read."""

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        for path in paths:
            self.__dict__.setdefault("asked", []).append(path)
            yield path, self.read(path)

    def history(self, most: int) -> Sequence[PastChange]:
        self.__dict__.setdefault("asked", []).append("history")
        return super().history(most)

    def take_asked(self) -> list[str]:
        return sorted(self.__dict__.pop("asked", []))


class Partial(MemoryBase):
    """A base that holds no file whose name has no number in it."""

    def read(self, path: str) -> bytes:
        if self.absent([path]):
            raise ObjectMissing(path)
        return super().read(path)

    def absent(self, paths: Iterable[str]) -> frozenset[str]:
        return frozenset(path for path in paths if not any(map(str.isdigit, path)))


def many(count: int, *, start: int = 0) -> dict[str, bytes]:
    return {
        f"pkg/m{n}.py": b"class C%d:\n    def get_item_%d(self):\n        return shared(%d)\n" % (n, n, n)
        for n in range(start, start + count)
    }


def answers(view: View) -> dict[str, object]:
    """All that a view says, in a form that can be compared."""
    words = {word for path in view.files() for word in view.read(path).decode("latin-1").split() if word.isidentifier()}
    outlines = list(view.outlines(view.files()))
    return {
        "files": view.files(),
        "outlines": outlines,
        "defining": {name: view.defining(name) for name in names(outlines) if len(name) < 8 or name.endswith("0")},
        "lengths": view.lengths(),
        "bodies": [
            (list(one.sizes), one.generated, list(one.messages())) for one in view.bodies(range(len(view.files())))
        ],
        "words": {word: view.with_word(word) for word in words},
        "terms": {term: view.with_term(term) for term in ("get", "item", "shared", "order")},
        "found": view.search("shared|order|def", limit=10_000),
        "references": view.find_references("shared", limit=10_000),
        "changed": view.changed(),
        "commits": view.commits_with_term("shared"),
    }


def names(outlines: Iterable[Sequence[Definition]]) -> set[str]:
    return {one.last_name for outline in outlines for one in outline}


def test_a_second_run_reads_nothing(tmp_path: Path) -> None:
    base = Watched(SOURCES)
    before = answers(opened(tmp_path, Tree(base)))
    base.take_asked()
    view = opened(tmp_path, Tree(base))
    assert list(view.outlines(view.files())) == before["outlines"]
    assert base.take_asked() == []


def test_only_what_is_asked_for_is_parsed(tmp_path: Path) -> None:
    base = Watched({**many(40), "notes.md": b"C7"})
    view = opened(tmp_path, Tree(base))
    base.take_asked()
    assert [path for path, _ in view.find_definition("C7")] == ["pkg/m7.py"]
    assert base.take_asked() == ["pkg/m7.py"]
    assert [path for path, _ in view.find_definition("C7.get_item_7")] == ["pkg/m7.py"]
    assert base.take_asked() == []


@pytest.mark.parametrize("path", SOURCES)
def test_all_that_a_file_defines_is_found_by_its_last_name(tmp_path: Path, path: str) -> None:
    view = opened(tmp_path, memory_tree(SOURCES))
    for name in names([view.outline(path)]):
        assert view.number(path) in view.defining(name), name


def test_what_a_partial_clone_does_not_hold_is_left_out_and_named(tmp_path: Path) -> None:
    base = Partial({**many(40), "big.py": b"class Big: pass\n", "large.py": b"class Large: pass\n"})
    view = opened(tmp_path, Tree(base).with_file("large.py", b"class Large: shared = 1\n"))
    assert view.absent() == {"big.py"}
    assert "big.py" not in view.files()
    assert len(view.with_word("shared")) == 41
    assert view.find_definition("Big") == ()
    assert [path for path, _ in view.find_definition("Large")] == ["large.py"]
    assert len(view.search("class").lines) == 41


def opened(folder: Path, tree: Tree) -> View:
    return Index.open(folder).view(tree)


def test_only_what_is_new_is_parsed(tmp_path: Path) -> None:
    files = many(40)
    opened(tmp_path, Tree(MemoryBase(files)))
    base = Watched(
        {**files, "pkg/m3.py": b"def changed(): pass\n", "new.py": b"def new(): pass\n", "same.py": files["pkg/m5.py"]}
    )
    view = opened(tmp_path, Tree(base))
    assert base.take_asked() == ["new.py", "pkg/m3.py"]
    assert [path for path, _ in view.find_definition("C5")] == ["pkg/m5.py", "same.py"]
    assert [path for path, _ in view.find_definition("changed")] == ["pkg/m3.py"]
    assert view.find_definition("C3") == ()


def test_one_text_in_two_languages_is_two_documents(tmp_path: Path) -> None:
    view = opened(tmp_path, memory_tree({"a.py": b"def f(): pass\n", "a.txt": b"def f(): pass\n"}))
    assert len(view.outline("a.py")) == 1
    assert view.outline("a.txt") == ()


def test_links_are_no_files_and_programs_are(tmp_path: Path) -> None:
    tree = memory_tree({"a.py": FileState(b"def f(): pass\n", EXECUTABLE), "link.py": FileState(b"a.py", SYMLINK)})
    assert opened(tmp_path, tree).files() == ("a.py",)


PATHS = st.sampled_from([*SOURCES, "pkg/m0.py", "pkg/m1.py", "docs/a.md", "b.txt"])
CONTENTS = st.sampled_from([*SOURCES.values(), *many(3).values(), b"", b"shared order\n", b"\0\1", b"\xff\xfe order"])
EDITS = st.lists(st.tuples(PATHS, st.none() | CONTENTS), max_size=8)


@settings(max_examples=25, deadline=None)
@given(EDITS, EDITS)
def test_a_tree_reached_step_by_step_gets_the_answers_of_a_fresh_index(
    tmp_path_factory: pytest.TempPathFactory,
    first: list[tuple[str, bytes | None]],
    then: list[tuple[str, bytes | None]],
) -> None:
    folder = tmp_path_factory.mktemp("index")
    tree = memory_tree({**SOURCES, **many(2)})
    index = Index.open(folder / "kept")
    index.view(tree).with_word("shared")
    for steps in (first, then):
        tree = edited(tree, steps)
        view = index.view(tree)
    assert answers(view) == answers(opened(folder / "fresh", memory_tree(contents(tree))))


def edited(tree: Tree, steps: list[tuple[str, bytes | None]]) -> Tree:
    for path, data in steps:
        if data is not None:
            tree = tree.with_file(path, data)
        elif tree.exists(path):
            tree = tree.without_file(path)
    return tree


def contents(tree: Tree) -> Mapping[str, bytes]:
    return {path: tree.read(path) for path in tree.entries()}


def test_many_trees_of_one_repository_share_what_they_have_in_common(tmp_path: Path) -> None:
    """Whatever sets of postings have come together, each tree gets its own answers."""
    index = Index.open(tmp_path)
    for start in range(0, 2_000, 220):
        tree = memory_tree(many(300, start=start))
        view = index.view(tree)
        assert len(view.with_word("shared")) == 300
        assert len(view.with_term("item")) == 300
        assert view.defining(f"C{start + 5}") == [view.number(f"pkg/m{start + 5}.py")]
    assert len(names(view.outlines(view.files()))) == 600


def test_what_no_tree_has_any_more_is_forgotten(tmp_path: Path) -> None:
    index = Index.open(tmp_path)
    for start in range(0, 3_000, 300):
        index.view(memory_tree(many(300, start=start))).with_word("shared")
    size = sum(file.stat().st_size for file in tmp_path.iterdir())
    for start in range(3_000, 9_000, 300):
        view = index.view(memory_tree(many(300, start=start)))
        assert len(view.with_word("shared")) == 300
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) < 2 * size


def test_several_processes_fill_one_index(tmp_path: Path) -> None:
    program = textwrap.dedent("""\
        import sys
        from pathlib import Path
        from repo_tools.index import Index
        from tests.fakes.memory_base import memory_tree
        from tests.repo_tools.test_index import many, names

        for start in range(int(sys.argv[2]), int(sys.argv[2]) + 300, 100):
            view = Index.open(Path(sys.argv[1])).view(memory_tree(many(400, start=start)))
            assert len(view.with_word("shared")) == 400, len(view.with_word("shared"))
            assert len(view.with_term("item")) == 400
            assert len(names(view.outlines(view.files()))) == 800
        print("done")
        """)
    command = [sys.executable, "-c", program, str(tmp_path)]
    running = [
        subprocess.Popen([*command, str(start)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for start in (0, 50, 100, 0)
    ]
    for process in running:
        output, errors = process.communicate(timeout=120)
        assert output == "done\n", errors
    assert len(list(tmp_path.glob("*.sqlite"))) == 1


def test_a_view_goes_on_when_another_run_has_forgotten_its_files(tmp_path: Path) -> None:
    tree = memory_tree(many(200))
    view = opened(tmp_path, tree)
    expected = answers(view)
    late = opened(tmp_path, tree)
    for start in range(3_000, 6_600, 300):
        opened(tmp_path, memory_tree(many(300, start=start))).with_word("shared")
    assert answers(view) == expected
    assert answers(late) == expected
    (file,) = tmp_path.glob("*.sqlite")
    assert file.name == "index-1.sqlite", "nothing was damaged"


def test_the_past_is_read_once_for_each_commit(tmp_path: Path) -> None:
    past = (
        PastChange("Share it", ("pkg/m1.py", "gone.py")),
        PastChange("shared_item: name", ("pkg/m2.py", "pkg/m0.py")),
    )
    base = Watched(many(3), past=past)
    for _ in range(2):
        view = opened(tmp_path, Tree(base).without_file("pkg/m0.py"))
        assert [[view.files()[number] for number in files] for files in view.changed()] == [
            ["pkg/m1.py"],
            ["pkg/m2.py"],
        ]
        assert [list(view.commits_with_term(term)) for term in ("share", "item", "name", "gone")] == [[0], [1], [1], []]
    assert base.take_asked().count("history") == 1
    assert opened(tmp_path, Tree(Watched(many(3), id="1" * 40))).changed() == []


def damaged(data: bytes, how: str, seed: int) -> bytes:
    chance = random.Random(seed)
    if how == "cut":
        return data[: chance.randrange(len(data))]
    if how == "zeros":
        place = chance.randrange(len(data) // 2)
        return data[:place] + bytes(min(20_000, len(data) - place)) + data[place + 20_000 :]
    if how == "noise":
        spoiled = bytearray(data)
        for _ in range(200):
            spoiled[chance.randrange(len(spoiled))] ^= 1 << chance.randrange(8)
        return bytes(spoiled)
    return b"not a database at all" * 100


@pytest.mark.parametrize("how", ["cut", "zeros", "noise", "other"])
@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_index_is_rebuilt(tmp_path: Path, how: str, seed: int) -> None:
    tree = memory_tree({**SOURCES, **many(300)})
    index = Index.open(tmp_path)
    expected = answers(index.view(tree))
    index.close()
    (file,) = tmp_path.glob("*.sqlite")
    file.write_bytes(damaged(file.read_bytes(), how, seed))
    assert answers(opened(tmp_path, tree)) == expected
    assert answers(opened(tmp_path, tree)) == expected
    assert len(list(tmp_path.glob("*.sqlite"))) == 1


def test_a_view_heals_while_it_is_used(tmp_path: Path) -> None:
    tree = memory_tree({**SOURCES, **many(300)})
    index = Index.open(tmp_path)
    expected = answers(index.view(tree))
    index.close()
    view = opened(tmp_path, tree)
    for file in tmp_path.iterdir():
        file.write_bytes(b"x" * file.stat().st_size)
    assert answers(view) == expected


def test_an_index_of_another_version_is_not_used(tmp_path: Path) -> None:
    tree = memory_tree(many(30))
    index = Index.open(tmp_path)
    expected = answers(index.view(tree))
    index.close()
    (file,) = tmp_path.glob("*.sqlite")
    change(file, "UPDATE about SET version = 'older'")
    assert answers(opened(tmp_path, tree)) == expected
    (other,) = tmp_path.glob("*.sqlite")
    assert other != file


def change(file: Path, statement: str) -> None:
    import sqlite3

    connection = sqlite3.connect(file)
    with connection:
        connection.execute(statement)
    connection.close()


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(IndexUnusable, match="give another folder"):
        Index.open(tmp_path / "file")
