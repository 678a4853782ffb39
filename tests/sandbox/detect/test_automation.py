"""What a project's automation says: workflows, GitLab, targets, a devcontainer."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from sandbox.detect.ci.automation import debian_packages, jobs_with_tests, services
from sandbox.detect.files import Files as Detected
from sandbox.port import Recipe
from sandbox.recipe import candidates
from tests.sandbox.snapshots import Files

PYTHON = {"pyproject.toml": '[project]\nname = "x"\nversion = "1"\n', "tests/test_a.py": "def test_a(): ...\n"}
WORKFLOW = """
name: CI
on: [push]
env: {LEVEL: "1"}
jobs:
  lint:
    runs-on: ubuntu-latest
    steps:
      - run: pip install ruff && ruff check
  tests:
    runs-on: ${{ matrix.os }}
    strategy:
      matrix:
        os: [windows-latest, ubuntu-latest]
        python: ["3.9", "3.11", "3.14"]
        include:
          - {os: ubuntu-latest, python: "3.11", extra: fast}
    services: {postgres: {image: "postgres:16"}}
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with: {python-version: "${{ matrix.python }}"}
      - run: sudo apt-get update && sudo apt-get install -y --no-install-recommends libpq-dev gettext
      - run: |
          python -m pip install --upgrade pip tox
          pip install ".[${{ matrix.extra }}]" \\
              -r tests/needs.txt pytest-xdist
      - run: pip install ${{ secrets.PACKAGE }}
      - if: matrix.os == 'windows-latest'
        run: pip install pywin32
      - run: ./scripts/test
        working-directory: .
        env: {MODE: quick}
