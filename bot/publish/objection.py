"""What may speak against publishing a patch."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Objection:
    """One thing in a patch that a maintainer did not ask for."""

    path: str
    """Empty if it is about the patch as a whole."""
    rule: str
    """The name of the rule."""
    text: str
    """What was found, in one sentence."""
    blocks: bool
    """True: nothing is published. False: the pull request is a draft and says so."""
