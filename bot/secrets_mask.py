"""Takes secrets out of text before it goes anywhere: the ones that are configured, and those that look like one."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar
from urllib.parse import quote, quote_plus

T = TypeVar("T")

SHORTEST = 8
"""A configured value with fewer characters is a placeholder: masking it would tear holes in ordinary text."""

SHORTEST_LINE = 16
"""Of a secret of several lines, a line of so many characters is a secret by itself: logs print lines."""

_KEY_TYPE = r"(?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?"

PATTERNS: dict[str, str] = {
    # A token of an app holds a signed JSON web token: dots, dashes and underscores, about 520 characters.
    "github-token": r"(?<![A-Za-z0-9_])(?:gh[pousr]_(?=[A-Za-z_-]*[0-9])[A-Za-z0-9]{36,}"
    r"|ghs_(?=[A-Za-z._-]*[0-9])[A-Za-z0-9._-]{36,}|github_pat_(?=[A-Za-z_]*[0-9])[A-Za-z0-9_]{40,})",
    "model-key": r"(?<![A-Za-z0-9_-])(?:sk-(?:proj|svcacct|admin|ant|or)-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{24,}"
    r"|sk-(?=[A-Za-z]*[0-9])[A-Za-z0-9]{32,}|gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{60,}|hf_[A-Za-z0-9]{34,})",
    "google-key": r"(?<![A-Za-z0-9_-])AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])",
    "aws-key-id": r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Za-z0-9])",
    "aws-secret": r"(?i:(?<=secret_access_key)|(?<=secretaccesskey))[\"']?\s{0,3}[=:]\s{0,3}[\"']?[A-Za-z0-9/+]{40}"
    r"(?![A-Za-z0-9/+=])",
    "slack-token": r"(?<![A-Za-z0-9])xox[abceoprs]-(?=[A-Za-z-]*[0-9])[A-Za-z0-9-]{20,}",
    "slack-hook": r"(?<=hooks\.slack\.com/services/)[A-Za-z0-9/]{20,}",
    "json-web-token": r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{16,}",
    "authorization": r"(?i:(?<=authorization: (?:basic))|(?<=authorization: (?:token))"
    r"|(?<=authorization: (?:bearer)))\s[A-Za-z0-9._~+/-]{16,}=*",
    "address-password": r"(?<=x-access-token:)[^@\s]{8,}(?=@)",
    # Whole; then the beginning of one, since long output is cut. Code that only names the two marks is neither.
    "private-key": rf"-----BEGIN {_KEY_TYPE}-----(?=[^\0]{{0,400}}?[A-Za-z0-9+/]{{40}})"
    rf"[A-Za-z0-9+/=\s\\\"',|:.-]{{40,20000}}?-----END {_KEY_TYPE}-----"
    rf"|-----BEGIN {_KEY_TYPE}-----(?:(?:\\r)?(?:\\n|\r?\n)[^\n\\]{{0,12}}[A-Za-z0-9+/=]{{40,76}}[\"',]{{0,3}})+",
}
"""Kind -> regular expression. Each begins with letters that ordinary code, hashes and prose do not have."""


class Mask:
    """Callable: text without secrets. What it gives is not changed by masking again."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """`secrets` are configured values; their usual encodings are masked with them."""
        forms = {form for secret in secrets for form in _forms(secret)}
        # The longest first: a part must not be taken out of a whole.
        exact = "|".join(re.escape(form) for form in sorted(forms, key=lambda form: (-len(form), form)))
        self._exact = re.compile(exact) if exact else None
        self._patterns = [(re.compile(pattern), f"[{kind} masked]") for kind, pattern in PATTERNS.items()]

    def __call__(self, text: str) -> str:
        if self._exact:
            text = self._exact.sub("[secret masked]", text)
        for pattern, replacement in self._patterns:
            text = pattern.sub(replacement, text)
        return text


def masked(value: T, mask: Callable[[str], str]) -> T:
    """`value`, a text or a container or dataclass that holds texts, with each of them masked."""
    made: Any = value
    if isinstance(made, str):
        made = mask(made)
    elif isinstance(made, dict):
        made = {masked(key, mask): masked(each, mask) for key, each in made.items()}
    elif isinstance(made, list | tuple):
        made = type(made)(masked(each, mask) for each in made)
    elif is_dataclass(made) and not isinstance(made, type):
        made = replace(made, **{one.name: masked(getattr(made, one.name), mask) for one in fields(made)})
    return made  # type: ignore[no-any-return]


def _forms(secret: str) -> Iterator[str]:
    whole = secret.strip()
    if len(whole) < SHORTEST:
        return
    lines = [line.strip() for line in whole.splitlines()] if "\n" in whole else []
    for value in (whole, whole.replace("\n", "\r\n"), *(line for line in lines if len(line) >= SHORTEST_LINE)):
        yield value
        yield json.dumps(value)[1:-1]
        yield json.dumps(json.dumps(value))[3:-3]
        yield repr(value)[1:-1]
        for encoded in (quote(value, safe=""), quote(value), quote_plus(value)):
            yield encoded
            yield re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), encoded)
        yield from _base64(value.encode("utf-8", "surrogatepass"))


def _base64(data: bytes) -> Iterator[str]:
    """What base64 makes of `data` wherever it stands in what was encoded: the characters that hold only its bits."""
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + data).decode().rstrip("=")
        first = -(-before * 8 // 6)
        last = (before + len(data)) * 8 // 6
        inner = encoded[first:last]
        if len(inner) >= SHORTEST:
            yield inner
            yield inner.replace("+", "-").replace("/", "_")
