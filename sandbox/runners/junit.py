"""JUnit XML as untrusted code may have written it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser
from junitparser import Error, Failure, JUnitXml, JUnitXmlError, Properties, Skipped, TestCase, TestSuite

from sandbox.port import TestOutcome
from sandbox.runners.base import Unreadable

DEEPEST = 40
COLOUR = re.compile(r"(?:\x1b|#x1B)\[[0-9;]*m")
"""What a project that wants colours everywhere has in its texts; XML has no escape character, so pytest spells it."""


@dataclass(frozen=True)
class Case:
    """One test case of a report."""

    name: str
    classname: str
    file: str
    suites: tuple[str, ...]
    """The names of the suites that it stands in, outermost first."""
    properties: dict[str, str]
    outcome: TestOutcome
    message: str


def cases(data: bytes) -> list[Case]:
    """The test cases of a report. Raises `Unreadable`."""
    try:
        root = JUnitXml.fromroot(_parse(data))  # type: ignore[arg-type]
        return [case for suite in root for case in _cases(suite, ())]
    except (ParseError, DefusedXmlException, JUnitXmlError, ValueError, LookupError) as error:
        raise Unreadable(f"the JUnit XML report cannot be read: {error}") from error


def _parse(data: bytes) -> Element:
    parser = DefusedXMLParser(target=_Shallow(), forbid_dtd=True)
    parser.feed(data)
    root: Element = parser.close()
    return root


class _Shallow(TreeBuilder):
    """Builds the tree but for one so deep that walking it would exhaust the stack."""

    def __init__(self) -> None:
        super().__init__()
        self._depth = 0

    def start(self, tag: str, attrs: dict[str, str]) -> Element:
        self._depth += 1
        if self._depth > DEEPEST:
            raise Unreadable(f"elements nested more than {DEEPEST} deep")
        return super().start(tag, attrs)

    def end(self, tag: str) -> Element:
        self._depth -= 1
        return super().end(tag)


def _cases(suite: TestSuite, above: tuple[str, ...]) -> Iterator[Case]:
    names = (*above, suite.name or "")
    for case in suite:
        yield _case(case, names)
    for inner in suite.iterchildren(TestSuite):  # type: ignore[no-untyped-call]
        yield from _cases(inner, names)


def _case(case: TestCase, suites: tuple[str, ...]) -> Case:
    results = {_OUTCOMES[type(result)]: result for result in case.result}
    outcome = next((outcome for outcome in _OUTCOMES.values() if outcome in results), TestOutcome.PASSED)
    messages = ["\n".join(filter(None, (result.message, result.text))) for result in results.values()]
    message = "\n".join(filter(None, messages)) or "\n".join(filter(None, (case.system_out, case.system_err)))
    listed = next(case.iterchildren(Properties), ())  # type: ignore[no-untyped-call]
    properties = {item.name or "": item.value or "" for item in listed}
    file = case._elem.get("file") or ""
    return Case(case.name or "", case.classname or "", file, suites, properties, outcome, COLOUR.sub("", message))


_OUTCOMES: dict[type, TestOutcome] = {  # the worst first
    Error: TestOutcome.ERROR,
    Failure: TestOutcome.FAILED,
    Skipped: TestOutcome.SKIPPED,
}
