"""A run's transcript: append-only JSON lines on disk, read back, and continued after a crash.

A resumed run is performed again from its start with the stored answers. What it records anew is compared with the
lines that are there and not written twice; only what goes beyond them is appended.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bot.errors import BadInput, Diverged
from bot.llm.budget import Spent
from bot.llm.port import Completion, Message, Request, ToolSpec
from bot.records import FORMAT, RECORD, Completed, Record, RunStarted, StoredMessage, ToolUsed
from bot.secrets_mask import masked

VOLATILE = ("at", "clock")
SHOWN_CHARS = 200

Mask = Callable[[str], str]
"""Gives the text without the secrets in it."""


@dataclass
class _Conversation:
    """What is known of one agent's last exchange."""

    messages: tuple[Message, ...] = ()
    tools: tuple[ToolSpec, ...] | None = None
    results: dict[str, str] = field(default_factory=dict)
    """Tool call id -> the result that was recorded last."""


class Transcript:
    """The transcript that a run writes. Every record is on the disk, whole, when `add` returns. Thread-safe."""

    def __init__(self, path: Path, mask: Mask, *, watch: Callable[[Record], None] | None = None) -> None:
        """Write a new file. Raises `BadInput` if there is one. `watch` sees every record that is added."""
        self._start(path, mask, watch, os.O_EXCL, [])

    @classmethod
    def resume(cls, path: Path, mask: Mask, *, watch: Callable[[Record], None] | None = None) -> Transcript:
        """Continue a file, or begin it if there is none. Raises `BadInput` if it is none that can be continued."""
        lines = _lines(path) if path.exists() else []
        if lines:
            read(path)
        transcript = cls.__new__(cls)
        transcript._start(path, mask, watch, 0, lines)
        return transcript

    def _start(
        self,
        path: Path,
        mask: Mask,
        watch: Callable[[Record], None] | None,
        flags: int,
        lines: list[dict[str, Any]],
    ) -> None:
        self.path = path
        self.mask = mask
        self._watch = watch
        self._lock = threading.RLock()
        self._conversations: dict[str, _Conversation] = {}
        self._known: dict[str, deque[tuple[int, dict[str, Any]]]] = {}
        for number, line in enumerate(lines, 1):
            self._known.setdefault(line["agent"], deque()).append((number, line))
        self._before = max((line["clock"] for line in lines), default=0.0)
        self._started = time.monotonic()
        self._file = _open(path, flags)

    @property
    def seconds(self) -> float:
        """How long the run has been at work, before a crash and since."""
        return self._before + time.monotonic() - self._started

    def add(self, record: Record, *, shown: bool = False) -> None:
        """Append `record`, or find it where it already is. Raises `Diverged` if something else is there.

        One that is `shown` already is not watched again.
        """
        with self._lock:
            if isinstance(record, ToolUsed):
                self._of(record.agent).results[record.call_id] = record.result
            line = masked(record.model_dump(mode="json"), self.mask)
            known = self._known.get(record.agent)
            if known:
                _same(record.agent, *known.popleft(), line)
            else:
                self._write(line | {"at": datetime.now(UTC).isoformat(), "clock": round(self.seconds, 3)})
            if not shown:
                self.show(record)

    def show(self, record: Record) -> None:
        """Have a record watched that is added later, by whoever waits for what it is a part of."""
        with self._lock:
            if self._watch:
                self._watch(record.model_copy(update={"clock": round(self.seconds, 3)}))

    def completion(self, request: Request, completion: Completion) -> None:
        """Append one request of `request.agent` and its answer."""
        with self._lock:
            self.add(_exchanged(self._of(request.agent), request, completion))

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)

    def __enter__(self) -> Transcript:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _of(self, agent: str) -> _Conversation:
        return self._conversations.setdefault(agent, _Conversation())

    def _write(self, line: Mapping[str, Any]) -> None:
        data = json.dumps(line, ensure_ascii=False).encode() + b"\n"
        size = os.fstat(self._file).st_size
        if os.write(self._file, data) < len(data):
            os.ftruncate(self._file, size)
            raise OSError(f"{self.path}: the disk took only a part of a record; make room and resume the run.")
        os.fsync(self._file)


class Kept:
    """Records that are kept in memory until whoever waits for them adds them to the transcript. For one thread."""

    def __init__(self, show: Callable[[Record], None] | None = None) -> None:
        """`show` is given each record at once."""
        self.records: list[Record] = []
        self._show = show
        self._conversations: dict[str, _Conversation] = {}

    def add(self, record: Record, *, shown: bool = False) -> None:
        """Keep one more."""
        if not shown:
            self.show(record)
        if isinstance(record, ToolUsed):
            self._of(record.agent).results[record.call_id] = record.result
        self.records.append(record)

    def show(self, record: Record) -> None:
        """See `Transcript.show`."""
        if self._show is not None:
            self._show(record)

    def completion(self, request: Request, completion: Completion) -> None:
        """Keep one request of `request.agent` and its answer."""
        self.add(_exchanged(self._of(request.agent), request, completion))

    def _of(self, agent: str) -> _Conversation:
        return self._conversations.setdefault(agent, _Conversation())


