"""Check runs, which only Apps may make."""

from __future__ import annotations

from typing import Any

from github.CheckRun import CheckRun
from github.GithubObject import NotSet

from bot.forge.connection import NotPermitted, named, once
from bot.forge.github_session import Session
from bot.forge.identity import Phase
from bot.forge.port import Check

NAME = "agent-fix"
TEXT_LIMIT = 65_535
"""Bytes that GitHub takes for a summary, and for a text."""
AT_ONCE = 50
"""Annotations that GitHub takes in one request; more come with further ones."""
_CUT = "\n\n… cut: the rest is longer than a check run can hold."


class GitHubChecks:
    """`bot.forge.port.Checks` on GitHub."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def show(self, commit: str, check: Check) -> str | None:
        """See the port."""
        try:
            shown = self._find(commit, check.run) or self._create(commit, check)
            with named(f"Showing the check on {commit[:12]}"):
                self._update(shown, check)
        except NotPermitted:
            # A person's token, or one that was not given this permission: the pull request says it all anyway.
            return None
        return shown.html_url

    def _find(self, commit: str, run: str) -> CheckRun | None:
        with named(f"Looking for the check on {commit[:12]}"):
            on_commit = self._session.on(Phase.CHECK)
            url = f"{on_commit.url}/commits/{commit}/check-runs"
            _, answer = self._session.connection(Phase.CHECK).requestJsonAndCheck(
                "GET", url, {"check_name": NAME, "per_page": 100}
            )
        for attributes in answer["check_runs"]:
            if attributes["external_id"] == run:
                return CheckRun(self._session.connection(Phase.CHECK), {}, attributes, completed=True)
        return None

    def _create(self, commit: str, check: Check) -> CheckRun:
        return once(
            f"Making the check on {commit[:12]}",
            find=lambda: self._find(commit, check.run),
            make=lambda: self._session.on(Phase.CHECK).create_check_run(
                NAME, commit, external_id=check.run, status="in_progress", output=_output(check, [])
            ),
            settling=self._session.shared.api.settling,
        )

    @staticmethod
    def _update(shown: CheckRun, check: Check) -> None:
        """Bring text and state up to date; annotations are only ever added, so those that are there stay out."""
        there = int(shown.output.annotations_count or 0)
        left = [_annotation(check, at) for at in range(there, len(check.annotations))]
        batches = [left[at : at + AT_ONCE] for at in range(0, len(left), AT_ONCE)] or [[]]
        for batch in batches[:-1]:
            shown.edit(output=_output(check, batch))
        shown.edit(
            status="completed" if check.conclusion else "in_progress",
            conclusion=check.conclusion or NotSet,
            output=_output(check, batches[-1]),
        )


def _output(check: Check, annotations: list[dict[str, Any]]) -> dict[str, Any]:
    texts = {"title": check.title, "summary": _fit(check.summary or check.title), "text": _fit(check.text)}
    return {name: text for name, text in texts.items() if text} | ({"annotations": annotations} if annotations else {})


def _annotation(check: Check, at: int) -> dict[str, Any]:
    it = check.annotations[at]
    shown = {
        "path": it.path,
        "start_line": it.first_line,
        "end_line": it.last_line,
        "annotation_level": it.level,
        "message": it.message,
    }
    return shown | ({"title": it.title} if it.title else {})


def _fit(text: str) -> str:
    data = text.encode()
    if len(data) <= TEXT_LIMIT:
        return text
    return data[: TEXT_LIMIT - len(_CUT.encode())].decode("utf-8", "ignore") + _CUT
