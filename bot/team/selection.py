"""Which of several candidates to take: by the examples of the issue, then the project's tests, then generated ones.

The order is that of trust. Who wrote the issue knows what is wanted; the project's tests say what must not change;
generated tests are wrong now and then, so they only decide among candidates that are equal by the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Showing:
    """What running one candidate showed: for each test, in the same order for all candidates, whether it passed."""

    examples: Sequence[bool] = ()
    project: Sequence[bool] = ()
    generated: Sequence[bool] = ()

    @property
    def score(self) -> tuple[int, int, int]:
        """Greater is better."""
        return sum(self.examples), sum(self.project), sum(self.generated)


def ranked(showings: Sequence[Showing]) -> list[int]:
    """Positions of the candidates, the best first; of equal ones the earlier first."""
    return sorted(range(len(showings)), key=lambda one: showings[one].score, reverse=True)
