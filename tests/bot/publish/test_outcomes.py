"""Every outcome has its words, and they are not to be confused."""

from __future__ import annotations

import pytest

from bot.publish.outcomes import PRESENTATIONS
from bot.task import Outcome

NEXT_MOVE = {
    Outcome.FIXED: "Review the pull request and merge it.",
    Outcome.DRAFT: "then finish it, ask for a revision, or close it.",
    Outcome.GAVE_UP: "or name a stronger model, and start again.",
    Outcome.NO_CHANGE_NEEDED: "Close the issue if they convince you, or say in it what is still wrong and start again.",
    Outcome.NOT_REPRODUCED: "Add to the issue the exact input, the version, and the expected and actual result",
    Outcome.ENVIRONMENT_FAILED: "correct the set-up commands in `.github/agent-fix.yml`",
    Outcome.TESTS_UNRUNNABLE: "Set the test command in `.github/agent-fix.yml`, or mend the suite",
    Outcome.OVER_BUDGET: "Make the issue smaller or more exact, or raise the budget",
    Outcome.TIMED_OUT: "Name a faster test command in `.github/agent-fix.yml`, or raise the limit",
    Outcome.CANCELLED: "Start it again when you want it.",
    Outcome.REFUSED: "change it, or have the run started by someone who may.",
    Outcome.ERROR: "Read the error in the transcript, run `agent-fix doctor`, and start again.",
}


@pytest.mark.parametrize("outcome", Outcome)
def test_each_outcome_names_the_next_move(outcome: Outcome) -> None:
    assert NEXT_MOVE[outcome] in PRESENTATIONS[outcome].text


def test_exit_codes_tell_the_outcomes_apart() -> None:
    codes = {outcome: shown.exit_code for outcome, shown in PRESENTATIONS.items()}
    assert len(set(codes.values())) == len(Outcome)
    assert codes[Outcome.FIXED] == 0
    assert 2 not in codes.values(), "2 is a usage error of the command line"
    assert all(0 <= code < 126 for code in codes.values()), "the shell gives those above a meaning of its own"


def test_only_a_verified_change_is_green() -> None:
    assert [one for one, shown in PRESENTATIONS.items() if shown.conclusion == "success"] == [Outcome.FIXED]


def test_nothing_that_lets_a_required_check_pass_stands_on_a_draft() -> None:
    assert PRESENTATIONS[Outcome.DRAFT].conclusion not in ("success", "neutral")


def test_pull_requests_are_opened_for_changes_only() -> None:
    assert {one for one, shown in PRESENTATIONS.items() if shown.opens_pull_request} == {Outcome.FIXED, Outcome.DRAFT}
