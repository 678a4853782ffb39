"""Recipes for C# and its relatives. Debian has no SDK: the base image must bring one."""

from __future__ import annotations

import shlex

from sandbox.detect.files import Files, below
from sandbox.port import Recipe

IMAGE = "mcr.microsoft.com/dotnet/sdk:8.0"


def detect(files: Files, folder: str, base_image: str) -> list[Recipe]:
    """A recipe for the .NET solution or project in `folder`, on the vendor's image."""
    del base_image
    prefix = "" if folder == "." else folder + "/"
    projects = files.glob(*(prefix + pattern for pattern in ("*.csproj", "*.fsproj", "*.vbproj")))
    tested = [path for path in projects if "Microsoft.NET.Test.Sdk" in files.text(path)]
    solutions = [name for name in files.within(folder) if name.endswith((".sln", ".slnx"))]
    if not tested:
        return []
    target = shlex.quote(solutions[0]) if solutions else ""
    return [
        Recipe(
            IMAGE,
            setup=(f"dotnet restore {target}".strip(),),
            test_command=f"dotnet test --no-restore {target}".strip(),
            reporter="exit-code",
            workdir=folder,
            env={"DOTNET_CLI_TELEMETRY_OPTOUT": "1", "DOTNET_NOLOGO": "1"},
            sources={"setup": below(folder, target) if target else tested[0], "base_image": "the .NET SDK's own"},
        )
    ]
