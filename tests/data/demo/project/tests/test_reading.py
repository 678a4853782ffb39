from datetime import timedelta

import pytest
from hourglass import DurationError, parse


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("1h 30m", 5400), ("1h30m", 5400), ("2.5d", 216000), ("-10m", -600), ("1w", 604800)],
)
def test_parse(text, seconds):
    assert parse(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "  ", "h", "10", "1y", "1h 30"])
def test_what_is_not_a_duration_is_refused(text):
    with pytest.raises(DurationError):
        parse(text)
