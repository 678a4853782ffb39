"""The pull request's text: golden files, and what must hold for any story."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from bot.llm.budget import Spent
from bot.publish.names import BRANCHES, SLUG_LIMIT, TITLE_LIMIT, branch, pull_request_title, slug
from bot.publish.proposal import BODY_CHARS, EVIDENCE, STATE, Changed, Story, body, cost_line, propose
from bot.publish.verdict import Level, OwnTest, baseline, judge
from tests.bot.publish import rendering
from tests.bot.publish.stories import (
    BEFORE,
    DRAFT,
    FAILED,
    GOLDEN,
    NEW,
    PASSED,
    READY,
    TEMPLATE,
    TEXTS,
    as_file,
    report,
)

OWN_TAGS = ["<sub>", "<details>", "<summary>"]
OWN_COMMENTS = [f" agent-fix:{end}{name} " for name in (STATE, EVIDENCE) for end in ("", "end ")]


@pytest.mark.parametrize("name", TEXTS)
def test_the_text_is_the_one_that_was_looked_at(name: str) -> None:
    assert as_file(TEXTS[name]) == (GOLDEN / f"{name}.md").read_text("utf-8")


def test_the_stories_are_what_they_are_called() -> None:
    assert (READY.verdict.level, DRAFT.verdict.level) == (Level.READY, Level.DRAFT)


class TestBody:
    def test_a_closing_word_stands_only_where_it_works(self) -> None:
        assert re.findall(r"(?m)^.*#218$", body(READY)) == ["Closes #218"]
        assert re.findall(r"(?m)^.*#218$", body(replace(READY, closes=False))) == ["For #218"]
        assert "#" not in re.sub(r"(?m)^## ", "", body(DRAFT))

    def test_the_diagnosis_has_three_sentences(self) -> None:
        assert "Names without quotes were not affected." in body(READY)
        assert "And so on" not in body(READY)

    def test_a_draft_says_first_what_is_missing(self) -> None:
        shown = body(DRAFT)
        assert shown.splitlines()[1].startswith("**This is a draft.**")
        assert "`setup.cfg` was changed" in shown
        assert "20 tests passed before the change and fail now" in shown

    def test_variants_of_a_test_are_told_together(self) -> None:
        variants = [f"{NEW}[{number}]" for number in range(12)]
        after = report({**BEFORE, **dict.fromkeys(variants, PASSED)}, 13.1)
        alone = report({**dict.fromkeys(variants[:9], FAILED), **dict.fromkeys(variants[9:], PASSED)}, 0.4)
        verdict = judge(baseline(report(BEFORE, 12.3)), after, own=variants, own_without=alone, stated="it fails")
        shown = body(replace(READY, verdict=verdict))
        assert "fail without it (9): " not in shown
        assert f"`{NEW}` (9 variants), without it, for example: `assert" in shown
        assert f"`{NEW}` (3 variants), passes with and without the change" in shown

    def test_long_lists_are_counted(self) -> None:
        shown = body(DRAFT)
        assert "Passed before, fail now (20):" in shown
        assert "and 8 more" in shown

    def test_what_two_roles_say_alike_is_said_once(self) -> None:
        doubts = ["A year of two digits is not read.", "", "A year of two digits is not read.", *map(str, range(99))]
        shown = body(replace(READY, doubts=tuple(doubts), notes=()))
        assert shown.count("A year of two digits") == 1
        assert f"and {100 - 12} more" in shown

    def test_what_is_too_long_is_cut_where_it_matters_least(self) -> None:
        story = replace(READY, transcript="step after step\n" * 20_000)
        shown = body(story)
        assert BODY_CHARS - 300 < len(shown) <= BODY_CHARS
        assert shown.endswith("\n```\n\n</details>")
        assert body(READY).partition("<summary>Transcript")[0] == shown.partition("<summary>Transcript")[0]


class TestTemplate:
    shown = body(READY, TEMPLATE)

    def test_its_sections_stay_in_their_order(self) -> None:
        headings = re.findall(r"(?m)^## (.*)", self.shown)
        kept = [heading for heading in headings if f"## {heading}\n" in TEMPLATE]
        assert kept == re.findall(r"(?m)^## (.*)", TEMPLATE)

    def test_they_are_answered(self) -> None:
        description, _, rest = self.shown.partition("## Type of change")
        assert "looked for the next" in description
        assert "Please describe" not in self.shown
        assert "| suite | before" in rest.partition("## How has this been tested?")[2].partition("## Deployment")[0]

    def test_checklists_are_left_to_people(self) -> None:
        assert self.shown.count("- [ ] ") == TEMPLATE.count("- [ ] ")
        assert "[x]" not in self.shown

    def test_what_nobody_answers_is_kept_and_comments_are_not(self) -> None:
        assert "Deployments happen on Mondays" in self.shown
        assert "Thank you!" not in self.shown

    @pytest.mark.parametrize("template", ["", "   \n", "<!-- only a comment -->", "<!-- open"])
    def test_an_empty_template_is_none(self, template: str) -> None:
        assert body(READY, template) == body(READY)

    def test_a_template_without_headings_comes_after(self) -> None:
        shown = body(READY, "Please sign the agreement.")
        assert shown.index("looked for the next") < shown.index("Please sign the agreement.")

    def test_its_own_links_stay_links(self) -> None:
        form = "## Deployment\n\nSee [the guide](https://docs.example.org/deploy) first, @octocat.\n"
        shown = body(replace(READY, changes="See https://evil.example/x"), form)
        assert "[the guide](https://docs.example.org/deploy)" in shown
        assert "https://evil.example" not in shown
        assert "@octocat" not in shown

    def test_a_form_without_headings_is_filled_in(self) -> None:
        form = "Fixes #\n\nChanges proposed in this pull request:\n\n* \n* \n* \n\nThank you!\n"
        shown = body(READY, form)
        assert shown.count("Closes #218") == 1
        assert "Fixes #" not in shown
        assert "Changes proposed in this pull request:\n\nThe scanner now carries" in shown
        assert "## What changed" not in shown
        assert not re.search(r"(?m)^\* *$", shown)
        assert "Thank you!" in shown

    @pytest.mark.parametrize(
        "line", ["Fixes #", "Closes #(issue)", "- Resolves: #", "Fixes issue #", "Related to #", "fixes #<number>"]
    )
    def test_a_number_that_is_wanted_is_given_once(self, line: str) -> None:
        shown = body(READY, f"{line}\n")
        assert shown.count("#218") == 1
        assert line not in shown
        assert line not in body(READY, f"## Deployment\n\n{line}\n\nOn Mondays.\n")

    @pytest.mark.parametrize("line", ["Fixes #12", "See issue #7.", "Issues are tracked elsewhere: really", "# Fixes"])
    def test_what_is_said_stays(self, line: str) -> None:
        assert line.lstrip("# ").split("#")[0] in body(READY, f"{line}\n")

    def test_a_link_goes_where_the_template_asks_for_it(self) -> None:
        shown = body(READY, "## Related issue\n\nFixes #\n\n## Summary\n")
        assert "## Related issue\n\nCloses #218\n\n## Summary\n\n`split()`" in shown


HOSTILE = [
    "@octocat",
    "Fixes #1",
    "closes owner/repo#2",
    "</details>",
    "<!--",
    "```",
    "``",
    "`",
    "# Evidence",
    "[x]: http://evil.test",
    "![x](http://evil.test/x.png)",
    "http://evil.test",
    "</sub>",
    "|",
    "\n",
    "\n\n",
    "\u202e",
    "\ud800",
    "- ",
    "> ",
    "word",
    "<<<<",
    "@a",
]
pieces = st.lists(st.lists(st.sampled_from(HOSTILE), max_size=8).map(" ".join), min_size=1, max_size=6)


def hostile_story(pieces: list[str], times: int, count: int, level: Level) -> Story:
    """A story all of whose texts are made of `pieces`, each repeated, in lists of `count`."""
    texts = itertools.cycle(" ".join([piece] * times) for piece in pieces)

    def several() -> tuple[str, ...]:
        return tuple(itertools.islice(texts, count))

    own = tuple(OwnTest(one, number % 2 == 0, True, None, next(texts), True) for number, one in enumerate(several()))
    lists = {name: several() for name in ("reasons", "repaired", "broken", "gone", "muted", "still_failing", "not_run")}
    return Story(
        task=replace(READY.task, title=next(texts)),
        verdict=replace(DRAFT.verdict, level=level, own=own, **lists),
        strategy=next(texts),
        title=next(texts),
        diagnosis=next(texts),
        changes=next(texts),
        files=tuple(Changed(path, 1, 2) for path in several()),
        plan=several(),
        doubts=several(),
        measured=several(),
        notes=several(),
        spent={"analyst": Spent(1, 2, 3)},
        models={"analyst": next(texts)},
        transcript=next(texts) * 3,
    )


@settings(max_examples=60, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(pieces=pieces, times=st.sampled_from([1, 3, 100, 1000]), count=st.integers(0, 30), level=st.sampled_from(Level))
@example(pieces=["`" * 9], times=1000, count=30, level=Level.DRAFT)
@example(pieces=["@a"], times=1000, count=30, level=Level.DRAFT)
@example(pieces=["<a"], times=1000, count=30, level=Level.READY)
@example(pieces=["word"], times=1000, count=30, level=Level.DRAFT)
def test_no_story_makes_a_text_that_is_too_long_or_does_anything(
    pieces: list[str], times: int, count: int, level: Level
) -> None:
    form = "\n".join(pieces).replace("evil.test", "own.test") * times
    text = propose(hostile_story(pieces, times, count, level), template=form)
    assert len(text.body) <= BODY_CHARS
    assert len(text.title) <= TITLE_LIMIT
    text.body.encode()
    assert text.body.count("Closes #218") == 1
    found = rendering.dangers(text.body.replace("Closes #218", ""), frozenset({"github.com"}))
    found = [one for one in found if not one.startswith("http://own.test")]
    assert [one for one in found if one not in (*OWN_TAGS, *OWN_COMMENTS)] == []
    assert not rendering.MENTION.search(text.title)
    assert not rendering.CLOSING.search(text.title)
    alone = rendering.html(body(hostile_story(pieces, times, count, level)))
    assert re.findall(r"<h2>(.*?)</h2>", alone).count("Evidence") <= 1


class TestNames:
    @pytest.mark.parametrize(
        ("proposed", "title"),
        [
            ("Fix the parser", "Fix the parser"),
            ("fixes the parser.", "Fix the parser"),
            ("Fixed   the\nparser", "Fix the parser"),
            ("Handling empty lines", "Handle empty lines"),
            ("Carries on", "Carries on"),
            ("Applied patches", "Applied patches"),
            ("Stopped the loop", "Stop the loop"),
            ("Made it work", "Make it work"),
            ("Retries are kept", "Retries are kept"),
            ("Fix #12: fix acme/repo#3 and <b>GH-4</b>", "Fix issue 12: fix issue 3 and issue 4"),
            ("Keep @property", "Keep @\u200bproperty"),
            ("", "Fix: split() breaks quoted names"),
            ("...", "Fix: split() breaks quoted names"),
        ],
    )
    def test_titles_are_short_imperatives_that_refer_to_nobody(self, proposed: str, title: str) -> None:
        assert pull_request_title(proposed, READY.task) == title

    def test_a_title_is_cut_between_words(self) -> None:
        title = pull_request_title("Fix " + "very " * 30 + "long", READY.task)
        assert len(title) <= TITLE_LIMIT
        assert title.endswith("very…")

    def test_an_issue_without_words_still_gets_a_title(self) -> None:
        assert pull_request_title("", replace(READY.task, title="\u200b")) == "Fix: the reported defect"

    @given(text=st.text())
    def test_slugs_are_safe_in_any_branch_name(self, text: str) -> None:
        made = slug(text)
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", made)
        assert len(made) <= SLUG_LIMIT

    def test_slugs_keep_what_can_be_kept(self) -> None:
        assert slug("Größe: naïve `split()` of a/b..c.lock") == "große-naive-split-of-a-b-c-lock".replace("ß", "")
        assert slug("日本語") == "change"
        assert slug("one two " * 10) == "one-two-one-two-one-two-one-two-one-two"

    def test_branches_take_the_next_free_name(self) -> None:
        assert branch(READY.task) == BRANCHES + "issue-218"
        taken = {BRANCHES + "issue-218", BRANCHES + "issue-218-2"}
        assert branch(READY.task, taken) == BRANCHES + "issue-218-3"
        assert branch(DRAFT.task) == BRANCHES + "split-breaks-quoted-names"


@pytest.mark.parametrize(
    ("spent", "minutes", "line"),
    [
        ({}, 0.2, "12 s, 0 model calls, 0 tokens in, 0 out, $0.00"),
        ({"a": Spent(2, 1000, 10, 0, 0.5)}, 2, "2 min, 2 model calls, 1,000 tokens in, 10 out, $0.50"),
        ({"a": Spent(2, 10, 1, 5, 0.0, 2)}, 2, "2 min, 2 model calls, 10 tokens in (5 cached), 1 out, price not known"),
        (
            {"a": Spent(2, 10, 1, 0, 0.1), "b": Spent(1, 5, 1, 0, 0.0, 1)},
            3,
            "3 min, 3 model calls, 15 tokens in, 2 out, $0.10 and 1 calls of unknown price",
        ),
    ],
)
def test_the_cost_is_told_in_one_line(spent: dict[str, Spent], minutes: float, line: str) -> None:
    assert cost_line(spent, minutes) == line


def test_a_draft_may_be_one_for_other_reasons_than_its_tests() -> None:
    text = propose(replace(READY, missing=("The tester was not convinced: the empty line.",)))
    assert text.draft
    assert text.body.splitlines()[1].startswith("**This is a draft.**")
    assert "- The tester was not convinced: the empty line." in text.body
    assert not propose(READY).draft
