"""Which files are a project's tests, as far as who may write them goes: what serves tests counts too, data included."""

from __future__ import annotations

import re

TEST = re.compile(
    r"(^|/)(tests?|testing|spec|__tests__)/|(^|/)(test_[^/]*|[^/]*_test|[^/]*[._](test|spec)|conftest)\.[A-Za-z]+$"
)


def is_test(path: str) -> bool:
    """Whether a file holds tests or serves them."""
    return TEST.search(path) is not None
