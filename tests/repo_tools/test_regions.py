"""The regions of any file tile it, keep to the budget and say truly what they hold."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repo_tools.languages import language_of
from repo_tools.regions import Region, regions, tokens
from repo_tools.symbols import definitions
from tests.repo_tools.samples import SOURCES

PATHS = [*SOURCES, "notes.md", "data", "table.csv"]
LINES = sorted({line for data in SOURCES.values() for line in data.split(b"\n")})


def check(path: str, data: bytes, budget: int) -> tuple[Region, ...]:
    """All that holds of the regions of any file."""
    found = regions(path, data, budget)
    end, language = 0, language_of(path)
    defined = definitions(language, data) if language and b"\0" not in data[:8000] else ()
    for region in found:
        assert region.path == path
        assert region.start == end < region.end, "a gap, an overlap or an empty region"
        end = region.end
        assert region.tokens == tokens(data[region.start : region.end]) <= budget
        assert region.first_line == data.count(b"\n", 0, region.start) + 1
        assert region.last_line == data.count(b"\n", 0, region.end - 1) + 1
        held = [(one.kind, one.name) for one in defined if one.start < region.end and one.end > region.start]
        assert [(symbol.kind, symbol.name) for symbol in region.symbols] == held
        assert data[region.end - 1 : region.end + 1] != b"\r\n", "a line's end is cut in two"
    assert end == len(data)
    return found


def in_lines(data: bytes, found: tuple[Region, ...]) -> bool:
    return all(data[region.end - 1 : region.end] == b"\n" or region.end == len(data) for region in found)


@given(
    st.sampled_from(PATHS),
    st.lists(st.sampled_from(LINES), max_size=60),
    st.sampled_from([b"\n", b"\r\n", b"\r", b"\n\n", b" "]),
    st.integers(1, 400),
)
def test_lines_of_code_in_any_order(path: str, lines: list[bytes], end: bytes, budget: int) -> None:
    check(path, end.join(lines), budget)


@given(st.sampled_from(PATHS), st.binary(max_size=600), st.integers(1, 40))
def test_any_bytes(path: str, data: bytes, budget: int) -> None:
    check(path, data, budget)


@given(st.sampled_from(PATHS), st.text(max_size=300), st.integers(1, 40))
def test_no_character_is_cut(path: str, text: str, budget: int) -> None:
    data = text.encode("utf-8", "surrogatepass")
    for region in check(path, data, budget):
        data[region.start : region.end].decode("utf-8", "surrogatepass")


@pytest.mark.parametrize("path", SOURCES)
@pytest.mark.parametrize("budget", [20, 60, 100_000])
@pytest.mark.parametrize(
    "changed",
    [
        lambda data: data,
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data.replace(b"    ", b"\t").replace(b"  ", b"\t"),
        lambda data: data.rstrip(b"\n"),
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.replace(b"o", b"\xf6"),
        lambda data: data.replace(b"o", "ö".encode()),
        lambda data: data * 40,
    ],
    ids=["as is", "crlf", "tabs", "no last line end", "byte-order mark", "latin-1", "utf-8", "long"],
)
def test_real_code(path: str, budget: int, changed: object) -> None:
    assert callable(changed)
    data = changed(SOURCES[path])
    found = check(path, data, budget)
    assert len(found) >= len(data) // (4 * budget)
    assert len(found) <= 1 + len(data) // (4 * budget // 8)
    if budget >= 60:
        assert in_lines(data, found)


@pytest.mark.parametrize("path", SOURCES)
def test_regions_begin_where_definitions_begin(path: str) -> None:
    """A function of a third of the budget, again and again, is never cut in two."""
    language, one = language_of(path), SOURCES[path]
    assert language is not None
    data = one * 30
    outer = [each for each in definitions(language, data) if "." not in each.name and each.kind != "class"]
    longest = max((each.end - each.start for each in outer), default=0)
    found = check(path, data, max(200, longest))
    cuts = {region.start for region in found}
    inside = [each for each in outer for cut in cuts if each.start < cut < each.end]
    assert len(inside) <= len(cuts) / 10


def test_a_function_too_long_is_cut_between_its_statements() -> None:
    body = b"".join(b"    if x > %d:\n        call(%d,\n             %d)\n" % (n, n, n) for n in range(200))
    data = b"import os\n\n\n# Says x.\n@cached\ndef long(x):\n" + body + b"\n\ndef short():\n    return 1\n"
    found = check("a.py", data, 200)
    assert len(found) > 10
    texts = [data[region.start : region.end] for region in found]
    assert all(text.startswith(b"    if x") for text in texts[1:-1])
    assert all(region.symbols[0].name == "long" for region in found[:-1])


def test_what_stands_above_a_definition_stays_with_it() -> None:
    function = b"# About %d.\n# More.\n@cached\ndef f%d():\n" + b"    return 1\n" * 30 + b"\n\n"
    data = b"".join(function % (n, n) for n in range(20))
    for region in check("a.py", data, 300)[1:]:
        assert data[region.start :].startswith(b"# About")


def test_unknown_text_is_cut_at_blank_lines() -> None:
    data = b"".join(b"# Title %d\nsome words\nmore words\n\n" % n for n in range(100))
    for region in check("notes.md", data, 50):
        assert data[region.start :].startswith(b"# Title")


def test_symbols_carry_kind_and_full_name() -> None:
    (region,) = regions("shape.py", SOURCES["shape.py"], 1000)
    assert ("method", "Shape.area") in [(symbol.kind, symbol.name) for symbol in region.symbols]


def test_an_empty_file_has_no_regions_and_a_budget_must_hold_something() -> None:
    assert regions("a.py", b"", 10) == ()
    with pytest.raises(ValueError, match="1 or more"):
        regions("a.py", b"x", 0)


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("a.py", b"x = call(1)\n" * 100_000),
        ("a.go", b"package p\n" + b"func f() { g(1) }\n" * 100_000),
        ("a.txt", b"some words\n" * 100_000),
        ("a.js", b"var a=[" + b"12345," * 800_000 + b"1]"),
        ("a.json", b"[" + b"12345," * 800_000 + b"1]"),
        ("a.py", b"x = '" + b"y" * 5_000_000 + b"'"),
        ("a.py", b"(" * 100_000 + b")" * 100_000),
        ("a.js", b"[" * 100_000 + b"]" * 100_000),
        ("a.c", b"void f() " + b"{" * 50_000 + b"}" * 50_000),
        ("a.rs", b"fn f() { " + b"1 + " * 200_000 + b"1 }"),
        ("a.rb", b"module A\n" * 20_000 + b"end\n" * 20_000),
        ("a.php", b"<?php " + b"if (1) { " * 20_000 + b"}" * 20_000),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{len(value)} {value[:12]!r}",
)
def test_long_wide_and_deep_files(path: str, data: bytes) -> None:
    started = time.monotonic()
    found = regions(path, data, 1000)
    assert time.monotonic() - started < 30
    assert found[0].start == 0
    assert all(one.end == other.start for one, other in itertools.pairwise(found))
    assert found[-1].end == len(data)
    assert all(region.tokens <= 1000 for region in found)
