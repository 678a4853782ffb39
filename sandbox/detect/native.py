"""Recipes for C and C++: CMake with CTest, Meson, Autotools, a plain Makefile."""

from __future__ import annotations

import re

from sandbox.detect.files import Files, below
from sandbox.port import Recipe

EVERYTHING = ("*",)
"""Templates, grammars and tables become code too, and a build without news takes next to no time."""
OFF_BY_DEFAULT = re.compile(r"option\s*\(\s*(\w{0,40}(?:BUILD|ENABLE|WITH)\w{0,40}TESTS?(?:ING)?)\b[^)]*\bOFF\s*\)")
"""Options that have tests built."""
PLAIN = "--disable-docs --disable-doc --disable-gtk-doc --disable-man"
"""No documents, whichever the project calls them: they need tools of their own. Autoconf ignores what it does not know,
a script that only has its name may not."""
DOCUMENTS = re.compile(
    r"option\s*\(\s*'(docs?|documentation|api-?docs|gtk[_-]doc|man(?:-?pages|uals?)?)'\s*,[^)]*?type\s*:\s*'(boolean|feature)'"
)
"""The same for Meson, where an option must be one of the project's."""
MAKE_TARGETS = ("test", "check", "tests", "unittest", "unit-test")
LIBRARIES = {
    "ZLIB": "zlib1g-dev",
    "OpenSSL": "libssl-dev",
    "CURL": "libcurl4-openssl-dev",
    "Boost": "libboost-all-dev",
    "GTest": "libgtest-dev",
    "GMock": "libgmock-dev",
    "benchmark": "libbenchmark-dev",
    "fmt": "libfmt-dev",
    "spdlog": "libspdlog-dev",
    "Catch2": "catch2",
    "doctest": "doctest-dev",
    "Threads": "",
    "SQLite3": "libsqlite3-dev",
    "LibXml2": "libxml2-dev",
    "EXPAT": "libexpat1-dev",
    "PNG": "libpng-dev",
    "JPEG": "libjpeg-dev",
    "Eigen3": "libeigen3-dev",
    "nlohmann_json": "nlohmann-json3-dev",
    "yaml-cpp": "libyaml-cpp-dev",
    "Protobuf": "libprotobuf-dev",
    "Libevent": "libevent-dev",
    "LibLZMA": "liblzma-dev",
    "BZip2": "libbz2-dev",
    "zstd": "libzstd-dev",
    "Check": "check",
    "cmocka": "libcmocka-dev",
    "Qt5": "qtbase5-dev",
    "absl": "libabsl-dev",
}
"""Package of `find_package` -> Debian package; empty where the compiler has it."""


def detect(files: Files, folder: str, base_image: str) -> list[Recipe]:
    """Recipes for the C or C++ project in `folder`, by each build system that it has."""
    found = [way(files, folder) for way in (_cmake, _meson, _autotools, _what_can_be_made, _make)]
    return [
        Recipe(
            base_image,
            setup=(),
            test_command=command,
            reporter=reporter,
            packages=("build-essential", *packages),
            build=tuple(build),
            build_inputs=EVERYTHING,
            workdir=folder,
            sources={"setup": where, "build": where, "test_command": why, "base_image": "the default"},
        )
        for command, reporter, packages, build, where, why in filter(None, found)
    ]


_Way = tuple[str, str, list[str], list[str], str, str]


def _cmake(files: Files, folder: str) -> _Way | None:
    path = below(folder, "CMakeLists.txt")
    if not files.has(path):
        return None
    prefix = "" if folder == "." else folder + "/"
    texts = [files.text(file) for file in files.glob(prefix + "*CMakeLists.txt", prefix + "*.cmake")[:200]]
    text = "\n".join(texts)
    if not re.search(r"\b(enable_testing|add_test|gtest_discover_tests|catch_discover_tests|CTest)\b", text):
        return None
    wanted = re.findall(r"find_package\s*\(\s*([\w-]+)", text)
    packages = [package for name in dict.fromkeys(wanted) if (package := LIBRARIES.get(name))]
    switches = [f"-D{name}=ON" for name in dict.fromkeys(OFF_BY_DEFAULT.findall(text))]
    build = [
        " ".join(["cmake -S . -B ~/build -DCMAKE_BUILD_TYPE=Debug -DBUILD_TESTING=ON", *switches]),
        "cmake --build ~/build --parallel 2",
    ]
    return "ctest --test-dir ~/build", "ctest", ["cmake", "pkg-config", *packages], build, path, "CTest"


def _meson(files: Files, folder: str) -> _Way | None:
    path = below(folder, "meson.build")
    prefix = "" if folder == "." else folder + "/"
    if not re.search(r"^project\s*\(", files.text(path), re.MULTILINE):
        return None
    texts = [files.text(file) for file in files.glob(prefix + "*meson.build")]
    if not any(re.search(r"^\s*(test|benchmark)\s*\(", text, re.MULTILINE) for text in texts):
        return None
    options = "".join(files.text(below(folder, name)) for name in ("meson_options.txt", "meson.options"))
    off = {"boolean": "false", "feature": "disabled"}
    switches = [f" -D{name}={off[kind]}" for name, kind in DOCUMENTS.findall(options)]
    build = [f"[ -d ~/build ] || meson setup ~/build .{''.join(switches)}", "meson compile -C ~/build"]
    command = "meson test -C ~/build --no-rebuild --print-errorlogs"
    return command, "meson", ["meson", "ninja-build", "pkg-config"], build, path, "Meson's own"


def _autotools(files: Files, folder: str) -> _Way | None:
    path = next(
        (below(folder, name) for name in ("configure.ac", "configure.in") if files.has(below(folder, name))), ""
    )
    ready = files.has(below(folder, "configure"))
    if not path and not ready:
        return None
    tools = [] if ready else ["autoconf", "automake", "libtool", "pkg-config", "gettext"]
    start = [] if ready else ["[ -x configure ] || autoreconf --install"]
    options = f" {PLAIN}" if path else ""
    build = [*start, f"[ -f Makefile ] || ./configure{options}", "make -j2"]
    return "make check", "automake", tools, build, path or below(folder, "configure"), "Automake's check"


def _what_can_be_made(files: Files, folder: str) -> _Way | None:
    """Autotools where something beside the tests, such as a manual, cannot be made here."""
    way = _autotools(files, folder)
    if way is None:
        return None
    command, reporter, tools, build, where, why = way
    build = [*build[:-1], f"{build[-1]} --keep-going || echo 'Not everything could be made.'"]
    return command, reporter, tools, build, f"{where}, as far as it can be made", why


def _make(files: Files, folder: str) -> _Way | None:
    path = _first(files, folder, "GNUmakefile", "Makefile", "makefile")
    prefix = "" if folder == "." else folder + "/"
    if not path or not files.glob(prefix + "*.c", prefix + "*.cc", prefix + "*.cpp"):
        return None
    targets = re.findall(r"^([\w.-]+)\s*:(?!=)", files.text(path), re.MULTILINE)
    target = next((name for name in MAKE_TARGETS if name in targets), "")
    return (f"make {target}", "exit-code", [], ["make -j2"], path, f"{path}: {target}") if target else None


def _first(files: Files, folder: str, *names: str) -> str:
    return next((below(folder, name) for name in names if files.has(below(folder, name))), "")
