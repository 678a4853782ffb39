"""`agent-fix serve`: the bot on GitHub."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer()
ALL = "listener,worker,publisher"


@app.command()
def serve(
    roles: Annotated[str, typer.Option(help="What this process does; each role needs a secret of its own.")] = ALL,
    host: Annotated[str | None, typer.Option(help="The address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="The port to listen on.")] = None,
) -> None:
    """Serve GitHub: take webhooks, work on labelled issues, open pull requests."""
    import functools
    import logging
    import signal
    import threading

    from bot.commands import service_wiring as parts
    from bot.service.inbox import Inbox
    from bot.service.serving import Role, engine, listen
    from bot.service.webhook import application, check_secret
    from bot.settings import load_settings

    settings = load_settings(host=host, port=port)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for chatty in ("httpx2", "dbos"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    chosen = parse_roles(roles)
    secret = settings.webhook_secret.get_secret_value() if settings.webhook_secret else ""
    if Role.LISTENER in chosen:
        check_secret(secret)
    leaving = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: leaving.set())
    settings.state_dir.mkdir(parents=True, exist_ok=True)
    furnish = functools.partial(parts.furnish, settings, chosen, leaving)
    with engine(
        settings.database,
        settings.state_dir,
        chosen,
        capacity=parts.capacity(settings),
        furnish=furnish,
        sweep_minutes=settings.sweep_minutes,
    ) as desk:
        if Role.LISTENER in chosen:
            listen(
                application(secret, parts.rules(settings), Inbox(desk.received)),
                settings.host,
                settings.port,
                leaving.set,
            )
        else:
            leaving.wait()
        leaving.set()


def parse_roles(text: str) -> frozenset:  # type: ignore[type-arg]
    """The roles named in `text`. Raises `BadInput`."""
    from bot.errors import BadInput
    from bot.service.serving import Role

    names = {name.strip() for name in text.split(",") if name.strip()}
    unknown = names - set(Role)
    if unknown or not names:
        raise BadInput(f"There is no role {', '.join(sorted(unknown)) or 'named'}: choose among {ALL}.")
    return frozenset(Role(name) for name in names)
