"""Whether a patch makes existing tests say less: removed, skipped, weakened, changed, or no longer collected."""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bot.publish.objection import Objection
from bot.publish.protected import matches
from bot.publish.python_tests import Case, TestFile, only_adds, read_tests, replaces
from bot.publish.sanitize import code

Texts = tuple[str | None, str | None]
"""A file's text before and after; `None` where there is none."""

RUNNER_NAMES = (
    "pytest.ini .pytest.ini pytest.toml .pytest.toml jest.config.* vitest.config.* .mocharc* karma.conf.* phpunit.xml* "
    ".rspec ava.config.* jest.setup.* vitest.setup.* setuptests.*"
)
RUNNER_FILES = RUNNER_NAMES.split()
IN_PACKAGE = ("jest", "mocha", "ava", "vitest")
"""Parts of `package.json` that are about tests, beside its scripts."""
SECTIONS = {"pyproject.toml": "tool.pytest", "setup.cfg": "tool:pytest", "tox.ini": "pytest", "package.json": "jest"}


# How tests are written in languages other than Python: by what their lines look like.
DECLARES = re.compile(
    r"^\s*(?:(?:it|test|describe|specify|context)(?:\.\w+)*\s*\(?\s*[\"'`]([^\"'`]+)"
    r"|func\s+(Test\w+)\s*\(|(?:public\s+)?(?:void|fn|def|fun)\s+(test\w*|\w+Test)\b)",
    re.MULTILINE,
)
ASSERTS = re.compile(r"\b(?:assert\w*|expect\w*|should\w*|require|t\.(?:Error|Fatal)\w*)\b", re.IGNORECASE)
SKIPS = re.compile(
    r"\b(?:it|test|describe|context)\.(?:skip|only|todo|fails|failing)\b|\b(?:xit|xtest|xdescribe|fit|fdescribe)\s*\("
    r"|\bt\.Skip\w*\(|@(?:Disabled|Ignore)\b|#\[ignore\b|\bmarkTestSkipped\b|^\s*(?:skip|pending)\b",
    re.MULTILINE,
)
EXPECTED_TO_FAIL = re.compile(
    r"#\[(?:should_panic|ignore)\b[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:pub\s+)?(?:async\s+)?fn\s+(\w+)"
)
"""Tests of Rust that pass if they fail, or do not run; a new one may well be one."""


def tampering(files: Mapping[str, Texts], tests: Collection[str]) -> Iterator[Objection]:
    """Objections to what `files`, those of a patch, do to the tests; `tests` are the test files among them."""
    for path, (before, after) in files.items():
        if _runner_settings(path, before) != _runner_settings(path, after):
            text = f"{code(path)} was changed where it decides which tests run, and how."
            yield Objection(path, "test-config", text, True)
    python: dict[str, tuple[TestFile, TestFile]] = {}
    for path in tests:
        before, after = files.get(path, (None, None))
        old, new = read_tests(before or ""), read_tests(after or "")
        if not path.endswith(".py") or old is None:
            yield from _elsewhere(path, before, after)
        elif new is None:
            yield Objection(path, "test-removed", f"{code(path)} cannot be parsed any more.", True)
        else:
            python[path] = old, new
    arrived = _arrived(python.values())
    for path, pair in python.items():
        yield from _shared(path, *pair, arrived, was_there=files[path][0] is not None)
        yield from _cases(path, *pair, arrived)


@dataclass(frozen=True)
class Arrived:
    """What is new where it stands: a test that went elsewhere was moved, not removed."""

    cases: Mapping[str, Sequence[Case]]
    """By name and by body."""
    shared: Counter[str]


def _arrived(pairs: Iterable[tuple[TestFile, TestFile]]) -> Arrived:
    cases: dict[str, list[Case]] = {}
    shared: Counter[str] = Counter()
    for old, new in pairs:
        shared += new.shared - old.shared
        for name, case in new.cases.items():
            if name not in old.cases:
                cases.setdefault(name, []).append(case)
                cases.setdefault(case.body, []).append(case)
    return Arrived(cases, shared)


