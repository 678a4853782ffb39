"""How each outcome of a run is told: to a reader, to a shell, to a check run. Its label is its own value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from bot.task import Outcome

Conclusion = Literal["success", "neutral", "failure", "cancelled", "timed_out", "action_required"]


@dataclass(frozen=True)
class Presentation:
    """What stands for an outcome, the same everywhere it is shown."""

    headline: str
    """Two to four words."""
    meaning: str
    move: str
    """The reader's next one."""
    exit_code: int
    """Of the command line; 0 for `FIXED` alone, 2 is left to the shell's own usage errors."""
    opens_pull_request: bool
    conclusion: Conclusion
    """Of a check run. Green only where a verified change exists; `neutral` passes a required check, so it is never
    used where something is missing from a pull request."""

    @property
    def text(self) -> str:
        """What it means, then the reader's next move."""
        return f"{self.meaning} {self.move}"


PRESENTATIONS: Mapping[Outcome, Presentation] = MappingProxyType(
    {
        Outcome.FIXED: Presentation(
            headline="Fixed",
            meaning="A change was made and verified: nothing that passed is lost, and a new test fails without it.",
            move="Review the pull request and merge it.",
            exit_code=0,
            opens_pull_request=True,
            conclusion="success",
        ),
        Outcome.DRAFT: Presentation(
            headline="Draft",
            meaning="A change was made, but not everything that a ready one needs was shown.",
            move="Read what is missing at the top of the pull request, "
            "then finish it, ask for a revision, or close it.",
            exit_code=3,
            opens_pull_request=True,
            conclusion="action_required",
        ),
        Outcome.GAVE_UP: Presentation(
            headline="Gave up",
            meaning="No change was found that is worth showing; what was tried stands in the transcript.",
            move="Say more in the issue, for instance where the fault lies, or name a stronger model, and start again.",
            exit_code=12,
            opens_pull_request=False,
            conclusion="failure",
        ),
        Outcome.NO_CHANGE_NEEDED: Presentation(
            headline="No change needed",
            meaning="The code was found to do already what the issue asks for; the reasons are given.",
            move="Close the issue if they convince you, or say in it what is still wrong and start again.",
            exit_code=4,
            opens_pull_request=False,
            conclusion="neutral",
        ),
        Outcome.NOT_REPRODUCED: Presentation(
            headline="Could not reproduce",
            meaning="No test could be made to fail in the way that the issue describes.",
            move="Add to the issue the exact input, the version, and the expected and actual result, then start again.",
            exit_code=5,
            opens_pull_request=False,
            conclusion="neutral",
        ),
        Outcome.ENVIRONMENT_FAILED: Presentation(
            headline="Environment failed",
            meaning="The project could not be set up in the sandbox, so nothing was tried.",
            move="Read the end of the log, correct the set-up commands in `.github/agent-fix.yml`, and start again.",
            exit_code=6,
            opens_pull_request=False,
            conclusion="failure",
        ),
        Outcome.TESTS_UNRUNNABLE: Presentation(
            headline="Tests cannot be run",
            meaning="The project was set up, but its test command gave no result on the unchanged code.",
            move="Set the test command in `.github/agent-fix.yml`, or mend the suite, and start again.",
            exit_code=7,
            opens_pull_request=False,
            conclusion="failure",
        ),
        Outcome.OVER_BUDGET: Presentation(
            headline="Over budget",
            meaning="The run's money, tokens or calls were spent before there was a change worth showing.",
            move="Make the issue smaller or more exact, or raise the budget, and start again.",
            exit_code=8,
            opens_pull_request=False,
            conclusion="failure",
        ),
        Outcome.TIMED_OUT: Presentation(
            headline="Timed out",
            meaning="The run's minutes were spent before there was a change worth showing.",
            move="Name a faster test command in `.github/agent-fix.yml`, or raise the limit, and start again.",
            exit_code=9,
            opens_pull_request=False,
            conclusion="timed_out",
        ),
        Outcome.CANCELLED: Presentation(
            headline="Cancelled",
            meaning="The run was stopped on request; nothing was published.",
            move="Start it again when you want it.",
            exit_code=10,
            opens_pull_request=False,
            conclusion="cancelled",
        ),
        Outcome.REFUSED: Presentation(
            headline="Refused",
            meaning="A rule of this repository or of its configuration does not allow this run; nothing was published.",
            move="The rule is named: change it, or have the run started by someone who may.",
            exit_code=11,
            opens_pull_request=False,
            conclusion="action_required",
        ),
        Outcome.ERROR: Presentation(
            headline="Error",
            meaning="The bot itself failed; this says nothing about the issue.",
            move="Read the error in the transcript, run `agent-fix doctor`, and start again.",
            exit_code=1,
            opens_pull_request=False,
            conclusion="failure",
        ),
    }
)