"""
FILES = {
    **PYTHON,
    "pyproject.toml": PYTHON["pyproject.toml"] + '[project.optional-dependencies]\nfast = ["orjson"]\n',
    ".github/workflows/ci.yml": WORKFLOW,
    "tests/needs.txt": "pytest\n",
    "tests/unit/test_b.py": "def test_b(): ...\n",
    "scripts/test": "#!/bin/sh\nset -e\npytest --cov x tests/unit\n",
}


def first(files: dict[str, str]) -> Recipe:
    return candidates(Files(files))[0]


def test_a_workflow_tells_what_to_install_and_which_tests_to_run() -> None:
    found = first(FILES)
    assert found.setup[-1].endswith("-e '.[fast]' -r tests/needs.txt pytest-xdist")
    assert found.tests == ("tests/unit",)
    assert found.packages == ("libpq-dev", "gettext")
    assert found.sources["Debian package gettext"] == ".github/workflows/ci.yml"
    assert found.sources["service postgres (not started here)"] == ".github/workflows/ci.yml"
    assert found.sources["extra fast"] == ".github/workflows/ci.yml (tests)"


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("uv sync --all-extras", "--extra fast --extra slow"),
        ("uv sync --extra=fast", "--extra fast"),
        ("poetry install --all-extras && poetry run pytest", "--extra fast --extra slow"),
        ("uv run tox run --all-extras", ""),
    ],
)
def test_extras_that_a_job_installs_by_its_package_manager(line: str, wanted: str) -> None:
    extras = '[project.optional-dependencies]\nfast = ["orjson"]\nslow = ["rich"]\n'
    job = f"jobs:\n  test:\n    steps:\n    - run: {line}\n    - run: pytest\n"
    manifest = PYTHON["pyproject.toml"] + extras
    found = first({**PYTHON, "pyproject.toml": manifest, "uv.lock": "version = 1\n", ".github/workflows/a.yml": job})
    assert found.setup[2].partition("--no-default-groups")[2].strip() == wanted


def test_the_job_is_read_for_the_row_nearest_to_the_base_image() -> None:
    (job,) = jobs_with_tests(Detected(Files(FILES)))
    assert (job.name, job.versions, job.env, job.services) == (
        "tests",
        {"python": "3.11"},
        {"LEVEL": "1"},
        ("postgres",),
    )
    assert job.steps[-1].env == {"MODE": "quick"}
    assert not any("pywin32" in step.line or "secrets" in step.line for step in job.steps)


def test_the_automation_itself_is_the_last_resort() -> None:
    last = candidates(Files(FILES))[-1]
    assert (last.test_command, last.reporter) == ("./scripts/test", "exit-code")
    assert "pip install -e .[fast] -r tests/needs.txt pytest-xdist" in [line.replace('"', "") for line in last.setup]
    assert not any("apt" in line for line in last.setup)
    assert last.env == {"LEVEL": "1", "MODE": "quick"}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            ".gitlab-ci.yml",
            "before_script:\n  - pip install -r more.txt\nunit tests:\n  script:\n    - pytest tests/unit\n",
        ),
        ("Makefile", "PT = python -m pytest\n\ntest: build\n\tpip install -r more.txt\n\t@$(PT) tests/unit\n"),
        ("justfile", "test *args:\n  pip install -r more.txt\n  pytest tests/unit {{args}}\n"),
        (
            ".devcontainer/devcontainer.json",
            '{\n  // comment\n  "postCreateCommand": "pip install -r more.txt && pytest tests/unit",\n}\n',
        ),
        (".github/workflows/x.yaml", "jobs:\n  t:\n    steps:\n    - run: make test\n"),
    ],
)
def test_other_places_that_say_how_tests_run(path: str, text: str) -> None:
    more = {"Makefile": "test:\n\tpip install -r more.txt\n\tpytest tests/unit\n"} if "workflows" in path else {}
    found = first({**PYTHON, "more.txt": "pytest\n", "tests/unit/test_b.py": "def test(): ...\n", **more, path: text})
    assert "-r more.txt" in found.setup[-1]
    assert found.tests == ("tests/unit",)


def test_a_target_is_enough_where_nothing_else_is_known() -> None:
    (found,) = candidates(Files({"Makefile": "check:\n\t./run-all.sh\n", "run-all.sh": "", "a.lua": ""}))
    assert (found.test_command, found.reporter) == ("./run-all.sh", "exit-code")


@pytest.mark.parametrize(
    "text",
    [
        "jobs: [1, 2]\n",
        "jobs:\n  a: 3\n  b:\n    steps: 3\n  c:\n    steps: [1, {run: 2}]\n",
        "jobs:\n  a:\n    strategy: {matrix: '${{ fromJson(x) }}'}\n    runs-on: [a, b]\n    steps: [{run: pytest}]\n",
        "jobs:\n  a:\n    strategy: {matrix: {include: 3, x: []}}\n    services: []\n    steps: [{run: 'pytest \"'}]\n",
        "a: &a [*a]\n",
        "\t",
    ],
)
def test_odd_workflows_do_no_harm(text: str) -> None:
    assert first({**PYTHON, ".github/workflows/a.yml": text, ".gitlab-ci.yml": text}).reporter == "pytest"


def test_variables_that_no_shell_can_have_are_left_to_the_automation() -> None:
    text = WORKFLOW.replace('env: {LEVEL: "1"}', 'env: {LEVEL: "1", my-hosts: a, "1ST": b}')
    workflow = f"{text}  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: make test\n"
    recipes = candidates(Files({"Makefile": "test:\n\ttrue\n", ".github/workflows/a.yml": workflow}))
    (found,) = (set(recipe.env) for recipe in recipes if "workflows" in recipe.sources["setup"])
    assert "LEVEL" in found
    assert not {"my-hosts", "1ST"} & found


def test_packages_and_services_of_several_jobs() -> None:
    text = "a test:\n  services: [redis, {name: mysql}]\n  script:\n    - apt install -y jq; make test\n"
    jobs = jobs_with_tests(Detected(Files({".gitlab-ci.yml": text})))
    assert list(debian_packages(Detected(Files({})), jobs)) == ["jq"]
    assert set(services(jobs)) == {"redis", "mysql"}


def test_old_commits_get_packages_of_their_time_where_no_lock_fixes_them() -> None:
    dated, *_ = candidates(Files(PYTHON), as_of=date(2024, 12, 30))
    assert dated.env["UV_EXCLUDE_NEWER"] == "2025-01-01"
    assert "packages as of 2025-01-01" in dated.sources["setup"]
    locked = candidates(Files({**PYTHON, "uv.lock": "version = 1\n"}), as_of=date(2024, 1, 2))
    assert [recipe.env.get("UV_EXCLUDE_NEWER") for recipe in locked][:3] == [None, "2024-02-01", None]


def test_a_commit_of_this_month_and_one_beyond_all_time_get_the_packages_of_today() -> None:
    for day in (datetime.now(UTC).date(), date(9999, 12, 31)):
        assert candidates(Files(PYTHON), as_of=day) == candidates(Files(PYTHON))
