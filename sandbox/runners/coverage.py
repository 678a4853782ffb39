"""Which lines ran under tests, read from what runners and languages themselves can tell."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from typing import Any
from urllib.parse import unquote

from sandbox.port import Lines
from sandbox.runners.base import Asked, Unreadable, objects, parsed, text_at

_COMMENT = re.compile(r"\s*(//|/\*|\*|#)")
_BLOCK = re.compile(r"(?P<path>.+):(?P<first>\d+)\.\d+,(?P<last>\d+)\.\d+ \d+ (?P<count>\d+)")


def python_files(asked: Asked) -> dict[str, bytes]:
    """What is put in beside a Python runner; nothing if no file is watched."""
    if not asked.watch:
        return {}
    watch = json.dumps([f"{asked.root}/{path}" for path in asked.watch]).encode()
    name = "agent_fix_lines.py"
    return {name: resources.files("sandbox.inside").joinpath(name).read_bytes(), "watch.json": watch}


def python(asked: Asked, files: Mapping[str, bytes]) -> dict[str, Lines]:
    """What each process wrote, together. Raises `Unreadable`."""
    able: dict[str, set[int]] = {}
    ran: dict[str, set[int]] = {}
    for name, data in files.items():
        if re.fullmatch(r"lines-\d+\.json", name):
            for written, told in parsed(data).items():
                path = _watched(asked, written)
                if path and isinstance(told, dict):
                    able.setdefault(path, set()).update(_numbers(told.get("able")))
                    ran.setdefault(path, set()).update(_numbers(told.get("ran")))
    return _lines(able, ran)


def istanbul(asked: Asked, files: Mapping[str, bytes]) -> dict[str, Lines]:
    """Istanbul's JSON, which Jest writes: statements with their places and counts. Raises `Unreadable`."""
    able: dict[str, set[int]] = {}
    ran: dict[str, set[int]] = {}
    for written, told in parsed(files.get("coverage-final.json", b"{}")).items():
        path = _watched(asked, written)
        if not path or not isinstance(told, dict):
            continue
        counts, places = told.get("s"), told.get("statementMap")
        if not isinstance(counts, dict) or not isinstance(places, dict):
            raise Unreadable("the report of lines is not Istanbul's")
        for key, place in places.items():
            start = place.get("start") if isinstance(place, dict) else None
            line = start.get("line") if isinstance(start, dict) else None
            if isinstance(line, int):
                able.setdefault(path, set()).add(line)
                ran.setdefault(path, set()).update({line} if counts.get(key) else ())
    return _lines(able, ran)


def v8_setting(asked: Asked) -> str:
    """The bash text before a command of Node's that lets it tell."""
    return 'NODE_V8_COVERAGE="$AGENT_FIX_OUT" ' if asked.watch else ""


def v8(asked: Asked, files: Mapping[str, bytes]) -> dict[str, Lines]:
    """V8's JSON, which Node writes for each process: ranges of characters with counts. Raises `Unreadable`.

    A file that was translated before it ran has other characters there, so nothing is said of it.
    """
    sources = {path: data.decode("utf-8", "replace") for path, data in asked.watch.items()}
    able = {path: set(_code_lines(text)) for path, text in sources.items() if path.endswith((".js", ".cjs", ".mjs"))}
    ran: dict[str, set[int]] = {path: set() for path in able}
    for name, data in files.items():
        if not (name.startswith("coverage-") and name.endswith(".json")):
            continue
        report = parsed(data)
        translated = report.get("source-map-cache")
        for script in objects(report, "result"):
            url = text_at(script, "url")
            path = _watched(asked, unquote(url.removeprefix("file://")))
            if path not in able:
                continue
            if isinstance(translated, dict) and url in translated:
                del able[path], ran[path]
                continue
            ran[path] |= able[path] & set(_lines_run(sources[path], script))
    return _lines(able, ran)


def _lines_run(text: str, script: Mapping[str, Any]) -> Iterator[int]:
    ranges = [one for function in objects(script, "functions") for one in objects(function, "ranges")]
    known = [(_number(one, "startOffset"), _number(one, "endOffset"), _number(one, "count")) for one in ranges]
    # The outer before the inner: what a narrower range says of a line counts.
    known.sort(key=lambda span: (span[0], -span[1]))
    at = 0
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        first = at + _units(line[: len(line) - len(line.lstrip())])
        last = first + _units(bare)
        at += _units(line) + 1
        counts = [count for start, end, count in known if start <= first and last <= end]
        if bare and counts and counts[-1]:
            yield number


def go(asked: Asked, files: Mapping[str, bytes]) -> dict[str, Lines]:
    """Go's cover profiles: blocks of lines with counts. Paths begin with the module's name."""
    able: dict[str, set[int]] = {}
    ran: dict[str, set[int]] = {}
    code = {path: set(_code_lines(data.decode("utf-8", "replace"))) for path, data in asked.watch.items()}
    for name, data in files.items():
        if not (name.startswith("cover-") and name.endswith(".out")):
            continue
        for block in map(_BLOCK.fullmatch, data.decode("utf-8", "replace").splitlines()):
            path = _longest(block["path"], code) if block else None
            if block and path and int(block["last"]) - int(block["first"]) < len(asked.watch[path]):
                lines = code[path] & set(range(int(block["first"]), int(block["last"]) + 1))
                able.setdefault(path, set()).update(lines)
                ran.setdefault(path, set()).update(lines if int(block["count"]) else ())
    return _lines(able, ran)


def _longest(written: str, watched: Iterable[str]) -> str | None:
    """The watched file that a path below an unknown module stands for."""
    fitting = [path for path in watched if f"/{written}".endswith(f"/{path}")]
    return max(fitting, key=len, default=None)


def _watched(asked: Asked, written: str) -> str | None:
    """The watched file that a runner names by an absolute path."""
    path = posixpath.normpath(written)
    found = path.removeprefix(posixpath.normpath(asked.root) + "/")
    return found if found in asked.watch else None


def _lines(able: Mapping[str, set[int]], ran: Mapping[str, set[int]]) -> dict[str, Lines]:
    return {path: Lines(frozenset(lines), frozenset(ran.get(path, ()))) for path, lines in able.items()}


def _numbers(value: object) -> Iterator[int]:
    """The integers of a list; what else may be in it is left out."""
    return (number for number in value if isinstance(number, int)) if isinstance(value, list) else iter(())


def _number(value: Mapping[str, Any], key: str) -> int:
    found = value.get(key)
    return found if isinstance(found, int) else 0


def _code_lines(text: str) -> Iterator[int]:
    """The lines that hold more than signs and are no comment."""
    for number, line in enumerate(text.split("\n"), 1):
        if re.search(r"\w", line) and not _COMMENT.match(line):
            yield number


def _units(text: str) -> int:
    """Its length as V8 counts: in units of UTF-16."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
