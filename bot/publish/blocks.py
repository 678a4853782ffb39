"""Parts of a pull request's body that the bot brings up to date later, between tags that a reader does not see.

Whatever else stands in the body, and whatever people write into it, stays as it is.
"""

from __future__ import annotations

import re


def block(name: str, text: str) -> str:
    """`text` as the part `name`; it may be empty, to be filled later."""
    first, last = _tags(name)
    return f"{first}\n{text}\n{last}" if text else first + last


def content(body: str, name: str) -> str | None:
    """What the part holds; None if it is not there, or somebody took one of its tags away."""
    found = _pattern(name).search(body)
    return found["text"].strip("\r\n") if found else None


def replaced(body: str, name: str, text: str) -> str:
    """`body` with `text` as the part, which is there."""
    return _pattern(name).sub(lambda _: block(name, text), body, count=1)


def _tags(name: str) -> tuple[str, str]:
    return f"<!-- agent-fix:{name} -->", f"<!-- agent-fix:end {name} -->"


def _pattern(name: str) -> re.Pattern[str]:
    first, last = map(re.escape, _tags(name))
    return re.compile(rf"{first}(?P<text>.*?){last}", re.DOTALL)
