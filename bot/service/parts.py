"""Strategies beside each other as workflows of their own, on queues that all workers serve.

A part travels as a value: what makes its strategy, with each commit in it by name. In the process where its run is at
work it uses that run's sandbox and model; another process makes its own. What it returned and recorded is stored once.
"""

from __future__ import annotations

import base64
import functools
import io
import pickle
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from dbos import DBOS, DBOSConfiguredInstance
from dbos import error as engine_errors
from pydantic import BaseModel, ConfigDict

from bot.records import RECORD
from bot.service.desk import UNFINISHED
from bot.service.effects import LEVELS, Beside, Done, Paused, Work
from repo_tools.checkout import Commit

QUEUES = tuple(f"parts {level}" for level in range(LEVELS))
"""A part may wait for parts of the next level only: were they on its own queue, it could wait for its own place."""
AT_ONCE = 6
"""Parts of one level at a time in one process of several, so that the others get some; they mostly wait for a model."""
POLL_SECONDS = 0.25
LIVE_SECONDS = 900.0
"""How long a part of a resumed run waits for the run itself to come back."""


class PartRequest(BaseModel):
    """A part as it is put on a queue."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: str
    waiter: str
    """Where it is waited for: a step of the run, or of one of its parts."""
    name: str
    """Its own name, unlike that of any other part of any run."""
    source: dict[str, Any] = {}
    """What another process needs to know of the run."""
    work: str
    """`Work`, packed."""


class PartEnded(BaseModel):
    """What became of it, as it is stored."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    result: str = ""
    error: str = ""
    """Both packed."""
    records: tuple[dict[str, Any], ...] = ()
    left: bool = False
    """Whether nothing was done, since there it could not be: whoever waits does it."""


class Packing:
    """Values as text, in which the commits that trees stand on are mere names."""

    def __init__(self, find: Callable[[str], Commit] | None = None) -> None:
        """`find` gives a commit by its id, if it was in nothing that was packed here."""
        self._find = find
        self._commits: dict[str, Commit] = {}

    def pack(self, value: Any) -> str:
        """A text that `unpack` reads back."""
        data = io.BytesIO()
        _Pickler(data, self._commits).dump(value)
        return base64.b64encode(data.getvalue()).decode()

    def unpack(self, text: str) -> Any:
        """What was packed here, or by another process of this version into the database that only these write."""
        return _Unpickler(io.BytesIO(base64.b64decode(text)), self.commit).load()

    def packed_error(self, error: Exception) -> str:
        """An error that certainly can be unpacked: as itself, or as its text."""
        try:
            text = self.pack(error)
            self.unpack(text)
        except Exception:  # noqa: BLE001 - other people's errors may take any arguments
            return self.pack(RuntimeError("".join(traceback.format_exception(error))))
        return text

    def commit(self, name: str) -> Commit:
        """The commit of that id. Raises `KeyError`, or what `find` raises."""
        found = self._commits.get(name)
        if found is None and self._find is not None:
            found = self._commits[name] = self._find(name)
        if found is None:
            raise KeyError(f"the commit {name} is not known here")
        return found


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, commits: dict[str, Commit]) -> None:
        super().__init__(file)
        self._commits = commits

    def persistent_id(self, obj: Any) -> str | None:
        if not isinstance(obj, Commit):
            return None
        self._commits[obj.id] = obj
        return obj.id


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, commit: Callable[[str], Commit]) -> None:
        super().__init__(file)
        self._commit = commit

    def persistent_load(self, pid: Any) -> Commit:
        return self._commit(pid)


@dataclass(frozen=True)
class Site:
    """Where the parts of one run can be carried out."""

    effects: Beside
    packing: Packing
    shown: set[str] = field(default_factory=set)
    """The parts whose records were shown to whoever waits while they were at work."""


class Sites:
    """Where parts are waited for in this process, by name. For any thread."""

    def __init__(self) -> None:
        self._open: dict[str, Site] = {}
        self._changed = threading.Condition()

    @contextmanager
    def opened(self, waiter: str, site: Site) -> Iterator[None]:
        """Let parts be carried out at `site` for as long as `waiter` waits for them."""
        with self._changed:
            self._open[waiter] = site
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                del self._open[waiter]

    def get(self, waiter: str, seconds: float, cancel: threading.Event) -> Site | None:
        """Where `waiter` waits, if it does within some seconds. Raises `Paused` when told to stop."""
        end = time.monotonic() + seconds
        with self._changed:
            while waiter not in self._open:
                if cancel.is_set():
                    raise Paused
                if time.monotonic() >= end:
                    return None
                self._changed.wait(0.2)
            return self._open[waiter]


