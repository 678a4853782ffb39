"""Whom to ask for a review: the code's owners, as the repository names them, or else the person who called the bot."""

from __future__ import annotations

from collections.abc import Iterable

from pathspec import GitIgnoreSpec

PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""Where GitHub looks, the first that is there."""
MOST = 5


def reviewers(codeowners: str, paths: Iterable[str], caller: str) -> tuple[str, ...]:
    """Logins, and teams as `org/team`, without duplicates and at most `MOST`; those who own most paths first."""
    rules = _rules(codeowners)
    counts: dict[str, int] = {}
    for path in paths:
        # The last rule that matches counts, as on GitHub; one without owners takes the path away from all.
        owners = next((owners for spec, owners in reversed(rules) if spec.match_file(path)), ())
        for owner in owners:
            counts[owner] = counts.get(owner, 0) + 1
    found = sorted(counts, key=lambda owner: (-counts[owner], owner))[:MOST]
    return tuple(found) or ((caller,) if caller else ())


def _rules(codeowners: str) -> list[tuple[GitIgnoreSpec, tuple[str, ...]]]:
    rules = []
    for line in codeowners.splitlines():
        words = line.split(" #")[0].split()
        if not words or words[0].startswith(("#", "!", "[")):
            continue
        owners = tuple(word[1:] for word in words[1:] if word.startswith("@"))
        try:
            rules.append((GitIgnoreSpec.from_lines([words[0]]), owners))
        except ValueError:
            continue  # GitHub passes over a line that it cannot read, too
    return rules
