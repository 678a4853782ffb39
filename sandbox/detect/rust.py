"""Recipes for Rust: with Debian's newest Cargo, from the registry, vendored crates, or with what is there."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace

from sandbox.detect.files import Files, below, table
from sandbox.port import Recipe

PACKAGES = ("build-essential", "cargo-web", "rustc-web", "pkg-config")
"""Debian's Rust for building browsers is years newer than its `cargo`."""


def detect(files: Files, folder: str, base_image: str) -> list[Recipe]:
    """Recipes for the crate or workspace in `folder`; the second one is for machines that reach no registry."""
    path = below(folder, "Cargo.toml")
    manifest = files.toml(path)
    if not manifest:
        return []
    options = " --workspace" if table(manifest, "workspace") else ""
    locked = " --locked" if files.has(below(folder, "Cargo.lock")) else ""
    first = Recipe(
        base_image,
        setup=(f"cargo fetch{locked}", f"cargo test --offline --no-run{options}"),
        test_command=f"cargo test --offline{options}",
        reporter="cargo",
        packages=PACKAGES,
        workdir=folder,
        env={"CARGO_TERM_COLOR": "never", "CARGO_INCREMENTAL": "0"},
        sources={"setup": path, "test_command": "the language's own", "base_image": "the default"},
    )
    spared = _without_crates(manifest)
    if spared is None:
        return [first]
    lines = [f"sed -i -E {shlex.quote(pattern)} Cargo.toml" for pattern in spared]
    command = f"cargo test --offline --lib --bins --tests{options}"
    second = replace(
        first,
        setup=(*lines, f"{command} --no-run"),
        test_command=command,
        sources={**first.sources, "setup": f"{path} without its optional and development crates"},
    )
    return [first, second]


def _without_crates(manifest: dict[str, object]) -> list[str] | None:
    """Edits that take the optional and the development crates out of a manifest; `None` if others are needed too."""
    needed = [
        name
        for name, value in table(manifest, "dependencies").items()
        if not (isinstance(value, dict) and (value.get("optional") or value.get("path")))
    ]
    if needed or table(manifest, "build-dependencies"):
        return None
    names = [*table(manifest, "dependencies"), *table(manifest, "dev-dependencies")]
    for target in table(manifest, "target").values():
        for kind in ("dependencies", "dev-dependencies"):
            names += table(target, kind)
    return [rf"/^{re.escape(name)}\s*=/d" for name in dict.fromkeys(names)]