SITES = Sites()


class Shared:
    """A `bot.service.effects.Share` over the queues of the engine that is at work in this process."""

    def __init__(self, run: str, source: dict[str, Any] | None = None) -> None:
        """Without a `source`, there is no other process that could take a part."""
        self._run = run
        self._source = source

    def __call__(self, works: Sequence[Work], effects: Beside) -> list[Done]:
        """See `Share`."""
        packing, requests = Packing(), list[PartRequest]()
        waiter = self._name(works[0].group)
        for work in works:
            name, source = self._name(work.key), self._source or {}
            request = PartRequest(run=self._run, waiter=waiter, name=name, source=source, work=packing.pack(work))
            requests.append(request)
            DBOS.enqueue_workflow_with_options(
                {
                    "workflow_name": "part",
                    "queue_name": QUEUES[work.level if self._source is not None else 0],
                    "workflow_id": name,
                    "class_name": "Parts",
                    "instance_name": "parts",
                },
                request.model_dump(mode="json"),
            )
        site = Site(effects, packing)
        with SITES.opened(waiter, site):
            keys = [request.name for request in requests]
            found = effects.wait("together", functools.partial(_finished, keys, effects.cancel))
        ended = [PartEnded.model_validate(one) for one in found]
        ended = [carried_out(request, site) if it.left else it for request, it in zip(requests, ended, strict=True)]
        return [done(it, packing, shown=key in site.shown) for key, it in zip(keys, ended, strict=True)]

    def _name(self, key: str) -> str:
        return f"{self._run}:part:{key}"


def _finished(keys: Sequence[str], cancel: threading.Event) -> list[Any]:
    """What all of these workflows gave. Raises `Paused` when told to stop, or if they were called off."""
    waiting = list(keys)
    while waiting:
        if cancel.wait(POLL_SECONDS):
            raise Paused
        states = DBOS.list_workflows(workflow_ids=waiting, load_input=False, load_output=False)
        waiting = [one.workflow_id for one in states if one.status in UNFINISHED]
    try:
        return [DBOS.retrieve_workflow(key).get_result() for key in keys]
    except engine_errors.DBOSAwaitedWorkflowCancelledError:
        raise Paused from None


def done(ended: PartEnded, packing: Packing, *, shown: bool) -> Done:
    """A part's end as whoever waits for it needs it."""
    records = tuple(RECORD.validate_python(one) for one in ended.records)
    error = packing.unpack(ended.error) if ended.error else None
    return Done(packing.unpack(ended.result) if ended.result else None, error, records, shown)


def carried_out(request: PartRequest, site: Site) -> PartEnded:
    """A part, with the means of `site`. Raises `Paused`."""
    work: Work = site.packing.unpack(request.work)
    made = site.effects.part(work)
    site.shown.add(request.name)
    records = tuple(record.model_dump(mode="json") for record in made.records)
    if made.error is not None:
        return PartEnded(error=site.packing.packed_error(made.error), records=records)
    return PartEnded(result=site.packing.pack(made.result), records=records)


def beside_its_run(request: PartRequest, cancel: threading.Event) -> PartEnded:
    """A part in the process of its own run, where nobody else could take it: also after both were resumed."""
    site = SITES.get(request.waiter, LIVE_SECONDS, cancel)
    if site is None:
        raise TimeoutError(f"{request.waiter} did not come back for its part")
    return carried_out(request, site)


@DBOS.dbos_class()
class Parts(DBOSConfiguredInstance):
    """The workflow of a part. `carry_out` does the work."""

    def __init__(self, carry_out: Callable[[PartRequest], PartEnded]) -> None:
        super().__init__("parts")
        self._carry_out = carry_out

    @DBOS.workflow(name="part")
    def part(self, request: dict[str, Any]) -> dict[str, Any]:
        """`PartRequest` and `PartEnded` as JSON."""
        return self._carry_out(PartRequest.model_validate(request)).model_dump(mode="json")


def declare_queues(names: Sequence[str], at_once: int | None = None) -> None:
    """Tell the engine of queues; after its launch. Without `at_once` this process takes whatever there is.

    A process that is alone must, and needs one queue only: after a crash, parts may come back before those that wait
    for them, and hold places.
    """
    for name in names:
        DBOS.register_queue(
            name, worker_concurrency=at_once, polling_interval_sec=POLL_SECONDS, on_conflict="always_update"
        )
