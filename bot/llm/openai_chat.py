"""A `Model` on any server that speaks OpenAI's chat completions."""

from __future__ import annotations

import asyncio
import difflib
import json
import threading
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, cast

import openai
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion, ChatCompletionMessage

from bot.errors import Cancelled, ModelFailed
from bot.llm import prices
from bot.llm.port import Completion, Message, Request, ToolCall, ToolSpec, Usage

POLL_SECONDS = 0.2
NO_KEY = (
    "There is no key for the model: set OPENAI_API_KEY, and OPENAI_BASE_URL for another provider "
    "(a server of your own that needs none takes any word)."
)
TOO_LONG = ("context_length", "context length", "context window", "maximum context", "too long", "too many tokens")


@dataclass(frozen=True)
class Server:
    """Where the models are. `seconds` is the time that one try may take."""

    base_url: str
    api_key: str | None
    seconds: float = 300.0
    retries: int = 4


class OpenAIChat:
    """Completes over HTTP. May be used from several threads; `cancel`, when set, closes what is under way."""

    def __init__(self, server: Server, model_for: Callable[[str], str], cancel: threading.Event | None = None) -> None:
        """`model_for` gives the name of the model that plays a role."""
        self._server = server
        self._model_for = model_for
        self._cancel = cancel or threading.Event()

    def complete(self, request: Request) -> Completion:
        """Raises `ModelFailed`, whose text names the next move, and `Cancelled`."""
        if not self._server.api_key:
            raise ModelFailed(NO_KEY)
        model = self._model_for(request.role)
        start = time.monotonic()
        try:
            answer = asyncio.run(self._until_cancelled(self._ask(model, request)))
        except openai.APIError as error:
            raise _failed(error, model, self._server) from error
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise self._no_chat("no valid JSON") from error
        return self._completion(answer, model, time.monotonic() - start)

    async def _ask(self, model: str, request: Request) -> object:
        # A client for each call: its connections belong to the event loop, and the loop lives as long as the call.
        server = self._server
        async with openai.AsyncOpenAI(
            api_key=server.api_key, base_url=server.base_url, timeout=server.seconds, max_retries=server.retries
        ) as client:
            return await client.chat.completions.create(
                model=model,
                messages=[_message(message) for message in request.messages],
                tools=[_tool(tool) for tool in request.tools] or openai.omit,
            )

    async def _until_cancelled(self, asking: Coroutine[Any, Any, object]) -> object:
        task = asyncio.ensure_future(asking)
        while not (await asyncio.wait({task}, timeout=POLL_SECONDS))[0]:
            if self._cancel.is_set():
                task.cancel()
                await asyncio.wait({task})
                raise Cancelled("The run was asked to stop while a model was at work; its request was closed.")
        return task.result()

    def _completion(self, answer: object, model: str, seconds: float) -> Completion:
        # The library passes on whatever a server sends, so that what its types promise has to be looked at.
        if not isinstance(answer, ChatCompletion):
            raise self._no_chat("something else")
        choice = next((each for each in answer.choices or () if isinstance(each.message, ChatCompletionMessage)), None)
        if choice is None:
            public = f"{model} gave no answer at all: try again, or another model."
            raise ModelFailed(f"{public} It said: {_details(answer)}", public=public)
        finish = cast("str | None", choice.finish_reason) or "stop"
        text = choice.message.content or choice.message.refusal or ""
        calls = _calls(choice.message)
        if finish == "content_filter":
            raise ModelFailed(f"The provider's content filter stopped {model}: try another model, or reword the issue.")
        if finish == "length" and not text and not calls:
            raise ModelFailed(f"{model} used up its output before it said anything: try a model with a larger one.")
        usage = _usage(answer.usage)
        name = answer.model or model
        # Without a count, what the call cost is not known: it was not free.
        names = (name, model) if usage != Usage() else ()
        found = (prices.price(one, usage, self._server.base_url) for one in names)
        usd = next((price for price in found if price is not None), None)
        return Completion(text, calls, usage, name, round(seconds, 3), finish, usd)

    def _no_chat(self, sent: str) -> ModelFailed:
        public = (
            f"The model's server does not answer as a chat completions server does (it sent {sent}): "
            "check OPENAI_BASE_URL, which often ends in /v1."
        )
        return ModelFailed(f"{public} It is {self._server.base_url}", public=public)


