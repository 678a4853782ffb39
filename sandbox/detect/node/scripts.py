"""The scripts of a package.json, taken apart: which runner they start, with what, and what is built before."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sandbox.detect.files import Files, below, strings, table

RUNNERS = {
    "jest": ("jest", "jest"),
    "vitest": ("vitest", "vitest run"),
    "mocha": ("mocha", "mocha"),
    "_mocha": ("mocha", "mocha"),
    "tap": ("tap", "tap --reporter=tap"),
    "ava": ("tap", "ava --tap"),
    "tape": ("tap", "tape"),
    "uvu": ("exit-code", "uvu"),
    "react-scripts": ("jest", "react-scripts test"),
}
"""Word of a test script -> (reporter, how the command starts)."""
DROPPED = re.compile(
    r"^(--coverage(=.*)?|--watch(All)?(=\S+)?|--silent|--verbose|--reporters?(=\S+)?|-R|--ci|--run|--bail|-b|--colors?)$"
)
"""Options that make a run end early, wait, or report in another way."""
WRAPPERS = re.compile(
    r"^(npx( --no-install| --no)?|yarn( run)?|pnpm( exec)?|c8|nyc|cross-env|env|dotenv --|NODE_ENV=\S+)\s+"
)
VARIABLE = re.compile(r"^(\w+)=('[^']*'|\"[^\"]*\"|\S*)\s+")
BUILDS = re.compile(r"\b(build|compile|tsc|rollup|webpack|esbuild|babel|prepare|bundle|tsup|unbuild|swc)\b")
WORKERS = frozenset({"--maxWorkers", "-w", "--runInBand", "-i"})
"""With less than two workers Jest runs the tests in its own process, where they meet its command line and its end."""
NODE_DROPPED = ("--test-reporter", "--experimental-test-coverage", "--watch")
PATH_OPTIONS = (
    *("-c", "--config", "-r", "--require", "--file", "--root", "--dir", "--project", "-p", "--import", "--loader"),
    *("--opts", "--setupFiles", "--env-file"),
)


@dataclass(frozen=True)
class Script:
    """A test script taken apart."""

    reporter: str
    command: str
    tests: tuple[str, ...] = ()
    builds: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    source: str = ""


def test_script(files: Files, folder: str, package: dict[str, Any]) -> Script | None:
    """The test script, or what stands in for one, as a runner's command."""
    scripts = {name: line for name, line in table(package, "scripts").items() if isinstance(line, str)}
    names = [
        "test",
        *(name for name in ("test:unit", "unit", "tests", "test:node", "test:js", "test:ci") if name in scripts),
    ]
    for name in names:
        found = _from_script(files, folder, scripts, name, ())
        if found:
            return found
    wanted = {**table(package, "dependencies"), **table(package, "devDependencies")}
    for runner in () if _members_test(files, folder, package) else ("vitest", "jest", "mocha", "ava", "tap"):
        if runner in wanted:
            return replace(_named(files, folder, runner, []), source=f"package.json: devDependencies has {runner}")
    line = scripts.get("test", "")
    if line and "no test specified" not in line:
        return Script("exit-code", "npm test --silent", source="package.json: scripts.test")
    return None


def members(files: Files, folder: str, package: dict[str, Any]) -> list[str]:
    """The patterns of the folders that are packages of the workspace in `folder`; none if it is no workspace."""
    listed = strings(package.get("workspaces")) + strings(table(package, "workspaces").get("packages"))
    listed += strings(files.yaml(below(folder, "pnpm-workspace.yaml")).get("packages"))
    return [below(folder, pattern.removeprefix("./").rstrip("/")) for pattern in listed]


def _members_test(files: Files, folder: str, package: dict[str, Any]) -> bool:
    """Whether the packages of a workspace have tests of their own: the runner that its top has is then for these."""
    found = files.glob(*(f"{pattern}/package.json" for pattern in members(files, folder, package)))
    return any(table(files.json(path), "scripts").get("test") for path in found)


def _from_script(files: Files, folder: str, scripts: dict[str, str], name: str, seen: tuple[str, ...]) -> Script | None:
    """The first part of a script that is a runner's command, following `npm run ...`; builds before it are kept."""
    if name not in scripts or name in seen:
        return None
    builds = [f"npm run {hook}" for hook in (f"pre{name}",) if BUILDS.search(scripts.get(hook, ""))]
    for part in re.split(r"\s*(?:&&|;|\|\|)\s*", scripts[name]):
        source = f"package.json: scripts.{name}"
        command, env = _unwrapped(part)
        other = re.match(
            r"^(?:npm|yarn|pnpm|npm-run-all|run-s)(?:\s+(?:run-script|run|-s|--silent))*\s+([\w:.-]+)", command
        )
        if other and other[1] in scripts and other[1] != name:
            found = _from_script(files, folder, scripts, other[1], (*seen, name))
            if found:
                return replace(found, builds=(*builds, *found.builds), env={**env, **found.env})
            if BUILDS.search(f"{other[1]} {scripts[other[1]]}"):
                builds.append(f"npm run {other[1]}")
            continue
        found = _runner(files, folder, command, env, source)
        if found:
            return replace(found, builds=(*builds, *found.builds))
        if BUILDS.search(command) and "--noEmit" not in command:
            builds.append(command)
    return None


