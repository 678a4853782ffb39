"""agent-fix: a labelled issue in, a tested pull request with its evidence out."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("agent-fix")
except PackageNotFoundError:  # run from a checkout that is not installed
    __version__ = "0+checkout"
