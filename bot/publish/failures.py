"""What a test's failure text says: how it failed, and whether that is the failure that the issue is about."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable
from dataclasses import dataclass

GIST_LIMIT = 200


class FailureKind(enum.StrEnum):
    """How a test failed, as far as its text tells."""

    ASSERTION = "assertion"
    EXCEPTION = "exception"
    MISSING = "missing name"
    """A module, name, attribute or parameter that does not exist: the test needs what only the change brings."""
    FIXTURE = "fixture"
    COLLECTION = "collection"
    TIMEOUT = "timeout"


@dataclass(frozen=True)
class Failure:
    """One failure, read from its text."""

    kind: FailureKind
    gist: str
    """One line of at most `GIST_LIMIT` characters."""
    exception: str = ""
    """The exception's class name without its module, if there was one."""
    missing: str = ""
    """The name that did not exist, for `MISSING`."""


MISSING_NAME = tuple(
    re.compile(pattern)
    for pattern in (
        r"cannot import name '(?P<name>[\w.]+)'",
        r"No module named '(?P<name>[\w.]+)'",
        r"name '(?P<name>\w+)' is not defined",
        r"(?:module|type object) '[\w.]+' has no attribute '(?P<name>\w+)'",
        r"'(?P<owner>[\w.]+)' object has no attribute '(?P<name>\w+)'",
        r"unexpected keyword argument '(?P<name>\w+)'",
        r"missing \d+ required (?:positional|keyword-only) arguments?: '(?P<name>\w+)'",
        r"(?P<name>\w+)\(\) takes .* positional arguments? but \d+ (?:was|were) given",
        r"ReferenceError: (?P<name>[\w$]+) is not defined",
        r"Cannot find module '(?P<name>[^']+)'",
        r"TypeError: (?:[\w$().]+\.)?(?P<name>[\w$]+) is not a (?:function|constructor)",
        r"undefined: (?P<name>[\w.]+)",
        r"has no field or method (?P<name>\w+)",
    )
)
BUILT_IN = frozenset({"NoneType", "bool", "int", "float", "complex", "str", "bytes", "list", "tuple", "dict", "set"})
"""A change to a project gives these no new attribute: asking them for one is the defect itself, not its absence."""

ASSERTIONS = frozenset({"AssertionError", "AssertionFailedError", "Failed", ""})
ASSERTION_TEXT = re.compile(r"\bexpect\(|\[ERR_ASSERTION\]")
FIXTURE_TEXT = re.compile(r"\bfixture '\w+' not found|\bfailed on (?:setup|teardown) with\b")
EXCEPTION_NAME = re.compile(r"^(?:[A-Za-z_]\w*\.)*(?P<name>[A-Z]\w*)(?::|$)")
LOCATION = re.compile(r"^\S+:\d+: (?P<name>[A-Z]\w*)$", re.MULTILINE)
EXCEPTION_IN_PROSE = re.compile(r"\b[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Exit|Iteration)\b")
EXCEPTION_LIKE = re.compile(r"\w*(?:Error|Exception|Warning|Interrupt|Exit|Iteration|Failed|Timeout)$")
CHAINED = re.compile(
    r"^(?:The above exception was the direct cause|During handling of the above exception)", re.MULTILINE
)
HANG = re.compile(
    r"\b(?:hangs?|hung|infinite|endless|forever|for ever|deadlocks?|time[sd]? ?out|timeout|never "
    r"(?:ends|returns|finish\w*|terminat\w*|stops)|too slow|quadratic|exponential)\b",
    re.IGNORECASE,
)


def read_failure(text: str, *, collected: bool = True) -> Failure:
    """Read a failure text. `collected` is False if the runner could not even load the test."""
    gist = _gist(text)
    exception = _exception(gist, text)
    missing = _missing(gist) if exception != "AssertionError" else ""
    return Failure(_kind(text, gist, exception, missing, collected), gist, exception, missing)


def is_right_reason(failure: Failure, stated: str) -> bool:
    """Whether `failure` shows the defect that `stated` (the issue, and the plan's words about it) describes.

    An assertion does. An exception does if `stated` names it, or names none at all. A name that does not exist
    counts only if `stated` has that very name, or names the exception (other than of an import): otherwise the test
    merely needs what the change invented.
    """
    match failure.kind:
        case FailureKind.ASSERTION:
            return True
        case FailureKind.EXCEPTION:
            named = set(EXCEPTION_IN_PROSE.findall(stated))
            return not named or failure.exception in named or _mentions(stated, [failure.exception])
        case FailureKind.MISSING:
            raised = failure.exception if failure.exception in {"AttributeError", "TypeError"} else ""
            return _mentions(stated, [failure.missing, failure.missing.rpartition(".")[2], raised])
        case FailureKind.TIMEOUT:
            return HANG.search(stated) is not None
        case _:
            return False


def _kind(text: str, gist: str, exception: str, missing: str, collected: bool) -> FailureKind:
    if missing:
        return FailureKind.MISSING
    if not collected:
        return FailureKind.COLLECTION
    if FIXTURE_TEXT.search(text):
        return FailureKind.FIXTURE
    if exception in {"Failed", "Timeout", "TimeoutError"} and re.search(r"\bTimeout\b", gist):
        return FailureKind.TIMEOUT
    assertion = exception in ASSERTIONS or ASSERTION_TEXT.search(gist)
    return FailureKind.ASSERTION if assertion else FailureKind.EXCEPTION


def _mentions(stated: str, names: Iterable[str]) -> bool:
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", stated) for name in names if name)


def _last_part(text: str) -> str:
    """Of chained exceptions, the one that reached the test runner."""
    return CHAINED.split(text)[-1]


def _exception(gist: str, text: str) -> str:
    located = LOCATION.findall(_last_part(text))
    at_start = EXCEPTION_NAME.match(gist)
    if at_start and (EXCEPTION_LIKE.match(at_start["name"]) or at_start["name"] in located):
        return at_start["name"]
    return located[-1] if located else ""


def _gist(text: str) -> str:
    part = _last_part(text)
    marked = [line[1:].strip() for line in part.splitlines() if re.match(r"E( |$)", line)]
    marked = [line for line in marked if line]
    if marked:
        syntax = [line for line in marked if re.match(r"\w*(?:Syntax|Indentation|Tab)Error:", line)]
        return (syntax or marked)[0][:GIST_LIMIT]
    plain = [line for line in part.splitlines() if line.strip()]
    named = [line for line in plain if EXCEPTION_NAME.match(line) and not line[0].isspace()]
    if named and any(line.startswith("Traceback (most recent call last)") for line in plain):
        return named[-1][:GIST_LIMIT]
    return (named or plain or ["no text"])[0].strip()[:GIST_LIMIT]


def _missing(gist: str) -> str:
    for pattern in MISSING_NAME:
        found = pattern.search(gist)
        if found and found.groupdict().get("owner") not in BUILT_IN:
            return found["name"]
    return ""
