"""Which files are a project's tests, as far as who may write them goes: what serves tests counts too, data included."""

from __future__ import annotations

import posixpath
import re

from repo_tools.languages import language_of

TEST = re.compile(
    r"(^|/)(tests?|testing|specs?|e2e|__tests__|__mocks__|__snapshots__|test[_-]?data)/|(^|/)(test_[^/]*|[^/]*_test|[^/]*[._](test|spec)|conftest)\.[A-Za-z]+$"
)

DATA = re.compile(r"(^|/)(data|fixtures|resources|golden|cassettes|test[_-]?data|__mocks__|__snapshots__)/")
UNPARSED = (".kt", ".kts", ".swift", ".scala", ".groovy", ".exs", ".dart", ".jl", ".lua", ".t", ".sh", ".bats")
"""Endings of code that may be tests, in languages that are not parsed here."""


def is_test(path: str) -> bool:
    """Whether a file holds tests or serves them."""
    return TEST.search(path) is not None


def serves_tests(path: str) -> bool:
    """Whether a test file, by its path, holds no tests and serves those of others: data, fixtures, a package's mark."""
    name = posixpath.basename(path)
    if name.startswith(("conftest.", "__init__.")):
        return True
    is_code = language_of(name) is not None or name.endswith(UNPARSED)
    # Code may be data, too, as for tests of what reads code.
    return not is_code or (DATA.search(path) is not None and re.search(r"test|spec", name, re.IGNORECASE) is None)
