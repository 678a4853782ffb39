"""Each language of the table: its grammar loads, its queries find what a source defines, its faults are placed."""

from __future__ import annotations

import importlib.metadata
import itertools
import time
import tomllib
from pathlib import Path

import pytest
import tree_sitter

from repo_tools.languages import (
    LANGUAGES,
    Language,
    Unparsed,
    grammar,
    language_of,
    parse,
    syntax_error,
)
from repo_tools.symbols import definitions, reference_lines
from tests.repo_tools.samples import SOURCES

ROOT = Path(__file__).parents[2]

DEFINED = {
    "shape.py": """
        5 variable LIMIT
        7 type Pair
        11 class Shape
        14 variable Shape.sides
        17 method Shape.area
        26 function late
    """,
    "stack.mjs": """
        4 class Stack
        5 field Stack.#items
        6 field Stack.made
        7 method Stack.constructor
        8 method Stack.top
        9 method Stack.walk
        12 function double
        12 function triple
        13 function later
        14 function plain
        15 function other
        16 method Stack.peek
        17 variable options
        17 function options.on
        17 method options.off
        18 function numbers
    """,
    "store.ts": """
        1 class Store
        2 field Store.size
        3 method Store.open
        4 method Store.constructor
        5 method Store.get
        7 interface Readable
        7 field Readable.name
        7 method Readable.get
        8 type Key
        9 enum Level
        9 constant Level.Low
        9 constant Level.High
        10 namespace plugin
        10 function plugin.load
        11 namespace Deep.Inner
        11 variable Deep.Inner.x
        12 function external
    """,
    "page.tsx": """
        1 function Button
        2 function Page
    """,
    "web.go": """
        6 struct web.Mux
        7 field web.Mux.handler
        10 interface web.Router
        11 method web.Router.Route
        15 type web.Alias
        16 struct web.Tree
        16 field web.Tree.root
        20 method web.Mux.Route
        21 method web.Tree.Walk
        22 function web.New
        24 constant web.Max
        26 constant web.First
        27 constant web.Second
        30 variable web.left
        30 variable web.right
        32 variable web.ErrGone
    """,
    "buf.rs": """
        5 struct Buf
        6 field Buf.len
        9 enum Kind
        9 constant Kind.Small
        9 constant Kind.Large
        11 trait Take
        12 type Take.Item
        13 method Take.take
        14 method Take.both
        18 constant Buf.EMPTY
        19 method Buf.new
        23 method Buf.fmt
        26 namespace inner
        26 function inner.hidden
        27 macro twice
        28 variable COUNT
    """,
    "Order.java": """
        6 class com.example.shop.Order
        7 field com.example.shop.Order.total
        7 field com.example.shop.Order.tax
        8 method com.example.shop.Order.Order
        9 method com.example.shop.Order.add
        10 enum com.example.shop.Order.State
        10 constant com.example.shop.Order.State.OPEN
        10 constant com.example.shop.Order.State.CLOSED
        10 method com.example.shop.Order.State.done
        11 interface com.example.shop.Order.Listener
        11 method com.example.shop.Order.Listener.changed
        11 constant com.example.shop.Order.Listener.MAX
        12 class com.example.shop.Order.Line
        12 method com.example.shop.Order.Line.Line
        13 interface com.example.shop.Order.Checked
        13 method com.example.shop.Order.Checked.value
    """,
    "list.c": """
        2 macro LIST_H
        3 macro MAX
        6 type node
        6 struct node
        6 field node.value
        6 field node.next
        6 field node.free
        7 type point
        7 field point.x
        8 type compare
        9 enum colour
        9 constant colour.RED
        9 constant colour.GREEN
        10 function find
        14 function length
        15 variable limit
    """,
    "shape.hpp": """
        1 namespace geo.flat
        2 class geo.flat.Shape
        4 method geo.flat.Shape.Shape
        5 method geo.flat.Shape.~Shape
        6 method geo.flat.Shape.area
        7 method geo.flat.Shape.draw
        8 method geo.flat.Shape.operator==
        9 field geo.flat.Shape.sides
        10 enum geo.flat.Shape.Kind
        10 constant geo.flat.Shape.Kind.Round
        14 function geo.flat.Shape.draw2
        15 function largest
        16 type Size
        17 function counter
    """,
    "Order.cs": """
        1 namespace Shop.Orders
        4 class Shop.Orders.Order
        6 field Shop.Orders.Order.total
        7 field Shop.Orders.Order.Tax
        8 method Shop.Orders.Order.Order
        9 method Shop.Orders.Order.Add
        10 field Shop.Orders.Order.OnChanged
        12 interface Shop.Orders.IStore
        12 method Shop.Orders.IStore.Save
        13 enum Shop.Orders.State
        13 constant Shop.Orders.State.Open
        14 class Shop.Orders.Line
        15 type Shop.Orders.Changed
    """,
    "order.rb": """
        1 namespace Shop.Orders
        2 class Shop.Orders.Order
        3 constant Shop.Orders.Order.LIMIT
        4 field Shop.Orders.Order.total
        4 field Shop.Orders.Order.tax
        7 method Shop.Orders.Order.add
        9 method Shop.Orders.Order.build
        10 method Shop.Orders.Order.==
        13 method Shop.Orders.Order.open?
    """,
    "order.php": """
        8 class Shop.Orders.Order
        10 constant Shop.Orders.Order.LIMIT
        11 field Shop.Orders.Order.total
        12 method Shop.Orders.Order.add
        14 interface Shop.Orders.Store
        14 method Shop.Orders.Store.save
        15 trait Shop.Orders.Counts
        15 method Shop.Orders.Counts.counted
        16 enum Shop.Orders.State
        16 constant Shop.Orders.State.Open
        17 function Shop.Orders.build
    """,
}


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_the_pinned_grammar_is_installed_and_loads(language: Language) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert language.wheel in project["project"]["dependencies"]
    name, _, version = language.wheel.partition("==")
    assert importlib.metadata.version(name) == version
    loaded = grammar(language).abi_version
    assert tree_sitter.MIN_COMPATIBLE_LANGUAGE_VERSION <= loaded <= tree_sitter.LANGUAGE_VERSION


