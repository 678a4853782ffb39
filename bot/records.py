"""The records of a run's transcript: one schema, told apart by `kind`. Values only; `bot.transcript` keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, model_validator

from bot.llm.budget import Limits, Spent
from bot.llm.port import Completion, ToolCall, ToolSpec, Usage
from bot.task import Outcome, Task
from repo_tools.patch import Patch
from sandbox.port import Result, TestOutcome, TestReport

FORMAT = 1
"""Raised when an older reader would misunderstand a newer file."""

MESSAGE_CHARS = 4_000
OUTPUT_CHARS = 20_000


def trimmed(text: str, limit: int) -> str:
    """`text`, its middle left out if it is longer than `limit` characters."""
    if len(text) <= limit:
        return text
    head, tail = limit // 3, limit - limit // 3
    return f"{text[:head]}\n[… {len(text) - head - tail} characters left out …]\n{text[-tail:]}"


def _plain(value: Any) -> Any:
    """Containers and dataclasses as JSON has them; halves of characters, which no JSON can carry, written out."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode()
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, Mapping):
        return {_plain(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value


class _Value(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _plain_values(cls, values: Any) -> Any:
        return _plain(values)


class RecordBase(_Value):
    """What every record has. `at` and `clock` are set when it is written and never compared."""

    at: datetime | None = None
    clock: float = 0.0
    """Seconds that the run had been at work; the time between a crash and the resumption is no part of it."""
    agent: str = ""
    """Whose record it is; empty for the run itself. The order of one agent's records is the same in every replay."""


class RunStarted(RecordBase):
    """The first record."""

    kind: Literal["run"] = "run"
    format: int = FORMAT
    run: str
    task: Task
    models: dict[str, str]
    """Role -> name of its model."""
    limits: Limits
    versions: dict[str, str] = {}
    """What may change a replay: the program's own version, Python's."""
    note: str = ""
    """What a reader should know of this recording, such as who played the model."""


class StageChanged(RecordBase):
    """The run reached a stage."""

    kind: Literal["stage"] = "stage"
    stage: str
    detail: str = ""


class Asked(RecordBase):
    """A role was asked; what it was shown, part by part."""

    kind: Literal["asked"] = "asked"
    role: str
    round: int = 0
    tree: str = ""
    """A digest of the files that it sees."""
    shown: dict[str, int] = {}
    """Part of the prompt -> its size in estimated tokens."""


class StoredMessage(_Value):
    """A message of a request. `content` is None where it repeats the result of the tool call `tool_call_id`."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str | None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


class Completed(RecordBase):
    """One request and its answer. The request is stored as its difference from the agent's previous one."""

    kind: Literal["completion"] = "completion"
    role: str
    index: int
    """Which of the agent's requests it is, from 0."""
    kept: int
    """How many messages it shares with the start of the previous request and its answer."""
    messages: tuple[StoredMessage, ...]
    """Those that follow."""
    tools: tuple[ToolSpec, ...] | None = None
    """None if they are those of the previous request."""
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage
    model: str
    seconds: float
    finish: str
    usd: float | None

    @property
    def completion(self) -> Completion:
        """The answer, as the model gave it."""
        return Completion(self.text, self.tool_calls, self.usage, self.model, self.seconds, self.finish, self.usd)


class ToolUsed(RecordBase):
    """A tool call was done; `result` is what the model is shown of it."""

    kind: Literal["tool"] = "tool"
    call_id: str
    name: str
    result: str
    ok: bool = True
    seconds: float = 0.0


class CommandRun(RecordBase):
    """A command ran in the sandbox."""

    kind: Literal["command"] = "command"
    command: str
    exit_code: int | None
    ended: str
    output: str
    seconds: float

    @classmethod
    def of(cls, command: str, result: Result, *, agent: str = "") -> CommandRun:
        """The record of one result, its output trimmed."""
        output = trimmed(result.output, OUTPUT_CHARS)
        return cls(
            agent=agent,
            command=command,
            exit_code=result.exit_code,
            ended=result.ended,
            output=output,
            seconds=result.seconds,
        )


class Tested(RecordBase):
    """Tests ran in the sandbox. Every test is in `outcomes`; the texts are trimmed."""

    __test__: ClassVar[bool] = False  # its name is no invitation to pytest
    kind: Literal["tests"] = "tests"
    why: str
    """Such as `baseline`, `check`, `final`."""
    selection: tuple[str, ...] = ()
    """Empty means the whole suite."""
    good: bool
    outcomes: dict[TestOutcome, tuple[str, ...]]
    failures: dict[str, str]
    """Test id -> failure text."""
    exit_code: int | None
    ended: str
    output: str
    seconds: float

    @classmethod
    def of(cls, why: str, report: TestReport, *, selection: tuple[str, ...] = (), agent: str = "") -> Tested:
        """The record of one report. Of a good one the runner's output is left out."""
        outcomes = {outcome: tuple(sorted(report.having(outcome))) for outcome in TestOutcome}
        result = report.result
        return cls(
            agent=agent,
            why=why,
            selection=selection,
            good=report.good,
            outcomes={outcome: tests for outcome, tests in outcomes.items() if tests},
            failures={test: trimmed(text, MESSAGE_CHARS) for test, text in sorted(report.messages.items())},
            exit_code=result.exit_code,
            ended=result.ended,
            output="" if report.good else trimmed(result.output, OUTPUT_CHARS),
            seconds=result.seconds,
        )


class Stopped(RecordBase):
    """A step to which the model or a limit of the run put an end; a replay puts the same end to it."""

    kind: Literal["stopped"] = "stopped"
    step: str
    """Its name, which no other step of the run has."""
    error: Literal["ModelFailed", "OverBudget", "TimedOut"]
    text: str
    """What everyone may read of it; how the run ended has all of it."""


class Posted(RecordBase):
    """Something was put on the team's board: a plan, a tester's report, a verdict."""

    kind: Literal["board"] = "board"
    slot: str
    round: int = 0
    value: JsonValue


class Delivered(RecordBase):
    """The change that the run ends with."""

    kind: Literal["patch"] = "patch"
    files: dict[str, dict[str, str] | None]
    """As `Patch.to_json` gives it."""
    diff: str = ""
    """For people."""

    @property
    def patch(self) -> Patch:
        """The change itself."""
        return Patch.from_json(self.files)


class RunEnded(RecordBase):
    """The last record."""

    kind: Literal["outcome"] = "outcome"
    outcome: Outcome
    text: str = ""
    """Why, for people."""
    spent: dict[str, Spent] = {}
    """Role -> what it used."""


Record = Annotated[
    RunStarted
    | StageChanged
    | Asked
    | Completed
    | ToolUsed
    | CommandRun
    | Tested
    | Stopped
    | Posted
    | Delivered
    | RunEnded,
    Field(discriminator="kind"),
]

RECORD: TypeAdapter[Record] = TypeAdapter(Record)


def json_schema() -> dict[str, Any]:
    """The JSON schema of one line of a transcript."""
    return RECORD.json_schema() | {"title": "agent-fix transcript record", "$comment": f"format {FORMAT}"}
