"""`make demo`: the whole job on a small project with a real defect. Everything but the model's words is really done.

The model's words are a recording of a conversation with a real model; with OPENAI_API_KEY set, they are live.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
RECORDING = HERE / "recording.jsonl"


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=demo", "-c", "user.email=demo@example.invalid", "-c", "commit.gpgSign=false"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def project(folder: Path) -> Path:
    """The bundled project as a repository of its own; the same commit every time."""
    repo = folder / "hourglass"
    shutil.copytree(HERE / "project", repo)
    git(folder, "init", "-q", "-b", "main", str(repo))
    git(repo, "add", "-A")
    os.environ |= {"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}
    git(repo, "commit", "-q", "-m", "hourglass 0.3.0")
    return repo


def main() -> int:
    live = bool(os.environ.get("OPENAI_API_KEY"))
    with tempfile.TemporaryDirectory(prefix="agent-fix-demo-") as folder:
        repo = project(Path(folder))
        print((HERE / "issue.md").read_text("utf-8"))
        print(
            "The model is live." if live else "The model's words are a recording of a real model; all else is done now."
        )
        command = [str(Path(sys.executable).parent / "agent-fix"), "run", "--repo", str(repo)]
        command += ["--issue-file", str(HERE / "issue.md"), "--number", "7"]
        command += [] if live else ["--recording", str(RECORDING)]
        done = subprocess.run(command, check=False)
        subprocess.run(
            ["git", "--no-pager", "log", "--stat", "-p", "-1", "agent-fix/issue-7", "--"], cwd=repo, check=False
        )
        return done.returncode


if __name__ == "__main__":
    sys.exit(main())
