"""What a run may spend, what it has spent, and the check before each call.

No I/O: the clock and the prices are given.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bot.errors import NoProgress, OverBudget, TimedOut
from bot.llm.port import Completion, Model, Request, Usage

BYTES_PER_TOKEN = 4
TOKENS_PER_MESSAGE = 4


@dataclass(frozen=True)
class Limits:
    """What one run may use; `None` is no limit. `usd` counts priced calls alone, the others count every call."""

    usd: float | None = None
    tokens: int | None = None
    calls: int | None = None
    minutes: float | None = None


@dataclass(frozen=True)
class Spent:
    """What was used. `usd` is the sum over the calls whose price is known; `unpriced` counts the others."""

    calls: int = 0
    input: int = 0
    output: int = 0
    cached_input: int = 0
    usd: float = 0.0
    unpriced: int = 0
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """Tokens in and out."""
        return self.input + self.output

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.calls + other.calls,
            self.input + other.input,
            self.output + other.output,
            self.cached_input + other.cached_input,
            self.usd + other.usd,
            self.unpriced + other.unpriced,
            self.seconds + other.seconds,
        )

    @classmethod
    def of(cls, completion: Completion) -> Spent:
        """What one completion used."""
        usage, usd = completion.usage, completion.usd
        unpriced = 1 if usd is None else 0
        return cls(1, usage.input, usage.output, usage.cached_input, usd or 0.0, unpriced, completion.seconds)


def estimate_tokens(request: Request) -> int:
    """Tokens of a request before any provider has counted them: a fourth of its bytes, and some for each message."""
    texts = [message.content for message in request.messages]
    texts += [call.name + call.arguments for message in request.messages for call in message.tool_calls]
    texts += [tool.name + tool.description + json.dumps(dict(tool.parameters)) for tool in request.tools]
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    return -(-size // BYTES_PER_TOKEN) + TOKENS_PER_MESSAGE * len(request.messages)


Price = Callable[[str, Usage], float | None]
"""Role and usage -> US dollars; `None` where the price of the role's model is not known."""


def unknown_price(role: str, usage: Usage) -> None:
    """The price of models that nobody has a price for."""


class Meter:
    """Counts what a run spends and refuses the call that does not fit any more. Safe to share between threads.

    Its state is a fold of `add` over the run's completions, so a resumed run that adds the stored ones stands where
    it stood. `clock` gives the seconds that the run has been at work, the time before a crash included.
    """

    def __init__(self, limits: Limits, *, clock: Callable[[], float], price: Price = unknown_price) -> None:
        self.limits = limits
        self._clock = clock
        self._price = price
        self._lock = threading.RLock()
        self._by_role: dict[str, Spent] = {}
        self._open = Spent()

    def add(self, role: str, completion: Completion) -> None:
        """Count one completion, new or stored."""
        with self._lock:
            self._by_role[role] = self._by_role.get(role, Spent()) + Spent.of(completion)

    @property
    def by_role(self) -> dict[str, Spent]:
        """Role -> what it has used, in the order of their first calls."""
        with self._lock:
            return dict(self._by_role)

    @property
    def total(self) -> Spent:
        """What the run has used."""
        return sum(self.by_role.values(), Spent())

    @property
    def seconds(self) -> float:
        """How long the run has been at work."""
        return self._clock()

    def check_time(self) -> None:
        """Raises `TimedOut` if the run's minutes are spent."""
        minutes = self.limits.minutes
        if minutes is not None and self._clock() >= 60 * minutes:
            raise TimedOut(
                f"The {minutes:g} minutes of this run are spent after {self.total.calls} calls: "
                "give it more with --max-minutes, or make the issue smaller."
            )

    @contextmanager
    def call(self, request: Request) -> Iterator[None]:
        """Hold room for one call. Raises `OverBudget` or `TimedOut` if there is none, before anything is spent.

        Belongs where the money is really spent, inside the step whose result is stored: a resumed run then checks
        nothing that was already paid. Calls that other threads have open count as if they were spent.
        """
        self.check_time()
        size = estimate_tokens(request)
        usd = self._price(request.role, Usage(size, 1))
        wanted = Spent(calls=1, input=size, output=1, usd=usd or 0.0)
        with self._lock:
            self._check(self.total + self._open, wanted)
            self._open += wanted
        try:
            yield
        finally:
            with self._lock:
                self._open = _less(self._open, wanted)

    def _check(self, spent: Spent, wanted: Spent) -> None:
        limits = self.limits
        if limits.calls is not None and spent.calls + 1 > limits.calls:
            raise OverBudget(f"All {limits.calls} model calls of this run are used: raise AGENT_FIX_BUDGET_CALLS.")
        if limits.tokens is not None and spent.tokens + wanted.tokens > limits.tokens:
            raise OverBudget(
                f"{spent.tokens:,} of the run's {limits.tokens:,} tokens are used and the next call needs at least "
                f"{wanted.tokens:,}: raise AGENT_FIX_BUDGET_TOKENS."
            )
        if limits.usd is not None and (spent.usd >= limits.usd or spent.usd + wanted.usd > limits.usd):
            raise OverBudget(
                f"${spent.usd:.2f} of the run's ${limits.usd:.2f} is spent and the next call costs at least "
                f"${wanted.usd:.3f}: raise it with --budget-usd."
            )


