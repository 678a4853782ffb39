"""Python projects out of a dictionary: what their manifests say is what the recipes do."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Mapping

import pytest

from sandbox.port import Recipe
from sandbox.recipe import candidates
from tests.sandbox.snapshots import Files

TEST = {"tests/test_a.py": "def test_a():\n    assert True\n"}
FLIT = '[build-system]\nrequires = ["flit_core"]\nbuild-backend = "flit_core.buildapi"\n'
PROJECT = FLIT + '[project]\nname = "thing"\nversion = "1"\n'


def recipes(files: Mapping[str, str], tests: Mapping[str, str] = TEST) -> list[Recipe]:
    return candidates(Files({**tests, **files}))


def installed(recipe: Recipe) -> str:
    return recipe.setup[-1].partition("~/venv/bin/python ")[2]


def test_a_project_with_an_extra_for_tests() -> None:
    first = recipes(
        {"pyproject.toml": PROJECT + '[project.optional-dependencies]\ntests = ["pytest"]\ndocs = ["furo"]\n'}
    )[0]
    assert installed(first) == "-e '.[tests]'"
    assert first.test_command == "python -m pytest --continue-on-collection-errors"
    assert first.tests == ("tests",)
    assert first.reporter == "pytest"
    assert first.sources["extra tests"] == "extras: tests"


def test_dependency_groups_and_what_they_include() -> None:
    groups = (
        '[dependency-groups]\ntest = ["pytest", {include-group = "more"}]\nmore = ["pytest-mock"]\nlint = ["ruff"]\n'
    )
    first = recipes(
        {"pyproject.toml": PROJECT + groups}, {"tests/test_a.py": "def test_a(mocker):\n    assert mocker\n"}
    )[0]
    assert installed(first) == "-e . --group test"


@pytest.mark.parametrize(
    "path",
    [
        "requirements-test.txt",
        "test-requirements.txt",
        "requirements/testing.txt",
        "requirements_dev.txt",
        "dev-requirements.txt",
        "tests/requirements.txt",
    ],
)
def test_requirement_files_by_name(path: str) -> None:
    first = recipes({"pyproject.toml": PROJECT, path: "pytest==8.0\n", "docs/requirements.txt": "furo\n"})[0]
    assert installed(first) == f"-e . -r {path}"


def test_what_tox_installs_and_runs() -> None:
    tox = (
        "[testenv]\ndeps =\n    -r{toxinidir}/tests/needs.txt\n    pytest-xdist\n    cov: coverage\n"
        "    main: git+https://x/y\n"
        "extras = fast\nset_env = MODE=quick\ncommands = pytest {posargs:tests/unit}\n"
        "[testenv:docs]\ndeps = sphinx\ncommands = sphinx-build docs\n"
    )
    files = {
        "tox.ini": tox,
        "tests/needs.txt": "pytest\n",
        "pyproject.toml": PROJECT + '[project.optional-dependencies]\nfast = ["orjson"]\n',
        "tests/unit/test_b.py": TEST["tests/test_a.py"],
    }
    first = recipes(files)[0]
    assert installed(first) == "-e '.[fast]' -r tests/needs.txt pytest-xdist"
    assert first.tests == ("tests/unit",)
    assert first.env == {"MODE": "quick"}
    assert "tox.ini" in first.sources["package pytest-xdist"]


def test_a_lock_file_of_uv_comes_before_open_ranges() -> None:
    found = recipes({"pyproject.toml": PROJECT + '[dependency-groups]\ndev = ["pytest"]\n', "uv.lock": "version = 1\n"})
    assert "uv sync" in found[0].setup[-1]
    assert "--frozen" in found[0].setup[-1]
    assert "--group dev" in found[0].setup[-1]
    assert installed(found[1]) == "-e . --group dev"


def test_a_member_of_a_workspace_is_locked_by_the_lock_file_above_it() -> None:
    files = {
        "pyproject.toml": '[tool.uv.workspace]\nmembers = ["packages/*"]\n',
        "uv.lock": "version = 1\n",
        "packages/a/pyproject.toml": PROJECT,
        "packages/a/tests/test_a.py": TEST["tests/test_a.py"],
    }
    member = candidates(Files(files), target_paths=["packages/a/a.py"])[0]
    assert (member.workdir, "uv sync" in member.setup[-2], "--all-packages" in member.setup[-2]) == (
        "packages/a",
        True,
        False,
    )
    whole = candidates(Files(files))[0]
    assert (whole.workdir, "--all-packages" in whole.setup[-2]) == (".", True)
    alone = {**files, "pyproject.toml": ""}
    assert "uv sync" not in " ".join(candidates(Files(alone), target_paths=["packages/a/a.py"])[0].setup)


def test_poetry_by_its_lock_and_then_by_its_ranges() -> None:
    poetry = (
        '[tool.poetry]\nname = "thing"\nversion = "1"\n[tool.poetry.dependencies]\npython = "^3.8"\n'
        '[tool.poetry.group.dev.dependencies]\npytest = "^7.2"\nfoo = {version = "~1.4", extras = ["x"]}\n'
        'bar = "*"\nbaz = {path = "../baz"}\n'
        '[build-system]\nrequires = ["poetry-core"]\nbuild-backend = "poetry.core.masonry.api"\n'
    )
    found = recipes({"pyproject.toml": poetry, "poetry.lock": ""})
    assert "poetry install" in found[0].setup[-1]
    wanted = "-e . 'pytest>=7.2,<8' 'foo[x]>=1.4,<1.5' bar"
    assert [installed(way) for way in found[1:3]] == [f"{wanted} --constraint ~/locked.txt", wanted]


def test_what_a_lock_file_of_poetry_holds_as_constraints() -> None:
    entry = '[[package]]\nname = "{}"\nversion = "{}"\n'
    lock = "".join(entry.format(*row) for row in (("one", "1.0"), ("two", "1"), ("two", "2"), ("three", "3")))
    lock += '[package.source]\ntype = "git"\n'
    command = shlex.split(recipes({"pyproject.toml": PROJECT, "poetry.lock": ""})[1].setup[-2].partition("<")[0])
    said = subprocess.run([sys.executable, *command[1:]], input=lock, text=True, capture_output=True, check=True)
    assert said.stdout == "one==1.0\n"


@pytest.mark.parametrize(
    ("build", "table", "variable"),
    [
        ("setuptools_scm", "[tool.setuptools_scm]\n", "SETUPTOOLS_SCM_PRETEND_VERSION"),
        ("hatch-vcs", '[tool.hatch.version]\nsource = "vcs"\n', "SETUPTOOLS_SCM_PRETEND_VERSION"),
        ("poetry-dynamic-versioning>=1", "", "POETRY_DYNAMIC_VERSIONING_BYPASS"),
        ("pbr", "", "PBR_VERSION"),
        ("uv-dynamic-versioning", "", "UV_DYNAMIC_VERSIONING_BYPASS"),
    ],
)
def test_a_version_that_git_tags_would_tell(build: str, table: str, variable: str) -> None:
    pyproject = f'[build-system]\nrequires = ["{build}"]\n[project]\nname = "thing"\ndynamic = ["version"]\n{table}'
    first = recipes({"pyproject.toml": pyproject, "CHANGELOG.md": "# Changes\n\n## 1.9.0 (2024-01-02)\n\n## 1.10.2\n"})[
        0
    ]
    assert first.env[variable] == "1.10.3"
    assert "CHANGELOG.md" in first.sources[f"env {variable}"]
    assert recipes({"pyproject.toml": pyproject})[0].env[variable] == "9999.0"


def test_a_version_that_stands_in_the_code_needs_no_variable() -> None:
    pyproject = (
        '[build-system]\nrequires = ["setuptools", "setuptools-scm"]\n[project]\nname = "thing"\n'
        'dynamic = ["version"]\n'
        '[tool.setuptools.dynamic]\nversion = {attr = "thing.__version__"}\n'
    )
    assert recipes({"pyproject.toml": pyproject})[0].env == {}


def test_plugins_that_the_configuration_demands() -> None:
    ini = (
        "[pytest]\naddopts = --cov=thing -n 2 --timeout=5\nasyncio_mode = auto\n"
        "required_plugins = pytest-sugar>=1\ntestpaths = tests\n"
    )
    first = recipes({"pyproject.toml": PROJECT, "pytest.ini": ini})[0]
    assert installed(first) == "-e . pytest-cov pytest-xdist pytest-timeout pytest-asyncio 'pytest-sugar>=1' pytest"
    assert first.test_command.endswith("--no-cov")
    assert first.tests == ()
    assert first.sources["package pytest-cov"] == "pytest.ini: addopts has --cov=thing"


def test_what_tests_use_is_installed_only_if_it_is_declared_or_well_known() -> None:
    tests = {
        "tests/test_a.py": "import freezegun, leftpad, numpy_like, helper\nimport extra_thing\n"
        "def test_a(mocker, httpbin, mine): ...\n",
        "tests/helper.py": "",
        "tests/conftest.py": "import pytest\n@pytest.fixture\ndef mine(): ...\n",
    }
    files = {"pyproject.toml": PROJECT + '[project.optional-dependencies]\nbig = ["extra-thing>=2", "other"]\n'}
    first = recipes(files, tests)[0]
    assert installed(first).split() == [
        "-e",
        ".",
        "'extra-thing>=2'",
        "pytest-httpbin",
        "pytest-mock",
        "freezegun",
        "pytest",
    ]


def test_setup_py_is_read_and_never_run() -> None:
    setup = (
        "import os\nos.makedirs('/tmp/agent-fix-was-run')\nfrom setuptools import setup\nTESTS = ['pytest', 'mock']\n"
        "setup(name='thing', extras_require={'test': TESTS, 'docs': ['sphinx']}, tests_require=TESTS)\n"
    )
    assert installed(recipes({"setup.py": setup})[0]) == "-e '.[test]' pytest mock"


def test_setup_cfg_alone() -> None:
    cfg = (
        "[metadata]\nname = thing\n[options.extras_require]\ntesting =\n    pytest\n"
        "    pytest-cov  # figures\n[tool:pytest]\naddopts = --cov\n"
    )
    first = recipes({"setup.cfg": cfg, "setup.py": "from setuptools import setup\nsetup()\n"})[0]
    assert installed(first) == "-e '.[testing]'"
    assert first.test_command.endswith("--no-cov")


def test_an_application_without_packaging() -> None:
    first = recipes({"requirements.txt": "flask\n", "app.py": ""})[0]
    assert installed(first) == "-r requirements.txt pytest"
    assert first.env["PYTHONPATH"] == "."


def test_a_suite_of_unittest_can_do_without_pytest() -> None:
    tests = {"tests/__init__.py": "", "tests/test_a.py": "import unittest\nclass A(unittest.TestCase): ...\n"}
    last = recipes({"pyproject.toml": PROJECT}, tests)[-1]
    assert (last.test_command, last.reporter) == ("python -m unittest", "unittest")
    assert last.tests == ("discover", "-s", "tests", "-t", ".")
    tests["tests/test_a.py"] += "import pytest\n"
    assert recipes({"pyproject.toml": PROJECT}, tests)[-1].reporter == "pytest"


def test_a_django_site_is_tested_by_its_own_command() -> None:
    files = {"manage.py": "", "requirements.txt": "django\n"}
    assert recipes(files)[0].test_command == "python manage.py test"
    assert recipes({**files, "pytest.ini": "[pytest]\nDJANGO_SETTINGS_MODULE = a\n"})[0].reporter == "pytest"


@pytest.mark.parametrize("word", ["Extension(", "cythonize("])
def test_compiled_parts_are_built_again_after_a_change(word: str) -> None:
    setup = f"from setuptools import setup\nsetup(name='x', ext_modules=[{word}'a', ['a.c'])])\n"
    first = recipes({"setup.py": setup, "a.c": ""})[0]
    assert "build-essential" in first.packages
    assert "--offline" in first.build[0]
    assert "*.c" in first.build_inputs
    assert recipes({"setup.py": "setup(name='x')"})[0].build == ()


@pytest.mark.parametrize(
    ("file", "text", "wanted"),
    [
        (
            "noxfile.py",
            "def tests(session):\n    session.install('-e', '.[a]', 'mock', '-r', 'r.txt')\n",
            "-e '.[a]' -r r.txt",
        ),
        (
            "noxfile.py",
            "def tests(session):\n    session.install('--group=special', '.', 'mock')\n",
            "-e . --group special",
        ),
        (
            "pyproject.toml",
            '[tool.hatch.envs.hatch-test]\nextra-dependencies = ["mock"]\nfeatures = ["a"]\n',
            "-e '.[a]'",
        ),
        ("pyproject.toml", '[tool.pdm.dev-dependencies]\ntest = ["mock"]\n', "-e . mock"),
        ("pyproject.toml", '[tool.uv]\ndev-dependencies = ["mock"]\n', "-e . mock"),
        ("pyproject.toml", '[tool.tox.env_run_base]\ndeps = ["mock"]\nextras = ["a"]\n', "-e '.[a]' mock"),
        ("pyproject.toml", '[tool.tox]\nlegacy_tox_ini = """\n[testenv]\ndeps = mock\n"""\n', "-e . mock"),
        ("setup.cfg", "[tox:tox]\n[testenv]\ndeps = mock\n", "-e . mock"),
    ],
)
def test_other_tools_that_say_what_tests_need(file: str, text: str, wanted: str) -> None:
    pyproject = PROJECT + '[project.optional-dependencies]\na = ["orjson"]\n[dependency-groups]\nspecial = ["idna"]\n'
    files = {"pyproject.toml": pyproject, "r.txt": ""}
    files[file] = (pyproject if file == "pyproject.toml" else "") + text
    line = installed(recipes(files)[0])
    assert line.startswith(wanted)
    assert " mock" in line


SESSIONS = """
ROOT = Path(__file__).parent
WAYS = [nox.param(value, id=name) for name, value in [("none", str(ROOT)), ("a", f"{ROOT}[a]"), ("b", f"{ROOT}[b,a]")]]

