"""A run stops before the call that it cannot pay, and where it stands follows from its completions alone."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import NoProgress, OverBudget, TimedOut
from bot.llm import prices
from bot.llm.budget import Limits, Meter, Metered, Repeats, Spent, estimate_tokens
from bot.llm.port import Completion, Message, Request, ToolCall, ToolSpec, Usage

REQUEST = Request("coder", (Message("user", "x" * 400),))


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class CountingModel:
    """Answers everything and counts."""

    asked: int = 0
    gate: threading.Event = field(default_factory=threading.Event)

    def complete(self, request: Request) -> Completion:
        self.asked += 1
        assert self.gate.wait(5)
        return completion()


def completion(tokens: int = 100, usd: float | None = 0.5) -> Completion:
    return Completion("", (), Usage(tokens - 10, 10, 20), "m", 2.0, "stop", usd)


def by_token(role: str, usage: Usage) -> float:
    return usage.input / 1000


def meter(clock: Clock | None = None, **limits: float) -> Meter:
    return Meter(Limits(**limits), clock=clock or Clock(), price=by_token)  # type: ignore[arg-type]


def spend(meter: Meter, *completions: Completion) -> None:
    for each in completions:
        with meter.call(REQUEST):
            pass
        meter.add("coder", each)


def test_each_role_and_the_whole_are_counted() -> None:
    used = meter()
    used.add("analyst", completion(usd=0.25))
    used.add("coder", completion(1000, usd=None))
    used.add("coder", completion(usd=0.5))
    assert used.by_role["analyst"] == Spent(1, 90, 10, 20, 0.25, 0, 2.0)
    assert used.by_role["coder"] == Spent(2, 1080, 20, 40, 0.5, 1, 4.0)
    assert used.total == Spent(3, 1170, 30, 60, 0.75, 1, 6.0)
    assert used.total.tokens == 1200
    assert list(used.by_role) == ["analyst", "coder"]


SPENT = {
    "calls": ({"calls": 2}, [completion()] * 2, "AGENT_FIX_BUDGET_CALLS"),
    "tokens are used up": ({"tokens": 210}, [completion(210)], "AGENT_FIX_BUDGET_TOKENS"),
    "tokens left do not hold the request": ({"tokens": 250}, [completion(150)], "at least 105"),
    "money is spent": ({"usd": 1.0}, [completion(usd=1.0)], "--budget-usd"),
    "money left does not pay the request": ({"usd": 1.0}, [completion(usd=0.95)], r"at least \$0.104"),
}


@pytest.mark.parametrize(("limits", "completions", "said"), SPENT.values(), ids=SPENT.keys())
def test_the_call_that_does_not_fit_is_not_made(
    limits: dict[str, float], completions: list[Completion], said: str
) -> None:
    used = meter(**limits)
    spend(used, *completions)
    with pytest.raises(OverBudget, match=said), used.call(REQUEST):
        pytest.fail("the call was let through")


def test_a_free_model_is_bounded_by_tokens_and_calls() -> None:
    used = Meter(Limits(usd=0.01, calls=3), clock=Clock())
    spend(used, *[completion(usd=None)] * 3)
    with pytest.raises(OverBudget, match="3 model calls"), used.call(REQUEST):
        pass


def test_minutes_are_counted_by_the_clock_that_is_given() -> None:
    clock = Clock(59.9 * 30)
    used = meter(clock, minutes=30.0)
    spend(used, completion())
    clock.now = 1800.0
    with pytest.raises(TimedOut, match="30 minutes"), used.call(REQUEST):
        pass
    with pytest.raises(TimedOut):
        used.check_time()


def test_no_limits_stop_nothing() -> None:
    spend(meter(Clock(1e9)), *[completion(10**9, 1e6)] * 3)


def test_calls_that_are_open_in_other_threads_count_already() -> None:
    used, model = meter(calls=3), CountingModel()
    metered = Metered(model, used, request_tokens=lambda role: 1000)
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(metered.complete, REQUEST) for _ in range(8)]
        refused = 0
        while refused < 5:
            refused = sum(each.done() for each in asked)
        assert model.asked == 3
        model.gate.set()
    assert sum(isinstance(each.exception(), OverBudget) for each in asked) == 5


def test_room_is_given_back_when_a_call_fails() -> None:
    used = meter(calls=1)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), used.call(REQUEST):
            raise ZeroDivisionError
    spend(used, completion())


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(10, 9999), st.none() | st.floats(0, 3))))
def test_a_resumed_run_stands_where_it_stood(calls: list[tuple[str, int, float | None]]) -> None:
    first, second = meter(), meter()
    for role, tokens, usd in calls:
        first.add(role, completion(tokens, usd))
        second.add(role, completion(tokens, usd))
    assert first.by_role == second.by_role


def test_a_request_above_its_roles_limit_names_role_and_size() -> None:
    model = CountingModel()
    metered = Metered(model, meter(), request_tokens={"coder": 103, "analyst": 104}.__getitem__)
    with pytest.raises(OverBudget, match=r"the coder would hold 104 tokens, more than the 103"):
        metered.complete(REQUEST)
    assert model.asked == 0
    model.gate.set()
    metered.complete(Request("analyst", REQUEST.messages))
    assert model.asked == 1


def test_the_estimate_counts_everything_that_is_sent() -> None:
    bare = Request("coder", (Message("user", "abcd" * 25),))
    assert estimate_tokens(bare) == 25 + 4
    assert estimate_tokens(Request("coder", (Message("user", "\u6c34" * 100),))) == 75 + 4
    with_tools = Request("coder", bare.messages, (ToolSpec("t" * 40, "d" * 40, {}),))
    assert estimate_tokens(with_tools) >= 29 + 20
    with_calls = Request("coder", (*bare.messages, Message("assistant", "", (ToolCall("1", "run", "z" * 400),))))
    assert estimate_tokens(with_calls) >= 29 + 100
    assert estimate_tokens(Request("coder", (Message("user", "\udc80"),))) == 5


CALLS = {
    "the same thrice": ("AAA", True),
    "twice": ("AA", False),
    "in turn": ("ABABAB", True),
    "something new between": ("AABACADAE", False),
    "a long circle": ("ABCDABCDABCD", True),
    "all new": ("ABCDEFGH", False),
}


@pytest.mark.parametrize(("calls", "circles"), CALLS.values(), ids=CALLS.keys())
def test_going_in_circles_is_noticed(calls: str, circles: bool) -> None:
    def go() -> None:
        repeats = Repeats()
        for each in calls:
            repeats.add("read", f'{{"path": "{each}"}}', f"contents of {each}")

    if circles:
        with pytest.raises(NoProgress, match="read was called 3 times"):
            go()
    else:
        go()


def test_what_differs_each_time_hides_no_circle() -> None:
    repeats = Repeats()
    repeats.add("run_tests", '{"a": 1, "b": 2}', "1 failed in 0.12s, <object at 0x7f00aa11bb22>")
    repeats.add("run_tests", '{"b": 2, "a": 1}', "1 failed in 0.31s, <object at 0x7f00aa11cc33>")
    with pytest.raises(NoProgress):
        repeats.add("run_tests", '{ "a":1, "b":2}', "1 failed in 1.02s, <object at 0x7f00aa11dd44>")


@pytest.mark.parametrize("arguments", ["", "{", "[" * 100_000, "\udc80"])
def test_arguments_that_are_no_json_can_repeat_too(arguments: str) -> None:
    repeats = Repeats()
    with pytest.raises(NoProgress):
        for _ in range(3):
            repeats.add("read", arguments, "no JSON")


def test_another_result_is_progress() -> None:
    repeats = Repeats()
    for failed in (3, 2, 1, 0):
        repeats.add("run_tests", "{}", f"{failed} failed in 0.10s")


def test_a_known_model_has_its_list_price_and_cached_input_is_cheaper() -> None:
    url = "https://api.openai.com/v1"
    full, cached = (prices.price("gpt-5-mini", Usage(1_000_000, 0, part), url) for part in (0, 1_000_000))
    assert full == pytest.approx(0.25)
    assert cached == pytest.approx(0.025)
    assert prices.price("gpt-5-mini", Usage(0, 1_000_000), url) == pytest.approx(2.0)


def test_behind_another_address_the_list_price_of_the_name_counts() -> None:
    assert prices.price("gpt-5-mini", Usage(1_000_000, 0), "http://127.0.0.1:4000/v1") == pytest.approx(0.25)
    assert prices.price("house-made", Usage(1_000_000, 0), "http://127.0.0.1:4000/v1") is None
    assert prices.price("house-made", Usage(1_000_000, 0), "https://api.openai.com/v1") is None
