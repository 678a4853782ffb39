"""From a duration to text."""

from hourglass.units import UNITS


def format(duration, smallest="s"):
    """Write a duration, rounded to the unit ``smallest``.

    Units that are zero are left out; a duration of nothing is ``0`` of the smallest unit.
    """
    seconds = duration.total_seconds()
    if seconds < 0:
        return "-" + format(-duration, smallest)
    parts = []
    for unit, size in UNITS.items():
        if unit == smallest:
            count = round(seconds / size)
            if count or not parts:
                parts.append(f"{count}{unit}")
            break
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count:.0f}{unit}")
    return " ".join(parts)
