"""The command line."""

from __future__ import annotations

import functools
import signal
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from bot.bench.cli import app as bench_app
from bot.commands import action, repository, service, setup
from bot.errors import AgentFixError, BadInput
from bot.task import Outcome, Task

app = typer.Typer(
    name="agent-fix",
    help="An issue in, a tested pull request out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

for commands in (repository, service, setup, action):
    app.add_typer(commands.app)
app.add_typer(bench_app)

STDERR = Console(stderr=True)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object at the end, and nothing else, to stdout.")]
RunName = Annotated[str | None, typer.Argument(help="The run's name or a part of it; the newest if none is given.")]


def main() -> None:
    """Run the command line; an error is one clear text and an exit code."""
    from repo_tools.errors import CheckoutError
    from repo_tools.store import IndexUnusable
    from sandbox.errors import SandboxError

    try:
        app()
    except (AgentFixError, CheckoutError, SandboxError, IndexUnusable) as error:
        said = str(error)
    except OSError as error:
        if error.filename is None:
            raise
        said = (
            f"{error.filename}: {error.strerror}. Name a place that is there and may be written to; "
            "what agent-fix keeps is in the folder that AGENT_FIX_STATE_DIR names."
        )
    else:
        return
    STDERR.print(Text(f"agent-fix: {said}", style="red"), soft_wrap=True)
    sys.exit(2)


@app.command()
def run(  # noqa: PLR0917 - options, not arguments
    repo: Annotated[Path, typer.Option(help="A local checkout. Its work tree is never touched.")] = Path(),
    issue_file: Annotated[Path | None, typer.Option(help="A file with the issue, its title on the first line.")] = None,
    title: Annotated[str | None, typer.Option(help="The issue's title, instead of a file.")] = None,
    body: Annotated[str | None, typer.Option(help="The issue's body.")] = None,
    number: Annotated[int | None, typer.Option(min=1, help="The issue's number, if it has one.")] = None,
    base: Annotated[str, typer.Option(help="The revision to start from.")] = "HEAD",
    strategy: Annotated[str | None, typer.Option(help="Which team works on it.")] = None,
    model: Annotated[str | None, typer.Option(help="The model of every role that has none of its own.")] = None,
    budget_usd: Annotated[float | None, typer.Option(min=0.01, help="What the run may cost.")] = None,
    max_minutes: Annotated[float | None, typer.Option(min=0.1, help="How long it may work.")] = None,
    recording: Annotated[
        Path | None, typer.Option(help="A transcript whose model is played back.", hidden=True)
    ] = None,
    json: Json = False,
) -> None:
    """Work on one issue in a local checkout; leave a branch, the pull request's text and the transcript."""
    from bot import wiring
    from bot.service.order import Ended, Order, new_run
    from bot.service.runs import begin
    from bot.settings import load_settings
    from repo_tools.checkout import open_local
    from repo_tools.errors import CheckoutError

    settings = load_settings(model=model, budget_usd=budget_usd, max_minutes=max_minutes)
    issue = wiring.issue_text(issue_file, title, body)
    if recording is None:
        wiring.check_key(settings)
    try:
        with open_local(repo) as repository:
            commit = repository.resolve(base)
            chosen = wiring.strategy(settings, commit, strategy)
            task = Task(repository.name, *issue, commit.id, number, strategy=chosen)
    except CheckoutError as error:
        _report(Ended(run="", outcome=Outcome.REFUSED, reason=str(error)), json)
    order = Order(
        run=new_run(issue[0]),
        task=task,
        repository=repo.resolve(),
        limits=settings.limits,
        models=wiring.models(settings),
        started=datetime.now(UTC),
        recording=recording.resolve() if recording else None,
    )
    _execute(settings, begin(settings.state_dir, order), json)


@app.command()
def resume(
    name: RunName = None,
    model: Annotated[str | None, typer.Option(help="Another model, for a run that a limit or error ended.")] = None,
    budget_usd: Annotated[float | None, typer.Option(min=0.01, help="What that may cost, all in all.")] = None,
    max_minutes: Annotated[float | None, typer.Option(min=0.1, help="How long that may work from now on.")] = None,
    json: Json = False,
) -> None:
    """Carry on a run that a crash, Ctrl-C, a limit or an error ended; nothing that was paid for is asked again."""
    from bot import wiring
    from bot.service.runs import carried_on, find
    from bot.settings import load_settings

    settings = load_settings(model=model, budget_usd=budget_usd, max_minutes=max_minutes)
    folder = find(settings.state_dir, name, resumable=True)
    order = folder.order()
    if order.recording is None:
        wiring.check_key(settings)
    if folder.done:
        limits = replace(
            settings.limits, usd=budget_usd or order.limits.usd, minutes=max_minutes or order.limits.minutes
        )
        folder = carried_on(settings.state_dir, folder, limits, wiring.models(settings) if model else order.models)
    elif model or budget_usd or max_minutes:
        raise BadInput(
            f"{folder.name} has not ended, and goes on within its own limits and with its own models: "
            "resume it without --model, --budget-usd and --max-minutes."
        )
    _execute(settings, folder, json)


@app.command()
def transcript(
    name: RunName = None,
    html: Annotated[Path | None, typer.Option(help="Write one self-contained page instead.")] = None,
) -> None:
    """Show what a run did: a run's name, or a transcript file."""
    from bot.service.runs import find
    from bot.settings import load_settings
    from bot.transcript import read
    from bot.transcript_view import page, show

    file = Path(name) if name and Path(name).is_file() else find(load_settings().state_dir, name).transcript
    records = read(file)
    if html is None:
        show(records, Console())
    else:
        html.write_text(page(records), "utf-8")
        typer.echo(html)


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="The transcript.")],
    repo: Annotated[Path, typer.Option(help="A checkout that holds the transcript's base commit.")] = Path(),
    loose: Annotated[bool, typer.Option("--loose", help="Let prompts differ, as in a newer version.")] = False,
    json: Json = False,
) -> None:
    """Perform a transcript again without a model: the same patch, byte for byte, or the step that differs."""
    from bot.replaying import replayed
    from bot.settings import load_settings

    _report(replayed(file, repo, load_settings(), lambda order: _watching(order, json), strict=not loose), json)


