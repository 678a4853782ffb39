"""`agent-fix setup`: the bot's own GitHub App in one page and one click; its secrets land in a file."""

from __future__ import annotations

import functools
import html
import json
import os
import secrets
import threading
import tomllib
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qs, urlsplit

import typer

app = typer.Typer()
PAGE = Path(__file__).parent / "setup.html"
WORDS = {"contents": "branches and files", "issues": "issues", "pull_requests": "pull requests", "checks": "checks"}
"""What the App may write, in the words of its reader."""
KEYS = ("github_app_id", "github_app_key", "webhook_secret")


@app.command()
def setup(
    url: Annotated[
        str | None, typer.Option(help="How GitHub reaches `agent-fix serve`: https://HOST, without a path.")
    ] = None,
    name: Annotated[str, typer.Option(help="The App's name, unique on all of GitHub.")] = "agent-fix",
    organization: Annotated[str | None, typer.Option(help="Make it the organisation's, not yours.")] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The setup page's port on this machine.")] = 8011,
) -> None:
    """Make the bot's GitHub App: open the page, click once, install it where it shall work."""
    from bot.errors import BadInput
    from bot.forge.connection import Api
    from bot.forge.manifest import exchange
    from bot.settings import config_file, load_settings

    settings = load_settings()
    key, config = config_file().with_name("app.pem"), config_file()
    check_free(key, config)
    certificates = str(settings.ca_bundle) if settings.ca_bundle else None
    api = Api(url=settings.github_api, certificates=certificates)
    state, done = secrets.token_urlsafe(24), threading.Event()

    def finish(code: str) -> str:
        made = exchange(api, code)
        keep(key, config, made)
        return f"{made.url}/installations/new"

    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), BaseHTTPRequestHandler)
    except OSError as error:
        raise BadInput(f"Port {port} cannot be had ({error.strerror}): name another with --port.") from None
    own = f"http://127.0.0.1:{server.server_port}"
    shown = page(settings.github_api, own, state, name=name, url=url, organization=organization, label=settings.label)
    server.RequestHandlerClass = functools.partial(Handler, shown, state, finish, done)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    typer.echo(f"Open {own} and click. Waiting …")
    done.wait()
    server.shutdown()
    serve = "agent-fix serve" if url else "agent-fix serve --roles worker,publisher"
    typer.echo(f"The App's secrets are in {config} and {key}, for you alone to read. Start `{serve}` now.")


def page(api: str, own: str, state: str, *, name: str, url: str | None, organization: str | None, label: str) -> str:
    """The page with the one button. Raises `BadInput` for what GitHub would not take."""
    from bot.forge.manifest import creation_url, manifest

    webhook = f"{url.rstrip('/')}/webhook" if url else None
    homepage = url or "https://github.com"
    asked = manifest(name, homepage=homepage, redirect_url=f"{own}/made", webhook_url=webhook)
    where = webhook or "none. Without one, the sweep of `agent-fix serve` finds labels, minutes later."
    places = {
        "action": creation_url(web(api), state, organization),
        "manifest": json.dumps(asked),
        "name": asked["name"],
        "owner": f"the organisation {organization}" if organization else "your account",
        "writes": ", ".join(WORDS[one] for one, level in asked["default_permissions"].items() if level == "write"),
        "webhook": where,
        "label": label,
    }
    text = PAGE.read_text("utf-8")
    for place, value in places.items():
        text = text.replace(f"[[{place}]]", html.escape(value))
    return text


def web(api: str) -> str:
    """The address of a GitHub's pages, from that of its API."""
    parts = urlsplit(api)
    return f"{parts.scheme}://{parts.netloc.removeprefix('api.')}"


def check_free(key: Path, config: Path) -> None:
    """Raise `BadInput` if there is an App's key already: GitHub shows the new one's secrets once, so ask before."""
    from bot.errors import BadInput

    if key.exists():
        raise BadInput(f"{key} exists already: it belongs to another App. Move it away first.")
    there = tomllib.loads(config.read_text("utf-8")) if config.exists() else {}
    named = [name for name in KEYS if name in there]
    if named:
        raise BadInput(f"{config} names {' and '.join(named)} already: take that out first.")
    config.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not os.access(config.parent, os.W_OK):
        raise BadInput(f"{config.parent} cannot be written to, and the App's secrets go there.")


def keep(key: Path, config: Path, made: Any) -> None:
    """Write the App's secrets for their owner's eyes alone."""
    _write(key, made.private_key)
    values = {"github_app_id": str(made.id), "github_app_key": str(key), "webhook_secret": made.webhook_secret}
    lines = [f"{name} = {json.dumps(value)}" for name, value in values.items() if value]
    # First in the file: below the heading of a table they would belong to that.
    before = config.read_text("utf-8") if config.exists() else ""
    _write(config, "\n".join(lines) + "\n" + before)


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.new")
    temporary.unlink(missing_ok=True)
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    temporary.replace(path)


class Handler(BaseHTTPRequestHandler):
    """The page, and where GitHub sends the browser back to."""

    def __init__(
        self, shown: str, state: str, finish: Callable[[str], str], done: threading.Event, *request: Any
    ) -> None:
        self._shown, self._state, self._finish, self._done = shown, state, finish, done
        super().__init__(*request)

    def do_GET(self) -> None:
        """Answer the browser."""
        from bot.errors import AgentFixError

        parts = urlsplit(self.path)
        given = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if parts.path == "/":
            self._answer(200, self._shown)
        elif parts.path != "/made" or not secrets.compare_digest(given.get("state", "").encode(), self._state.encode()):
            self._answer(404, "Nothing is here. Go back to the first page and begin again.")
        else:
            try:
                target = self._finish(given.get("code", ""))
            except AgentFixError as error:
                self._answer(502, html.escape(str(error)))
                return
            self.send_response(302)
            self.send_header("Location", target)
            self.end_headers()
            self._done.set()

    def _answer(self, status: int, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Say nothing: the address holds a code."""
