"""The ways in which a sandbox itself fails; a test that fails is a report, not an error.

SandboxError
├── SandboxUnavailable   no engine, no base image: nothing was tried
├── BadRecipeFile        .github/agent-fix.yml is wrong; says where
├── SetupFailed          the project's set-up did not succeed; carries the log
├── TestsUnrunnable      no recipe led to a test run; says what was tried
├── SandboxDied          the container went away under a run
└── SandboxStopped       it was told to stop
"""

from __future__ import annotations


class SandboxError(Exception):
    """A failure of the sandbox. `str()` says what happened and names the next move."""

    @property
    def public(self) -> str:
        """What may be said of it where everyone reads: no address and no path of the machine."""
        return str(self)


class SandboxUnavailable(SandboxError):
    """The engine or the base image cannot be had."""

    @property
    def public(self) -> str:
        """Its text names the engine's address, or what the engine says of its own files."""
        return "the container engine or its base image cannot be used: `agent-fix doctor` says on that machine why"


class BadRecipeFile(SandboxError):
    """The recipe that a project wrote itself cannot be used; names the line and what to write."""


class SetupFailed(SandboxError):
    """The set-up of a project did not succeed."""

    def __init__(self, message: str, log: str) -> None:
        super().__init__(message, log)  # all arguments: what a step raised is stored and made anew from them
        self.log = log

    def __str__(self) -> str:
        return str(self.args[0])


class TestsUnrunnable(SandboxError):
    """No way was found to run the project's tests."""

    __test__ = False  # pytest would take the name for a test class


class SandboxDied(SandboxError):
    """The container was killed or lost while a command ran in it."""


class SandboxStopped(SandboxError):
    """Somebody told the sandbox to stop: the command was ended and no other will start."""
