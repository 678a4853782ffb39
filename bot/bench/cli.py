"""`agent-fix bench …`: strategies side by side on function tasks and on real issues, in the sandbox, resumable."""

from __future__ import annotations

import functools
import importlib
import secrets
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.errors import BadInput

if TYPE_CHECKING:
    from bot.bench.functions import Laboratory
    from bot.bench.results import TaskResult

app = typer.Typer(name="bench", help="Compare strategies on benchmarks.", no_args_is_help=True)

Strategies = Annotated[str, typer.Option("--strategy", help="One or more strategies, with commas between.")]
ModelName = Annotated[str | None, typer.Option(help="The model of every role.")]
Limit = Annotated[int | None, typer.Option(min=1, help="Only the first so many tasks.")]
Chosen = Annotated[str, typer.Option(help="Only these tasks, with commas between.")]
Samples = Annotated[int, typer.Option(min=1, help="Independent tries of each task.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on after the results that are in --out.")]
Out = Annotated[Path, typer.Option(help="The folder for results, transcripts and reports.")]
Data = Annotated[Path | None, typer.Option(help="The file with the tasks: JSON lines, gzipped or not.")]
Shown = Annotated[int, typer.Option(min=0, max=3, help="MBPP: how many of the hidden assertions the issue quotes.")]


def _functions(suite: str) -> Callable[..., None]:
    def command(
        *,
        strategy: Strategies = "single",
        model: ModelName = None,
        limit: Limit = None,
        tasks: Chosen = "",
        samples: Samples = 1,
        resume: Resume = False,
        data: Data = None,
        out: Out = Path("bench"),
        shown: Shown = 0,
    ) -> None:
        from bot.bench.functions import attempt
        from bot.bench.running import Try, chosen, go, tries
        from bot.bench.tasks import BROKEN, load

        known = {task.id: task for task in load(suite, data, shown)}
        names = _known_strategies(strategy)
        wanted = tries(chosen(known, tasks, limit), names, samples)
        with_lab = functools.cache(functools.partial(laboratory, model, out))

        def one(each: Try) -> TaskResult:
            return attempt(known[each.task], suite, each.strategy, each.sample, with_lab())

        results = go(suite, _model_name(model), wanted, out, resume=resume, attempt=one, say=typer.echo)
        notes = [f"{len(known)} tasks; left out as broken: {len(BROKEN.get(suite, {}))}."]
        _report(out, suite, results, [*notes, f"Assertions shown in the issue: {shown}."] if suite == "mbpp" else notes)

    command.__doc__ = f"Functions of {suite}: each a tiny repository, judged by hidden tests."
    return command


for _suite in ("humaneval", "humaneval-et", "mbpp"):
    app.command(_suite)(_functions(_suite))


@app.command()
def issues(
    *,
    cases: Annotated[Path, typer.Argument(help="A folder of cases, one JSON file each.")],
    mirrors: Annotated[
        Path, typer.Option(help="A folder with the repositories: <owner>+<name>/repo or <owner>/<name>.")
    ],
    strategy: Strategies = "team",
    model: ModelName = None,
    limit: Limit = None,
    tasks: Chosen = "",
    samples: Samples = 1,
    resume: Resume = False,
    out: Out = Path("bench"),
) -> None:
    """Real issues: the bot as it runs, its change judged by the project's tests for the real fix, in the sandbox."""
    from bot.bench.issues import attempt, load
    from bot.bench.running import Try, chosen, go, tries

    known = {case.id: case for case in load(cases)}
    wanted = tries(chosen(known, tasks, limit), _known_strategies(strategy), samples)
    with_lab = functools.cache(functools.partial(laboratory, model, out))

    def one(each: Try) -> TaskResult:
        return attempt(known[each.task], mirrors, each.strategy, each.sample, with_lab())

    results = go("issues", _model_name(model), wanted, out, resume=resume, attempt=one, say=typer.echo)
    _report(out, "issues", results, [f"{len(known)} cases."])


@app.command()
def selection(data: Annotated[Path, typer.Argument(help="Recorded candidates: JSON, gzipped or not.")]) -> None:
    """Replay recorded candidates and tests through the ranking rule, without a model."""
    from dataclasses import asdict

    from bot.bench.selection import load, replay

    for rule, value in asdict(replay(load(data))).items():
        typer.echo(f"{rule}: {value}" if rule == "tasks" else f"{rule}: {100 * value:.1f} %")


def laboratory(model: str | None, out: Path) -> Laboratory:
    """What tries are made with, by the settings."""
    from bot import wiring
    from bot.bench.functions import Laboratory
    from bot.llm.openai_chat import OpenAIChat
    from bot.llm.prices import price
    from bot.settings import load_settings
    from repo_tools.index import Index
    from sandbox.docker_engine import DockerSandbox

    settings = load_settings(model=model)
    out.mkdir(parents=True, exist_ok=True)
    return Laboratory(
        model=OpenAIChat(wiring.server(settings), settings.model_for, threading.Event()),
        model_name=settings.model,
        sandbox=DockerSandbox(wiring.sandbox_settings(settings, f"bench-{secrets.token_hex(3)}", "bench")),
        base_image=settings.base_image,
        index=Index.open(out / "index"),
        limits=settings.limits,
        request_tokens=settings.request_tokens_for,
        price=lambda role, usage: price(settings.model_for(role), usage),
        folder=out,
    )


def _model_name(model: str | None) -> str:
    from bot.settings import load_settings

    return load_settings(model=model).model


def _known_strategies(names: str) -> list[str]:
    from bot.team.strategies import PLAYABLE

    wanted = [name.strip() for name in names.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in PLAYABLE]
    if unknown or not wanted:
        raise BadInput(f"There is no strategy {', '.join(unknown) or names!r}: choose among {', '.join(PLAYABLE)}.")
    return wanted


def _report(out: Path, suite: str, results: list[TaskResult], notes: list[str]) -> None:
    from bot.bench.report import write

    for path in write(out, suite, results, notes):
        typer.echo(path)


MEASURES = {
    "index": "Parsing and the map of a repository, beside aider's.",
    "localize": "How well files and functions are found without a model.",
    "environments": "How many projects are set up and tested without being told how.",
    "checks": "What one check costs beside a bare command in a container.",
    "context": "The largest request of each role in projects of up to a million lines, and the agents at work.",
    "overhead": "What a run costs beside its model and its tests.",
}
"""Module of this package -> what it measures. Each has a command line of its own, which is passed on."""


def _passed_on(module: str) -> Callable[[typer.Context], None]:
    def command(context: typer.Context) -> None:
        importlib.import_module(f"bot.bench.{module}").main(context.args)

    return command


for _name, _about in MEASURES.items():
    _settings = {"allow_extra_args": True, "ignore_unknown_options": True}
    app.command(_name, help=_about, context_settings=_settings, add_help_option=False)(_passed_on(_name))