@app.command()
def clean(days: Annotated[float, typer.Option(min=0, help="Also remove runs older than this.")] = 30) -> None:
    """Remove what crashed runs left: containers, and old runs' folders."""
    from bot.cleaning import swept
    from bot.settings import load_settings

    for line in swept(load_settings(), days):
        typer.echo(line)


@app.command()
def doctor() -> None:
    """Check what a run needs: engine, base image, model, git, disk. Each line says how to mend it."""
    from bot.doctor import examine
    from bot.settings import load_settings

    console, ill = Console(), False
    for finding in examine(load_settings()):
        ill = ill or not finding.well
        console.print(Text(f"{'ok  ' if finding.well else 'FAIL'}  {finding.name}: {finding.text}"), soft_wrap=True)
    raise typer.Exit(1 if ill else 0)


def _execute(settings: Any, folder: Any, json: bool) -> None:
    """Carry out the run of `folder`, show it, and end the process with the outcome's exit code."""
    from bot import wiring
    from bot.service.effects import Paused
    from bot.service.workflow import engine, start

    order = folder.order()
    stop = wiring.Stop()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    with folder.held(), _watching(order, json) as watch:
        carry_out = functools.partial(wiring.carry_out, settings=settings, folder=folder, stop=stop, watch=watch)
        try:
            with engine(folder.database, carry_out, stop.event) as runs:
                ended = start(runs, order)
        except Paused:
            ended = None
    if ended is None:
        STDERR.print(Text(f"Cancelled. Nothing is lost: `agent-fix resume {order.run}` carries on."))
        raise typer.Exit(_exit_code(Outcome.CANCELLED))
    _report(ended, json)


def _watching(order: Any, json: bool) -> Any:
    from bot.console import Progress

    return Progress(STDERR if json else Console(), order.limits)


def _exit_code(outcome: Outcome) -> int:
    from bot.publish.outcomes import PRESENTATIONS

    return PRESENTATIONS[outcome].exit_code


def _report(ended: Any, json: bool) -> NoReturn:
    """Say how a run ended, and end the process accordingly."""
    from bot.publish.outcomes import PRESENTATIONS
    from bot.transcript_summary import printable

    shown = PRESENTATIONS[ended.outcome]
    if json:
        typer.echo(ended.model_dump_json(indent=1))
        raise typer.Exit(shown.exit_code)
    reason = Text(printable(ended.reason.strip()))
    if not ended.run:  # it was never begun: there is nothing to tell but why
        Console().print(Panel(reason, title=shown.headline, title_align="left"))
        raise typer.Exit(shown.exit_code)
    lines = [Text(shown.text), Text(), reason]
    rows = {
        "branch": ended.branch,
        "pull request": ended.pull_request,
        "files": printable(", ".join(ended.files)),
        "tests that pass now": len(ended.fixed_tests) or "",
        "new tests": len(ended.new_tests) or "",
        "spent": f"{ended.calls} calls, {ended.tokens_in:,} + {ended.tokens_out:,} tokens, "
        + (f"${ended.usd:.3f}" if ended.usd is not None else "price not known"),
        "time": f"{ended.seconds:.0f} s (model {ended.seconds_model:.0f}, sandbox {ended.seconds_sandbox:.0f})",
        "transcript": f"agent-fix transcript {ended.run}",
        "to go on": f"agent-fix resume {ended.run}, if need be with --budget-usd, --max-minutes or --model"
        if ended.stopped
        else "",
    }
    lines += [Text(), *(Text(f"{name}: {value}") for name, value in rows.items() if value)]
    Console().print(Panel(Text("\n").join(lines), title=shown.headline, title_align="left"))
    raise typer.Exit(shown.exit_code)
