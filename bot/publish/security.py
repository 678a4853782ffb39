"""Static rules on what a change adds: a pattern that attackers live on must be seen by a person.

For Python the rules are bandit's: they come with a package and only parse. Semgrep, the other candidate, fetches its
rules from a registry at run time and is ten times as large. Other languages have a few patterns of our own.
"""

from __future__ import annotations

import tempfile
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.publish.objection import Objection
from bot.publish.sanitize import code
from bot.publish.weak_patterns import weak_lines

RULE = "security"
LEAST = "MEDIUM"
"""Findings of less severity or confidence are mostly about style; they are left to the project's own tools."""
TOLD_ELSEWHERE = ("B613",)
"""Characters that cannot be seen: the gate looks for them in every file."""


@dataclass(frozen=True)
class Finding:
    """One finding, with the line that it is about."""

    path: str
    line: int
    source: str
    rule: str
    text: str


def weaknesses(pairs: Mapping[str, tuple[str | None, str | None]], tests: Collection[str]) -> Iterator[Objection]:
    """What the new texts of files have and their old ones had not; `pairs` is path -> (before, after).

    Only a rule that is broken more often than before counts, so that code that moved or was reworded does not.
    A comment that switches a rule off is not heeded: whoever wrote the change could have written it.
    """
    new = _found({path: after for path, (_, after) in pairs.items() if after and path not in tests})
    if not new:
        return
    old = _found({path: before for path, (before, _) in pairs.items() if before and path not in tests})
    more = Counter(one.rule for one in new) - Counter(one.rule for one in old)
    known = Counter((one.rule, one.source) for one in old)
    for one in new:
        if known[one.rule, one.source] > 0:
            known[one.rule, one.source] -= 1
        elif more[one.rule] > 0:
            more[one.rule] -= 1
            place = code(f"{one.path}:{one.line}")
            yield Objection(
                one.path, RULE, f"{place} may be a weakness ({one.rule}): {code(one.source)}. {one.text}", False
            )


def _found(texts: Mapping[str, str]) -> list[Finding]:
    """The findings in files of these texts."""
    found = _scanned({path: text for path, text in texts.items() if path.endswith(".py")})
    for path, text in texts.items():
        found += [
            Finding(path, number, line.strip()[:120], one.name, one.text)
            for number, line, one in weak_lines(path, text)
        ]
    return found


def _scanned(texts: Mapping[str, str]) -> list[Finding]:
    """What bandit finds in files of these texts, which are parsed and never run."""
    if not texts:
        return []
    with warnings.catch_warnings():  # of a library that it uses, about its own use
        warnings.simplefilter("ignore")
        from bandit.core.config import BanditConfig
        from bandit.core.manager import BanditManager
    with tempfile.TemporaryDirectory(prefix="agent-fix-scan-") as folder:
        names = {str(Path(folder, f"{number}.py")): path for number, path in enumerate(texts)}
        for name, path in names.items():
            Path(name).write_text(texts[path], "utf-8", errors="replace", newline="")
        manager = BanditManager(
            BanditConfig(), "file", profile={"exclude": TOLD_ELSEWHERE}, quiet=True, ignore_nosec=True
        )
        manager.discover_files(list(names))
        manager.run_tests()
        found = manager.get_issue_list(sev_level=LEAST, conf_level=LEAST)
    lines = {path: text.splitlines() for path, text in texts.items()}
    return [
        Finding(
            path := names[one.fname],
            one.lineno,
            lines[path][one.lineno - 1].strip()[:120],
            f"bandit {one.test_id}",
            one.text.partition("\n")[0],
        )
        for one in found
    ]
