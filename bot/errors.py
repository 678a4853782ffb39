"""The ways in which a run ends other than by its own verdict.

AgentFixError
├── BadInput             what the user gave cannot be used; nothing was started
├── Refused              policy forbids it
├── ModelFailed          the provider did not answer after the library's retries
├── OverBudget           money, tokens or calls are spent
├── TimedOut             the minutes of the run are spent
├── NoProgress           the same again and again
├── Cancelled            somebody asked the run to stop
└── Diverged             a replay or a resumed run differs from its record
"""

from __future__ import annotations


class AgentFixError(Exception):
    """An error whose text says what happened and names the reader's next move."""

    def __init__(self, *args: object, public: str = "") -> None:
        """`public` is what may be said of it where everyone reads, if its text names what is of this machine alone."""
        super().__init__(*args)
        self._public = public

    @property
    def public(self) -> str:
        """What may be said of it where everyone reads: no address and no path of the machine that the bot runs on."""
        return self._public or str(self)


class BadInput(AgentFixError):
    """Unusable input from the user; nothing was started and nothing is lost."""

    @property
    def public(self) -> str:
        """Its text mostly names a file."""
        return self._public or "Something that the bot was given on its own machine cannot be used; its log says what."


class Refused(AgentFixError):
    """A policy of the project or of its configuration forbids what was asked."""


class ModelFailed(AgentFixError):
    """The model's provider did not give a usable answer."""


class OverBudget(AgentFixError):
    """Money, tokens or calls of the run are spent."""


class TimedOut(AgentFixError):
    """The run's minutes are spent."""


class NoProgress(AgentFixError):
    """A role repeats itself, or rounds pass without change."""


class Cancelled(AgentFixError):
    """The run was asked to stop."""


class Diverged(AgentFixError):
    """A replay or a resumed run took another way than its record; names the first step that differs."""


def public(error: Exception) -> str:
    """What may be said of any error where everyone reads: of one that says nothing for that, what it is called."""
    said = getattr(error, "public", "")
    return said if isinstance(said, str) and said else type(error).__name__
