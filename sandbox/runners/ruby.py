"""RSpec."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from sandbox.port import Result, TestOutcome
from sandbox.runners.base import Asked, Findings, Reporter, objects, parsed, split, text_at, the

_OUTCOMES = {"passed": TestOutcome.PASSED, "failed": TestOutcome.FAILED, "pending": TestOutcome.SKIPPED}


class Rspec(Reporter):
    """RSpec's JSON. Ids are `file::full description`: RSpec's own ids count examples and shift with each new one."""

    def command(self, asked: Asked) -> str:
        files, names = split(asked.chosen)
        named = "".join(f" --example {shlex.quote(name)}" for name in names)
        return (
            f'{asked.recipe.test_command} --format progress --format json --out "$AGENT_FIX_OUT/report.json"'
            f"{named} {shlex.join(files or asked.recipe.tests)}"
        )

    def read(self, asked: Asked, result: Result, files: Mapping[str, bytes]) -> Findings:
        report = parsed(the(files, "report.json"))
        findings: Findings = []
        for example in objects(report, "examples"):
            name = f"{asked.local(text_at(example, 'file_path'))}::{text_at(example, 'full_description')}"
            outcome = _OUTCOMES.get(text_at(example, "status"), TestOutcome.ERROR)
            message = "\n".join(filter(None, (text_at(example, "exception", key) for key in ("class", "message"))))
            findings.append((name, outcome, message))
        summary = report.get("summary")
        if isinstance(summary, dict) and summary.get("errors_outside_of_examples_count"):
            messages = report.get("messages")
            told = "\n".join(map(str, messages)) if isinstance(messages, list) else ""
            findings.append(("errors outside of examples", TestOutcome.ERROR, told))
        return findings
