"""From a repository's files to recipes for it, the most trusted first."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime

from sandbox import recipe_file
from sandbox.detect import dotnet, go, jvm, native, php, ruby, rust
from sandbox.detect.ci import recipes as ci
from sandbox.detect.ci.automation import debian_packages, jobs_with_tests, services
from sandbox.detect.files import Files, below
from sandbox.detect.node import recipes as node
from sandbox.detect.python import recipes as python
from sandbox.detect.submodules import fetch_submodules
from sandbox.port import Recipe, Snapshot
from sandbox.scripts import is_variable

BASE_IMAGE = "agent-fix-base:bookworm"

Detector = Callable[[Files, str, str], list[Recipe]]
LANGUAGES: Mapping[Detector, tuple[tuple[str, ...], tuple[str, ...]]] = {
    python.detect: ((".py", ".pyx"), ("pyproject.toml", "setup.py", "setup.cfg", "tox.ini")),
    node.detect: ((".js", ".ts", ".jsx", ".tsx", ".mjs", ".cjs", ".mts", ".vue"), ("package.json",)),
    go.detect: ((".go",), ("go.mod",)),
    rust.detect: ((".rs",), ("Cargo.toml",)),
    jvm.detect: ((".java", ".kt", ".groovy", ".scala"), ("pom.xml", "build.gradle", "build.gradle.kts")),
    ruby.detect: ((".rb",), ("Gemfile", "Rakefile")),
    php.detect: ((".php",), ("composer.json", "phpunit.xml.dist", "phpunit.xml")),
    native.detect: (
        (".c", ".h", ".cc", ".cpp", ".cxx", ".hpp"),
        ("CMakeLists.txt", "meson.build", "configure.ac", "configure", "Makefile"),
    ),
    dotnet.detect: ((".cs", ".fs", ".vb"), ()),
}
"""How a language is detected -> the ends of its source files, the manifests that make a folder a project of it."""
MOST_FOLDERS = 4


def candidates(
    snapshot: Snapshot,
    *,
    remembered: Recipe | None = None,
    target_paths: Iterable[str] = (),
    as_of: date | None = None,
    submodules: Mapping[str, str] | None = None,
    base_image: str = BASE_IMAGE,
) -> list[Recipe]:
    """Recipes for a repository, the most trusted first; empty if no test suite is found.

    `remembered` is what worked last time for the same manifests. `target_paths` are files that a change will be in:
    in a repository of several packages their own package comes first. `as_of` is the day of the commit: where no lock
    file fixes versions, packages are first tried as they were at the end of its month, if that is over.
    `submodules` are the folders of other repositories with their commits.

    Raises `BadRecipeFile` if the project's own recipe is wrong.
    """
    files, targets = Files(snapshot, submodules), tuple(target_paths)
    found: list[Recipe] = []
    for folder in _folders(files, targets):
        for detect in _languages(files, folder, targets):
            found += detect(files, folder, base_image)
    jobs = jobs_with_tests(files)
    found += ci.detect(jobs, base_image)
    wanted = debian_packages(files, jobs)
    first = _next_month(as_of) if as_of else None
    if first and first <= datetime.now(UTC).date():
        found = [way for recipe in found for way in ([_dated(recipe, first), recipe] if _is_open(recipe) else [recipe])]
    detected = [_completed(files, recipe, wanted, services(jobs)) for recipe in found]
    written = recipe_file.read(files.text(recipe_file.PATH))
    return [*([written.recipe(base_image)] if written else []), *([remembered] if remembered else []), *detected]


def _is_open(recipe: Recipe) -> bool:
    """Whether what a set-up installs depends on the day."""
    return recipe.sources["setup"] in (python.DECLARED, node.DECLARED)


def _next_month(day: date) -> date | None:
    """Its first day: by the month, so that an image serves for long; `None` where the calendar ends."""
    return date(day.year + day.month // 12, day.month % 12 + 1, 1) if day < date(9999, 12, 1) else None


def _dated(recipe: Recipe, first: date) -> Recipe:
    """A recipe whose packages are those that there were on that day."""
    limits = {"UV_EXCLUDE_NEWER": first.isoformat(), "npm_config_before": first.isoformat()}
    source = f"{recipe.sources['setup']}, packages as of {first}"
    return replace(recipe, env={**recipe.env, **limits}, sources={**recipe.sources, "setup": source})


def _completed(files: Files, recipe: Recipe, packages: Mapping[str, str], needed: Mapping[str, str]) -> Recipe:
    """A recipe with what holds in every language: submodules, and what the project's automation says of its machine."""
    sources = {
        **recipe.sources,
        **{f"Debian package {name}": where for name, where in packages.items()},
        **{f"service {name} (not started here)": where for name, where in needed.items()},
    }
    return replace(
        recipe,
        setup=(*fetch_submodules(files, recipe.workdir), *recipe.setup),
        packages=tuple(dict.fromkeys([*recipe.packages, *packages])),
        # Automation may use its variables in expressions alone, under names that no shell takes.
        env={name: value for name, value in recipe.env.items() if is_variable(name)},
        sources=sources,
    )


def _folders(files: Files, targets: tuple[str, ...]) -> Iterator[str]:
    """Where projects may be: nearest to the targets first, then the root, then shallow folders with a manifest."""
    manifests = {name for _, names in LANGUAGES.values() for name in names}
    nearest = Counter(folder for path in targets if (folder := _project_of(files, path, manifests)) != ".")
    seen = [folder for folder, _ in nearest.most_common(MOST_FOLDERS)]
    yield from seen
    yield "."
    seen.append(".")
    if any(files.has(name) for name in manifests - {"Makefile", "package.json"}):
        return
    inner = [posixpath.dirname(path) for path in files.glob(*(f"*/{name}" for name in manifests))]
    shallow = [folder for folder in dict.fromkeys(inner) if folder.count("/") < 2 and folder not in seen]
    yield from shallow[:MOST_FOLDERS]


def _project_of(files: Files, path: str, manifests: set[str]) -> str:
    """The nearest folder above a file that has a manifest; the root if there is none."""
    folder = posixpath.dirname(posixpath.normpath(path))
    while folder not in ("", "."):
        if any(files.has(below(folder, name)) for name in manifests):
            return folder
        folder = posixpath.dirname(folder)
    return "."


def _languages(files: Files, folder: str, targets: tuple[str, ...]) -> list[Detector]:
    """The detectors of the languages in a folder, those of the targets first, then by number of files."""
    prefix = "" if folder == "." else folder + "/"
    ends = Counter(posixpath.splitext(path)[1] for path in files.paths() if path.startswith(prefix))
    wanted = Counter(posixpath.splitext(path)[1] for path in targets)

    def weight(detector: Detector) -> tuple[int, int]:
        sources = LANGUAGES[detector][0]
        return sum(wanted[end] for end in sources), sum(ends[end] for end in sources)

    return sorted((detector for detector in LANGUAGES if weight(detector)[1]), key=weight, reverse=True)
