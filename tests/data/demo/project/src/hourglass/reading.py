"""From text to a duration."""

import re
from datetime import timedelta

from hourglass.units import UNITS

PART = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([wdhms])")


class DurationError(ValueError):
    """The text is not a duration."""


def parse(text):
    """Read a duration such as ``1h 30m`` or ``-2.5d``. Raises `DurationError`."""
    rest = text.strip()
    sign = -1 if rest.startswith("-") else 1
    rest = rest.lstrip("+-")
    seconds, seen = 0.0, False
    while rest:
        match = PART.match(rest)
        if match is None:
            raise DurationError(f"not a duration: {text!r}")
        seconds += float(match[1]) * UNITS[match[2]]
        rest, seen = rest[match.end() :].strip(), True
    if not seen:
        raise DurationError("an empty text is not a duration")
    return timedelta(seconds=sign * seconds)
