"""A body that is brought up to date: what the bot wrote is replaced, what people wrote stays."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.publish.blocks import block, content
from bot.publish.proposal import BODY_CHARS, EVIDENCE, STATE, propose
from bot.publish.revised import REVISIONS, Revised, revised_body, was_draft
from tests.bot.publish.stories import DRAFT, READY

FIRST = Revised("a" * 40, "will", "", "| suite | new |", "Says more.")
SECOND = replace(FIRST, commit="b" * 40, asked_by="mary", state="**This is a draft.** Why:", account="Says less.")
BODY = propose(DRAFT).body


def test_what_the_bot_said_is_brought_up_to_date_and_each_revision_told() -> None:
    once = revised_body(BODY, FIRST)
    assert (content(once, STATE), content(once, EVIDENCE)) == ("", "| suite | new |")
    assert (was_draft(BODY), was_draft(once)) == (True, False)
    twice = revised_body(once, SECOND)
    assert content(twice, STATE) == SECOND.state
    told = content(twice, REVISIONS)
    assert told is not None
    assert told.count("## Revisions") == 1
    assert told.index("`aaaaaaaaaa`**, asked for by `will`") < told.index("`bbbbbbbbbb`**, asked for by `mary`")
    assert twice.count("Says more.") == 1


def test_what_people_wrote_stays_with_its_line_ends() -> None:
    body = f"Mine.\n\n{BODY}".replace("## Evidence", "## Evidence, checked by me").replace("\n", "\r\n")
    shown = revised_body(body, FIRST)
    assert shown.startswith("Mine.\r\n")
    assert "## Evidence, checked by me" in shown
    assert content(shown, EVIDENCE) == "| suite | new |"


def test_a_part_that_somebody_took_out_is_told_with_the_revision() -> None:
    shown = revised_body("All mine.", SECOND)
    assert shown.startswith("All mine.\n\n")
    told = content(shown, REVISIONS)
    assert told is not None
    assert SECOND.state in told
    assert SECOND.evidence in told
    assert not was_draft("All mine.")


def test_however_many_revisions_there_are_the_body_fits() -> None:
    body = propose(READY).body
    for number in range(40):
        body = revised_body(body, replace(FIRST, commit=f"{number:040}", account="x" * 3_000))
        assert len(body) <= BODY_CHARS
    assert "`0000000000`" in body
    assert content(body, EVIDENCE) == FIRST.evidence


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_what_a_revision_did_goes_before_the_first_transcript(ends: str) -> None:
    long = replace(READY, transcript="one step\n" * 20_000)
    body = propose(long).body.replace("\n", ends)
    assert "one step" in body
    shown = revised_body(body, replace(FIRST, account="x" * 6_000))
    assert len(shown) <= BODY_CHARS
    assert "x" * 6_000 in shown
    assert "one step" not in shown
    assert content(shown, EVIDENCE) == FIRST.evidence
    assert shown.count("<details>") == shown.count("</details>") == body.count("<details>") - 1


def test_text_that_looks_like_a_replacement_is_taken_as_it_is() -> None:
    odd = replace(FIRST, evidence=r"\1 \g<0>")
    assert content(revised_body(block(STATE, "x") + block(EVIDENCE, ""), odd), EVIDENCE) == odd.evidence
