"""What a run costs beside its model and its tests: clone, image hit, archives, journal, report.

`python -m bot.bench.overhead TRANSCRIPT --repo DIR [--times N]` performs a transcript again, so that the model takes
no time, and prints the seconds in all, those that commands and tests took inside containers, and the rest.
"""

from __future__ import annotations

import argparse
import statistics
import time
from contextlib import nullcontext
from pathlib import Path

from bot.replaying import replayed
from bot.settings import load_settings

LIMIT_SECONDS = 5.0


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("transcript", type=Path)
    parser.add_argument("--repo", type=Path, required=True)
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args(arguments)
    settings = load_settings()
    replayed(options.transcript, options.repo, settings, lambda _: nullcontext())  # the image is warm from here on
    rest = []
    print(f"{'all':>8} {'sandbox':>8} {'rest':>8}  seconds")
    for _ in range(options.times):
        start = time.monotonic()
        ended = replayed(options.transcript, options.repo, settings, lambda _: nullcontext())
        seconds = time.monotonic() - start
        rest.append(seconds - ended.seconds_sandbox)
        print(f"{seconds:8.2f} {ended.seconds_sandbox:8.2f} {rest[-1]:8.2f}")
    middle = statistics.median(rest)
    print(f"the rest: {middle:.2f} s in the middle, {middle / LIMIT_SECONDS:.2f} of its limit")


if __name__ == "__main__":
    main()
