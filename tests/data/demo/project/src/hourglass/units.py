"""The units, largest first."""

UNITS = {"w": 604800, "d": 86400, "h": 3600, "m": 60, "s": 1}
