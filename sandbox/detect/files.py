"""A repository's files as the detectors see them: parsed, never executed, and no exception for bad content."""

from __future__ import annotations

import configparser
import json
import posixpath
import re
import tomllib
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

import yaml

from sandbox.port import Snapshot

LARGEST_YAML = 300_000
"""Bytes; its reader takes seconds for more."""
LARGEST = 2_000_000
"""Bytes; a manifest beyond this is not one that a person wrote, and is left unread."""
SYMLINK = 0o120000


class Files:
    """Reads of one snapshot. What is missing or cannot be parsed reads as empty; `problems` says which and why.

    `mounted` are the submodules whose commits are known: folder -> commit.
    """

    def __init__(self, snapshot: Snapshot, mounted: Mapping[str, str] | None = None) -> None:
        self._mounted = dict(mounted or {})
        self._snapshot = snapshot
        self._entries = snapshot.entries()
        self.problems: dict[str, str] = {}
        self.text = lru_cache(maxsize=512)(self._text)
        self._parsed: dict[tuple[str, str], Any] = {}

    def has(self, path: str) -> bool:
        """Whether there is a file of that path."""
        return path in self._entries

    def paths(self) -> list[str]:
        """Every path."""
        return list(self._entries)

    def id(self, path: str) -> str:
        """The content id of a file."""
        return self._entries[path][1]

    def submodules(self) -> dict[str, str]:
        """Folder of another repository, empty in a snapshot -> the commit that it stands at, empty if not known."""
        listed = [section.get("path", "").strip("/") for section in self.ini(".gitmodules").values()]
        found = {path: "" for path in listed if path and not self.has(path) and not self.has_folder(path)}
        return dict(sorted({**found, **self._mounted}.items()))

    def glob(self, *patterns: str) -> list[str]:
        """The paths that match one of the patterns; `*` also matches a slash. Shallow ones first."""
        found = {path for path in self._entries if any(fnmatchcase(path, pattern) for pattern in patterns)}
        return sorted(found, key=lambda path: (path.count("/"), path))

    def within(self, folder: str) -> list[str]:
        """The names in a folder (`.` is the root), files and folders alike."""
        prefix = "" if folder in ("", ".") else folder.rstrip("/") + "/"
        return sorted({path[len(prefix) :].split("/", 1)[0] for path in self._entries if path.startswith(prefix)})

    def has_folder(self, folder: str) -> bool:
        """Whether some file lies below `folder`."""
        prefix = folder.rstrip("/") + "/"
        return any(path.startswith(prefix) for path in self._entries)

    def toml(self, path: str) -> dict[str, Any]:
        """A TOML file, `{}` if there is none."""
        return self._mapping("toml", path, tomllib.loads)

    def json(self, path: str) -> dict[str, Any]:
        """A JSON file whose top is an object, `{}` if there is none."""
        return self._mapping("json", path, json.loads)

    def yaml(self, path: str) -> dict[str, Any]:
        """A YAML file whose top is a mapping, `{}` if there is none. Keys are as YAML 1.1 reads them: `on` is True."""
        return self._mapping("yaml", path, _read_yaml)

    def ini(self, path: str) -> dict[str, dict[str, str]]:
        """An INI file: section -> option -> raw text."""
        return self._mapping("ini", path, _read_ini)

    def start(self, path: str, characters: int = 2000) -> str:
        """The beginning of a file of any size, empty if there is none."""
        return self._snapshot.read(path)[:characters].decode("utf-8", "replace") if self.has(path) else ""

    @staticmethod
    def ini_text(text: str) -> dict[str, dict[str, str]]:
        """The same for text that stands inside another file."""
        try:
            return _read_ini(text)
        except configparser.Error:
            return {}

    def _text(self, path: str) -> str:
        if not self.has(path):
            return ""
        if self._entries[path][0] == SYMLINK:
            target = self._snapshot.read(path).decode("utf-8", "replace")
            path = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
            if not self.has(path) or self._entries[path][0] == SYMLINK:
                return ""
        data = self._snapshot.read(path)
        if len(data) > LARGEST:
            self.problems[path] = f"{len(data)} bytes: too large to be read as a manifest"
            return ""
        return data.decode("utf-8-sig", "replace").replace("\r\n", "\n")

    def _mapping(self, kind: str, path: str, parse: Callable[[str], Any]) -> dict[str, Any]:
        key = (kind, path)
        if key not in self._parsed:
            try:
                value = parse(self.text(path)) if self.has(path) else {}
            except (ValueError, RecursionError, yaml.YAMLError, configparser.Error) as error:
                self.problems[path] = re.sub(r"\s+", " ", f"cannot be read: {error}")[:300]
                value = {}
            self._parsed[key] = value if isinstance(value, dict) else {}
        found: dict[str, Any] = self._parsed[key]
        return found


def _read_yaml(text: str) -> Any:
    if len(text) > LARGEST_YAML:
        raise ValueError(f"{len(text)} characters: too large to be read as YAML")
    return yaml.safe_load(text)


def _read_ini(text: str) -> dict[str, dict[str, str]]:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # names keep their case
    parser.read_string(text)
    return {name: {key: value or "" for key, value in parser.items(name)} for name in parser.sections()}


def table(data: object, *keys: str) -> dict[str, Any]:
    """The mapping at a path of keys in parsed data, `{}` where anything on the way is something else."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def strings(data: object) -> list[str]:
    """A list's strings, a string's words' own line, else nothing: manifests put either in the same place."""
    if isinstance(data, str):
        return [data]
    return [item for item in data if isinstance(item, str)] if isinstance(data, list) else []


def below(folder: str, name: str) -> str:
    """A path in `folder`, where `.` is the root."""
    return posixpath.normpath(posixpath.join(folder, name))
