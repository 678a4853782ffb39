"""How well files and functions are found without a model: `python -m bot.bench.localize DATASET --mirrors DIR`.

DATASET has one JSON object a line (gzip is understood): `id`, `repo` (`owner/name`), `base_commit`, `issue`,
`gold_files` (paths) and `gold_functions` (`path:qualified.name`, may be empty). DIR holds a git repository for each
`repo`: `owner+name/repo`, `owner+name` or `owner/name`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bot.errors import BadInput
from repo_tools.checkout import Repository, open_local
from repo_tools.index import Index
from repo_tools.ranking import Ranking, rank
from repo_tools.tree import Tree
from repo_tools.view import View

FILES_AT = (1, 5, 10)
FUNCTIONS_AT = 10


@dataclass(frozen=True)
class Case:
    """An issue and where its fix was made."""

    id: str
    repo: str
    base_commit: str
    issue: str
    gold_files: tuple[str, ...]
    gold_functions: tuple[str, ...]


@dataclass(frozen=True)
class Placed:
    """What became of one case. A rank counts from 1; None if it is not in the list at all."""

    case: Case
    last_file: int | None
    """Of the gold file that comes last."""
    first_function: int | None
    """Of the gold function that comes first."""
    seconds: float
    """CPU time of `rank` on a warm index."""


def read_cases(dataset: Path) -> list[Case]:
    """The cases of a file. Raises `BadInput` with the line that is wrong."""
    try:
        data = dataset.read_bytes()
        text = (gzip.decompress(data) if dataset.suffix == ".gz" else data).decode("utf-8")
    except (OSError, EOFError, ValueError) as error:
        raise BadInput(f"{dataset} cannot be read ({error}): give the path of a dataset") from error
    return [_case(dataset, number, line) for number, line in enumerate(text.splitlines(), 1)]


def _case(dataset: Path, number: int, line: str) -> Case:
    try:
        row = json.loads(line)
        return Case(
            id=row["id"],
            repo=row["repo"],
            base_commit=row["base_commit"],
            issue=row["issue"],
            gold_files=tuple(row["gold_files"]),
            gold_functions=tuple(row["gold_functions"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{dataset}, line {number}: {error!r}; each line must be a case, see --help") from error


def place(case: Case, ranking: Ranking, seconds: float) -> Placed:
    """Where the gold of a case stands in a ranking."""
    files = [ranked.path for ranked in ranking.files]
    functions = [f"{hit.path}:{hit.symbol}" for hit in ranking.regions]
    of_files = [files.index(path) + 1 for path in case.gold_files if path in files]
    of_functions = [functions.index(name) + 1 for name in case.gold_functions if name in functions]
    all_there = len(of_files) == len(case.gold_files)
    return Placed(case, max(of_files, default=None) if all_there else None, min(of_functions, default=None), seconds)


def run(cases: Iterable[Case], mirrors: Path, folder: Path) -> Iterator[Placed]:
    """Rank each case on an index in `folder`. Raises `BadInput` if a repository is not in `mirrors`."""
    for case, view in views(cases, mirrors, folder):
        rank(view, case.issue)  # what is measured is a warm index
        start = time.process_time()
        ranking = rank(view, case.issue)
        yield place(case, ranking, time.process_time() - start)


def views(cases: Iterable[Case], mirrors: Path, folder: Path) -> Iterator[tuple[Case, View]]:
    """Each case with the view of its base commit, repository by repository."""
    of_repository: dict[str, list[Case]] = {}
    for case in cases:
        of_repository.setdefault(case.repo, []).append(case)
    for name, its in of_repository.items():
        index = Index.open(folder / name.replace("/", "+"))
        with _repository(mirrors, name) as repository:
            for case in its:
                yield case, index.view(Tree(repository.resolve(case.base_commit)))
        index.close()


def _repository(mirrors: Path, name: str) -> Repository:
    flat = name.replace("/", "+")
    for folder in (mirrors / flat / "repo", mirrors / flat, mirrors / name):
        if folder.is_dir():
            return open_local(folder)
    raise BadInput(f"{mirrors} has no repository {name}: clone it as {mirrors / flat}")


def summary(placed: list[Placed]) -> list[str]:
    """The figures for a person, a line each."""
    many = max(1, len(placed))
    lines = []
    for at in FILES_AT:
        share = sum(one.last_file is not None and one.last_file <= at for one in placed) / many
        lines.append(f"all gold files among the first {at}: {share:.3f}")
    hit = sum(one.first_function is not None and one.first_function <= FUNCTIONS_AT for one in placed)
    having = max(1, sum(bool(one.case.gold_functions) for one in placed))
    of_those = f"{hit / having:.3f} of the {having} that have one"
    lines.append(f"any gold function among the first {FUNCTIONS_AT}: {hit / many:.3f} ({of_those})")
    seconds = [one.seconds for one in placed]
    lines.append(
        f"CPU seconds a query, warm: {sum(seconds) / many:.3f} on average, {max(seconds, default=0):.3f} at most"
    )
    return lines


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--mirrors", type=Path, required=True, help="the folder of the repositories")
    parser.add_argument("--index", type=Path, help="where the index is kept (default: a temporary folder)")
    parser.add_argument("--cases", action="store_true", help="print the ranks of each case")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        placed = []
        try:
            for one in run(read_cases(given.dataset), given.mirrors, given.index or Path(temporary)):
                placed.append(one)
                if given.cases:
                    print(f"{one.case.id}\tfile {one.last_file}\tfunction {one.first_function}\t{one.seconds:.3f} s")
        except BadInput as error:
            parser.error(str(error))
    print(f"{len(placed)} issues")
    print("\n".join(summary(placed)))


if __name__ == "__main__":
    main()
