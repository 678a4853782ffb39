"""The languages that are parsed: one row each. All else about a language stands in its query file."""

from __future__ import annotations

import functools
import importlib
import re
import time
from pathlib import Path
from typing import NamedTuple

import tree_sitter

PARSE_SECONDS = 10.0
"""The longest that one file may take; generated files are the only ones that come near it."""
MATCH_LIMIT = 4096
"""Matches open at a time, which bounds a query's time: tree-sitter 0.26.1 crashes when given a callback for it."""


class Language(NamedTuple):
    """One row: how files are recognised, which wheel has the grammar, which queries apply, how deep definitions lie."""

    name: str
    suffixes: str
    wheel: str
    """The distribution that holds the grammar, pinned: another version may give another tree for the same text."""
    function: str
    """What in its module gives the grammar."""
    queries: str
    """Files of `repo_tools/queries`, without `.scm`; all apply."""
    depth: int
    """Levels of syntax below the root within which definitions are looked for: most of a tree lies deeper."""


LANGUAGES = (
    Language("python", ".py .pyi .pyw", "tree-sitter-python==0.25.0", "language", "python", 6),
    Language(
        "javascript", ".js .jsx .mjs .cjs", "tree-sitter-javascript==0.25.0", "language", "ecmascript javascript", 8
    ),
    Language(
        "typescript",
        ".ts .mts .cts",
        "tree-sitter-typescript==0.23.2",
        "language_typescript",
        "ecmascript typescript",
        8,
    ),
    Language("tsx", ".tsx", "tree-sitter-typescript==0.23.2", "language_tsx", "ecmascript typescript", 8),
    Language("go", ".go", "tree-sitter-go==0.25.0", "language", "go", 6),
    Language("rust", ".rs", "tree-sitter-rust==0.24.2", "language", "rust", 8),
    Language("java", ".java", "tree-sitter-java==0.23.5", "language", "java", 8),
    Language("c", ".c", "tree-sitter-c==0.24.2", "language", "c", 8),
    # A header may be either's: the grammar of C++ reads nearly all of C.
    Language("cpp", ".cpp .cc .cxx .h .hpp .hh .hxx .ipp .inl", "tree-sitter-cpp==0.23.4", "language", "c cpp", 10),
    Language("csharp", ".cs", "tree-sitter-c-sharp==0.23.5", "language", "csharp", 9),
    Language("ruby", ".rb .rake .gemspec .ru", "tree-sitter-ruby==0.23.1", "language", "ruby", 10),
    Language("php", ".php .phtml", "tree-sitter-php==0.25.1", "language_php", "php", 8),
)

_BY_SUFFIX = {suffix: language for language in LANGUAGES for suffix in language.suffixes.split()}
_BY_NAME = {language.name: language for language in LANGUAGES}


RUBBLE = 5_000
"""Tokens in one stretch that the parser could not read. A query's time grows with the square of it."""


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
    module = importlib.import_module(language.wheel.partition("==")[0].replace("-", "_"))
    return tree_sitter.Language(getattr(module, language.function)())


class Patterns(NamedTuple):
    """Some of the patterns of a language's queries."""

    compiled: tree_sitter.Query
    kinds: tuple[str, ...]
    """What each pattern captures as a whole: the kind of a definition, `extent` or `reference`."""
    ranks: tuple[int, ...]
    """Of two patterns that find the same definition, the one of the lower rank says more."""


@functools.cache
def definitions_query(language: Language) -> Patterns:
    """The patterns for definitions and what wraps them."""
    return _query(language, references=False)


@functools.cache
def references_query(language: Language) -> Patterns:
    """The patterns for the tokens that name something in code."""
    return _query(language, references=True)


_ROLES = frozenset({"name", "body", "owner", "inner"})
_GENERAL = ("variable", "type", "field")


def _query(language: Language, *, references: bool) -> Patterns:
    folder = Path(__file__).parent / "queries"
    source = b"\n".join((folder / f"{name}.scm").read_bytes() for name in language.queries.split())
    query = tree_sitter.Query(grammar(language), source.decode("utf-8"))
    kinds = []
    for number in range(query.pattern_count):
        pattern = source[query.start_byte_for_pattern(number) : query.end_byte_for_pattern(number)].decode("utf-8")
        (kind,) = set(re.findall(r"@([a-z]+)", re.sub(r";.*", "", pattern))) - _ROLES
        kinds.append(kind)
        if (kind == "reference") != references:
            query.disable_pattern(number)
    return Patterns(query, tuple(kinds), tuple(map(_GENERAL.count, kinds)))


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


def is_rubble(root: tree_sitter.Node) -> bool:
    """Whether the parser made so little of a file that a query would find nothing, and would take minutes to."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.is_error and node.child_count > RUBBLE:
            return True
        if node.has_error:
            waiting += [child for child in node.children if child.has_error]
    return False


class SyntaxFault(NamedTuple):
    """The first place at which a file departs from its language's syntax; line and column (in bytes) count from 1."""

    line: int
    column: int
    text: str
    """The line, without its end; of a longer one the first 200 characters."""


def syntax_error(path: str, data: bytes) -> SyntaxFault | None:
    """Where a file is first broken; None if it is sound, or in no language of the table, or was not parsed in time."""
    language = language_of(path)
    if language is None:
        return None
    try:
        root = parse(language, data).root_node
    except Unparsed:
        return None
    if not root.has_error:
        return None
    row, column = _first_fault(root).start_point
    lines = data.split(b"\n", row + 1)
    return SyntaxFault(row + 1, column + 1, lines[row].decode("utf-8", "replace").strip("\r")[:200])


def _first_fault(root: tree_sitter.Node) -> tree_sitter.Node:
    fault, cursor = root, root.walk()
    while not (fault.is_error or fault.is_missing) and cursor.goto_first_child():
        while (node := cursor.node) and not (node.has_error or node.is_missing):
            if not cursor.goto_next_sibling():
                return fault
        fault = node or fault
    return fault
