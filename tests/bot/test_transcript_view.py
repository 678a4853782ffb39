"""What people are shown: everything that matters, nothing that acts, and no more than fits."""

from __future__ import annotations

import io
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from bot.records import Posted, Record, Tested
from bot.secrets_mask import Mask
from bot.transcript import Transcript, read
from bot.transcript_summary import arguments, board_text, compared, condensed, costs, headline, printable, turns
from bot.transcript_view import page, show
from tests.fakes.sample_run import sample_run

Records = tuple[Record, ...]


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Records:
    path = tmp_path_factory.mktemp("sample") / "run.jsonl"
    with Transcript(path, Mask()) as transcript:
        sample_run(transcript)
    return read(path)


def shown(records: Records, width: int = 120) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    show(records, console)
    file = console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue()


class Page(HTMLParser):
    """The elements of a page, their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words = ""
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "link", "br", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


TOLD = (
    "The discount is rounded down twice <b>here</b>",
    "analyst-1",
    "Rounded twice.",
    "total(19.99, 15) == 16.99",
    "Refused: no such text.",
    "{broken json",
    "tests/test_price.py::test_total",
)


def test_the_page_tells_it_all_and_loads_and_runs_nothing(records: Records) -> None:
    html = page(records)
    seen = Page(html)
    for text in (
        *TOLD,
        "$0.008",
        "Failed before and pass now: 1",
        "New tests: 1",
        "The discount is rounded once.",
    ):
        assert text in seen.words
    assert "alert(1)" in seen.words and "{{ 7*7 }}" in seen.words
    assert not {"script", "img", "iframe", "link", "b", "object", "form", "svg"} & set(seen.tags)
    assert not [name for name, _ in seen.attributes if name.startswith("on") or name in ("src", "href", "srcset")]
    assert "url(" not in html and "@import" not in html
    assert seen.open == []
    assert "\x1b" not in html and "\u202e" not in html
    policy = dict(seen.attributes)
    assert policy["content"] is not None
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in seen.attributes


def test_a_run_that_is_still_at_work_has_a_page_too(records: Records) -> None:
    for length in range(1, len(records)):
        assert "not ended" in Page(page(records[:length])).words
        shown(records[:length])
        condensed(records[:length], 5000)


def test_the_terminal_is_told_it_all_and_not_steered(records: Records) -> None:
    text = shown(records)
    flat = " ".join(text.split())
    for each in TOLD:
        assert each in flat
    assert "[bold]m[/bold]" in text, "markup of a model is text"
    assert "\x1b" not in text and "\u202e" not in text
    assert "\\x1b[2J" in text


@pytest.mark.parametrize("width", [20, 40, 80])
def test_a_narrow_terminal_is_enough(records: Records, width: int) -> None:
    assert "analyst" in shown(records, width)


def test_costs_are_summed_by_role(records: Records) -> None:
    rows = {row.role: row for row in costs(records)}
    assert list(rows) == ["analyst", "coder", "all"]
    assert (rows["analyst"].calls, rows["analyst"].input, rows["analyst"].cached) == ("2", "7,300", "2,048")
    assert (rows["all"].calls, rows["all"].usd, rows["all"].seconds) == ("4", "$0.008", "16.8")
    assert rows["analyst"].models == "gpt-5-mini-2025-08-07"


def test_an_unknown_price_is_not_shown_as_nothing(records: Records) -> None:
    unpriced = [
        record.model_copy(update={"usd": None}) if record.kind == "completion" else record for record in records
    ]
    assert costs(unpriced)[-1].usd == "price unknown"
    half = [*records, *unpriced]
    assert costs(half)[-1].usd == "$0.008 + 4 calls of unknown price"


def test_the_suite_before_and_after_is_compared_by_id(records: Records) -> None:
    suites = compared(records)
    assert suites is not None
    assert suites.mended == ("tests/test_price.py::test_total",)
    assert suites.failing == ("tests/test_price.py::test_old",)
    assert suites.new == ("tests/test_price.py::test_added",)
    assert suites.broken == ()
    assert compared([record for record in records if not isinstance(record, Tested)]) is None


def test_a_turn_holds_its_results(records: Records) -> None:
    told = turns(records)
    heads = [headline(each) for each in told]
    assert any("edit(shop/price.py) refused, edit({broken json) refused" in head for head in heads)
    assert not any("tool" in head.split() for head in heads)


def test_condensed_is_plain_text_with_the_costs_last(records: Records) -> None:
    text = condensed(records, 10_000)
    for each in ("== baseline: 3 tests", "tests, final (whole suite)", "stopped: timeout", "[plan, round 1]"):
        assert each in text
    last = text.splitlines()[-1].split()
    assert last[0] == "all" and "$0.008" in last
    assert text.isprintable() or "\n" in text
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", text)


def test_condensed_keeps_a_plan_and_shortens_a_diff() -> None:
    plan = Posted(slot="plan", value={"subtasks": [{"title": "a", "regions": ["x.py:1-2"]}]})
    change = Posted(slot="change", value="\n".join(f"+ line {n}" for n in range(500)))
    text = condensed((plan, change), 20_000)
    assert "    subtasks:\n      - title: a\n        regions:\n          - x.py:1-2\n" in text
    assert "+ line 15\n    [… 484 lines more …]" in text


@given(limit=st.integers(0, 12_000))
@settings(max_examples=40)
def test_condensed_keeps_to_its_limit(records: Records, limit: int) -> None:
    text = condensed(records, limit)
    assert len(text) <= limit
    if limit > 1500:
        assert text.startswith("== environment")
        assert "fixed: The discount" in text, "the end is kept when the middle is left out"


def test_a_very_long_run_fits(records: Records) -> None:
    long = [*records[:-2], *[record for record in records for _ in range(200)], records[-1]]
    text = condensed(long, 20_000)
    assert 15_000 < len(text) <= 20_000
    assert "lines left out" in text


@pytest.mark.parametrize("text", ["", "[]", "null", "{", "[" * 100_000, '{"a": {"b": [1]}}', '{"\\ud83d": "\\ud83d"}'])
def test_any_arguments_can_be_shown(text: str) -> None:
    assert arguments(text)


@given(st.text())
def test_printable_text_steers_nothing_and_stays_itself(text: str) -> None:
    seen = printable(text)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", seen)
    assert printable(seen) == seen
    if text.isprintable():
        assert seen == text or max(text) >= "\u061c"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(json_values)
def test_anything_on_the_board_can_be_shown(value: object) -> None:
    record = Posted(slot="plan", value=value)
    board_text(value)
    shown((record,))
    Page(page((record,)))


def test_a_board_entry_reads_like_a_list() -> None:
    value = {
        "diagnosis": "off by one",
        "sub_tasks": [{"title": "a", "regions": ["x.py:1-2"]}, {"title": "b"}],
        "doubts": [],
    }
    assert board_text(value) == (
        "diagnosis: off by one\nsub tasks:\n  - title: a\n    regions:\n      - x.py:1-2\n  - title: b"
    )