@nox.session
@nox.parametrize("way", WAYS)
def tests(session, way):
    session.install("--group=test", way)
    session.run("pytest", "tests")
"""


@pytest.mark.parametrize(
    ("sessions", "wanted"),
    [
        (SESSIONS, "-e '.[a,b]'"),
        (SESSIONS.replace("WAYS)", '[".", ".[a]"])'), "-e '.[a]'"),
        (SESSIONS.replace('test", way', 'test", "-e", f"{ROOT}[b]"'), "-e '.[b]'"),
        (SESSIONS.replace("WAYS)", '["none", "c"])'), "-e ."),
    ],
)
def test_extras_that_the_sessions_of_a_noxfile_are_run_with(sessions: str, wanted: str) -> None:
    extras = '[project.optional-dependencies]\na = ["orjson"]\nb = ["rich", "idna"]\n'
    groups = '[dependency-groups]\ntest = ["pytest"]\n'
    line = installed(recipes({"pyproject.toml": PROJECT + extras + groups, "noxfile.py": sessions})[0])
    assert line == f"{wanted} --group test"


@pytest.mark.parametrize(
    ("tox", "wanted"),
    [
        ("[testenv]\ndeps = mock\n[testenv:py33]\ndeps = pytest<3\n[testenv:py311]\ndeps = ddt\n", "mock ddt"),
        ("[testenv]\ndeps =\n    mock\n    py27: pytest<3\n    py27,py311: ddt\n    py3: rich\n", "mock ddt rich"),
        ("[testenv]\ndeps =\n    mock\n    !py27: ddt\n    3.8: pytest<3\n    3.11: rich\n", "mock ddt rich"),
        ("[testenv:py39]\ndeps = mock\n[testenv:py310]\ndeps = ddt\n", "mock ddt"),
    ],
)
def test_what_tox_needs_for_another_python_pulls_nothing_down(tox: str, wanted: str) -> None:
    first = recipes({"pyproject.toml": PROJECT, "tox.ini": tox})[0]
    assert installed(first) == f"-e . {wanted} pytest"


def test_another_python_where_the_base_is_not_accepted() -> None:
    old = recipes({"pyproject.toml": PROJECT + 'requires-python = ">=3.13"\n'})[0]
    assert "--python '>=3.13'" in old.setup[1]
    assert "--python python3" in recipes({"pyproject.toml": PROJECT + 'requires-python = ">=3.9"\n'})[0].setup[1]


def test_random_order_is_switched_off() -> None:
    first = recipes({"pyproject.toml": PROJECT + '[dependency-groups]\ntests = ["pytest", "pytest-randomly"]\n'})[0]
    assert "-p no:randomly" in first.test_command


@pytest.mark.parametrize(
    "broken",
    [
        {"pyproject.toml": "[project\nname ="},
        {"pyproject.toml": "project = 3\ntool = []\n"},
        {
            "pyproject.toml": '[project]\nname = 1\ndependencies = "x"\noptional-dependencies = []\n'
            '[dependency-groups]\ntest = [{include-group = "test"}, 3]\n'
        },
        {"setup.py": "setup(**{"},
        {"setup.cfg": "no section\n"},
        {"tox.ini": "[testenv\n"},
        {"pyproject.toml": "\xff\xfe", "setup.cfg": "[tool:pytest]\naddopts = 'unclosed\n"},
        {
            "CITATION.cff": "a: [",
            "pyproject.toml": '[build-system]\nrequires = ["hatch-vcs"]\n[project]\nname = "x"\n'
            'dynamic = ["version"]\n',
        },
        {"tests/test_b.py": "def (:\n"},
        {"tests/test_b.py": f"@{'-' * 3000}fixture\ndef a(): ...\n"},
        {"setup.py": f"setup(name={' + '.join(['[]'] * 3000)})\n"},
        {"setup.py": "setup(name=[" + "[" * 150 + "]" * 150 + "])\n"},
        {"tests/test_b.py": "(" * 10_000},
        {".github/workflows/a.yml": "- " * 3000},
        {".github/workflows/a.yml": "a: &a [x, x]\nb: &b [*a, *a]\njobs: {a: {steps: *b}}\n"},
        {".github/workflows/a.yml": "jobs: {a: " + "{b: " * 500 + "1" + "}" * 501 + "\n"},
        {"pyproject.toml": "a = " + "[" * 5000},
        {"package.json": "[" * 100_000},
    ],
)
def test_broken_manifests_still_give_a_recipe(broken: dict[str, str]) -> None:
    found = recipes(broken)
    assert found[-1].reporter == "pytest"


def test_a_repository_without_tests_has_no_recipe() -> None:
    assert recipes({"pyproject.toml": PROJECT, "thing.py": ""}, {}) == []
    assert recipes({"README": ""}, {}) == []