def _unwrapped(part: str) -> tuple[str, dict[str, str]]:
    """A command without the programs that only start or measure it, and the variables that it sets."""
    env: dict[str, str] = {}
    while True:
        variable, wrapper = VARIABLE.match(part), WRAPPERS.match(part)
        if variable:
            env[variable[1]] = variable[2].strip("'\"")
            part = part[variable.end() :]
        elif wrapper:
            part = re.sub(r"^((-{1,2}[\w-]+(=\S+)?)\s+)*", "", part[wrapper.end() :])
        else:
            return part.strip(), env


def _runner(files: Files, folder: str, command: str, env: dict[str, str], source: str) -> Script | None:
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    program = posixpath.basename(words[0]) if words else ""
    found = None
    if program == "node":
        found = _node(files, folder, words)
    elif program in ("tsx", "ts-node") and "--test" in words:
        found = Script(
            "node", "node --import tsx --test", tuple(word for word in words[1:] if not word.startswith("-"))
        )
    elif program in RUNNERS:
        found = _named(files, folder, program, words[1:])
    return replace(found, env={**env, **found.env}, source=source) if found else None


def _node(files: Files, folder: str, words: list[str]) -> Script | None:
    """`node --test`, or a runner that is started through node for the sake of node's own options."""
    matches = [re.search(r"node_modules/(?:\.bin/)?(jest|mocha|vitest)", word) for word in words]
    at = next((i for i, match in enumerate(matches) if match), 0)
    if match := matches[at]:
        found = _named(files, folder, match[1], words[at + 1 :])
        return replace(found, env={"NODE_OPTIONS": shlex.join(words[1:at])}) if at > 1 else found
    if "--test" not in words:
        return None
    options = [word for word in words[1:] if word.startswith("-") and not word.startswith(NODE_DROPPED)]
    paths = tuple(word for word in words[1:] if not word.startswith("-"))
    return Script("node", shlex.join(["node", *options]), paths)


def _named(files: Files, folder: str, runner: str, rest: list[str]) -> Script:
    """A known runner with its options; its paths are the whole suite."""
    reporter, command = RUNNERS[runner]
    rest = _without_subcommand(rest) if runner in ("vitest", "react-scripts") else rest
    options: list[str] = []
    paths: list[str] = []
    previous = ""
    for word in rest:
        if DROPPED.match(word):
            previous = word
            continue
        if previous in ("--reporter", "--reporters", "-R"):
            previous = ""
            continue
        wants_path = previous in PATH_OPTIONS
        wants_value = previous.startswith("-") and "=" not in previous and not _is_path(files, folder, word)
        (options if word.startswith("-") or wants_path or wants_value else paths).append(word)
        previous = word
    if reporter == "jest" and not WORKERS & {option.partition("=")[0] for option in options}:
        options.append("--maxWorkers=2")
    options += _unmeasured(files, folder) if runner == "tap" else []
    return Script(reporter, " ".join([command, shlex.join(options)]).strip(), tuple(paths))


def _unmeasured(files: Files, folder: str) -> list[str]:
    """The option without which tap fails a suite, and each part of one, that does not run every line."""
    package = files.json(below(folder, "package.json"))
    wanted = {**table(package, "dependencies"), **table(package, "devDependencies")}
    major = re.search(r"\d+", str(wanted.get("tap", "")))
    return [] if major is None else ["--disable-coverage" if int(major[0]) >= 18 else "--no-coverage"]


def _without_subcommand(words: list[str]) -> list[str]:
    """The words without what the runner is told to do, which may stand behind options; else it would name tests."""
    for at, (before, word) in enumerate(zip(["", *words], words, strict=False)):
        if word in ("run", "watch", "dev", "test") and before not in PATH_OPTIONS:
            return [*words[:at], *words[at + 1 :]]
        if not word.startswith("-") and not before.startswith("-"):
            break
    return words


def _is_path(files: Files, folder: str, word: str) -> bool:
    path = below(folder, word)
    return files.has(path) or files.has_folder(path) or "*" in word