def _shared(path: str, old: TestFile, new: TestFile, arrived: Arrived, was_there: bool) -> Iterator[Objection]:
    conftest = path.rpartition("/")[2] == "conftest.py"
    hooks = old.hooks != new.hooks
    # A file without tests of its own serves those of others.
    used = was_there and (not old.cases or any(_successors(name, old, new, arrived) for name in old.cases))
    if conftest and hooks:
        yield Objection(path, "test-config", f"{code(path)} was changed where it decides how other tests run.", True)
    elif used and (hooks or old.shared - new.shared - arrived.shared or replaces(old, new)):
        whose = "its tests" if old.cases else "tests"
        yield Objection(path, "test-changed", f"{code(path)} was changed in what {whose} share.", False)


def _cases(path: str, old: TestFile, new: TestFile, arrived: Arrived) -> Iterator[Objection]:
    for name, before in old.cases.items():
        place = code(f"{path}::{name.replace('.', '::')}")
        judged = [_case(path, place, before, after) for after in _successors(name, old, new, arrived)]
        if not judged:
            yield Objection(path, "test-removed", f"The test {place} was removed.", True)
        elif None not in judged:
            yield from filter(None, judged[:1])


def _successors(name: str, old: TestFile, new: TestFile, arrived: Arrived) -> list[Case]:
    """What may be the test now: the one of its name, else those that are new and have its body or its name."""
    if name in new.cases:
        return [new.cases[name]]
    return [*arrived.cases.get(old.cases[name].body, ()), *arrived.cases.get(name, ())]


def _case(path: str, place: str, before: Case, after: Case) -> Objection | None:
    if after.skips - before.skips:
        return Objection(path, "test-skipped", f"The test {place} may be skipped or expected to fail now.", True)
    if sum(after.assertions.values()) < sum(before.assertions.values()):
        return Objection(path, "test-weakened", f"The test {place} demands less than before.", False)
    if before.assertions - after.assertions or not only_adds(before, after):
        text = f"The test {place} was changed; see whether the issue asks for that."
        return Objection(path, "test-changed", text, False)
    return None


def _elsewhere(path: str, before: str | None, after: str | None) -> Iterator[Objection]:
    if before is None:
        return
    old, new = before, after or ""
    gone, come = _names(old) - _names(new), _names(new) - _names(old)
    if gone.total() > come.total():
        names = ", ".join(code(name) for name in sorted(gone)[:3])
        yield Objection(path, "test-removed", f"{code(path)} lost tests: {names}.", True)
    elif len(SKIPS.findall(new)) > len(SKIPS.findall(old)) or _expected_to_fail(old, new):
        yield Objection(path, "test-skipped", f"{code(path)} has more tests that are skipped or run alone.", True)
    elif len(ASSERTS.findall(new)) < len(ASSERTS.findall(old)):
        yield Objection(path, "test-weakened", f"{code(path)} demands less than before.", False)
    elif _lines(old) - _lines(new):
        yield Objection(path, "test-changed", f"{code(path)} was changed in what it had; see why.", False)


def _expected_to_fail(old: str, new: str) -> bool:
    """Whether a test that was there is one now from which a failure is expected."""
    come = set(EXPECTED_TO_FAIL.findall(new)) - set(EXPECTED_TO_FAIL.findall(old))
    return any(re.search(rf"\bfn\s+{name}\b", old) for name in come)


def _names(text: str) -> Counter[str]:
    return Counter(next(filter(None, found.groups()), "") for found in DECLARES.finditer(text))


def _lines(text: str) -> Counter[str]:
    return Counter(line.strip() for line in text.split("\n") if line.strip())


def _runner_settings(path: str, text: str | None) -> object:
    """What a file says of how tests are run, in a form that can be compared; `None` if it says nothing."""
    if any(matches(path, pattern) for pattern in RUNNER_FILES):
        return text
    section = SECTIONS.get(path.rpartition("/")[2])
    if text is None or section is None:
        return None
    try:
        return _section(path, text, section)
    except (ValueError, AttributeError, configparser.Error):
        return text


def _section(path: str, text: str, section: str) -> object:
    if path.endswith(".json"):
        whole = json.loads(text)
        scripts = whole.get("scripts", {})
        return [whole.get(name) for name in IN_PACKAGE], {name: scripts[name] for name in scripts if "test" in name}
    if path.endswith(".toml"):
        return tomllib.loads(text).get("tool", {}).get("pytest")
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(text)
    return dict(parser[section]) if parser.has_section(section) else None
