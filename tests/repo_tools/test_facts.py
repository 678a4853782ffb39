"""What is packed comes back; words and terms are what people search for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repo_tools.facts import LARGEST, facts_row, unpack_definitions, unpack_words
from repo_tools.languages import LANGUAGES, Language
from repo_tools.symbols import definitions
from repo_tools.words import terms, words
from tests.repo_tools.samples import SOURCES

PIECES = st.sampled_from(
    sorted({piece for data in SOURCES.values() for piece in data.split(b" ")} | {b"\n", b"\xff", b""})
)


@given(st.sampled_from(LANGUAGES), st.lists(PIECES, max_size=40).map(b" ".join))
def test_facts_come_back_as_they_were(language: Language, data: bytes) -> None:
    row = facts_row(language.name, data)
    found = definitions(language, data)
    assert unpack_definitions(row) == found
    there, counts, names = unpack_words(row)
    assert dict(zip(there, counts, strict=True)) == words(data)
    assert names == {one.last_name.encode("utf-8", "surrogateescape") for one in found}


def test_a_count_has_its_limit() -> None:
    there, counts, _ = unpack_words(facts_row("", b"a " * 70_000 + b"b"))
    assert dict(zip(there, counts, strict=True)) == {b"a": 65_535, b"b": 1}


@pytest.mark.parametrize("data", [b"\0" + SOURCES["shape.py"], b"x = 1\n" * (LARGEST // 6 + 1), b""])
def test_what_is_no_text_or_too_large_has_no_facts(data: bytes) -> None:
    row = facts_row("python", data)
    assert unpack_definitions(row) == ()
    assert unpack_words(row)[0] == []


def test_words_are_runs_of_what_identifiers_are_made_of() -> None:
    text = "get_item(x1)+été-naïve 3.14 'a.b'".encode()
    assert sorted(word.decode() for word in words(text)) == ["14", "3", "a", "b", "get_item", "naïve", "x1", "été"]


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("queryset", ["queryset"]),
        ("QuerySet", ["queryset", "query", "set"]),
        ("getHTTPResponse_2", ["gethttpresponse_2", "get", "http", "response", "2"]),
        ("MAX_SIZE", ["max_size", "max", "size"]),
        ("__init__", ["__init__"]),
        ("HTTP", ["http"]),
        ("étéNaïve", ["éténaïve", "été", "naïve"]),
        ("größe_名前", ["größe_名前", "größe", "名前"]),
        ("_", ["_"]),
    ],
)
def test_an_identifier_is_found_by_its_parts(word: str, found: list[str]) -> None:
    assert list(terms(word)) == found
