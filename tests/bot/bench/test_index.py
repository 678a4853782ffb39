"""The measurements of the index run on a small repository and tell what they should."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def bench(*arguments: str) -> str:
    command = [sys.executable, "-m", "bot.bench.index", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_each_step_is_measured_on_the_files_of_the_languages(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"m{number}.py").write_text(f"def f{number}(value):\n    raise ValueError(value)\n")
    (tmp_path / "notes.md").write_text("notes")
    lines = bench(str(tmp_path), "--times", "1").splitlines()
    assert lines[0].startswith("30 files")
    assert [line.split()[0] for line in lines[1:]] == ["cold", "warm", "changed", "whole", "peak"]


def test_tiling_is_checked_on_every_file(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"def f():\n    return 1\n" * 400)
    (tmp_path / "b.bin").write_bytes(bytes(range(256)) * 40)
    (tmp_path / "empty").write_bytes(b"")
    lines = bench(str(tmp_path), "--tiling").splitlines()
    assert len(lines) == 2
    assert all("3 files" in line and line.endswith(" 0 wrong") for line in lines)
