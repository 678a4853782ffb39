"""What a view answers, for exactly its tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_tools.index import Index
from repo_tools.search import BadPattern
from repo_tools.view import View
from tests.fakes.memory_base import memory_tree

QUERY = b'''class QuerySet:
    """filter is named here too"""

    limit = 10

    @classmethod
    def filter(cls, *args):
        return cls.clone(args)  # filter again

    def clone(self):
        return "filter"


def filter(queryset):
    return queryset.filter()
'''

FILES = {
    "app/db/query.py": QUERY,
    "app/views.py": b"from app.db.query import QuerySet\n\nPAGE = QuerySet.filter\n",
    "docs/query.md": b"Use `QuerySet.filter`.\n",
    "logo.png": b"\x89PNG\0\0filter",
}


@pytest.fixture
def view(tmp_path: Path) -> View:
    return Index.open(tmp_path).view(memory_tree(FILES))


def test_outline_names_each_definition_in_full(view: View) -> None:
    assert [
        (one.kind, one.name, one.line, one.first_line, one.last_line) for one in view.outline("app/db/query.py")
    ] == [
        ("class", "QuerySet", 1, 1, 11),
        ("variable", "QuerySet.limit", 4, 4, 4),
        ("method", "QuerySet.filter", 7, 6, 8),
        ("method", "QuerySet.clone", 10, 10, 11),
        ("function", "filter", 14, 14, 15),
    ]
    assert view.outline("app/db/query.py")[2].signature == "def filter(cls, *args):"
    assert view.outline("docs/query.md") == ()


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("filter", ["QuerySet.filter", "filter"]),
        ("QuerySet.filter", ["QuerySet.filter"]),
        ("QuerySet::filter", ["QuerySet.filter"]),
        ("app.db.query.QuerySet.filter()", ["QuerySet.filter"]),
        ("app.db.QuerySet", ["QuerySet"]),
        ("app.views.filter", []),
        ("absent", []),
        ("", []),
    ],
)
def test_a_definition_is_found_by_any_of_its_names(view: View, name: str, found: list[str]) -> None:
    assert [definition.name for _, definition in view.find_definition(name)] == found


def test_references_are_uses_in_code_alone(view: View) -> None:
    found = view.find_references("QuerySet.filter")
    assert [(line.path, line.line) for line in found.lines] == [("app/db/query.py", 15), ("app/views.py", 3)]
    assert found.complete


def test_search_reads_text_line_by_line(view: View) -> None:
    found = view.search(r"\bfilter\b")
    assert [(line.path, line.line) for line in found.lines][-2:] == [("app/views.py", 3), ("docs/query.md", 1)]
    assert len(found.lines) == 8
    assert [line.path for line in view.search("filter", "*.md").lines] == ["docs/query.md"]
    assert [line.path for line in view.search("filter", "app/*.py").lines] == ["app/views.py"]
    cut = view.search("filter", limit=2)
    assert len(cut.lines) == 2
    assert not cut.complete


@pytest.mark.parametrize(
    ("pattern", "glob"),
    [("(", "**"), ("a(?=b)", "**"), ("((a{1000}){1000}){1000}", "**"), (r"(a)\1", "**"), ("a", "!")],
)
def test_a_pattern_that_cannot_be_used_is_named(view: View, pattern: str, glob: str) -> None:
    with pytest.raises(BadPattern, match="is not a"):
        view.search(pattern, glob)


def test_a_change_is_seen_at_once_and_only_in_its_own_tree(tmp_path: Path) -> None:
    index = Index.open(tmp_path)
    before = memory_tree(FILES)
    after = before.with_file("app/new.py", b"def added(): pass\n").without_file("app/views.py")
    assert index.view(after).find_definition("added")
    assert not index.view(before).find_definition("added")
    assert index.view(before).find_references("filter").lines[-1].path == "app/views.py"
    assert "app/views.py" not in index.view(after).files()


def test_words_and_terms_are_counted(view: View) -> None:
    numbers = {view.files()[number]: count for number, count in view.with_word("QuerySet").items()}
    assert numbers == {"app/db/query.py": 1, "app/views.py": 2, "docs/query.md": 1}
    assert sum(view.with_term("queryset").values()) == 6
    assert sum(view.with_term("query").values()) >= 5
    assert view.lengths()[view.files().index("logo.png")] == 0
    assert view.defining("filter") == [view.number("app/db/query.py")]


def test_a_path_that_is_not_there_is_a_key_error(view: View) -> None:
    for ask in (view.read, view.outline, lambda path: view.regions(path, 100)):
        with pytest.raises(KeyError):
            ask("absent.py")
