"""Durations as people write them."""

from hourglass.reading import DurationError, parse
from hourglass.units import UNITS
from hourglass.writing import format

__all__ = ["UNITS", "DurationError", "format", "parse"]
