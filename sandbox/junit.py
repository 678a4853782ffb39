"""JUnit XML as untrusted code may have written it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser
from junitparser import Error, Failure, JUnitXml, JUnitXmlError, Properties, Skipped, TestCase, TestSuite

from sandbox.port import TestOutcome

DEEPEST = 40


class Unreadable(ValueError):
    """A test report that is not of its format."""


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
    outcome, messages = TestOutcome.PASSED, []
    for result in case.result:
        outcome = worse(outcome, _OUTCOMES[type(result)])
        messages.append("\n".join(part for part in (result.message, result.text) if part))
    listed = next(case.iterchildren(Properties), ())  # type: ignore[no-untyped-call]
    properties = {item.name or "": item.value or "" for item in listed}
    file = case._elem.get("file") or ""
    return Case(case.name or "", case.classname or "", file, suites, properties, outcome, "\n".join(messages))


_OUTCOMES: dict[type, TestOutcome] = {
    Failure: TestOutcome.FAILED,
    Error: TestOutcome.ERROR,
    Skipped: TestOutcome.SKIPPED,
}


def worse(one: TestOutcome, other: TestOutcome) -> TestOutcome:
    """What to say of a test that is reported twice, as for its call and its tear-down."""
    order = [TestOutcome.ERROR, TestOutcome.FAILED, TestOutcome.SKIPPED, TestOutcome.PASSED]
    return min(one, other, key=order.index)
