"""Asking GitHub politely: one place for tokens, pauses, retries, unchanged answers and the names of errors.

PyGithub's own objects do the talking; what is added here sits below them, in the requester that they all share,
so that no call can go past it.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import requests
from github.Auth import Auth
from github.GithubException import (
    BadCredentialsException,
    GithubException,
    RateLimitExceededExceedsMaxWait,
    RateLimitExceededException,
)
from github.GithubRetry import GithubRetry
from github.Requester import Requester

from bot.errors import BadInput, Refused
from bot.forge.port import NotThere, Unavailable

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse
    from urllib3.connectionpool import ConnectionPool

REMEMBERED = 64
"""Answers that are kept to be asked for again by their tag."""
Result = TypeVar("Result")


@dataclass(frozen=True)
class Api:
    """Where GitHub is and how patiently it is asked. Times are in seconds."""

    url: str = "https://api.github.com"
    """Of a GitHub Enterprise Server: `https://HOST/api/v3`."""
    timeout: int = 20
    """More than the ten after which GitHub itself ends a request: what was not answered by then is over."""
    retries: int = 4
    longest_wait: float = 60.0
    """If GitHub asks for more patience than this, the call ends with `Unavailable`, which says for how long."""
    backoff: float = 1.0
    pause: float = 1.0
    """Between two writes, as GitHub asks."""
    settling: float = 1.0
    """After which GitHub's lists show what was written."""
    certificates: str | None = None
    """A file of certificates to trust, in place of the machine's own."""


class NotPermitted(Refused):
    """The credential does not carry the permission."""


class Retries(GithubRetry):
    """PyGithub's retries, except that a POST which may have been carried out is never sent a second time.

    PyGithub would repeat a POST after a 502, and make a second comment or pull request of one whose answer was lost.
    Here only the rate limits, which GitHub enforces before it does anything, let a POST be repeated. A wait that is
    longer than the cap is an error at once, also when `Retry-After` asks for it, which PyGithub would obey for hours.
    """

    LIMITED = (403, 429)

    def is_retry(self, method: str, status_code: int, has_retry_after: bool = False) -> bool:
        """Whether an answer of this kind is asked for again; `POST` is not among the allowed methods."""
        return status_code in self.LIMITED or super().is_retry(method, status_code, has_retry_after)

    def increment(
        self,
        method: str | None = None,
        url: str | None = None,
        response: BaseHTTPResponse | None = None,
        error: Exception | None = None,
        _pool: ConnectionPool | None = None,
        _stacktrace: TracebackType | None = None,
    ) -> Self:
        """The retries that are left. Raises `RateLimitExceededExceedsMaxWait` for a wait beyond the cap."""
        wait = self._wait(response) if response is not None and response.status in self.LIMITED else None
        if response is not None and wait is not None and wait > (self.max_rate_limit_wait or 0.0):
            response.drain_conn()
            said = {"message": "told to wait"}
            raise RateLimitExceededExceedsMaxWait(response.status, said, dict(response.headers), wait=wait)
        left = super().increment(method, url, response, error, _pool, _stacktrace)  # type: ignore[arg-type]
        if wait is not None:
            left.get_backoff_time = lambda: wait  # type: ignore[method-assign]
        return left  # type: ignore[return-value]

    def _wait(self, response: BaseHTTPResponse) -> float | None:
        """The seconds that a rate limit asks for, where PyGithub does not read them itself."""
        told = self.get_retry_after(response)
        if told is not None or response.status == 403:
            return told
        if response.headers.get("X-RateLimit-Remaining") != "0":
            return float(self.secondary_rate_wait)
        return max(0.0, float(response.headers.get("X-RateLimit-Reset", "0")) - time.time()) + 1


class Pace:
    """Writes one after the other, with a pause after each, however many threads want to write."""

    def __init__(self, pause: float) -> None:
        self._pause = pause
        self._lock = threading.Lock()
        self._next = 0.0

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for one's turn to write, and keep it for the write."""
        with self._lock:
            time.sleep(max(0.0, self._next - time.monotonic()))
            try:
                yield
            finally:
                self._next = time.monotonic() + self._pause


class TokenAuth(Auth):
    """A token that is asked for at each request, since the one of the last request may have run out."""

    def __init__(self, current: Callable[[], str], forget: Callable[[str], bool]) -> None:
        self._current = current
        self.forget = forget
        """Says that a token does not work any more; True if there will be another one."""

    @property
    def token_type(self) -> str:
        """How it is called in the `Authorization` header."""
        return "Bearer"

    @property
    def token(self) -> str:
        """One that should work now."""
        return self._current()