def trouble(server: Server, model: str) -> str | None:
    """What stands between here and `model`, found without spending a token; None if nothing does."""
    with openai.OpenAI(api_key=server.api_key, base_url=server.base_url, timeout=20, max_retries=0) as client:
        try:
            known = [each.id for each in client.models.list()]
        except openai.NotFoundError:
            return None  # it answers, and keeps no list of its models
        except openai.APIError as error:
            return str(_failed(error, model, server))
    if known and model not in known:
        near = difflib.get_close_matches(model, known, 3, 0.3) or sorted(known)[:3]
        return f"there is no model {model} here: set AGENT_FIX_MODEL, for instance to {', '.join(near)}"
    return None


def _message(message: Message) -> Any:
    # What was decoded from odd files may hold halves of characters, which no JSON can carry.
    content = message.content.encode("utf-8", "backslashreplace").decode()
    if message.role == "tool":
        return {"role": "tool", "content": content, "tool_call_id": message.tool_call_id}
    if message.role != "assistant":
        return {"role": message.role, "content": content}
    if not message.tool_calls:
        # Several providers refuse an assistant's message that says nothing at all.
        return {"role": "assistant", "content": content or "(no answer)"}
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in message.tool_calls
    ]
    return {"role": "assistant", "content": content or None, "tool_calls": calls}


def _tool(tool: ToolSpec) -> Any:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def _calls(message: ChatCompletionMessage) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(call.id or f"call_{number}", call.function.name or "", call.function.arguments or "{}")
        for number, call in enumerate(message.tool_calls or ())
        if call.type == "function" or call.type is None
    )


def _usage(usage: CompletionUsage | None) -> Usage:
    if usage is None:
        return Usage()
    details = usage.prompt_tokens_details
    cached = (details.cached_tokens if details else None) or 0
    return Usage(usage.prompt_tokens or 0, usage.completion_tokens or 0, min(cached, usage.prompt_tokens or 0))


def _details(answer: ChatCompletion) -> str:
    return str((answer.model_extra or {}).get("error") or "no reason given")[:300]


def _failed(error: openai.APIError, model: str, server: Server) -> ModelFailed:
    """What the library gave up on. The server's address and words are for whoever runs the bot alone."""
    public = _explain(error, model, server)
    return ModelFailed(f"{public} {server.base_url}: {error.__cause__ or error.message[:500]}", public=public)


def _explain(error: openai.APIError, model: str, server: Server) -> str:  # noqa: PLR0911 - a table of errors
    said = error.message
    match error:
        case openai.APITimeoutError():
            return (
                f"{model} did not answer within {server.seconds:g} s, {server.retries + 1} times: "
                "try again later, or raise AGENT_FIX_REQUEST_SECONDS."
            )
        case openai.APIConnectionError():
            return "The model's server cannot be reached: check OPENAI_BASE_URL, the network and any proxy."
        case openai.AuthenticationError():
            return "The model's server refuses the key (401): check OPENAI_API_KEY."
        case openai.PermissionDeniedError():
            return f"The key may not use {model} (403): choose another with --model or ask for access."
        case openai.NotFoundError():
            return (
                f"The model's server knows no model {model} or no such address (404): choose another with --model, "
                "check OPENAI_BASE_URL."
            )
        case openai.RateLimitError() if "quota" in f"{error.code} {said}":
            return "The provider's account has no credit left (429): top it up or use another key."
        case openai.RateLimitError():
            return f"The provider's rate limit still held after {server.retries} retries (429): run again later."
        case openai.APIStatusError() if error.status_code == 413 or _too_long(error):
            return (
                f"The request is too long for {model} ({error.status_code}): set AGENT_FIX_REQUEST_TOKENS below its "
                "limit."
            )
        case openai.BadRequestError() if "content_filter" in f"{error.code} {said}":
            return "The provider's content filter refused the request (400): try another model, or reword the issue."
        case openai.BadRequestError() if "tool" in said.lower():
            return f"{model} may know no tools (400): set AGENT_FIX_TOOLS=text."
        case openai.APIStatusError() if error.status_code >= 500:
            return f"The provider failed ({error.status_code}), {server.retries + 1} times: try again later."
        case _:
            status = getattr(error, "status_code", "no status")
            return f"The provider refused the request to {model} ({status}): the run's transcript has its words."


def _too_long(error: openai.APIStatusError) -> bool:
    text = f"{error.code} {error.message}".lower()
    return error.status_code == 400 and any(words in text for words in TOO_LONG)
