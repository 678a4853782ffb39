"""What a run costs beside its model and its tests: clone, image hit, archives, journal, report.

`agent-fix bench overhead TRANSCRIPT --repo DIR [--times N]` performs a transcript again, so that the model takes no
time, each time in a process of its own, and prints the seconds in all, those that commands and tests took inside
containers, and the rest.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

LIMIT_SECONDS = 5.0


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("transcript", type=Path)
    parser.add_argument("--repo", type=Path, required=True)
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args(arguments)
    performed(options.transcript, options.repo)  # the image is warm from here on
    rest = []
    print(f"{'all':>8} {'sandbox':>8} {'rest':>8}  seconds")
    for _ in range(options.times):
        seconds, sandbox = performed(options.transcript, options.repo)
        rest.append(seconds - sandbox)
        print(f"{seconds:8.2f} {sandbox:8.2f} {rest[-1]:8.2f}")
    middle = statistics.median(rest)
    print(f"the rest: {middle:.2f} s in the middle, {middle / LIMIT_SECONDS:.2f} of its limit")


def performed(transcript: Path, repo: Path) -> tuple[float, float]:
    """Seconds in all, and in containers, of one replay, the start of the program included."""
    program = [sys.executable, "-c", "from bot.cli import main; main()"]
    words = ["replay", str(transcript), "--repo", str(repo), "--loose", "--json"]
    start = time.monotonic()
    done = subprocess.run([*program, *words], capture_output=True, text=True, check=False)
    seconds = time.monotonic() - start
    if not done.stdout.strip():
        sys.exit(done.stderr)
    return seconds, float(json.loads(done.stdout)["seconds_sandbox"])


if __name__ == "__main__":
    main()
