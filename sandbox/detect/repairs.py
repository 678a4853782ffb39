"""What to add to a recipe that did not work, told by its log. Known symptoms only; everything added is a known name.

A log was written by untrusted code: all that it can bring about is a choice among the rows of the tables below and the
project's own requirement lines.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator
from dataclasses import replace

from sandbox.detect.files import Files, below
from sandbox.detect.python.evidence import listed, missing
from sandbox.detect.python.project import read_project
from sandbox.detect.python.recipes import COMPILER, PYTHON, install
from sandbox.detect.submodules import expected_names, missing_folders
from sandbox.port import Recipe

DEBIAN: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"(gcc|g\+\+|cc|c\+\+|clang)'?( failed)?: (No such file|not found|command not found)", COMPILER),
    (r"(Unknown compiler|[Nn]o (C )?compiler|C compiler cannot|could not find (a )?compiler)", COMPILER),
    (
        r"No CMAKE_C(XX)?_COMPILER could be found|exec: \"gcc\": executable file not found|linker `cc` not found",
        COMPILER,
    ),
    (r"Python\.h: No such file", COMPILER),
    (r"make: (command )?not found|not found: make\b", COMPILER),
    (r"pg_config (executable )?not found|libpq-fe\.h", (*COMPILER, "libpq-dev")),
    (r"mysql_config|mysqlclient.*pkg-config|mysql\.h: No such", (*COMPILER, "default-libmysqlclient-dev")),
    (r"ffi\.h: No such file", (*COMPILER, "libffi-dev")),
    (r"libxml/\w+\.h|xslt-config|libxml2 and libxslt", (*COMPILER, "libxml2-dev", "libxslt1-dev")),
    (r"openssl/\w+\.h|OpenSSL (library|development)|Could not find directory of OpenSSL", (*COMPILER, "libssl-dev")),
    (
        r"zlib\.h: No such|headers or library files could not be found for (zlib|jpeg)",
        (*COMPILER, "zlib1g-dev", "libjpeg-dev"),
    ),
    (r"curl-config|curl/curl\.h", (*COMPILER, "libcurl4-openssl-dev", "libssl-dev")),
    (r"yaml\.h: No such", (*COMPILER, "libyaml-dev")),
    (r"(lber|ldap)\.h: No such", (*COMPILER, "libldap2-dev", "libsasl2-dev")),
    (r"krb5-config", (*COMPILER, "libkrb5-dev")),
    (r"cairo\.h|Dependency \"cairo\" not found", (*COMPILER, "libcairo2-dev")),
    (r"sqlite3\.h: No such", (*COMPILER, "libsqlite3-dev")),
    (r"gmp\.h: No such", (*COMPILER, "libgmp-dev")),
    (r"portaudio\.h", (*COMPILER, "portaudio19-dev")),
    (
        r"(cargo|rustc)[`']?( is)?(:| is)? ?(command )?not (found|installed)|[Cc]an'?t find Rust compiler",
        (*COMPILER, "cargo", "rustc"),
    ),
    (r"cmake: (command )?not found|'cmake'|CMake must be installed", (*COMPILER, "cmake")),
    (r"gfortran|Fortran compiler", (*COMPILER, "gfortran", "libopenblas-dev")),
    (r"swig.*not found|command 'swig' failed", (*COMPILER, "swig")),
    (r"libGL\.so\.1", ("libgl1",)),
    (r"libgthread-2\.0\.so|libglib-2\.0\.so", ("libglib2.0-0",)),
    (r"libgomp\.so\.1", ("libgomp1",)),
    (r"libmagic|failed to find libmagic", ("libmagic1",)),
    (r"libsndfile", ("libsndfile1",)),
    (r"libenchant|enchant C library", ("libenchant-2-2",)),
    (r"cannot load library '?(libgobject|libpango)", ("libpango-1.0-0", "libpangoft2-1.0-0")),
    (r"No module named '_?tkinter'", ("python3-tk",)),
)
"""Pattern of a log -> Debian packages."""

PROGRAMS = {
    "curl": "curl",
    "wget": "wget",
    "unzip": "unzip",
    "zip": "zip",
    "xz": "xz-utils",
    "ps": "procps",
    "pgrep": "procps",
    "file": "file",
    "less": "less",
    "jq": "jq",
    "rsync": "rsync",
    "hg": "mercurial",
    "svn": "subversion",
    "gpg": "gnupg",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "openssl": "openssl",
    "dot": "graphviz",
    "pandoc": "pandoc",
    "ffmpeg": "ffmpeg",
    "convert": "imagemagick",
    "java": "default-jre-headless",
    "javac": "default-jdk-headless",
    "node": "nodejs",
    "npm": "npm",
    "go": "golang-go",
    "ruby": "ruby",
    "php": "php-cli",
    "bc": "bc",
    "gawk": "gawk",
    "make": "make",
    "cmake": "cmake",
    "ninja": "ninja-build",
    "autoconf": "autoconf",
    "autoreconf": "autoconf",
    "libtoolize": "libtool",
    "bison": "bison",
    "flex": "flex",
    "gettext": "gettext",
    "msgfmt": "gettext",
    "sqlite3": "sqlite3",
    "fish": "fish",
    "zsh": "zsh",
    "gcc": "build-essential",
    "tree": "tree",
    "time": "time",
    "socat": "socat",
    "nc": "netcat-openbsd",
    "ip": "iproute2",
    "ping": "iputils-ping",
    "exiftool": "libimage-exiftool-perl",
}
"""Program -> the Debian package that has it."""

MISSING_PROGRAM = re.compile(
    r"(?:^|[\s:])([\w.+-]+): (?:command )?not found$|No such file or directory: '([\w.+-]+)'"
    r"|exec: \"([\w.+-]+)\": executable file not found|spawn ([\w.+-]+) ENOENT",
    re.MULTILINE,
)
MAKE_FOLDER = "mkdir -p "
ENVIRONMENT = re.compile(
    r"ModuleNotFoundError|No module named|ImportError|fixture '\w+' not found|unrecognized arguments|command not found"
    r"|Cannot find module|ERR_MODULE_NOT_FOUND|MODULE_NOT_FOUND|cannot open shared object|LoadError"
    r"|ClassNotFoundException"
)
"""What failures say when the environment is at fault rather than the code."""


def repaired(recipe: Recipe, log: str, files: Files, ended: str = "exit") -> Recipe | None:
    """The recipe with what the log shows to be missing, `None` if it shows nothing that is known and not yet there."""
    changed, why = recipe, []
    for package in set(re.findall(r"Unable to locate package ([a-z0-9.+-]+)|Package '([a-z0-9.+-]+)' has no", log)):
        unknown = next(filter(None, package))
        if unknown in recipe.packages:
            changed = replace(changed, packages=tuple(name for name in changed.packages if name != unknown))
            why.append(f"without {unknown}, which this Debian does not have")
    for package, symptom in _packages(log):
        if package not in changed.packages:
            changed = replace(changed, packages=(*changed.packages, package))
            why.append(f"{package} ({symptom})")
    folders = [posixpath.relpath(path, recipe.workdir) for path in missing_folders(log, files)]
    if recipe.setup and recipe.setup[-1].startswith(MAKE_FOLDER):
        empty = recipe.setup[-1].removeprefix(MAKE_FOLDER).partition(" && ")[0]
        folders += expected_names(log, empty)
    lines = [f"{MAKE_FOLDER}{shlex.quote(folder)}" for folder in folders]
    changed = replace(changed, setup=(*changed.setup, *(line for line in lines if line not in changed.setup)))
    why += lines
    made = [line for line in _translations(recipe, log, files) if line not in changed.setup]
    if made:
        at = next((number for number, line in enumerate(changed.setup) if " -e " in line), 0)
        again = [line for line in made if line.startswith("~/venv/bin/cython")] if changed.build else []
        changed = replace(
            changed, setup=(*changed.setup[:at], *made, *changed.setup[at:]), build=(*again, *changed.build)
        )
        why += made
    if recipe.reporter == "pytest":
        asked = dict(missing(recipe, log, files))
        if ended == "timeout" and "--timeout" not in recipe.test_command:
            asked["pytest-timeout"] = "the suite did not end"
            changed = replace(changed, test_command=f"{changed.test_command} --timeout=30")
        lines = [_adding(recipe, line) for line in asked]
        changed = replace(changed, setup=(*changed.setup, *(line for line in lines if line not in changed.setup)))
        why += [f"{line} ({symptom})" for line, symptom in asked.items()]
    if (changed.packages, changed.setup, changed.test_command) == (recipe.packages, recipe.setup, recipe.test_command):
        return None
    note = recipe.sources.get("repair", "")
    return replace(changed, sources={**recipe.sources, "repair": "; ".join(filter(None, [note, *why]))})


def _translations(recipe: Recipe, log: str, files: Files) -> Iterator[str]:
    """Set-up lines that make the C sources that a compiler misses out of the Cython sources beside them."""
    known = listed(files, read_project(files, recipe.workdir))
    for stem, end in sorted(set(re.findall(r"error: ([\w./-]+)\.(c|cc|cpp|cxx): No such file", log))):
        if files.has(below(recipe.workdir, f"{stem}.pyx")):
            yield install([known.get("cython", "cython"), "setuptools"])
            plus = "" if end == "c" else "--cplus "
            yield f"~/venv/bin/cython {plus}-o {shlex.quote(f'{stem}.{end}')} {shlex.quote(f'{stem}.pyx')}"


def _adding(recipe: Recipe, line: str) -> str:
    """The set-up line that installs a requirement line, by uv where the recipe has it: it may hold to a day."""
    if any(step.startswith("uv ") for step in recipe.setup):
        return install([line])
    return f"{PYTHON} -m pip install --quiet {shlex.quote(line)}"


def _packages(log: str) -> Iterator[tuple[str, str]]:
    for pattern, names in DEBIAN:
        match = re.search(pattern, log)
        if match:
            yield from ((name, match[0].strip()[:80]) for name in names)
    for found in MISSING_PROGRAM.finditer(log):
        program = next(filter(None, found.groups()), "")
        if program in PROGRAMS:
            yield PROGRAMS[program], f"{program} not found"
