"""What the index costs: `python -m bot.bench.index PATH [--aider PYTHON] [--suffix .py] [--tiling]`.

PATH is a folder of sources, a git checkout or a bare repository. Its files are copied and committed aside; then, each
in a process of its own, the map of the repository for an issue is drawn on no index (cold), on the index that this left
(warm) and after one file has changed; then all files are parsed, of which a map needs but the likeliest (whole). With
`--aider`, the Python of an environment that has `aider-chat`, aider draws its map of the same files in the same run.
CPU seconds are those of a process and all that it started, without imports.

`--tiling` instead cuts every file into regions and checks that they tile it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from bot.bench import aider_map
from repo_tools.checkout import open_local
from repo_tools.errors import NotARepository
from repo_tools.index import Index
from repo_tools.languages import LANGUAGES
from repo_tools.patch import EXECUTABLE, REGULAR
from repo_tools.ranking import rank
from repo_tools.regions import regions, tokens
from repo_tools.repo_map import repo_map
from repo_tools.tree import Tree

STEPS = ("cold", "warm", "changed", "whole")
ISSUE = (
    "A wrong error is raised when a value is None\n\nThe parser fails for an empty value, the message is misleading."
)
BUDGETS = (200, 1000)
"""Tokens of a region, for `--tiling`."""

Took = Mapping[str, float]


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--aider", type=Path, metavar="PYTHON", help="compare with aider's map")
    parser.add_argument(
        "--suffix", action="append", help="measure files of this suffix alone (default: all languages')"
    )
    parser.add_argument("--times", type=int, default=3, help="runs of each step; the least CPU time counts")
    parser.add_argument("--tiling", action="store_true", help="check the regions of every file")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    parser.add_argument("--index", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.step:
        print(json.dumps(step(given.path, given.index, given.step)))
    elif given.tiling:
        sys.exit(tile(given.path))
    else:
        suffixes = tuple(given.suffix or " ".join(language.suffixes for language in LANGUAGES).split())
        compare(given.path, suffixes, given.aider, given.times)


def compare(path: Path, suffixes: tuple[str, ...], aider: Path | None, times: int) -> None:
    """Measure all steps and print them."""
    with tempfile.TemporaryDirectory() as temporary:
        sources = Path(temporary, "sources")
        files = {name: data for name, data in contents(path) if name.endswith(suffixes)}
        _commit(sources, files)
        print(f"{len(files)} files, {sum(map(len, files.values())) / 1e6:.1f} MB")
        changed = sorted(files, key=lambda name: (len(files[name]), name))[len(files) * 9 // 10]
        ours = [_ours(sources, Path(temporary, f"index {turn}"), changed) for turn in range(times)]
        theirs = [_theirs(aider, sources, sorted(files), changed) for _ in range(times)] if aider else []
    for name in STEPS:
        _print(name, [turn[name] for turn in ours], [turn[name] for turn in theirs if name in turn])
    print(
        f"peak memory: {max(took['memory'] for turn in ours for took in turn.values()):.0f} MB, all processes together"
    )


def _ours(sources: Path, index: Path, changed: str) -> dict[str, Took]:
    command = [sys.executable, "-m", "bot.bench.index", str(sources), "--index", str(index), "--step"]
    return {name: _json_of([*command, name], changed) for name in STEPS}


def _theirs(python: Path, sources: Path, files: list[str], changed: str) -> dict[str, Took]:
    # It would otherwise ask the net for prices before it starts.
    command = ["env", "LITELLM_LOCAL_MODEL_COST_MAP=True", str(python), aider_map.__file__, str(sources)]
    for cache in sources.glob(".aider.tags.cache*"):
        subprocess.run(["rm", "-r", str(cache)], check=True)
    took = {name: _json_of(command, "\n".join(files)) for name in ("cold", "warm")}
    file = sources / changed
    before = file.read_bytes()
    file.write_bytes(_changed(before))
    took["changed"] = _json_of(command, "\n".join(files))
    file.write_bytes(before)
    return took


def _json_of(command: list[str], given: str) -> Took:
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    took: Took = json.loads(done.stdout.splitlines()[-1])
    return took


def _print(name: str, ours: list[Took], theirs: list[Took]) -> None:
    index, drawn = (min(took[key] for took in ours) for key in ("index", "map"))
    line = f"{name:8} index {index:.3f} s, and map {drawn:.3f} s CPU ({min(took['wall'] for took in ours):.2f} s wall)"
    if theirs:
        least = min(took["map"] for took in theirs)
        line += f"; aider {least:.2f} s: 1/{least / index:.1f}, 1/{least / drawn:.1f}"
    print(line)


def step(sources: Path, index: Path, name: str) -> Took:
    """One map of the committed sources, measured. Standard input names the file that changes."""
    changed = sys.stdin.read()
    data = _changed((sources / changed).read_bytes())
    start, began = _cpu(), time.monotonic()
    with open_local(sources) as repository:
        tree = Tree(repository.resolve())
        if name == "changed":
            tree = tree.with_file(changed, data)
        view = Index.open(index).view(tree)
        view.lengths()  # the postings are there
        if name == "whole":
            for _ in view.outlines(view.files()):
                pass
        indexed = _cpu()
        drawn = repo_map(view, rank(view, ISSUE), aider_map.MAP_TOKENS)
    return {
        "index": indexed - start,
        "map": _cpu() - start,
        "wall": time.monotonic() - began,
        "memory": _peak_megabytes(),
        "characters": len(drawn),
    }


def _cpu() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _peak_megabytes() -> float:
    """At most: as if every core's worker had been as large as the largest, at the same time as this process."""
    own, largest = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return (own + largest * (os.cpu_count() or 1)) / 1024


def _changed(data: bytes) -> bytes:
    return data + b"\n"


def _commit(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    git = ["git", "-C", str(folder), "-c", "user.name=bench", "-c", "user.email=bench@localhost"]
    for command in (["init", "-q"], ["add", "-A", "-f"], ["commit", "-q", "-m", "sources"], ["gc", "-q"]):
        subprocess.run([*git, *command], check=True)


def contents(path: Path) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of each file of a folder, or of the newest commit of a repository."""
    try:
        repository = open_local(path)
    except NotARepository:
        for file in sorted(path.rglob("*")):
            if file.is_file() and not file.is_symlink():
                yield file.relative_to(path).as_posix(), file.read_bytes()
        return
    with repository:
        commit = repository.resolve()
        names = {name for name, (mode, _) in commit.entries().items() if mode in (REGULAR, EXECUTABLE)}
        yield from commit.read_many(sorted(names - commit.absent(names)))


def tile(path: Path) -> int:
    """Cut all files at each budget, print what came of it; the number of files whose regions do not tile them."""
    wrong = 0
    for budget in BUDGETS:
        files = size = count = 0
        start = time.process_time()
        for name, data in contents(path):
            found = regions(name, data, budget)
            ends = [0, *(region.end for region in found)]
            tiled = [region.start for region in found] == ends[:-1] and ends[-1] == len(data)
            fitting = all(region.tokens == tokens(data[region.start : region.end]) <= budget for region in found)
            if not (tiled and fitting):
                wrong += 1
                print(f"{name} is not tiled")
            files, size, count = files + 1, size + len(data), count + len(found)
        seconds = time.process_time() - start
        print(
            f"{budget} tokens: {files} files, {size / 1e6:.1f} MB, {count} regions, {seconds:.1f} s CPU, {wrong} wrong"
        )
    return wrong


if __name__ == "__main__":
    main()
