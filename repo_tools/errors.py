"""What can be wrong with a repository, or with what was asked of it.

CheckoutError
├── NotARepository      the folder holds no git repository
├── NoCommits           there is nothing yet to start from
├── UnknownRevision     no commit of that name
├── NameRefused         a name, address or path that is never handed to git
├── BranchBlocked       an existing branch leaves no room for the new one
├── AccessDenied        the remote does not let this credential in
├── PushRefused         the remote did not take the branch
│   └── BranchMoved     the remote's branch is not where it was expected to be
└── GitFailed           git itself said no, is too slow or is not there
    └── ObjectMissing   the repository does not hold what it names, as a partial clone
"""

from __future__ import annotations


class CheckoutError(Exception):
    """An error whose text says what happened and names the reader's next move."""

    @property
    def public(self) -> str:
        """What may be said of it where everyone reads: no path of the machine."""
        return str(self)


class NotARepository(CheckoutError):
    """The folder holds no git repository."""

    @property
    def public(self) -> str:
        """Its text names the folder."""
        return "a folder of the bot's holds no git repository; the bot's log says which"


class NoCommits(CheckoutError):
    """The repository has no commit to start from."""


class UnknownRevision(CheckoutError):
    """The repository has no commit of that name."""


class NameRefused(CheckoutError):
    """A name, address or path that is never handed to git."""


class BranchBlocked(CheckoutError):
    """An existing branch leaves no room for the new one."""


class AccessDenied(CheckoutError):
    """The remote does not let this credential in, or shows it no such repository."""


class PushRefused(CheckoutError):
    """The remote did not take the branch; the text carries its reason."""


class BranchMoved(PushRefused):
    """The remote's branch is not at the commit at which it was expected; nothing was pushed."""


class GitFailed(CheckoutError):
    """A git command failed; the text carries its last words."""

    @property
    def public(self) -> str:
        """Git's words may name its own files, or a proxy."""
        return "git failed; the bot's log has its words"


class ObjectMissing(GitFailed):
    """The contents of a file are not in the repository: the clone is partial or damaged."""
