"""What can go wrong with a request, on demand."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.fakes.github_server.exchange import DOCS, Answer


@dataclass(frozen=True)
class Fault:
    """One thing that goes wrong.

    `after` does what was asked first and loses only the answer: the fault that makes a client say things twice.
    `hang` waits so many seconds, before anything is done or, with `after`, when it is done; `call` runs first, to act
    meanwhile or to kill a process.
    """

    status: int = 0
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    after: bool = False
    hang: float = 0.0
    body: Mapping[str, object] | None = None
    """In place of one that says the message."""
    call: Callable[[], None] | None = None

    def answer(self) -> Answer | None:
        """The answer in place of the real one, None if the real one is given (late)."""
        if not self.status:
            return None
        body = self.body or {"message": self.message, "documentation_url": DOCS, "status": str(self.status)}
        return Answer(self.status, body if self.message or self.body else None, self.headers)


BAD_GATEWAY = Fault(502)
SERVER_ERROR = Fault(500, "Server Error")
LOST_ANSWER = Fault(502, after=True)
UNAUTHORIZED = Fault(401, "Bad credentials")
SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."


def told_to_wait(seconds: int, status: int = 403) -> Fault:
    """The secondary limit with `Retry-After`."""
    return Fault(status, SECONDARY, {"Retry-After": str(seconds)})


def told_by_graphql(seconds: int) -> Fault:
    """The primary limit as GraphQL tells of it: by an error in an answer that is a success."""
    said = {"type": "RATE_LIMITED", "message": "API rate limit exceeded for installation ID 1."}
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(time.time()) + seconds)}
    return Fault(200, headers=headers, body={"errors": [said]})


def used_up(reset_at: int, status: int = 403) -> Fault:
    """The primary limit, which says only when it will be reset (seconds since 1970)."""
    headers = {"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": "0", "X-RateLimit-Used": "5000"}
    reset = {"X-RateLimit-Reset": str(reset_at), "X-RateLimit-Resource": "core"}
    return Fault(status, "API rate limit exceeded for installation ID 1.", headers | reset)


@dataclass
class _Planned:
    method: str
    path: re.Pattern[str]
    fault: Fault
    skip: int
    times: int


class Faults:
    """The faults that are still to come."""

    def __init__(self) -> None:
        self._planned: list[_Planned] = []
        self._lock = threading.Lock()

    def plan(self, method: str, path: str, fault: Fault, *, times: int = 1, skip: int = 0) -> None:
        """Let the next `times` requests go wrong whose method is `method` (`*`: any) and in whose path the pattern
        is found, after `skip` that go well."""
        with self._lock:
            self._planned.append(_Planned(method, re.compile(path), fault, skip, times))

    def take(self, method: str, path: str) -> Fault | None:
        """The fault for this request, used up by it."""
        with self._lock:
            for planned in self._planned:
                if planned.method not in ("*", method) or not planned.path.search(path):
                    continue
                if planned.skip:
                    planned.skip -= 1
                    continue
                if planned.times:
                    planned.times -= 1
                    return planned.fault
        return None

    def clear(self) -> None:
        """Let everything go well again."""
        with self._lock:
            self._planned.clear()
