"""What holds for all tests."""

from __future__ import annotations

from hypothesis import settings

# How long one example takes says more about the machine's load than about the code.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")
