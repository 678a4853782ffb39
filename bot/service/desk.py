"""The database as the parts of the service see it: what is asked for, under which key, on which queue.

Asking twice under one key asks once. The queues: `acts` for whoever holds the forge's write credential, one act at a
time for each issue and in the order of asking, so that a comment never says what is past and a stop never overtakes
the pull request; `runs` for whoever holds the model's key and the containers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dbos import DBOSClient, EnqueueOptions
from dbos import error as engine_errors
from sqlalchemy.exc import SQLAlchemyError

from bot.errors import AgentFixError, Cancelled
from bot.forge import events
from bot.service.database import connections
from bot.service.requests import Occurrence, Publication, PublishedOn, RunRequest, Told

APPLICATION = "agent-fix"
ACTS, RUNS, CLOCK = "acts", "runs", "clock"
UNFINISHED = ("ENQUEUED", "DELAYED", "PENDING")
TOLD = 400
"""States that are looked through for what was said of the runs for one issue."""
NOW, LATER = 1, 10
"""Priorities within a repository: what a person waits for, what the sweep found. Between them the engine draws lots."""


class NotKept(AgentFixError):
    """The database did not take what it was given."""


class Desk:
    """What is asked for, and how it stands. For any process that reaches the database, and any thread of it."""

    def __init__(self, database: str) -> None:
        self._client = DBOSClient(system_database_url=database, application_name=APPLICATION, lazy=True)
        self._connections = connections(database)

    def close(self) -> None:
        """Let go of the database."""
        self._client.destroy()
        self._connections.dispose()

    def received(self, many: Sequence[Occurrence]) -> list[str]:
        """Keep events for the publisher, all or none. A redelivery is known by its GUID; gives the keys.

        Raises `NotKept` if the database does not answer: then GitHub is to be told so, and asked again later.
        """
        keys = [f"delivery-{it.guid}" for it in many]
        try:
            with self._connections.begin() as connection:
                # In one order everywhere, so that no two processes wait for each other.
                for key, it in sorted(zip(keys, many, strict=True), key=lambda pair: pair[0]):
                    options = _options("receive", key, place(it.read()), NOW)
                    self._client.enqueue_in_transaction(connection, options, it.to_json())
        except SQLAlchemyError as error:
            raise NotKept(f"The database does not answer: {error}") from error
        return keys

    def start(self, request: RunRequest, *, priority: int = NOW) -> str:
        """Put a run on the workers' queue. A run that has that key already stays as it is."""
        return self._ask("github run", request.run, request.repository, request.to_json(), priority=priority)

    def tell(self, key: str, told: Told) -> str:
        """Have a state of a run shown, after all that was to be shown before."""
        return self._ask("tell", key, f"{told.repository}#{told.number}", told.to_json())

    def publish(self, publication: Publication) -> PublishedOn:
        """Have a change published, and wait for it. Raises `Cancelled`."""
        request = publication.request
        key = self._ask(
            "publish", f"{request.run}:publish", f"{request.repository}#{request.number}", publication.to_json()
        )
        done = self.wait(key)
        if done is None:
            raise Cancelled("Publishing was called off.")
        return PublishedOn.model_validate(done)

    def sweep(self, key: str, only: tuple[str, int] | None = None) -> str:
        """Have what was missed looked for, or one issue looked at."""
        place = f"{only[0]}#{only[1]}" if only else "sweep"
        return self._ask("sweep", key, place, list(only) if only else None)

    def stop(self, key: str, why: str) -> str:
        """Have every run stopped that is not finished, and said of each why."""
        return self._ask("stop", key, "stop", why)

    def wait(self, key: str) -> Any:
        """What something that was asked for gave, once it is finished; None if it was called off."""
        try:
            return self._client.retrieve_workflow(key).get_result()
        except engine_errors.DBOSAwaitedWorkflowCancelledError:
            return None

    def quiet(self) -> bool:
        """Whether nothing is left to be done."""
        left = self._client.list_workflows(status=list(UNFINISHED), load_input=False, load_output=False, limit=1)
        return not left

    def status(self, key: str) -> str | None:
        """How something that was asked for stands, by DBOS's own words; None if it was never asked for."""
        found = self._client.list_workflows(workflow_ids=[key], load_input=False, load_output=False)
        return found[0].status if found else None

    def runs(self, prefix: str, *, unfinished: bool = False) -> list[str]:
        """The runs whose keys begin with `prefix`, newest first."""
        found = self._client.list_workflows(
            workflow_id_prefix=prefix,
            name="github run",
            status=list(UNFINISHED) if unfinished else None,
            load_input=False,
            load_output=False,
            sort_desc=True,
        )
        return [one.workflow_id for one in found]

    def request(self, run: str) -> RunRequest | None:
        """What a run was asked for with; None if there is no such run."""
        found = self._client.list_workflows(workflow_ids=[run], name="github run", load_output=False)
        if not found or found[0].input is None:
            return None
        return RunRequest.model_validate(found[0].input["args"][0])

    def executors(self) -> set[str]:
        """The processes that have begun something which is not finished."""
        found = self._client.list_workflows(status="PENDING", load_input=False, load_output=False)
        return {one.executor_id for one in found if one.executor_id}

    def told(self, prefixes: Sequence[str]) -> list[Told]:
        """The last that was said of each run whose key begins with one of `prefixes`, what was said last first."""
        found = self._client.list_workflows(
            workflow_id_prefix=list(prefixes), name="tell", sort_desc=True, limit=TOLD, load_output=False
        )
        newest: dict[str, Told] = {}
        for one in found:
            if one.input is not None:
                told = Told.model_validate(one.input["args"][0])
                newest.setdefault(told.progress.run, told)
        return list(newest.values())

    def last_told(self, run: str) -> Told | None:
        """The state of a run that was asked to be shown last."""
        found = self._client.list_workflows(
            workflow_id_prefix=f"{run}:tell:", sort_desc=True, limit=1, load_output=False
        )
        if not found or found[0].input is None:
            return None
        return Told.model_validate(found[0].input["args"][0])

    def cancel(self, runs: Iterable[str]) -> None:
        """Take runs off the queue, or have them stop within seconds, with their parts; what is finished stays."""
        self._client.cancel_workflows(list(runs), cancel_children=True)

    def _ask(self, workflow: str, key: str, partition: str, value: Any, *, priority: int = NOW) -> str:
        handle: Any = self._client.enqueue(_options(workflow, key, partition, priority), value)
        return str(handle.workflow_id)


