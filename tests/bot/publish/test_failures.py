"""Failure texts as pytest really writes them, and what is read from each."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from bot.publish.failures import GIST_LIMIT, FailureKind, is_right_reason, read_failure

MODULE = """
import unittest
import pytest
import product

class Bad(Exception): pass

def called(a): pass

@pytest.fixture
def broken_fixture(): raise ValueError("no")

def test_assertion(): assert 1 == 2
def test_message(): assert [1] == [2], "name 'other' is not defined"
def test_not_raised():
    with pytest.raises(ValueError): pass
def test_wrong_message():
    with pytest.raises(ValueError, match="x"): raise ValueError("y")
def test_fail(): pytest.fail("no good")
def test_key(): {}["a"]
def test_none(): None.strip()
def test_custom(): raise Bad("two\\nlines")
def test_chained():
    try: {}["a"]
    except KeyError as error: raise Bad("outer") from error
def test_name(): _helper(1)
def test_attribute(): product._helper
def test_method(): product.Thing()._helper
def test_import():
    from product import _helper
def test_module(): import nosuch.part
def test_keyword(): called(a=1, strict=True)
def test_arguments(): called(1, 2)
def test_fixture_missing(nosuch): pass
def test_fixture_broken(broken_fixture): pass
@pytest.mark.timeout(0.1)
def test_endless():
    while True: pass
class Case(unittest.TestCase):
    def test_equal(self): self.assertEqual(1, 2)
"""

KINDS = {
    "test_assertion": FailureKind.ASSERTION,
    "test_message": FailureKind.ASSERTION,
    "test_not_raised": FailureKind.ASSERTION,
    "test_wrong_message": FailureKind.ASSERTION,
    "test_fail": FailureKind.ASSERTION,
    "test_equal": FailureKind.ASSERTION,
    "test_key": FailureKind.EXCEPTION,
    "test_none": FailureKind.EXCEPTION,
    "test_custom": FailureKind.EXCEPTION,
    "test_chained": FailureKind.EXCEPTION,
    "test_name": FailureKind.MISSING,
    "test_attribute": FailureKind.MISSING,
    "test_method": FailureKind.MISSING,
    "test_import": FailureKind.MISSING,
    "test_module": FailureKind.MISSING,
    "test_keyword": FailureKind.MISSING,
    "test_arguments": FailureKind.MISSING,
    "test_fixture_missing": FailureKind.FIXTURE,
    "test_fixture_broken": FailureKind.FIXTURE,
    "test_endless": FailureKind.TIMEOUT,
}


def run_pytest(folder: Path) -> dict[str, str]:
    """Test name (of an uncollected file, its stem) -> failure message and text."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=out.xml", "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    assert (folder / "out.xml").exists(), done.stdout + done.stderr
    return {
        case.get("name", ""): f"{child.get('message')}\n{child.text}"
        for case in ElementTree.parse(folder / "out.xml").iter("testcase")
        for child in case
    }


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("failing")
    (folder / "product.py").write_text("class Thing: pass\n")
    (folder / "test_all.py").write_text(MODULE)
    return run_pytest(folder)


@pytest.mark.parametrize("test", KINDS)
def test_each_kind_of_failure_is_told_apart(texts: dict[str, str], test: str) -> None:
    assert read_failure(texts[test]).kind is KINDS[test], texts[test]


def test_the_gist_is_the_line_that_a_person_looks_for(texts: dict[str, str]) -> None:
    gists = {test: read_failure(text).gist for test, text in texts.items()}
    assert gists["test_assertion"] == "assert 1 == 2"
    assert gists["test_key"] == "KeyError: 'a'"
    assert gists["test_chained"] == "test_all.Bad: outer"
    assert gists["test_equal"] == "AssertionError: 1 != 2"
    assert all("\n" not in gist and len(gist) <= GIST_LIMIT for gist in gists.values())


@pytest.mark.parametrize(
    ("name", "source", "kind", "missing"),
    [
        ("test_import", "from product import _helper\n", FailureKind.MISSING, "_helper"),
        ("test_syntax", "def test_x(:\n", FailureKind.COLLECTION, ""),
        ("test_raises", "raise ValueError('at import')\n", FailureKind.COLLECTION, ""),
    ],
)
def test_a_file_that_cannot_be_collected(
    tmp_path: Path, name: str, source: str, kind: FailureKind, missing: str
) -> None:
    (tmp_path / "product.py").write_text("")
    (tmp_path / f"{name}.py").write_text(source)
    failure = read_failure(run_pytest(tmp_path)[name], collected=False)
    assert (failure.kind, failure.missing) == (kind, missing)
    assert not is_right_reason(failure, "parse() gives the wrong answer")


@pytest.mark.parametrize(
    ("test", "stated", "right"),
    [
        ("test_assertion", "anything", True),
        ("test_key", "lookup crashes", True),
        ("test_key", "lookup ends in a KeyError", True),
        ("test_key", "lookup ends in a ValueError", False),
        ("test_custom", "it raises `Bad`, not ValueError", True),
        ("test_none", "strip of nothing crashes", True),
        ("test_name", "parse() gives the wrong answer", False),
        ("test_attribute", "parse() gives the wrong answer", False),
        ("test_import", "ImportError when used", False),
        ("test_import", "Please add `_helper` to product", True),
        ("test_method", "It ends in AttributeError", True),
        ("test_keyword", "Add an option strict to called()", True),
        ("test_keyword", "Make it restricted", False),
        ("test_fixture_missing", "nosuch", False),
        ("test_fixture_broken", "ValueError", False),
        ("test_endless", "It never returns", True),
        ("test_endless", "It returns 3", False),
    ],
)
def test_whether_a_failure_is_the_one_that_the_issue_is_about(
    texts: dict[str, str], test: str, stated: str, right: bool
) -> None:
    assert is_right_reason(read_failure(texts[test]), stated) is right


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Traceback (most recent call last):\n  File 'a.py', line 3, in f\nKeyError: 'x'\n", FailureKind.EXCEPTION),
        ("Error: expect(received).toBe(expected)\n\nExpected: 1\nReceived: 2", FailureKind.ASSERTION),
        ("AssertionError [ERR_ASSERTION]: 1 == 2", FailureKind.ASSERTION),
        ("ReferenceError: helper is not defined\n    at Object.<anonymous>", FailureKind.MISSING),
        ("TypeError: program.helper is not a function", FailureKind.MISSING),
        ("./ip_test.go:14:9: undefined: helper", FailureKind.MISSING),
        ("ip_test.go:14: got 1, want 2", FailureKind.ASSERTION),
        ("", FailureKind.ASSERTION),
    ],
)
def test_texts_of_other_runners(text: str, kind: FailureKind) -> None:
    assert read_failure(text).kind is kind
