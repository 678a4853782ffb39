"""What ends a command: its own end, a limit, or somebody who told it to stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from sandbox.output import Output

WATCH_SECONDS = 0.2
DISK_SECONDS = 3.0


@dataclass(frozen=True)
class Watch:
    """The limits of one command."""

    seconds: float
    output: Output
    most_output: int
    stop: threading.Event
    disk_is_full: Callable[[], bool] = lambda: False
    """Asked every few seconds, since it may be slow to answer."""

    def over(self, follower: threading.Thread) -> str:
        """Wait for the thread that follows the command, but no longer than the limits allow.

        Returns `exit` if the thread came to its end; else the limit, `timeout`, `output` or `disk`; or `stop`.
        """
        deadline = time.monotonic() + self.seconds
        disk_at = time.monotonic() + DISK_SECONDS
        while True:
            follower.join(WATCH_SECONDS)
            if not follower.is_alive():
                return "exit"
            if self.stop.is_set():
                return "stop"
            if time.monotonic() > deadline:
                return "timeout"
            if self.output.total > self.most_output:
                return "output"
            if time.monotonic() > disk_at:
                if self.disk_is_full():
                    return "disk"
                disk_at = time.monotonic() + DISK_SECONDS
