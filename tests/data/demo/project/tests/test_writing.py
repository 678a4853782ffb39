from datetime import timedelta

import pytest
from hourglass import format, parse


@pytest.mark.parametrize("text", ["45s", "1h 30m", "2d 4h", "1w 1s", "-10m"])
def test_what_is_written_reads_back_the_same(text):
    assert format(parse(text)) == text


def test_nothing_is_zero_of_the_smallest_unit():
    assert format(timedelta()) == "0s"
    assert format(timedelta(), smallest="h") == "0h"


def test_rounds_to_the_smallest_unit():
    assert format(timedelta(minutes=89, seconds=40), smallest="m") == "1h 30m"
    assert format(timedelta(seconds=2.4)) == "2s"