def _less(left: Spent, right: Spent) -> Spent:
    return Spent(
        left.calls - right.calls, left.input - right.input, left.output - right.output, usd=left.usd - right.usd
    )


class Metered:
    """A `Model` that asks another one only if the request is not too large for its role and the budget has room."""

    def __init__(self, model: Model, meter: Meter, *, request_tokens: Callable[[str], int]) -> None:
        """`request_tokens` gives the largest request that a role may send, in estimated tokens."""
        self._model = model
        self._meter = meter
        self._request_tokens = request_tokens

    def complete(self, request: Request) -> Completion:
        """Raises `OverBudget`, also for a request that is too large; `TimedOut`; whatever the model raises."""
        size, most = estimate_tokens(request), self._request_tokens(request.role)
        if size > most:
            raise OverBudget(
                f"A request of the {request.role} would hold {size:,} tokens, more than the {most:,} it may: "
                "raise AGENT_FIX_REQUEST_TOKENS if the model can hold that, or make the issue smaller."
            )
        with self._meter.call(request):
            return self._model.complete(request)


VOLATILE = re.compile(
    r"\b\d+(?:\.\d+)?(?:e-?\d+)?\s?(?:s|ms|µs|us|ns|secs?|seconds?|minutes?)\b"  # durations
    r"|\b0x[0-9a-fA-F]{6,}\b"  # addresses of objects
    r"|\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"  # times of day
)


def steady(text: str) -> str:
    """`text` without durations, addresses and dates, which differ each time the same command says the same thing."""
    return VOLATILE.sub("~", text)


class Repeats:
    """Notices one agent that goes in circles: the same calls with the same results, and nothing new between them."""

    def __init__(self, limit: int = 3) -> None:
        self._limit = limit
        self._seen: set[tuple[str, str, str]] = set()
        self._stale: dict[tuple[str, str, str], int] = {}

    def add(self, name: str, arguments: str, result: str) -> None:
        """Note one tool call. Raises `NoProgress` at the `limit`th time that it taught nothing new."""
        key = (name, _canonical(arguments), steady(result))
        if key not in self._seen:
            self._seen.add(key)
            self._stale.clear()
            return
        self._stale[key] = self._stale.get(key, 1) + 1
        if self._stale[key] >= self._limit:
            raise NoProgress(
                f"The tool {name} was called {self._limit} times with the same arguments and the same result, and "
                "nothing new came in between: say more in the issue, or try a stronger model."
            )


def _canonical(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments
