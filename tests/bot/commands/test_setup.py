"""`agent-fix setup` against the stand-in: the page, the click, and an App that works from what was written."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path

import pytest
import requests

from bot.commands.service_wiring import github
from bot.commands.setup import web
from bot.forge.manifest import EVENTS, PERMISSIONS
from bot.settings import load_settings
from tests.contracts.github_place import Place, place

ROOT = Path(__file__).parent.parent.parent.parent
SECONDS = 20
BEFORE = '# Mine\nmodel = "other"\n\n[bots]\n"helper[bot]" = 77\n'


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Place]:
    with place(tmp_path, "app") as made:
        yield made


@contextmanager
def command(here: Place, folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1",
        "XDG_CONFIG_HOME": str(folder / "config"), "AGENT_FIX_GITHUB_API": here.scene.github.api,
    }  # fmt: skip
    line = [sys.executable, "-c", "from bot.cli import main; main()", "setup", "--port", "0", *words]
    with subprocess.Popen(
        line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


class Form(HTMLParser):
    """The one form of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.action, self.buttons = "", 0
        self.fields: dict[str, str] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.action = given["action"]
        elif tag == "input":
            self.fields[given["name"]] = given["value"]
        self.buttons += tag == "button"


def opened(process: subprocess.Popen[str]) -> str:
    """The address that the command says to open."""
    assert process.stdout is not None
    return process.stdout.readline().split()[1]


def test_one_page_and_one_click_make_an_app_that_works(here: Place, tmp_path: Path) -> None:
    folder = tmp_path / "config" / "agent-fix"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(BEFORE)
    with command(
        here, tmp_path, "--name", "fixer", "--url", "https://bot.example.org/", "--organization", "octo"
    ) as it:
        own = opened(it)
        shown = requests.get(own, timeout=SECONDS)
        form = Form(shown.text)
        assert form.buttons == 1
        assert "https://bot.example.org/webhook" in shown.text
        assert "branches and files, issues, pull requests, checks" in shown.text
        assert form.action.startswith(f"{here.scene.world.origin}/organizations/octo/settings/apps/new?state=")
        clicked = requests.post(form.action, form.fields, allow_redirects=False, timeout=SECONDS)
        wrong = clicked.headers["Location"].replace("state=", "state=x")
        assert requests.get(wrong, timeout=SECONDS).status_code == 404
        back = requests.get(clicked.headers["Location"], allow_redirects=False, timeout=SECONDS)
        assert back.status_code == 302
        assert back.headers["Location"].endswith("/installations/new")
        assert it.wait(SECONDS) == 0
    made = next(one for one in here.scene.world.apps.values() if one.slug == "fixer")
    assert (made.permissions, made.events, made.owner.login) == (dict(PERMISSIONS), list(EVENTS), "octo")
    for name in ("app.pem", "config.toml"):
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
    written = tomllib.loads((folder / "config.toml").read_text())
    assert written["webhook_secret"] == made.hook_secret
    assert (written["model"], written["bots"]) == ("other", {"helper[bot]": 77})
    here.scene.world.install(made, here.scene.repository)
    settings = load_settings(**written, github_api=here.scene.github.api)
    assert github(settings).forge("octo/widgets").author[0] == "fixer[bot]"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [("app.pem", "key", "belongs to another App"), ("config.toml", "github_app_id = '3'\n", "names github_app_id")],
)
def test_what_is_there_is_told_before_github_makes_anything(
    here: Place, tmp_path: Path, name: str, text: str, said: str
) -> None:
    """GitHub shows an App's secrets once: afterwards would be too late."""
    folder = tmp_path / "config" / "agent-fix"
    folder.mkdir(parents=True)
    (folder / name).write_text(text)
    with command(here, tmp_path) as it:
        output, _ = it.communicate(timeout=SECONDS)
    assert it.returncode == 2
    assert said in " ".join(output.split())
    assert (folder / name).read_text() == text


def test_an_address_that_github_cannot_reach_is_refused(here: Place, tmp_path: Path) -> None:
    with command(here, tmp_path, "--url", "http://localhost:8010") as it:
        output, _ = it.communicate(timeout=SECONDS)
    assert (it.returncode, "GitHub cannot reach" in " ".join(output.split())) == (2, True)


@pytest.mark.parametrize(
    ("api", "pages"),
    [
        ("https://api.github.com", "https://github.com"),
        ("https://ghe.example.com/api/v3", "https://ghe.example.com"),
        ("https://api.octo.ghe.com", "https://octo.ghe.com"),
    ],
)
def test_the_pages_are_those_of_the_same_github(api: str, pages: str) -> None:
    assert web(api) == pages
