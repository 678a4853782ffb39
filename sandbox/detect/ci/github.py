"""GitHub Actions workflows as jobs: one row of the matrix, expressions put in, what cannot be known left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sandbox.detect.ci.jobs import Job, Step, lines_of
from sandbox.detect.files import Files, below, strings, table

EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
LIKED = (
    "ubuntu-latest",
    "ubuntu",
    "linux",
    "3.11",
    "3.12",
    "22",
    "20",
    "stable",
    "latest",
    "17",
    "21",
    "x64",
    "release",
)
"""Values of a matrix that suit the base image, the best first."""
SET_UP = {
    "actions/setup-python": ("python", "python-version"),
    "actions/setup-node": ("node", "node-version"),
    "actions/setup-go": ("go", "go-version"),
    "actions/setup-java": ("java", "java-version"),
    "ruby/setup-ruby": ("ruby", "ruby-version"),
    "shivammathur/setup-php": ("php", "php-version"),
    "actions/setup-dotnet": ("dotnet", "dotnet-version"),
    "astral-sh/setup-uv": ("python", "python-version"),
    "dtolnay/rust-toolchain": ("rust", "toolchain"),
}
"""Action -> (language, the input that names its version)."""


def jobs(files: Files) -> Iterator[Job]:
    """The jobs of every workflow that can run on Linux."""
    for path in files.glob(".github/workflows/*.yml", ".github/workflows/*.yaml"):
        workflow = files.yaml(path)
        for name, job in table(workflow, "jobs").items():
            if isinstance(job, dict) and (read := _job(path, str(name), job, workflow)):
                yield read


def _job(path: str, name: str, job: dict[str, Any], workflow: dict[str, Any]) -> Job | None:
    matrix = {f"matrix.{key}": value for key, value in combination(table(job, "strategy", "matrix")).items()}
    runner = job.get("runs-on")
    machine = put_in(" ".join(strings(runner)) or str(table(job, "runs-on").get("group", "")), matrix) or ""
    if re.search(r"windows|macos", machine, re.IGNORECASE):
        return None
    env = {**table(workflow, "env"), **table(job, "env")}
    known = {**matrix, **{f"env.{key}": value for key, value in env.items()}, "runner.os": "Linux"}
    places = [table(level, "defaults", "run").get("working-directory") for level in (job, workflow)]
    folder = str(next(filter(None, places), "."))
    found = Job(path, name, env=_texts(env, known), services=tuple(map(str, table(job, "services"))))
    steps = job.get("steps")
    for step in steps if isinstance(steps, list) else ():
        if not isinstance(step, dict) or _never_here(str(step.get("if") or ""), known):
            continue
        action = str(step.get("uses") or "").partition("@")[0]
        if action in SET_UP:
            language, key = SET_UP[action]
            version = put_in(str(table(step, "with").get(key) or ""), known)
            found.versions.setdefault(language, version or "")
        run = put_in(step["run"], known) if isinstance(step.get("run"), str) else None
        if run is not None:
            place = put_in(str(step.get("working-directory") or folder), known) or "."
            for line in lines_of(run):
                found.steps.append(Step(line, below(".", place), _texts(table(step, "env"), known)))
    return found


def _texts(values: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, str]:
    """Variables with known values; secrets and results of other steps are not among them."""
    plain = {str(key): _text(value) for key, value in values.items() if not isinstance(value, dict | list)}
    found = {key: put_in(value, known) for key, value in plain.items()}
    return {key: value for key, value in found.items() if value is not None}


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def put_in(text: str, known: Mapping[str, Any]) -> str | None:
    """Text with its expressions replaced; `None` if one of them cannot be known."""
    unknown = []

    def value(match: re.Match[str]) -> str:
        for choice in match[1].split("||"):
            word = choice.strip()
            if word in known:
                return _text(known[word])
            if re.fullmatch(r"'[^']*'", word):
                return word[1:-1]
        unknown.append(match[1])
        return ""

    done = EXPRESSION.sub(value, text)
    return None if unknown else done


def combination(matrix: Mapping[str, Any]) -> dict[str, Any]:
    """One row of a matrix, the one that is nearest to the base image."""
    chosen: dict[str, Any] = {}
    for key, values in matrix.items():
        if key not in ("include", "exclude") and isinstance(values, list) and values:
            chosen[key] = min(values, key=_distance)
    extra = matrix.get("include")
    rows = [row for row in extra if isinstance(row, dict)] if isinstance(extra, list) else []
    same = [row for row in rows if all(row.get(key, value) == value for key, value in chosen.items())]
    if same:
        best = min(same, key=lambda row: sum(_distance(value) for value in row.values()) / max(1, len(row)))
        chosen = {**best, **chosen}
    return chosen


def _distance(value: object) -> int:
    text = _text(value).lower()
    exact = next((place for place, liked in enumerate(LIKED) if text == liked), None)
    if exact is not None:
        return exact
    return next((place + 20 for place, liked in enumerate(LIKED) if text.startswith(liked)), 60)


def _never_here(condition: str, known: Mapping[str, Any]) -> bool:
    """Whether a condition surely does not hold on Linux with the chosen row; in doubt it may hold."""
    text = condition.removeprefix("${{").removesuffix("}}")
    for name, sign, value in re.findall(r"([\w.-]+)\s*(==|!=)\s*'?([\w.-]+)'?", text):
        if "||" not in text and name in known and (_text(known[name]) == value) != (sign == "=="):
            return True
    return bool(re.search(r"\b(failure|cancelled)\(\)", text))
