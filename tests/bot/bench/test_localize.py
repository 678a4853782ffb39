"""The measure of finding: what it reads, what it counts, and that a fit finds the signal that tells."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from bot.bench import fit_ranking, localize
from bot.errors import BadInput
from repo_tools.evidence import Scale, Signal
from repo_tools.ranking import Hit, RankedFile, Ranking
from tests.fakes.git_repository import GitRepository

FILES = {
    "shop/cart.py": b"class Cart:\n    def total(self):\n        return 1\n\n    def clear(self):\n        pass\n",
    "shop/pay.py": b"def charge(card):\n    return card\n",
    "tests/test_cart.py": b"def test_total(): pass\n",
}


def row(commit: str, **other: object) -> dict[str, object]:
    return {
        "id": "shop-1",
        "repo": "some/shop",
        "base_commit": commit,
        "issue": "Wrong sum\n`Cart.total` is too low",
        "gold_files": ["shop/cart.py"],
        "gold_functions": ["shop/cart.py:Cart.total"],
        **other,
    }


@pytest.fixture
def mirrors(tmp_path: Path) -> tuple[Path, str]:
    repository = GitRepository(tmp_path / "mirrors" / "some+shop" / "repo", FILES)
    return tmp_path / "mirrors", repository.git("rev-parse", "HEAD")


def test_the_command_prints_the_figures(
    mirrors: tuple[Path, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, commit = mirrors
    dataset = tmp_path / "cases.jsonl.gz"
    lost = row(commit, id="shop-2", gold_files=["shop/cart.py", "shop/gone.py"], gold_functions=[])
    dataset.write_bytes(gzip.compress("\n".join(map(json.dumps, [row(commit), lost])).encode()))
    localize.main([str(dataset), "--mirrors", str(folder), "--cases"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("shop-1\tfile 1\tfunction 1\t")
    assert lines[1].startswith("shop-2\tfile None\tfunction None\t")
    assert lines[2:7] == [
        "2 issues",
        "all gold files among the first 1: 0.500",
        "all gold files among the first 5: 0.500",
        "all gold files among the first 10: 0.500",
        "any gold function among the first 10: 0.500 (1.000 of the 1 that have one)",
    ]
    assert lines[7].startswith("CPU seconds a query, warm: 0.0")


def test_of_several_files_the_last_counts_and_of_several_functions_the_first() -> None:
    case = localize.Case("1", "r", "c", "i", ("b.py", "c.py"), ("b.py:f", "b.py:g"))
    ranking = Ranking(
        files=tuple(RankedFile(path, 1.0, "") for path in ("a.py", "b.py", "c.py")),
        regions=tuple(Hit("b.py", 1, 2, name, 1.0, "") for name in ("e", "g", "f")),
        apart={},
    )
    placed = localize.place(case, ranking, 0.1)
    assert (placed.last_file, placed.first_function) == (3, 2)


def test_files_whose_contents_a_mirror_lacks_are_left_out(mirrors: tuple[Path, str], tmp_path: Path) -> None:
    folder, commit = mirrors
    checkout = folder / "some+shop" / "repo"
    blob = GitRepository(checkout).git("rev-parse", "HEAD:shop/pay.py")
    (checkout / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    cases = [localize._case(tmp_path, 1, json.dumps(row(commit)))]
    views = [view.files() for _, view in localize.views(cases, folder, tmp_path / "index")]
    assert views == [("shop/cart.py", "tests/test_cart.py")]


@pytest.mark.parametrize(
    ("line", "said"),
    [("{", "line 2"), (json.dumps({"id": "x"}), "line 2: KeyError('repo')"), ("3", "line 2")],
)
def test_a_bad_dataset_is_named_with_its_line(tmp_path: Path, line: str, said: str) -> None:
    dataset = tmp_path / "cases.jsonl"
    dataset.write_text(json.dumps(row("0" * 40)) + "\n" + line)
    with pytest.raises(BadInput, match="line 2") as raised:
        localize.read_cases(dataset)
    assert said in str(raised.value)


def test_a_missing_dataset_or_mirror_ends_with_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        localize.main([str(tmp_path / "none.jsonl"), "--mirrors", str(tmp_path)])
    assert "give the path of a dataset" in capsys.readouterr().err
    (tmp_path / "cases.jsonl").write_text(json.dumps(row("0" * 40)))
    with pytest.raises(SystemExit):
        localize.main([str(tmp_path / "cases.jsonl"), "--mirrors", str(tmp_path)])
    assert "clone it as" in capsys.readouterr().err


def test_a_fit_weighs_the_signal_that_tells_and_holds_on_projects_it_has_not_seen() -> None:
    model = {name: Signal(0.5, Scale.PLAIN) for name in ("tells", "noise")}
    issues = [
        fit_ranking.Issue(f"project {n % 3}", [(0.1, 0.9), (0.9, 0.2 + n % 2), (0.2, 0.5)], frozenset({1}), range(3), 1)
        for n in range(12)
    ]
    tells, noise = fit_ranking.fit(issues, model)
    assert tells > 2 > 1 > noise >= 0
    orders = fit_ranking.without_each(issues, model)
    assert fit_ranking.shares(issues, orders, all_of=True, at=(1, 2)) == [1.0, 1.0]


def test_weights_are_fitted_from_a_dataset(
    mirrors: tuple[Path, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, commit = mirrors
    dataset = tmp_path / "cases.jsonl"
    dataset.write_text(json.dumps(row(commit)))
    fit_ranking.main([str(dataset), "--mirrors", str(folder)])
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("files: text ")
    assert out[1] == "  fitted to all: 1.000 at 1, 1.000 at 5, 1.000 at 10"
    assert out[3].startswith("definitions: text ")
