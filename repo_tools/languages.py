"""The languages that are parsed: one row each. All else about a language stands in its query file."""

from __future__ import annotations

import functools
import importlib
import time
from dataclasses import dataclass
from pathlib import Path

import tree_sitter

PARSE_SECONDS = 10.0
"""The longest that one file may take; generated files are the only ones that come near it."""
MATCH_LIMIT = 4096
"""Matches open at a time, which bounds a query's time: tree-sitter 0.26.1 crashes when given a callback for it."""


@dataclass(frozen=True)
class Language:
    """One row: how files are recognised, which wheel has the grammar, which queries apply, how deep definitions lie."""

    name: str
    suffixes: tuple[str, ...]
    grammar: str
    """`module:function`; the function gives the grammar's pointer."""
    queries: tuple[str, ...]
    """Files of `repo_tools/queries`, without `.scm`; all apply."""
    depth: int
    """Levels of syntax below the root within which definitions are looked for: most of a tree lies deeper."""


LANGUAGES = (Language("python", (".py", ".pyi", ".pyw"), "tree_sitter_python:language", ("python",), 6),)

_BY_SUFFIX = {suffix: language for language in LANGUAGES for suffix in language.suffixes}
_BY_NAME = {language.name: language for language in LANGUAGES}


class Unparsed(Exception):
    """A file was not parsed: its deadline passed, or the parser gave up."""


def language_of(path: str) -> Language | None:
    """The language of a file by its suffix; None if it is none of the table."""
    return _BY_SUFFIX.get(path[path.rfind(".") :].lower())


def language_named(name: str) -> Language | None:
    """The row of this name; None if the table has none."""
    return _BY_NAME.get(name)


@functools.cache
def grammar(language: Language) -> tree_sitter.Language:
    """The loaded grammar. Raises `ValueError` if its ABI is not one that the core reads."""
    module, function = language.grammar.split(":")
    return tree_sitter.Language(getattr(importlib.import_module(module), function)())


@functools.cache
def definitions_query(language: Language) -> tree_sitter.Query:
    """The patterns for definitions and what wraps them."""
    return _query(language, references=False)


@functools.cache
def references_query(language: Language) -> tree_sitter.Query:
    """The patterns for the tokens that name something in code."""
    return _query(language, references=True)


def _query(language: Language, *, references: bool) -> tree_sitter.Query:
    folder = Path(__file__).parent / "queries"
    source = "\n".join((folder / f"{name}.scm").read_text("utf-8") for name in language.queries)
    query = tree_sitter.Query(grammar(language), source)
    for number in range(query.pattern_count):
        pattern = source.encode()[query.start_byte_for_pattern(number) : query.end_byte_for_pattern(number)]
        if (b"@reference" in pattern) != references:
            query.disable_pattern(number)
    return query


def parse(language: Language, data: bytes, seconds: float = PARSE_SECONDS) -> tree_sitter.Tree:
    """The syntax tree of `data`. Raises `Unparsed` after `seconds`."""
    deadline = time.monotonic() + seconds

    def read(offset: int, _: object) -> bytes:
        return data[offset : offset + (1 << 20)]

    def overdue(_: int, __: bool) -> bool:
        return time.monotonic() > deadline

    parser = tree_sitter.Parser(grammar(language))
    try:
        return parser.parse(read, progress_callback=overdue)
    except ValueError as error:
        raise Unparsed(f"not parsed within {seconds:g} s") from error


def matches(
    query: tree_sitter.Query, node: tree_sitter.Node, *, depth: int | None = None, within: tuple[int, int] | None = None
) -> list[tuple[int, dict[str, list[tree_sitter.Node]]]]:
    """What `query` finds in `node`: at most `depth` levels below it, in the bytes `within`."""
    cursor = tree_sitter.QueryCursor(query, match_limit=MATCH_LIMIT)
    if depth is not None:
        cursor.set_max_start_depth(depth)
    if within is not None:
        cursor.set_byte_range(*within)
    return cursor.matches(node)