class Memory:
    """Answers with their tags, so that GitHub need not send again, nor count, what has not changed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[dict[str, Any], Any]] = OrderedDict()

    def find(self, key: str) -> tuple[dict[str, Any], Any] | None:
        """Headers and content of the last answer."""
        with self._lock:
            return self._kept.get(key)

    def keep(self, key: str, answer: tuple[dict[str, Any], Any]) -> None:
        """Keep an answer, and of all no more than the last `REMEMBERED`."""
        with self._lock:
            self._kept[key] = answer
            self._kept.move_to_end(key)
            while len(self._kept) > REMEMBERED:
                self._kept.popitem(last=False)


class Connection(Requester):
    """PyGithub's requester with a pace for writes, answers that are not sent twice, and tokens that are renewed.

    For one thread, as PyGithub's is; `pace` and `memory` may be shared by many.
    """

    def __init__(self, api: Api, auth: Auth | None, pace: Pace, memory: Memory) -> None:
        retry = Retries(
            total=api.retries,
            backoff_factor=api.backoff,
            secondary_rate_wait=min(60.0, api.longest_wait),
            max_rate_limit_wait=api.longest_wait,
            backoff_max=api.longest_wait,
            allowed_methods={"GET", "PATCH", "PUT", "DELETE"},
        )
        super().__init__(
            auth=auth,
            base_url=api.url,
            timeout=api.timeout,
            user_agent="agent-fix",
            per_page=100,
            verify=api.certificates or True,
            retry=retry,
            pool_size=None,
        )
        self.api = api
        self._pace = pace
        self._memory = memory

    def requestJsonAndCheck(  # noqa: N802, PLR0917 - PyGithub's
        self,
        verb: str,
        url: str,
        parameters: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        input: Any | None = None,  # noqa: A002 - PyGithub's name
        follow_302_redirect: bool = False,
    ) -> tuple[dict[str, Any], Any]:
        """One request of PyGithub's, as all of its objects make them."""

        def ask() -> tuple[dict[str, Any], Any]:
            if verb == "GET":
                return self._get(url, parameters, headers, follow_302_redirect)
            if url == self.graphql_url and str(input["query"]).lstrip().startswith("query"):  # type: ignore[index]
                return super(Connection, self).requestJsonAndCheck(verb, url, parameters, headers, input)
            with self._pace.turn():
                return super(Connection, self).requestJsonAndCheck(verb, url, parameters, headers, input)

        used = self.auth.token if isinstance(self.auth, TokenAuth) else None
        try:
            return self._within_limits(*ask())
        except BadCredentialsException:
            if used is None or not isinstance(self.auth, TokenAuth) or not self.auth.forget(used):
                raise
            return self._within_limits(*ask())

    def _within_limits(self, headers: dict[str, Any], data: Any) -> tuple[dict[str, Any], Any]:
        """An answer, unless it is GraphQL's about a rate limit, whose status is that of a success."""
        errors = data.get("errors") or () if isinstance(data, dict) else ()
        if any(one.get("type") == "RATE_LIMITED" or self.isRateLimitError(one.get("message")) for one in errors):
            reset = max(0.0, float(headers.get("x-ratelimit-reset", 0)) - time.time()) + 1
            wait = float(headers.get("retry-after", reset))
            raise RateLimitExceededExceedsMaxWait(403, data, headers, wait=wait)
        return headers, data

    def _get(
        self, url: str, parameters: dict[str, Any] | None, headers: dict[str, str] | None, follow: bool
    ) -> tuple[dict[str, Any], Any]:
        key = repr((url, sorted((parameters or {}).items(), key=repr)))
        known = self._memory.find(key)
        asked = dict(headers or {}) | ({"If-None-Match": known[0]["etag"]} if known else {})
        answered, data = super().requestJsonAndCheck("GET", url, parameters, asked, follow_302_redirect=follow)
        if data is None and known is not None:
            return known
        if "etag" in answered:
            self._memory.keep(key, (answered, data))
        return answered, data


@contextmanager
def named(what: str) -> Iterator[None]:
    """Give GitHub's errors this project's names; `what` says what was wanted, for the text."""
    try:
        yield
    except RateLimitExceededExceedsMaxWait as error:
        raise Unavailable(f"{what}: GitHub asks to wait {error.wait:.0f} s.", error.wait) from error
    except RateLimitExceededException as error:
        raise Unavailable(f"{what}: GitHub's rate limit is used up. Try again later.") from error
    except BadCredentialsException as error:
        raise Refused(
            f"{what}: GitHub does not know the credential. Give a new token, or the App's own key."
        ) from error
    except GithubException as error:
        raise _by_status(what, error) from error
    except requests.RequestException as error:
        raise Unavailable(f"{what}: GitHub did not answer ({type(error).__name__}). Try again later.") from error
    except RuntimeError as error:
        raise BadInput(f"{what}: {error}") from error


def _by_status(what: str, error: GithubException) -> Exception:
    said = _said(error)
    if error.status in (404, 410):
        return NotThere(f"{what}: {said}. It is gone, or this identity may not see it.")
    if error.status >= 500 or error.status in (408, 409):
        return Unavailable(f"{what}: GitHub answered {error.status} ({said}). Try again later.")
    if error.status in (401, 403):
        accepted = (error.headers or {}).get("x-accepted-github-permissions")
        need = f" It takes one of these permissions: {accepted}." if accepted else ""
        return NotPermitted(f"{what}: GitHub says: {said}.{need}")
    return Refused(f"{what}: GitHub answered {error.status}: {said}.")


def _said(error: GithubException) -> str:
    """GitHub's own words, without the addresses of documentation around them."""
    data = error.data if isinstance(error.data, dict) else {}
    parts = [str(data.get("message") or error.message or "nothing")]
    parts += [str(one["message"]) for one in data.get("errors", ()) if isinstance(one, dict) and one.get("message")]
    return "; ".join(parts).rstrip(".")


def once(
    what: str, *, find: Callable[[], Result | None], make: Callable[[], Result], settling: float, tries: int = 3
) -> Result:
    """Make something that must not be made twice: after a lost answer, look for it before making it again.

    `find` gives what is there. Raises what `make` raises, by this project's names, if it cannot be found either.
    """
    for left in reversed(range(tries)):
        try:
            with named(what):
                return make()
        except Unavailable as error:
            if error.retry_after is not None:
                raise
            time.sleep(settling)
            found = find()
            if found is not None:
                return found
            if not left:
                raise
    raise AssertionError("the last try returns or raises")
