"""Runs the projects of `projects.py` in sandboxes and keeps what their runners left.

`python -m tests.data.runners.record [NAME...]`
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import ssl
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from sandbox import report
from sandbox.docker_engine import DockerSandbox
from sandbox.port import Result
from sandbox.runners.base import Asked
from sandbox.settings import SandboxSettings
from tests.data.runners.projects import PROJECTS, WATCHED, Project
from tests.sandbox.snapshots import Files

HERE = Path(__file__).parent


def main(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as state:
        certificates = ssl.get_default_verify_paths().cafile
        settings = SandboxSettings(Path(state), "record", ca_bundle=Path(certificates) if certificates else None)
        with contextlib.closing(DockerSandbox(settings)) as sandbox:
            known = PROJECTS | WATCHED
            for name in names or known:
                runs = [recorded(sandbox, known[name], selection) for selection in ((), *known[name].selections)]
                (HERE / f"{name}.json").write_text(json.dumps(runs, indent=1) + "\n", "utf-8")


def recorded(sandbox: DockerSandbox, project: Project, selection: tuple[str, ...]) -> dict[str, object]:
    tree = Files(project.files)
    environment = sandbox.prepare(project.recipe, tree)
    watch = {path: project.files[path].encode() for path in project.watch}
    asked = Asked(project.recipe, frozenset(project.files), selection, watch=watch)
    command = report.reporter(project.recipe).command(asked)
    result, files = sandbox._check(environment, tree, command, 300, asked)
    assert isinstance(files, Mapping), files
    told = report.report(asked, result, files)
    print(project.recipe.reporter, selection, result.exit_code, json.dumps(told.tests, indent=1), sep="\n")
    return {
        "selection": selection,
        "result": dataclasses.asdict(Result(result.exit_code, result.output, 1.0, result.ended)),
        "files": {name: shortened(name, data, asked).decode() for name, data in files.items()},
    }


def shortened(name: str, data: bytes, asked: Asked) -> bytes:
    """Of what V8 tells, what is about the watched files: Node's own scripts are a hundred times as long."""
    if not name.startswith("coverage-") or "final" in name:
        return data
    told = json.loads(data)
    told["result"] = [one for one in told["result"] if any(one["url"].endswith(path) for path in asked.watch)]
    return json.dumps(told).encode()


if __name__ == "__main__":
    main(sys.argv[1:])
