"""Which files are tests, or serve them, by their paths."""

from __future__ import annotations

import pytest

from repo_tools.test_files import is_test, serves_tests


@pytest.mark.parametrize(
    ("path", "serves"),
    [
        ("tests/test_sum.py", False),
        ("tests/helpers.py", False),
        ("test/sum.js", False),
        ("src/sum.test.ts", False),
        ("sum_test.go", False),
        ("spec/sum_spec.rb", False),
        ("src/test/kotlin/SumTest.kt", False),
        ("tests/data/test_loading.py", False),
        ("src/test/java/data/SumTest.java", False),
        ("tests/data/broken.py", True),
        ("pkg/testdata/src/a.go", True),
        ("tests/conftest.py", True),
        ("tests/__init__.py", True),
        ("tests/data/sum.json", True),
        ("pkg/testdata/sum.golden", True),
        ("pkg/test_data/sum.csv", True),
        ("src/__snapshots__/sum.test.ts.snap", True),
    ],
)
def test_tests_and_what_serves_them(path: str, serves: bool) -> None:
    assert (is_test(path), serves_tests(path)) == (True, serves)


@pytest.mark.parametrize("path", ["sum.py", "src/latest/sum.py", "docs/testing.md", "contest.py", "special/sum.py"])
def test_what_is_neither(path: str) -> None:
    assert not is_test(path)
