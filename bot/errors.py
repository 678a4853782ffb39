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


class BadInput(AgentFixError):
    """Unusable input from the user; nothing was started and nothing is lost."""


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