def _options(workflow: str, key: str, partition: str, priority: int) -> EnqueueOptions:
    queue = RUNS if workflow == "github run" else ACTS
    return {
        "workflow_name": workflow,
        "queue_name": queue,
        "workflow_id": key,
        "class_name": "Acts" if queue == ACTS else "GitHubRuns",
        "instance_name": "acts" if queue == ACTS else "github runs",
        "queue_partition_key": partition,
        "priority": priority,
    }


def place(event: events.Event) -> str:
    """What an event is about: acts on one place are done one after the other."""
    if isinstance(event, events.InstallationChanged):
        return f"installation {event.installation}"
    if isinstance(event, events.Ignored):
        return "nowhere"
    if isinstance(event, events.Labelled | events.Command):
        return f"{event.origin.repository}#{event.issue.number}"
    if isinstance(event, events.CheckRerequested):
        return f"{event.origin.repository}#{number_of(event.run)}"
    return f"{event.origin.repository}#{event.number}"


def prefix(repository_id: int, number: int) -> str:
    """How the keys of all runs for an issue or pull request begin."""
    return f"{repository_id}-{number}-"


def number_of(run: str) -> int | None:
    """The issue or pull request that a run's key names; None if it is no such key."""
    parts = run.split("-")
    return int(parts[1]) if len(parts) > 2 and parts[1].isascii() and parts[1].isdigit() else None
