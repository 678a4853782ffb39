"""`agent-fix setup`: the bot's own GitHub App in one page and one click; its secrets land in a file."""

from __future__ import annotations

import functools
import html
import json
import os
import secrets
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qs, urlsplit

import typer

app = typer.Typer()
PAGE = Path(__file__).parent / "setup.html"


@app.command()
def setup(
    webhook: Annotated[str | None, typer.Option(help="Where GitHub shall deliver: https://HOST/webhook.")] = None,
    name: Annotated[str, typer.Option(help="The App's name, unique on all of GitHub.")] = "agent-fix",
    organization: Annotated[str | None, typer.Option(help="Make it the organisation's, not yours.")] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The setup page's port on this machine.")] = 8011,
) -> None:
    """Make the bot's GitHub App: open the page, click once, install it where it shall work."""
    from bot.forge.connection import Api
    from bot.forge.manifest import exchange
    from bot.settings import config_file, load_settings

    settings = load_settings()
    folder = config_file().parent
    certificates = str(settings.ca_bundle) if settings.ca_bundle else None
    api = Api(url=settings.github_api, certificates=certificates)
    state, done = secrets.token_urlsafe(24), threading.Event()

    def finish(code: str) -> str:
        made = exchange(api, code)
        keep(folder, made)
        return f"{made.url}/installations/new"

    server = ThreadingHTTPServer(("127.0.0.1", port), BaseHTTPRequestHandler)
    own = f"http://127.0.0.1:{server.server_port}"
    shown = page(settings.github_api, own, state, name=name, webhook=webhook, organization=organization)
    server.RequestHandlerClass = functools.partial(Handler, shown, state, finish, done)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    typer.echo(f"Open {own} and click. Waiting …")
    done.wait()
    server.shutdown()
    typer.echo(f"The App's secrets are in {folder / 'config.toml'} and {folder / 'app.pem'}, for you alone to read.")


def page(api: str, own: str, state: str, *, name: str, webhook: str | None, organization: str | None) -> str:
    """The page with the one button."""
    from bot.forge.manifest import creation_url, manifest

    asked = manifest(name, homepage=webhook or "https://github.com", redirect_url=f"{own}/made", webhook_url=webhook)
    web = "https://github.com" if "api.github.com" in api else api.removesuffix("/api/v3")
    places = {
        "action": creation_url(web, state, organization),
        "manifest": json.dumps(asked),
        "permissions": "".join(
            f"<li>{html.escape(what)}: {html.escape(level)}</li>"
            for what, level in asked["default_permissions"].items()
        ),
        "webhook": webhook or "none: without one, use the schedule of the Action or `agent-fix serve`'s sweep",
    }
    text = PAGE.read_text("utf-8")
    for place, value in places.items():
        text = text.replace(f"[[{place}]]", value if place == "permissions" else html.escape(value))
    return text


def keep(folder: Path, made: Any) -> None:
    """Write the App's secrets for their owner's eyes alone. Raises `BadInput` rather than write over a key."""
    from bot.errors import BadInput

    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    key, config = folder / "app.pem", folder / "config.toml"
    if key.exists():
        raise BadInput(f"{key} exists already: it belongs to another App. Move it away first.")
    _write(key, made.private_key)
    lines = [f'github_app_id = "{made.id}"', f'github_app_key = "{key}"']
    lines += [f'webhook_secret = "{made.webhook_secret}"'] if made.webhook_secret else []
    before = config.read_text("utf-8").rstrip() + "\n" if config.exists() else ""
    _write(config, before + "\n".join(lines) + "\n")


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.new")
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
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
        elif parts.path != "/made" or not secrets.compare_digest(given.get("state", ""), self._state):
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
