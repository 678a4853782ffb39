"""What is packed comes back; words and terms are what people search for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repo_tools.facts import LARGEST, defines, definitions_row, unpack_definitions, unpack_words, words_row
from repo_tools.languages import LANGUAGES, Language
from repo_tools.symbols import definitions
from repo_tools.words import other_terms, spelled, terms, words
from tests.repo_tools.samples import SOURCES

PIECES = st.sampled_from(
    sorted({piece for data in SOURCES.values() for piece in data.split(b" ")} | {b"\n", b"\xff", b""})
)


@given(st.sampled_from(LANGUAGES), st.lists(PIECES, max_size=40).map(b" ".join))
def test_facts_come_back_as_they_were(language: Language, data: bytes) -> None:
    row = definitions_row(language.name, data)
    found = definitions(language, data)
    assert unpack_definitions(row) == found
    there, counts = unpack_words(words_row(data))
    assert dict(zip(there, counts, strict=True)) == words(data)
    names = {one.last_name for one in found}
    assert all(defines(row, name) for name in names)
    assert not any(defines(row, name[1:]) for name in names if name[1:] not in names)


def test_a_count_has_its_limit() -> None:
    there, counts = unpack_words(words_row(b"a " * 70_000 + b"b"))
    assert dict(zip(there, counts, strict=True)) == {b"a": 65_535, b"b": 1}


@pytest.mark.parametrize("data", [b"\0" + SOURCES["shape.py"], b"x = 1\n" * (LARGEST // 6 + 1), b""])
def test_what_is_no_text_or_too_large_has_no_facts(data: bytes) -> None:
    row = definitions_row("python", data)
    assert unpack_definitions(row) == ()
    assert not defines(row, "Shape")
    assert unpack_words(words_row(data))[0] == []


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


WORDS = st.text(
    st.sampled_from("abAB1_éß\udc80") | st.characters(codec="utf-8", exclude_characters="\n"), min_size=1
).filter(lambda word: len(spelled(word.encode("utf-8", "surrogateescape"))) == 1)


@given(st.lists(WORDS, min_size=1, max_size=8))
def test_many_words_at_once_have_the_terms_of_each(given_words: list[str]) -> None:
    found = [
        dict.fromkeys([word, *others])
        for word, others in zip(given_words, other_terms("\n".join(given_words)), strict=True)
    ]
    assert [set(one) for one in found] == [{word, *terms(word)} for word in given_words]
