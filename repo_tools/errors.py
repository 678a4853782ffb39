"""What can be wrong with a repository, or with what was asked of it.

CheckoutError
├── NotARepository      the folder holds no git repository
├── NoCommits           there is nothing yet to start from
├── UnknownRevision     no commit of that name
├── NameRefused         a name, address or path that is never handed to git
├── BranchBlocked       an existing branch leaves no room for the new one
├── PushRefused         the remote did not take the branch
└── GitFailed           git itself said no, is too slow or is not there
"""

from __future__ import annotations


class CheckoutError(Exception):
    """An error whose text says what happened and names the reader's next move."""


class NotARepository(CheckoutError):
    """The folder holds no git repository."""


class NoCommits(CheckoutError):
    """The repository has no commit to start from."""


class UnknownRevision(CheckoutError):
    """The repository has no commit of that name."""


class NameRefused(CheckoutError):
    """A name, address or path that is never handed to git."""


class BranchBlocked(CheckoutError):
    """An existing branch leaves no room for the new one."""


class PushRefused(CheckoutError):
    """The remote did not take the branch; the text carries its reason."""


class GitFailed(CheckoutError):
    """A git command failed; the text carries its last words."""
