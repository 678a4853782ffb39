"""What a file is for, by its path and how it begins: the code itself, or what stands around the code."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping, Sequence

from repo_tools.languages import language_of


class FileKind(enum.StrEnum):
    """What a file of a repository is for."""

    SOURCE = "source"
    TEST = "test"
    """Tests, what they need, and benchmarks."""
    DOCS = "docs"
    """Documentation and examples."""
    TOOLING = "tooling"
    """Code that builds, checks or releases the project."""
    GENERATED = "generated"
    VENDORED = "vendored"
    """Another project's code, copied in."""
    DATA = "data"
    """Not in a language that is parsed: settings, tables, images."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_VENDORED = _names(
    "vendor vendored _vendor _vendored vendors third_party third-party thirdparty 3rdparty extern externals _extern "
    "node_modules bower_components jspm_packages site-packages"
)
_GENERATED = _names("_antlr generated __generated__ _generated autogen")
_TESTS = _names("tests __tests__ __mocks__ spec specs testdata test-data test_data e2e fixtures")
_ALSO_TESTS = _names("test testing bench benches benchmark benchmarks asv_bench")
_DOCS = _names("doc docs documentation example examples sample samples tutorial tutorials demo demos")
_TOOLING = _names("ci tool tools script scripts release bin build hack")

_TEST_BEGINS = ("test_", "bench_")
_TEST_ENDS = ("_test", ".test", "-test", "_spec", ".spec", "-spec")
_TEST_NAMES = _names("conftest tests")
_TEST_CLASS = re.compile(r"Test[A-Z]|\w*[a-z0-9]Tests?$")
_GENERATED_ENDS = ("_pb2", "_pb2_grpc", ".pb", ".min", "-min", ".generated", "_generated", ".g")
_VERSION = re.compile(r"[.-]v?\d+(?:\.\d+)+")
_DOCS_SUFFIXES = _names(".md .rst .txt .adoc .markdown .ipynb")
_DOCS_NAMES = _names("readme changelog changes history license licence copying authors contributing")
_TOOLING_NAMES = _names("setup noxfile versioneer ez_setup ah_bootstrap conf fabfile")
_WHOLE = frozenset({FileKind.VENDORED, FileKind.GENERATED, FileKind.TEST, FileKind.DOCS})
"""Kinds of folders whose files are all of that kind."""
_SAYS_GENERATED = re.compile(
    rb"(?im)^[ \t]*(?:#|//|/\*|\*|--|;).{0,160}"
    rb"(?:@generated|do not edit|auto-?generated|generated (?:from|by|automatically)\b)"
)
_BEGINNING = 600
_LONGEST_MEAN_LINE = 400


def kinds(paths: Sequence[str]) -> list[FileKind]:
    """The kind of each file of a repository, given all its paths: some are told by what stands beside them."""
    beside: dict[str, list[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        beside.setdefault(folder, []).append(name)
    folders = {folder: _kind_of_folder(folder, beside) for folder in beside}
    found = []
    for path in paths:
        folder, _, name = path.rpartition("/")
        around = folders[folder]
        found.append(around if around is not None and around in _WHOLE else _kind_of_file(name, folder, around))
    return found


def looks_generated(data: bytes) -> bool:
    """Whether a program wrote a file: it says so at its beginning, or has lines that no person writes."""
    is_minified = len(data) > _LONGEST_MEAN_LINE * (data.count(b"\n") + 10)
    return is_minified or _SAYS_GENERATED.search(data[:_BEGINNING]) is not None


def _kind_of_file(name: str, folder: str, around: FileKind | None) -> FileKind:
    stem, dot, suffix = name.rpartition(".")
    if language_of(name) is None:
        plain = (stem or suffix).lower()
        return FileKind.DOCS if dot + suffix.lower() in _DOCS_SUFFIXES or plain in _DOCS_NAMES else FileKind.DATA
    if stem.endswith(_GENERATED_ENDS):
        return FileKind.GENERATED
    if _VERSION.search(stem) or stem.startswith("jquery"):
        return FileKind.VENDORED
    if _is_test(stem):
        return FileKind.TEST
    return around or (FileKind.TOOLING if not folder and stem in _TOOLING_NAMES else FileKind.SOURCE)


def _is_test(stem: str) -> bool:
    small = stem.lower()
    return (
        small.startswith(_TEST_BEGINS)
        or small.endswith(_TEST_ENDS)
        or small in _TEST_NAMES
        or ("Test" in stem and _TEST_CLASS.match(stem) is not None)
    )


def _kind_of_folder(folder: str, beside: Mapping[str, Sequence[str]]) -> FileKind | None:
    """What a folder says about the files in it; the outermost name that says something decides."""
    parts = folder.split("/")
    for depth, part in enumerate(parts):
        name, names = part.lower(), beside.get("/".join(parts[: depth + 1]), ())
        # A folder of code inside of a package is a part of it, whatever it is called: `django/test`, `sphinx/testing`.
        inside = depth > 0 and "__init__.py" in names
        if name in _VENDORED or (name == "packages" and inside) or (name == "external" and depth == 0):
            return FileKind.VENDORED
        if name in _GENERATED:
            return FileKind.GENERATED
        if name in _TESTS or (name in _ALSO_TESTS and not (inside and not _hold_tests(names))):
            return FileKind.TEST
        if name in _DOCS and not inside:
            return FileKind.DOCS
        if depth == 0 and (name in _TOOLING or name.startswith(".")) and name:
            return FileKind.TOOLING
    return None


def _hold_tests(names: Sequence[str]) -> bool:
    return any(_is_test(name.rpartition(".")[0]) for name in names)