def test_every_language_has_a_sample() -> None:
    assert {language_of(path) for path in SOURCES} == set(LANGUAGES)


@pytest.mark.parametrize("path", SOURCES)
def test_definitions_are_found_with_kind_and_full_name(path: str) -> None:
    language = language_of(path)
    assert language is not None
    found = [f"{one.line} {one.kind} {one.name}" for one in definitions(language, SOURCES[path])]
    assert found == [line.strip() for line in DEFINED[path].strip().splitlines()]


@pytest.mark.parametrize("path", SOURCES)
def test_each_definition_stands_where_it_says(path: str) -> None:
    language, data = language_of(path), SOURCES[path]
    assert language is not None
    for one in definitions(language, data):
        assert one.start <= one.name_start < one.name_end <= one.end
        assert one.last_name.encode().lstrip(b"~") in data[one.name_start : one.name_end]
        assert data.count(b"\n", 0, one.name_start) + 1 == one.line
        assert data.count(b"\n", 0, one.start) + 1 == one.first_line <= one.line <= one.last_line
        assert data.count(b"\n", 0, one.end - 1) + 1 == one.last_line
        assert one.signature
        assert "\n" not in one.signature


@pytest.mark.parametrize(
    ("path", "name", "lines"),
    [
        ("a.py", "x", [1, 4]),
        ("a.js", "x", [1, 4]),
        ("a.ts", "x", [1, 4]),
        ("a.tsx", "x", [1, 4]),
        ("a.go", "x", [1, 4]),
        ("a.rs", "x", [1, 4]),
        ("A.java", "x", [1, 4]),
        ("a.c", "x", [1, 4]),
        ("a.cpp", "x", [1, 4]),
        ("a.cs", "x", [1, 4]),
        ("a.rb", "x", [1, 4]),
    ],
)
def test_a_reference_is_a_use_in_code(path: str, name: str, lines: list[int]) -> None:
    comment = "#" if path.endswith((".py", ".rb")) else "//"
    language = language_of(path)
    assert language is not None
    data = f'f(x)\n{comment} x\n"x"\ng(x, xx, x)\n'.encode()
    assert [line for line, _ in reference_lines(language, data, name)] == lines


def test_a_signature_is_the_head_alone() -> None:
    signatures = {
        one.name: one.signature
        for path, data in SOURCES.items()
        if (language := language_of(path))
        for one in definitions(language, data)
    }
    assert signatures["late"] == "def late( first, second=(1, 2), ):"
    assert signatures["web.Mux.Route"] == "func (mx *Mux) Route(path string) Router"
    assert signatures["later"] == "export const later = async () =>"
    assert signatures["web.Mux"] == "type Mux struct"
    assert signatures["Buf"] == "pub struct Buf<T>"
    assert signatures["find"] == "static int *find(struct node *list, int value)"
    assert signatures["com.example.shop.Order.add"] == "@Override public void add(T item) throws Full"
    assert signatures["Shop.Orders.Order.build"] == "def self.build; end"


BREAKS = {"py": b"def f(:\n", "rb": b"def f(\n", "php": b"<?php\nfunction f( {\n"}


@pytest.mark.parametrize("path", SOURCES)
def test_a_fault_is_found_in_a_broken_file_alone(path: str) -> None:
    assert syntax_error(path, SOURCES[path]) is None
    broken = BREAKS.get(path.rpartition(".")[2], b"\n}}} ((( {\n")
    fault = syntax_error(path, SOURCES[path] + broken)
    assert fault is not None
    lines = (SOURCES[path] + broken).split(b"\n")
    assert lines[fault.line - 1].decode().startswith(fault.text[:20])
    assert 1 <= fault.column <= len(lines[fault.line - 1]) + 1


def test_a_fault_is_placed() -> None:
    assert syntax_error("a.py", b"x = 1\n\ndef f(:\n    pass\n") == (3, 7, "def f(:")
    assert syntax_error("a.go", b"package x\r\nfunc f() {\r\n") == (2, 10, "func f() {")
    assert syntax_error("a.txt", b"def f(:") is None
    assert syntax_error("a.py", b"") is None


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("a.py", b"(" * 300_000),
        ("a.js", b"{" * 100_000),
        ("a.rs", b"fn f() {" * 20_000),
        ("a.py", b"x = 1\n" * 100_000 + b"("),
        ("a.c", b"\xff\xfe\x00" * 1000),
    ],
)
def test_hostile_sources_end_soon(path: str, data: bytes) -> None:
    started = time.monotonic()
    syntax_error(path, data)
    language = language_of(path)
    assert language is not None
    definitions(language, data)
    assert time.monotonic() - started < 20


def test_a_parse_has_a_deadline() -> None:
    language = language_of("a.py")
    assert language is not None
    with pytest.raises(Unparsed):
        parse(language, b"x = [1, 2, 3]\n" * 200_000, seconds=0.001)


def test_suffixes_belong_to_one_language() -> None:
    suffixes = list(itertools.chain.from_iterable(language.suffixes.split() for language in LANGUAGES))
    assert len(suffixes) == len(set(suffixes))
    assert language_of("README") is None
    assert language_of("a.b/Makefile") is None