def _exchanged(last: _Conversation, request: Request, completion: Completion) -> Completed:
    """The record of one exchange; `last` is what came before it, and is brought up to date."""
    kept = _common(last.messages, request.messages)
    record = Completed(
        agent=request.agent,
        role=request.role,
        index=request.index,
        kept=kept,
        messages=tuple(_stored(message, last.results) for message in request.messages[kept:]),
        tools=None if last.tools == request.tools else request.tools,
        text=completion.text,
        tool_calls=completion.tool_calls,
        usage=completion.usage,
        model=completion.model,
        seconds=completion.seconds,
        finish=completion.finish,
        usd=completion.usd,
    )
    last.messages = (*request.messages, _reply(completion))
    last.tools = request.tools
    return record


def read(path: Path) -> tuple[Record, ...]:
    """All records of a transcript; a last line that a crash cut short is left out.

    Raises `BadInput` that names the line if the file is no transcript of a format that is known here.
    """
    records: list[Record] = []
    for number, line in enumerate(_lines(path), 1):
        try:
            records.append(RECORD.validate_python(line))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            raise BadInput(f"{path}, line {number}: no record of a transcript ({place}: {first['msg']}).") from None
    if not records:
        raise BadInput(f"{path} holds no record: the run was stopped before it began.")
    return tuple(records)


def requests(records: Iterable[Record]) -> dict[tuple[str, int], Request]:
    """Agent and index -> the whole request, put together again."""
    conversations: dict[str, _Conversation] = {}
    whole: dict[tuple[str, int], Request] = {}
    for record in records:
        last = conversations.setdefault(record.agent, _Conversation())
        if isinstance(record, ToolUsed):
            last.results[record.call_id] = record.result
        elif isinstance(record, Completed):
            messages = last.messages[: record.kept] + tuple(_message(each, last.results) for each in record.messages)
            last.tools = record.tools if record.tools is not None else last.tools
            request = Request(record.role, messages, last.tools or (), record.agent, record.index)
            whole[record.agent, record.index] = request
            last.messages = (*messages, _reply(record.completion))
    return whole


def spent_by_role(records: Iterable[Record]) -> dict[str, Spent]:
    """Role -> what its completions used."""
    spent: dict[str, Spent] = {}
    for record in records:
        if isinstance(record, Completed):
            spent[record.role] = spent.get(record.role, Spent()) + Spent.of(record.completion)
    return spent


def _lines(path: Path) -> list[dict[str, Any]]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from None
    lines: list[dict[str, Any]] = []
    for number, text in enumerate(data.split(b"\n")[:-1], 1):
        try:
            line = json.loads(text)
        except ValueError as error:
            raise BadInput(f"{path}, line {number}: no JSON ({error}).") from None
        if not isinstance(line, dict):
            raise BadInput(f"{path}, line {number}: a record is a JSON object.")
        if number == 1:
            _check_format(path, line)
        lines.append(RECORD_DEFAULTS | line)
    return lines


RECORD_DEFAULTS: dict[str, Any] = {"agent": "", "clock": 0.0}


def _check_format(path: Path, first: Mapping[str, Any]) -> None:
    number = first.get("format")
    if first.get("kind") != RunStarted.model_fields["kind"].default or not isinstance(number, int):
        raise BadInput(f"{path} is no transcript of agent-fix: its first line does not say that a run started.")
    if number > FORMAT:
        raise BadInput(
            f"{path} has format {number}, this agent-fix reads up to {FORMAT}: use the newer version that wrote it."
        )


def _open(path: Path, flags: int) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | flags, 0o600)
    except FileExistsError:
        raise BadInput(f"{path} exists already: resume that run, or give this one another name.") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        raise BadInput(f"{path} is being written by another process: that run is still at work.") from None
    # A crash in the middle of a line leaves it without its end: it was never promised to anybody.
    data = path.read_bytes()
    os.ftruncate(file, data.rfind(b"\n") + 1)
    folder = os.open(path.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)
    return file


def _same(agent: str, number: int, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    for name in sorted({*old, *new} - set(VOLATILE)):
        if old.get(name) != new.get(name):
            raise Diverged(
                f"{agent or 'The run'} took another way than its record at line {number} ({old.get('kind')}): "
                f"{name} was {_short(old.get(name))} and is now {_short(new.get(name))}. "
                "Start the run anew; what it had paid for is in the transcript."
            )


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS] + "…"


def _common(before: tuple[Message, ...], now: tuple[Message, ...]) -> int:
    count = 0
    for old, new in zip(before, now, strict=False):
        if old != new:
            break
        count += 1
    return count


def _reply(completion: Completion) -> Message:
    return Message("assistant", completion.text, completion.tool_calls)


def _stored(message: Message, results: Mapping[str, str]) -> StoredMessage:
    repeats = message.role == "tool" and results.get(message.tool_call_id or "") == message.content
    return StoredMessage(
        role=message.role,
        content=None if repeats else message.content,
        tool_calls=message.tool_calls,
        tool_call_id=message.tool_call_id,
    )


def _message(stored: StoredMessage, results: Mapping[str, str]) -> Message:
    content = stored.content if stored.content is not None else results[stored.tool_call_id or ""]
    return Message(stored.role, content, stored.tool_calls, stored.tool_call_id)
