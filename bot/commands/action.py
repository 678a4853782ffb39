"""`agent-fix action`: what the GitHub Action calls; one event, or one issue, from its beginning to its end."""

from __future__ import annotations

import functools
import itertools
import json as jsons
import signal
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer()
NOTHING = "nothing"
CALLED_OFF = "The job was cancelled."
SHOWN = 10
"""Annotations of one kind that GitHub shows of a step."""
NOTHING_CODE = 13
"""The exit code when nothing was done: never green as if something had been."""


@app.command(hidden=True)
def action(
    look: Annotated[bool, typer.Option(help="Only say which labelled issues wait.")] = False,
    issue: Annotated[int | None, typer.Option(min=1, help="Work on this labelled issue.")] = None,
    at_most: Annotated[int, typer.Option(min=1, help="How many issues to name.")] = 3,
) -> None:
    """Carry out the event of a GitHub Actions job."""
    from bot.commands import service_wiring as parts
    from bot.service.policy import in_repository
    from bot.settings import load_job, load_settings

    job = load_job()
    settings = load_settings(github_api=job.api_url, repositories=(job.repository,))
    if look:
        host = parts.github(settings)
        forge = host.forge(job.repository)
        label = in_repository(parts.policy(settings), forge).label
        waiting = list(itertools.islice(unanswered(forge, label, host.labelled(job.repository, label)), at_most))
        tell(job.output, {"issues": jsons.dumps(waiting)})
        typer.echo(f"Waiting: {waiting or 'none'}")
        return
    ended = carried_out(settings, job, issue)
    report(job, ended)


def unanswered(forge: Any, label: str, labelled: Iterable[int]) -> Iterator[int]:
    """The issues for which there is neither a pull request nor a comment that says how the label was answered."""
    from bot.service.decision import answered_before, own_pull
    from bot.service.desk import prefix

    for number in labelled:
        labelling = forge.issues.labelling(number, label)
        if labelling is None or own_pull(forge, number) is not None:
            continue
        if not answered_before(forge, number, f"{prefix(forge.id, number)}l{labelling.id}", labelling.at):
            yield number


def carried_out(settings: Any, job: Any, issue: int | None) -> Any:
    """How the run ended that the job's event, or the label on `issue`, started; or why there was none."""
    from bot.commands import service_wiring as parts
    from bot.forge import events
    from bot.service.order import Ended
    from bot.service.requests import Occurrence
    from bot.service.serving import Role, engine
    from bot.task import Outcome

    roles = frozenset({Role.WORKER, Role.PUBLISHER})
    settings.state_dir.mkdir(parents=True, exist_ok=True)
    furnish = functools.partial(parts.furnish, settings, roles, threading.Event())
    key = f"{job.run_id}-{job.run_attempt}-{issue or 0}"
    event: Any = None
    if issue is None:
        event = events.read(job.event_name, job.event_path.read_bytes(), guid=key, rules=parts.rules(settings))
        if isinstance(event, events.Ignored):
            return event.because
    with engine(
        settings.database, settings.state_dir, roles, capacity=parts.capacity(settings), furnish=furnish,
        sweep_minutes=None,
    ) as desk, heeding_the_end(desk, key) as cancelled:  # fmt: skip
        if issue is not None:
            (said,) = desk.wait(desk.sweep(f"sweep-{key}", (job.repository, issue)))
        else:
            said = desk.wait(*desk.received([Occurrence.of(event, key)]))
        ended = desk.wait(said) if desk.status(said) else said
        while not desk.quiet():
            time.sleep(0.2)
    if ended is None and cancelled.is_set():
        return Ended(run=said, outcome=Outcome.CANCELLED, reason=CALLED_OFF).model_dump(mode="json")
    return ended


@contextmanager
def heeding_the_end(desk: Any, key: str) -> Iterator[threading.Event]:
    """While this lasts, a job that is cancelled stops its runs and says so on the issue, in the seconds it is given."""
    cancelled, over = threading.Event(), threading.Event()

    def stop() -> None:
        cancelled.wait()
        if not over.is_set():
            desk.stop(f"cancelled-{key}", CALLED_OFF)

    watcher = threading.Thread(target=stop, daemon=True)
    watcher.start()
    before = {number: signal.signal(number, lambda *_: cancelled.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield cancelled
    finally:
        was = cancelled.is_set()
        over.set()
        cancelled.set()
        watcher.join()
        if not was:
            cancelled.clear()
        for number, handler in before.items():
            signal.signal(number, handler)


def report(job: Any, ended: Any) -> None:
    """Outputs, summary and annotations of the job; ends the process with the outcome's code."""
    from bot.publish.outcomes import PRESENTATIONS
    from bot.publish.sanitize import line
    from bot.service.order import Ended

    if not isinstance(ended, dict):
        reason = ended or "it was called off"
        tell(job.output, {"outcome": NOTHING, "pull-request": "", "cost": "0", "transcript": ""})
        summarize(job.step_summary, f"**Nothing was done**: {line(reason)}\n")
        typer.echo(f"::warning title=agent-fix::Nothing was done: {escaped(reason)}")
        raise typer.Exit(NOTHING_CODE)
    it = Ended.model_validate(ended)
    shown = PRESENTATIONS[it.outcome]
    cost = "" if it.usd is None else f"{it.usd:.4f}"
    outputs = {"outcome": it.outcome.value, "pull-request": it.pull_request, "cost": cost}
    tell(job.output, outputs | {"transcript": str(it.transcript or "")})
    summarize(job.step_summary, summary(it, shown))
    kind = "notice" if shown.exit_code == 0 else "warning"
    typer.echo(f"::{kind} title=agent-fix{escaped(',')} {escaped(shown.headline)}::{escaped(it.public[:1000])}")
    for one in pointed(it.annotations):
        typer.echo(one)
    raise typer.Exit(shown.exit_code)


def pointed(annotations: Any) -> Iterator[str]:
    """Workflow commands that point into the files; of each kind as many as GitHub shows."""
    for level, command in (("failure", "error"), ("warning", "warning"), ("notice", "notice")):
        for one in [one for one in annotations if one.level == level][:SHOWN]:
            place = f"file={escaped(one.path)},line={one.first_line},endLine={one.last_line}"
            yield f"::{command} {place},title={escaped(one.title)}::{escaped(one.message)}"


def summary(it: Any, shown: Any) -> str:
    """The job's summary."""
    from bot.publish.sanitize import markdown

    link = f"**Pull request: {it.pull_request}**" if it.pull_request else ""
    price = "" if it.usd is None else f", ${it.usd:.2f}"
    spent = (
        f"{it.seconds / 60:.0f} min, {it.calls:,} model calls, {it.tokens_in:,} tokens in, {it.tokens_out:,} out{price}"
    )
    rest = [it.evidence] if it.evidence else [f"<sub>{spent}.</sub>"]
    parts = [f"## agent-fix: {shown.headline}", link, shown.text, markdown(it.public), *rest]
    return "\n\n".join(part for part in parts if part) + "\n"


def tell(file: Path | None, values: dict[str, str]) -> None:
    """Give outputs to later steps. Values are on one line each: a line end would begin another output."""
    if file is None:
        return
    with file.open("a", encoding="utf-8") as out:
        out.writelines(f"{name}={' '.join(value.split())}\n" for name, value in values.items())


def summarize(file: Path | None, text: str) -> None:
    """Add to the job's summary."""
    if file is not None:
        with file.open("a", encoding="utf-8") as out:
            out.write(text)


def escaped(text: str) -> str:
    """`text` for a workflow command, which ends with its line."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A").replace(":", "%3A").replace(",", "%2C")
