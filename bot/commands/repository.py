"""Commands that look at a repository without a model: `index`, `find` and `env`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bot import wiring
from bot.errors import BadInput
from bot.repo_config import PATH as CONFIG
from bot.settings import Settings, load_settings
from repo_tools.checkout import open_local
from repo_tools.index import Index
from repo_tools.ranking import rank
from repo_tools.regions import Region
from repo_tools.repo_map import repo_map
from repo_tools.tree import Tree
from repo_tools.view import View
from sandbox.port import TestOutcome
from sandbox.proving import prove, remarks, told_failures
from sandbox.recipe import candidates
from sandbox.recipe_file import explain as explained
from sandbox.recipe_file import to_yaml

app = typer.Typer()

Checkout = Annotated[Path, typer.Argument(help="A local checkout.")]
Base = Annotated[str, typer.Option(help="The revision to look at.")]


@app.command()
def index(
    path: Checkout = Path(),
    base: Base = "HEAD",
    file: Annotated[str, typer.Option(help="Show the regions of this file.")] = "",
    tokens: Annotated[int, typer.Option(min=1, help="The largest region, in tokens.")] = 1500,
) -> None:
    """Parse a repository and say what was found; with --file, how that file is cut into regions."""
    console = Console()
    start = time.monotonic()
    with _view(load_settings(), path, base) as view:
        if file:
            _show_regions(console, _regions_of(view, file, tokens))
            return
        outlines = {name: len(one) for name, one in zip(view.files(), view.outlines(view.files()), strict=True)}
        console.print(
            f"{len(outlines):,} files, {sum(outlines.values()):,} definitions, {time.monotonic() - start:.2f} s"
        )
        for name, number in sorted(outlines.items(), key=lambda item: (-item[1], item[0]))[:20]:
            console.print(Text(f"{number:6,}  {name}"), soft_wrap=True)


@app.command()
def find(  # noqa: PLR0917 - options, not arguments
    path: Checkout = Path(),
    issue_file: Annotated[Path | None, typer.Option(help="A file with the issue, its title on the first line.")] = None,
    title: Annotated[str | None, typer.Option(help="The issue's title, instead of a file.")] = None,
    body: Annotated[str | None, typer.Option(help="The issue's body.")] = None,
    base: Base = "HEAD",
    number: Annotated[int, typer.Option(min=1, max=50, help="How many of each to show.")] = 10,
    map_tokens: Annotated[int, typer.Option(min=0, help="Size of the map of signatures.")] = 0,
) -> None:
    """Rank files and definitions for an issue, each with a line that says why."""
    console = Console()
    issue = "\n\n".join(wiring.issue_text(issue_file, title, body))
    with _view(load_settings(), path, base) as view:
        ranking = rank(view, issue)
        for found in ranking.files[:number]:
            console.print(Text(f"{found.score:6.2f}  {found.path}: {found.why}"), soft_wrap=True)
        console.print()
        for hit in ranking.regions[:number]:
            place = f"{hit.path}:{hit.first_line}-{hit.last_line}"
            console.print(Text(f"{hit.score:6.2f}  {place} {hit.symbol}: {hit.why}"), soft_wrap=True)
        for kind, files in ranking.apart.items():
            console.print(Text(f"\n{kind.value}: " + ", ".join(found.path for found in files[:5])), soft_wrap=True)
        if map_tokens:
            console.print(Text("\n" + repo_map(view, ranking, map_tokens)), soft_wrap=True)


@app.command()
def env(
    path: Checkout = Path(),
    base: Base = "HEAD",
    build: Annotated[bool, typer.Option("--build", help="Carry the recipe out and run the suite.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show every candidate and where its parts are from.")
    ] = False,
    write: Annotated[bool, typer.Option("--write", help=f"Write {CONFIG} into the checkout.")] = False,
) -> None:
    """Find out how a project is set up and tested, prove it, and write it down."""
    settings, console = load_settings(), Console()
    with open_local(path) as repository:
        commit = repository.resolve(base)
        tree = Tree(commit)
        found = candidates(tree, as_of=commit.day, submodules=commit.submodules(), base_image=settings.base_image)
        if not found:
            raise BadInput(f"No test suite of a known kind was found. Say how the tests run in {CONFIG}.")
        chosen = found[0]
        if build:
            sandbox = wiring.sandbox(settings, "env", wiring.local_name(path))
            say = lambda line: console.print(Text(line, style="dim"))  # noqa: E731 - a name for one use
            proof = prove(sandbox, tree, found, seconds=settings.test_seconds, on_attempt=say)
            chosen = proof.recipe
            counts = {outcome: len(proof.report.having(outcome)) for outcome in TestOutcome}
            said = ", ".join(f"{number} {outcome.value}" for outcome, number in counts.items() if number)
            console.print(f"proved: {said} in {proof.report.result.seconds:.1f} s")
            told = remarks(proof)
            if proof.failures:
                told += ["tried before, and not taken:", told_failures(proof.failures)]
            for line in told:
                console.print(Text(line), soft_wrap=True)
    for recipe in found if explain else [chosen]:
        console.print(Text(explained(recipe)), soft_wrap=True)
    if write:
        _write(path / CONFIG, to_yaml(chosen, settings.base_image))
        console.print(f"written: {CONFIG}")


def _write(file: Path, text: str) -> None:
    if file.exists():
        raise BadInput(f"{CONFIG} exists already: change it by hand, or move it away first.")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")


@contextmanager
def _view(settings: Settings, path: Path, base: str) -> Iterator[View]:
    with open_local(path) as repository:
        store = Index.open(settings.state_dir / "index")
        try:
            view = store.view(Tree(repository.resolve(base)))
            if view.absent():
                _tell_absent(sorted(view.absent()))
            yield view
        finally:
            store.close()


def _tell_absent(paths: list[str]) -> None:
    shown = ", ".join(paths[:5]) + (", …" if len(paths) > 5 else "")
    text = f"{len(paths):,} files are named and not held by this clone, which is partial, and were left out: {shown}"
    Console(stderr=True).print(
        Text(f"{text}\nTo have them looked at, fetch them: git fetch --refetch --no-filter"), soft_wrap=True
    )


def _regions_of(view: View, file: str, tokens: int) -> tuple[Region, ...]:
    try:
        return view.regions(file, tokens)
    except KeyError:
        raise BadInput(f"There is no file {file!r} at that revision.") from None


def _show_regions(console: Console, regions: tuple[Region, ...]) -> None:
    table = Table("lines", "tokens", "symbols", box=None)
    for region in regions:
        symbols = ", ".join(f"{symbol.kind} {symbol.name}" for symbol in region.symbols)
        table.add_row(f"{region.first_line}-{region.last_line}", str(region.tokens), symbols)
    console.print(table)
