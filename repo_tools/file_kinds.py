"""What a file is for, by its path and how it begins: the code itself, or what stands around the code."""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence

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
    "vendor vendored _vendor vendors third_party third-party thirdparty 3rdparty extern externals _extern "
    "node_modules bower_components jspm_packages site-packages"
)
_GENERATED = _names("_antlr generated __generated__ _generated autogen")
_TESTS = _names("tests __tests__ __mocks__ spec specs testdata test-data test_data e2e fixtures")
_ALSO_TESTS = _names("test testing bench benches benchmark benchmarks asv_bench")
_DOCS = _names("doc docs documentation example examples sample samples tutorial tutorials demo demos")
_TOOLING = _names("ci tool tools script scripts release bin build hack")

_TEST_FILE = re.compile(
    r"(?i:^(?:test_.*|bench_.*|.*_test|.*[.-](?:test|spec)|.*_spec|conftest|tests))\.\w+$|^(?:Test[A-Z].*|.*[a-z0-9]Tests?)\.\w+$"
)
_GENERATED_FILE = re.compile(
    r"(?:_pb2(?:_grpc)?\.pyi?|\.pb\.\w+|[.-]min\.(?:js|css)|\.generated\.\w+|\.g\.cs|_generated\.\w+)$"
)
_VENDORED_FILE = re.compile(r"[.-]v?\d+(?:\.\d+)+(?:[.-]\w+)*\.(?:js|css|py)$|^jquery\b.*\.js$")
_DOCS_FILE = re.compile(
    r"(?i:\.(?:md|rst|txt|adoc|markdown|ipynb)$|^(?:readme|changelog|changes|history|license|copying)\b)"
)
_TOOLING_FILE = _names("setup.py noxfile.py versioneer.py ez_setup.py ah_bootstrap.py conf.py fabfile.py")
_SAYS_GENERATED = re.compile(
    rb"(?im)^[ \t]*(?:#|//|/\*|\*|--|;).{0,160}"
    rb"(?:@generated|do not edit|auto-?generated|generated (?:from|by|automatically)\b)"
)
_BEGINNING = 600


def kinds(paths: Sequence[str]) -> list[FileKind]:
    """The kind of each file of a repository, given all its paths: some are told by what stands beside them."""
    here = frozenset(paths)
    folders: dict[str, FileKind | None] = {}
    tests_within = {path.rpartition("/")[0] for path in paths if _TEST_FILE.match(path.rpartition("/")[2])}
    found = []
    for path in paths:
        folder, _, name = path.rpartition("/")
        if folder not in folders:
            folders[folder] = _kind_of_folder(folder, here, tests_within)
        found.append(_kind_of_file(name, folder, folders[folder]))
    return found


def says_generated(data: bytes) -> bool:
    """Whether a file says at its beginning that a program wrote it."""
    return _SAYS_GENERATED.search(data[:_BEGINNING]) is not None


def _kind_of_file(name: str, folder: str, around: FileKind | None) -> FileKind:
    known = language_of(name) is not None
    rules = (
        (around is FileKind.VENDORED or _VENDORED_FILE.search(name), FileKind.VENDORED),
        (around is FileKind.GENERATED or _GENERATED_FILE.search(name), FileKind.GENERATED),
        (around is FileKind.TEST or (known and _TEST_FILE.match(name)), FileKind.TEST),
        (around is FileKind.DOCS or _DOCS_FILE.search(name), FileKind.DOCS),
        (not known, FileKind.DATA),
        (around is FileKind.TOOLING or (not folder and name in _TOOLING_FILE), FileKind.TOOLING),
    )
    return next((kind for holds, kind in rules if holds), FileKind.SOURCE)


def _kind_of_folder(folder: str, here: frozenset[str], tests_within: set[str]) -> FileKind | None:
    """What a folder says about the files in it; the outermost name that says something decides."""
    parts = folder.split("/")
    for depth, part in enumerate(parts):
        name, at = part.lower(), "/".join(parts[: depth + 1])
        # A folder of code inside of a package is a part of it, whatever it is called: `django/test`, `sphinx/testing`.
        inside = depth > 0 and f"{at}/__init__.py" in here
        if name in _VENDORED or (name == "packages" and inside) or (name == "external" and depth == 0):
            return FileKind.VENDORED
        if name in _GENERATED:
            return FileKind.GENERATED
        if name in _TESTS or (name in _ALSO_TESTS and not (inside and at not in tests_within)):
            return FileKind.TEST
        if name in _DOCS and not inside:
            return FileKind.DOCS
        if depth == 0 and (name in _TOOLING or name.startswith(".")) and name:
            return FileKind.TOOLING
    return None
