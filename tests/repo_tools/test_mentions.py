"""What is read out of issues: their parts, names, paths, stack traces of many languages, quotes."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repo_tools.issue_query import query, stem
from repo_tools.issue_text import Part, segments
from repo_tools.mentions import mentions
from repo_tools.traces import Frame, frames
from repo_tools.written_paths import WrittenPaths

ISSUE = """`load` fails
<!-- Please search
first -->
It fails in `Config.load()` since 2.0:

```python
from app import Config
Config.load(path)
```

    indented

>>> prompted
And so on.
"""


def test_an_issue_is_cut_into_what_is_said_and_what_is_shown() -> None:
    found = [(part.part, " ".join(part.text.split())) for part in segments(ISSUE)]
    assert [one for one in found if one[1]] == [
        (Part.TITLE, "load fails"),
        (Part.INLINE, "load"),
        (Part.PROSE, "It fails in since 2.0:"),
        (Part.INLINE, "Config.load()"),
        (Part.CODE, "from app import Config Config.load(path)"),
        (Part.CODE, "indented"),
        (Part.CODE, ">>> prompted"),
        (Part.PROSE, "And so on."),
    ]


@pytest.mark.parametrize(
    "part",
    [
        "**Describe the bug**\n",
        "### Environment\n- OS: Linux\n- Extra tools: courier\n",
        "**Versions**:\n\nPython 3.10.9 (main, Dec  7 2022)\ncourier 5.1\n",
        '## System Information\n```json\n{\n  "courier": {\n    "version": null\n  }\n}\n```\n',
        "<details><summary>Output of <tt>show_versions()</tt></summary>\n\nINSTALLED VERSIONS\n------------------\n"
        "commit: None\npython-bits: 64\n\ncourier: None\n</details>\n",
        "Installed versions\n------------------\ncourier    5.1.0\nsetuptools 49.6.0\n",
        "### Version\n```shell\ncourier 2.0\n",
    ],
)
def test_what_a_form_adds_says_nothing_of_the_fault(part: str) -> None:
    def said(body: str) -> list[str]:
        return [" ".join(one.text.split()) for one in segments(f"Parcels get lost\n{body}") if one.text.strip()]

    before, after = "They are not sent:\n", "## On holidays\nParcels are kept.\n"
    assert said(before + part + after) == said(before + after)


@pytest.mark.parametrize(
    ("body", "stays"),
    [
        ("## Environment variables that the courier reads are not expanded\n- HOME: is empty", "courier HOME empty"),
        ("### Environment\nThe courier rings once when HOME is not set.", "courier HOME"),
        ("## Courier\n```\n### Environment\ncourier: 5.1\n```", "Courier Environment 5.1"),
        ("- courier: rings once\n- parcel: lost since 5.1", "courier parcel 5.1"),
        ("### Versions\n```\ncourier 5.1\n```\n```\nring(twice)\n```\nIt rings once.", "ring(twice) rings"),
    ],
)
def test_what_merely_looks_like_a_form_is_kept(body: str, stays: str) -> None:
    text = "\n".join(one.text for one in segments(f"Parcels get lost\n{body}"))
    assert [word for word in stays.split() if word not in text] == []


def test_a_fence_that_is_never_closed_holds_the_rest() -> None:
    assert [part.part for part in segments("Title\n~~~\ncode `not a span`\n```\nstill code")][-1] is Part.CODE


def test_names_count_by_where_they_stand() -> None:
    names = mentions(
        "parse_url is slow\nSee `fetch`, send_all and Retry.run, not words\n```\ncall(argument)\n```"
    ).names
    order = ["parse_url", "fetch", "send_all", "argument", "words"]
    assert sorted(order, key=lambda name: -names[name]) == order
    assert names["send_all"] == names["run"]


@pytest.mark.parametrize("written", ["Session.send", "Session::send", "Session#send", "Session->send"])
def test_names_with_owners_are_read_however_they_are_joined(written: str) -> None:
    assert ("Session", "send") in mentions(f"Title\nSee `{written}`").dotted


@pytest.mark.parametrize(
    ("line", "frame"),
    [
        ('  File "/a/b.py", line 12, in run', Frame("/a/b.py", 12, "run")),
        ('  File "b.py", line 3', Frame("b.py", 3, "")),
        ("File ~/x/plot.py:265, in Plot._repr_png_(self)", Frame("~/x/plot.py", 265, "Plot._repr_png_")),
        ("src/a.py:31: in test_it", Frame("src/a.py", 31, "test_it")),
        ("E   src/a.py:31: AssertionError", Frame("src/a.py", 31, "")),
        ("    at Object.run (/srv/app/lib/run.js:10:5)", Frame("/srv/app/lib/run.js", 10, "Object.run")),
        ("    at async load (file:///srv/a/load.mjs:7:1)", Frame("/srv/a/load.mjs", 7, "load")),
        ("    at /srv/app/index.ts:3:9", Frame("/srv/app/index.ts", 3, "")),
        ("\t/home/me/chi/mux.go:86 +0x1d5", Frame("/home/me/chi/mux.go", 86, "")),
        ("             at ./src/lib.rs:40:9", Frame("./src/lib.rs", 40, "")),
        ("\tat org.shop.Cart.add(Cart.java:17)", Frame("Cart.java", 17, "org.shop.Cart.add")),
        ("   at Shop.Cart.Add(Item i) in /src/Cart.cs:line 17", Frame("/src/Cart.cs", 17, "Shop.Cart.Add")),
        ("app/cart.rb:17:in `add'", Frame("app/cart.rb", 17, "add")),
        ("app/cart.rb:17:in 'Cart#add'", Frame("app/cart.rb", 17, "add")),
        ("#0 /var/www/Cart.php(17): Shop\\Cart->add()", Frame("/var/www/Cart.php", 17, "Shop\\Cart->add")),
    ],
)
def test_frames_of_stack_traces_are_read(line: str, frame: Frame) -> None:
    assert list(frames(f"Something\n{line}\nelse")) == [frame]


def test_old_notebooks_put_the_line_below_the_frame() -> None:
    text = "~/x/wcs.py in convert(self, *args)\n   1266 \n-> 1269             return f(axes)\n   1270\n"
    assert list(frames(text)) == [Frame("~/x/wcs.py", 1269, "convert")]


def test_prose_is_no_stack_trace() -> None:
    assert list(frames("At 10:30 it was in main.py and at v1.2.3 I ran in circles: a.b.c")) == []


def test_lines_pointed_at_are_read() -> None:
    text = (
        "Title\nSee https://github.com/o/r/blob/1a2b/src/a.py#L10-L12, line 743 of x/latex.py, "
        "and `b.py` line 5; also https://github.com/o/r/blob/main/c.py"
    )
    assert set(mentions(text).places) == {
        Frame("src/a.py", 10, ""),
        Frame("x/latex.py", 743, ""),
        Frame("b.py", 5, ""),
        Frame("c.py", 0, ""),
    }


def test_quoted_lines_lose_what_a_console_or_a_diff_puts_before_them() -> None:
    text = "T\n```\n>>> compute(first, second)\n-> 12     total = add(first)\n+    return total + 1\nshort\n```"
    assert mentions(text).quotes == {"compute(first, second)", "total = add(first)", "return total + 1"}


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("src/app/core.py", ["src/app/core.py"]),
        ("/usr/lib/python3/site-packages/app/core.py", ["src/app/core.py"]),
        ("C:\\Users\\me\\app\\core.py", ["src/app/core.py"]),
        ("core.py", ["src/app/core.py", "src/web/core.py"]),
        ("setup.py", ["setup.py"]),
        ("/venv/numpy/setup.py", ["setup.py"]),
        ("/venv/numpy/core.py", []),
        ("other.py", []),
        ("", []),
        ("/", []),
    ],
)
def test_paths_are_found_by_their_end(written: str, found: list[str]) -> None:
    files = ["setup.py", "src/app/core.py", "src/web/core.py"]
    assert [files[number] for number in WrittenPaths(files).resolve(written)] == found


@pytest.mark.parametrize("words", ["prints printed printing print", "entry entries", "stop stopped stopping stops"])
def test_forms_of_a_word_have_one_stem(words: str) -> None:
    assert len({stem(word) for word in words.split()}) == 1


@pytest.mark.parametrize(
    ("said", "form"),
    [
        ("The code printers fail", "codeprinter"),
        ("The code printers fail", "code_printer"),
        ("`ignore-paths` is ignored", "ignore_paths"),
        ("stopping it", "stopped"),
        ("the queries", "query"),
        ("its text representation", "repr"),
        ("See parse_url", "_parse_url"),
        ("See parse_url", "url"),
        ("See HTTPServer", "http"),
    ],
)
def test_words_are_looked_for_in_the_forms_that_code_has(said: str, form: str) -> None:
    assert form in {form for term in query(segments(f"Title\n{said}")) for form in term.forms}


def test_words_of_the_title_weigh_more_and_are_known_as_such() -> None:
    terms = {term.said: term for term in query(segments("alpha\nbeta `gamma`\n```\ndelta\n```"))}
    assert [terms[name].titled for name in ("alpha", "beta", "gamma", "delta")] == [True, False, False, False]
    assert terms["alpha"].weight > terms["gamma"].weight > terms["beta"].weight > terms["delta"].weight


@given(st.text(alphabet=st.sampled_from("aB_1.:/\\`~>\n \t\"'()#é\0")))
def test_any_text_is_read(text: str) -> None:
    found = mentions(text)
    assert query(found.segments) is not None
    assert all(weight > 0 for weight in found.names.values())


@pytest.mark.parametrize("unit", ["a.", "a/", "a-", "at a", "../", ">>> ", "`", 'File "', "x:1: ", "#0 ", "a\\", "in "])
def test_reading_takes_time_by_length_alone(unit: str) -> None:
    start = time.process_time()
    found = mentions("Title\n" + unit * (100_000 // len(unit)))
    query(found.segments)
    assert time.process_time() - start < 3
