"""Which adapters stand behind the service's ports: made from the settings, for one process."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from bot import wiring
from bot.errors import BadInput
from bot.forge.connection import Api
from bot.forge.events import Rules
from bot.forge.github_app import GitHubApp, GitHubByToken
from bot.forge.port import Access, Host
from bot.records import Record
from bot.secrets_mask import Mask
from bot.service import elsewhere
from bot.service.acts import Acts
from bot.service.desk import Desk
from bot.service.intake import Intake
from bot.service.job import Publisher
from bot.service.order import Order
from bot.service.parts import Parts
from bot.service.patience import Patience
from bot.service.policy import Policy
from bot.service.publishing import Publishing
from bot.service.runs import MIRRORS, RunFolder
from bot.service.serving import Capacity, Role
from bot.service.sweep import Sweep
from bot.service.talking import Talking
from bot.service.working import GitHubRuns, Hands, Means, Place
from bot.settings import Settings
from bot.team.strategies import DEFAULT, STRATEGIES
from bot.transcript import Transcript
from repo_tools.mirrors import Mirrors


def github(settings: Settings) -> Host:
    """GitHub, as the settings' identity. Raises `BadInput` if there is none."""
    api = Api(
        url=settings.github_api,
        retries=settings.github_retries,
        timeout=settings.github_seconds,
        longest_wait=settings.github_longest_wait,
        pause=settings.github_pause,
        settling=max(settings.github_pause, 0.1),
        certificates=str(settings.ca_bundle) if settings.ca_bundle else None,
    )
    if settings.github_app_id and settings.github_app_key:
        return GitHubApp(api, settings.github_app_id, app_key(settings.github_app_key))
    if settings.github_token is not None:
        return GitHubByToken(api, settings.github_token.get_secret_value(), settings.repositories)
    raise BadInput(
        "There is no identity on GitHub: `agent-fix setup` makes an App, or set AGENT_FIX_GITHUB_TOKEN and "
        "AGENT_FIX_REPOSITORIES='[\"owner/name\"]'."
    )


def app_key(file: Path) -> str:
    """The App's private key. Raises `BadInput` if the file holds none."""
    text = file.read_text("utf-8", errors="replace")
    if "PRIVATE KEY-----" not in text:
        raise BadInput(
            f"{file} holds no private key: set AGENT_FIX_GITHUB_APP_KEY to the PEM file from the App's settings page."
        )
    return text


def rules(settings: Settings) -> Rules:
    """What the listener listens for."""
    labels = frozenset((settings.label, *settings.more_labels))
    return Rules(labels, settings.command, bots=frozenset(settings.bots.items()))


def policy(settings: Settings) -> Policy:
    """Who may call the bot."""
    return Policy(
        rules=rules(settings),
        label=settings.label,
        needs=Access[settings.needs.upper()],
        strategy=chosen_strategy(settings.strategy),
        base_branch=settings.base_branch,
        grace=timedelta(minutes=settings.grace_minutes),
    )


def chosen_strategy(name: str | None) -> str:
    """The strategy of that name, or the default one. Raises `BadInput`."""
    if name is not None and name not in STRATEGIES:
        raise BadInput(f"There is no strategy {name!r}: choose one of {', '.join(STRATEGIES)}.")
    return name or DEFAULT


def capacity(settings: Settings) -> Capacity:
    """How many runs at a time."""
    return Capacity(settings.runs_at_once, settings.runs_per_machine, settings.runs_per_repository)


def furnish(settings: Settings, roles: frozenset[Role], leaving: threading.Event, desk: Desk) -> None:
    """Make what carries out the workflows of `roles`."""
    if roles == {Role.LISTENER}:
        return
    host, mirrors = github(settings), Mirrors(settings.state_dir / MIRRORS)
    patience = Patience(first=max(0.2, 5 * settings.github_pause))
    if Role.PUBLISHER in roles:
        intake = Intake(host, policy(settings), desk.request)
        sweep = Sweep(host, intake, desk, timedelta(minutes=settings.grace_minutes))
        mask = Mask((*settings.secrets, *settings.addresses))
        talking, publishing = Talking(host, mask), Publishing(host, mirrors, mask)
        Acts(intake, talking, publishing, sweep, desk, patience, rules(settings))
    if Role.WORKER in roles:
        own = means(settings, host=host, mirrors=mirrors, desk=desk, patience=patience, leaving=leaving)
        GitHubRuns(own)
        Parts(functools.partial(elsewhere.carry_out, means=own))


def means(
    settings: Settings, *, host: Host, mirrors: Mirrors, desk: Desk, patience: Patience, leaving: threading.Event
) -> Means:
    """What the worker works with."""
    return Means(
        host=host,
        mirrors=mirrors,
        desk=desk,
        state=settings.state_dir,
        limits=settings.limits,
        models=wiring.models(settings),
        furnish=functools.partial(place, settings),
        lend=functools.partial(hands, settings),
        patience=patience,
        leaving=leaving,
    )


@contextmanager
def place(
    settings: Settings, order: Order, folder: RunFolder, publisher: Publisher, watch: Callable[[Record], None]
) -> Iterator[Place]:
    """A workshop for one run on this machine."""
    stop = wiring.Stop()
    with Transcript.resume(folder.transcript, Mask(settings.secrets), watch=watch) as transcript:
        shop = wiring.workshop(settings, order, stop, publisher, order.task.repository)
        yield Place(shop, stop, transcript)


@contextmanager
def hands(settings: Settings, order: Order, name: str) -> Iterator[Hands]:
    """A workshop for one part of a run on this machine; its containers are its own, whoever else is at work on it."""
    stop = wiring.Stop()
    own = order.model_copy(update={"run": name})
    yield Hands(wiring.workshop(settings, own, stop, elsewhere.Nobody(), order.task.repository), stop)
