"""What a model writes is shown and does nothing else; GitHub's own parser is the judge."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.publish import sanitize
from tests.bot.publish import rendering

HOSTS = frozenset({"github.com"})

FRAGMENTS = (
    "@octocat @org/team x@y.org @ \\@user _@user_ &#64;user &commat;user fixes Fixes: closes **resolved** close #12 "
    "#7 GH-3 owner/repo#4 https://github.com/o/r/issues/5 https://github.com/o/r/pull/6 http://evil.test/a.png "
    "www.evil.test ftp://evil.test <https://evil.test> <b> </b> <!-- --> <details> </pre> <img/src=x> <?php <![CDATA[ "
    "![alt]( [text]( ) ]( [label]: [label] ![label] [^1]: // # ## === --- ``` ~~~ ` `` ``` \\ \\` * ** _ ~~ > - 1. | "
    "|-|-| &lt; &amp; &#60; \u202e \u200b \ufeff \r \x00 code word"
)
PARTS = FRAGMENTS.split(" ")
texts = st.lists(st.sampled_from([*PARTS, "\n", "\n\n", "\n    ", "\t", " ", ""]), max_size=30).map(
    lambda parts: "".join(parts)
) | st.lists(st.sampled_from([*PARTS, "\n", "\n\n", "\n    "]), max_size=30).map(lambda parts: " ".join(parts))


@settings(max_examples=400, deadline=None)
@given(text=texts)
@example(text="<div>\n```\n</div>\n\ntext @octocat")
@example(text="| a ` | b ` @octocat |\n|-|-|\n| `@octocat` | c |")
@example(text="<a title='`'>` @octocat")
@example(text="~~~ a | b |\n|-|-|\n fixes")
@example(text="1.\n    \n   ```\n- a")
@example(text="-  # a |\n|-|-|\n   ~~~ b")
@example(text=">  _ *\n     > ~~~ https://github.com/o/r/pull/6")
@example(text="- \n    \n    @octocat\n| 1.")
@example(text="` ``` ``` ``` @octocat ```")
@example(text="@octocathttps://github.com/o/r/issues/5 _www.evil.test")
def test_nothing_in_any_text_acts_and_nothing_swallows_what_follows(text: str) -> None:
    shown = sanitize.markdown(text)
    assert rendering.dangers(shown, HOSTS) == []
    after = rendering.read(f"{shown}\n\nWhat follows.")
    assert after.last_path == ("p",)
    assert after.text.rstrip().endswith("What follows.\0")


@settings(deadline=None)
@given(text=texts)
def test_a_sentence_is_one_paragraph_on_one_line(text: str) -> None:
    shown = sanitize.sentence(text)
    assert "\n" not in shown
    page = rendering.read(f"- {shown}\n- next")
    assert [tag for tag in page.tags if tag in ("ul", "ol", "li", "pre", "blockquote")] == ["ul", "li", "li"]
    assert rendering.dangers(shown, HOSTS) == []


@settings(deadline=None)
@given(text=texts | st.text(max_size=60))
def test_code_shows_its_text_whatever_it_holds(text: str) -> None:
    flat = sanitize.line(text)
    assert f"<code>{flat or '(empty)'}</code>" == rendering.html(sanitize.code(text)).strip()[3:-4].replace(
        "&lt;", "<"
    ).replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")
    fenced = rendering.read(f"{sanitize.fence(text)}\n\nWhat follows.")
    assert (fenced.tags, fenced.last_path) == (["pre", "code", "p"], ("p",))


@settings(max_examples=300, deadline=None)
@given(text=texts)
@example(text="fixes https://github.com/o/r/issues/5")
@example(text="Fixes <b>#</b>12 and closes #<b>12")
def test_titles_notify_and_refer_to_nobody(text: str) -> None:
    shown = sanitize.title(text)
    assert "\n" not in shown
    assert not rendering.MENTION.search(shown)
    assert not rendering.CLOSING.search(shown)


@settings(max_examples=300, deadline=None)
@given(text=texts)
@example(text="It fixes\nowner/repo#12 and closes https://github.com/o/r/issues/5")
@example(text="resolves #3,\n@someone")
def test_messages_of_commits_notify_and_close_nothing_and_keep_their_lines(text: str) -> None:
    shown = sanitize.commit_message(text)
    assert not rendering.MENTION.search(shown)
    assert not rendering.CLOSING.search(shown)
    assert not re.search(r"https?://[^\s<>)\]]+/(?:issues|pull)/\w", shown)
    assert shown.count("\n") == sanitize.visible(text).count("\n")


@pytest.mark.parametrize("word", ["[skip ci]", "[CI skip]", "[no ci]", "[skip actions]", "[actions skip]", "[ci-skip]"])
def test_nothing_in_a_title_or_a_message_keeps_the_checks_from_running(word: str) -> None:
    for shown in (sanitize.title(f"Mend it {word}"), sanitize.commit_message(f"It mends it.\n\n{word}\n")):
        assert word not in shown
        assert word.strip("[]") in shown


def test_a_title_keeps_what_is_compared() -> None:
    assert sanitize.title("Tell a < 3 from b > 2 <b>now</b>") == "Tell a < 3 from b > 2 now"


@settings(deadline=None)
@given(text=texts, limit=st.integers(100, 400))
def test_fitted_text_fits(text: str, limit: int) -> None:
    assert len(sanitize.fitted(text * 5, limit)) <= limit


@pytest.mark.parametrize(
    "word", ["close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved"]
)
@pytest.mark.parametrize(
    "reference",
    ["#12", "GH-12", "owner/repo#12", "https://github.com/owner/repo/issues/12", "http://ghe.test/o/r/pull/1"],
)
@pytest.mark.parametrize("form", ["{} {}", "{}: {}", "**{}** {}", "{}\n{}", "{} ({})", "{} [{}](x)"])
def test_closing_words_close_nothing(word: str, reference: str, form: str) -> None:
    for spelled in (word, word.upper(), word.title()):
        shown = sanitize.markdown(form.format(spelled, reference))
        assert rendering.dangers(shown, HOSTS) == []
        visible = sanitize.visible(rendering.read(shown).text)
        assert spelled in visible, "the reader still sees what was written"


@pytest.mark.parametrize(
    "text",
    [
        "Plain words, 3 < 4 && 5 > 2, a_b_c and *emphasis*.",
        "Use `@pytest.fixture`, ``a`b`` and `Fixes #3`.",
        "```python\n@app.route('/')\ndef f(a: List[int]) -> None: ...  # Fixes #3 <b> http://x.test\n```",
        "1. Do this:\n\n   ```py\n   @decorated\n   ```\n2. Done.",
        "- one\n- two\n  1. three\n\n> quoted",
        "See #7, [the page](https://github.com/o/r/wiki) and [a file](../docs/use.md#top).",
        "| a | b |\n| - | - |\n| 1 | 2 |",
        "    indented code",
        "grüße, 日本語, naïve — “quoted” 🙂",
    ],
)
def test_harmless_text_stays_as_it_is(text: str) -> None:
    assert sanitize.markdown(text) == text.strip("\n")


def test_headings_do_not_look_like_sections_of_the_bots_own() -> None:
    shown = sanitize.markdown("## Evidence\n\nAll passed\n==========\n\n> # Quoted\n\n```\n# a comment\n```")
    assert "<h" not in rendering.html(shown)
    assert "# a comment" in shown
    assert "**Evidence**" in shown


def test_an_open_fence_is_closed() -> None:
    assert sanitize.markdown("```py\nx = 1") == "```py\nx = 1\n```"
    assert sanitize.markdown("~~~~\nx") == "~~~~\nx\n~~~~"


def test_invisible_characters_are_gone_everywhere() -> None:
    hidden = "a\u202eb\u2066c\u200bd\u00ade\U000e0041f\ufeffg\x1bh\x00i\ud800"
    assert sanitize.visible(hidden) == "abcdefghi\ufffd"
    assert sanitize.markdown(f"```\n{hidden}\n```") == "```\nabcdefghi\ufffd\n```"


def test_known_hosts_may_be_linked_and_others_are_shown() -> None:
    text = "[a](https://docs.test/x) https://docs.test/y https://other.test/z"
    shown = sanitize.markdown(text, HOSTS | {"docs.test"})
    assert rendering.read(shown).links == ["https://docs.test/x", "https://docs.test/y"]
    assert sanitize.visible(shown) == text


def test_clip_cuts_between_words() -> None:
    assert sanitize.clip("one two three", 9) == "one two…"
    assert sanitize.clip("one", 3) == "one"
    assert sanitize.clip("x" * 50, 10) == "x" * 9 + "…"


@pytest.mark.parametrize(
    "part", ["`" * 3 + "\n", "[a](", "![", "<a ", "> ", "@x ", "`a` ``", "| a ", "fixes ", "&#x41", "\\", "* "]
)
def test_long_hostile_text_takes_no_long_time(part: str) -> None:
    begin = time.monotonic()
    sanitize.markdown(part * (20_000 // len(part)))
    assert time.monotonic() - begin < 8
