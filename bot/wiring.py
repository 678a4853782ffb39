"""Which adapter stands behind which port: made from the settings, for one process."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from bot import repo_config
from bot.errors import BadInput
from bot.forge.local_repo import LocalRepo
from bot.llm.openai_chat import NO_KEY, OpenAIChat, Server
from bot.llm.port import Model, Usage
from bot.llm.prices import price
from bot.llm.react_text import TextTools
from bot.llm.recorded import Compare, PaidBefore, Recorded
from bot.prompts import render
from bot.publish.proposal import PullRequestText
from bot.records import Record
from bot.secrets_mask import Mask
from bot.service.effects import Seconds, Steps
from bot.service.job import Job, Publisher, Workshop
from bot.service.order import Ended, Order
from bot.service.parts import Shared
from bot.service.runs import RunFolder
from bot.service.stops import Repeated
from bot.service.story import Published
from bot.settings import Settings
from bot.team.strategies import DEFAULT, PLAYABLE, ROLES
from bot.transcript import Transcript, read
from repo_tools.checkout import open_local
from repo_tools.checkout import sweep as sweep_folders
from repo_tools.index import Index
from repo_tools.tree import Base, Tree
from sandbox.docker_engine import DockerSandbox, sweep
from sandbox.errors import SandboxUnavailable
from sandbox.local_process import LocalSandbox
from sandbox.memory import RecipeMemory
from sandbox.settings import SandboxSettings


@dataclass(frozen=True)
class Folder:
    """A `bot.service.job.Publisher` for a local checkout."""

    repo: LocalRepo

    def publish(self, order: Order, tree: Tree, text: PullRequestText, message: str) -> Published:
        """A branch in the checkout's repository, and the text in the run's folder."""
        made = self.repo.publish(
            tree, branch=text.branch, title=text.title, body=text.body, message=message, at=order.started
        )
        return Published(made.branch, made.commit, str(made.text))


class Stop:
    """A wish that all work of a run end: seen by what asks, and told to what cannot."""

    def __init__(self) -> None:
        self.event = threading.Event()
        self._told: list[Callable[[], None]] = []

    def tell(self, listener: Callable[[], None]) -> None:
        """Call `listener` when the wish comes."""
        self._told.append(listener)

    def __call__(self, *_: object) -> None:
        """Express the wish; also as a signal's handler."""
        self.event.set()
        for listener in self._told:
            listener()


def sandbox_settings(settings: Settings, run: str, repository: str) -> SandboxSettings:
    """What the engine is told for one run; packages that set-up downloads are kept apart for each repository."""
    return SandboxSettings(
        state=settings.state_dir / "images",
        run_id=run,
        base_image=settings.base_image,
        docker_host=settings.docker_host,
        runtime=settings.runtime,
        ca_bundle=settings.ca_bundle,
        setup_env=settings.setup_env,
        repository=hashlib.sha256(repository.encode()).hexdigest()[:16],
        setup_seconds=settings.setup_seconds,
        memory=settings.memory,
        cpus=settings.cpus,
        processes=settings.pids,
        images=settings.images,
    )


def server(settings: Settings) -> Server:
    """Where the models are."""
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None
    return Server(settings.openai_base_url, key, settings.request_seconds, settings.retries)


def check_key(settings: Settings) -> None:
    """Raise `BadInput` if there is no key for the model: that is found out before an environment is made in vain."""
    if not server(settings).api_key:
        raise BadInput(NO_KEY)


def model(settings: Settings, order: Order, cancel: threading.Event) -> Model:
    """The model that plays the roles of `order`: a recording if it names one."""
    if order.recording is not None:
        return Recorded.of_transcript(order.recording, Compare.STRICT if order.strict else Compare.CALLS)
    chat = OpenAIChat(server(settings), lambda role: order.models.get(role, settings.model), cancel)
    return TextTools(chat, lambda tools: render("text_tools", {"tools": tools})) if settings.tools == "text" else chat


def models(settings: Settings) -> dict[str, str]:
    """Role -> name of its model."""
    return {role: settings.model_for(role) for role in ROLES}


def carry_out(
    order: Order,
    steps: Steps,
    *,
    settings: Settings,
    folder: RunFolder,
    stop: Stop,
    watch: Callable[[Record], None] | None,
) -> Ended:
    """One run on this machine, with the adapters that the settings name; its result is kept in its folder."""
    with (
        open_local(order.repository) as repository,
        Transcript.resume(folder.transcript, Mask(settings.secrets), watch=watch) as transcript,
    ):
        publisher = Folder(LocalRepo(repository, folder.path))
        shop = workshop(settings, order, stop, publisher, local_name(order.repository))
        paid = [Recorded.of_transcript(one) for one in folder.paid]
        shop = replace(shop, share=Shared(order.run), model=PaidBefore(paid, shop.model) if paid else shop.model)
        commit = repository.resolve(order.task.base_commit)
        steps = Repeated(steps, read(order.recording)) if order.recording is not None else steps
        ended = Job(order, commit, shop, steps, transcript).carry_out()
    folder.keep(ended)
    return ended


def local_name(repository: Path) -> str:
    """What tells apart the environments of local repositories: all checkouts of a name have them in common.

    With a space, it is the name of no repository of a forge, which may be private.
    """
    return f"local {repository.resolve().name}"


def sandbox(settings: Settings, run: str, repository: str) -> DockerSandbox | LocalSandbox:
    """Where commands run: in containers, unless the settings name the processes of a machine that is thrown away."""
    told = sandbox_settings(settings, run, repository)
    if settings.sandbox == "local":
        return LocalSandbox(told)
    with contextlib.suppress(SandboxUnavailable):  # said as an outcome by what needs the engine next
        sweep(told, run_id=run)  # what a crash of this very run left, and what nobody waits for any more
    return DockerSandbox(told)


def workshop(settings: Settings, order: Order, stop: Stop, publisher: Publisher, repository: str) -> Workshop:
    """What one run is carried out with; `repository` tells apart what set-ups keep."""
    at_work = sandbox(settings, order.run, repository)
    sweep_folders()
    stop.tell(at_work.stop)
    return Workshop(
        model=model(settings, order, stop.event),
        sandbox=at_work,
        index=Index.open(settings.state_dir / "index"),
        publisher=publisher,
        recipes=RecipeMemory(settings.state_dir / "recipes"),
        request_tokens=settings.request_tokens_for,
        price=functools.partial(_price, order),
        seconds=Seconds(settings.test_seconds, settings.command_seconds),
        base_image=settings.base_image,
        cancel=stop.event,
    )


def _price(order: Order, role: str, usage: Usage) -> float | None:
    return price(order.models.get(role, ""), usage)


def strategy(settings: Settings, base: Base, named: str | None) -> str:
    """The team: the one that is named, or the repository's own choice, or the settings', or the default one.

    Raises `BadInput` for one that there is not, and for a mistake in the repository's `.github/agent-fix.yml`.
    """
    own = base.read(repo_config.PATH).decode("utf-8", "replace") if repo_config.PATH in base.entries() else ""
    chosen = named or repo_config.read(own).strategy or settings.strategy or DEFAULT
    if chosen not in PLAYABLE:
        raise BadInput(f"There is no strategy {chosen!r}: choose one of {', '.join(PLAYABLE)}.")
    return chosen


def issue_text(file: Path | None, title: str | None, body: str | None) -> tuple[str, str]:
    """Title and body: from a file (title on its first line), or as given. Raises `BadInput`."""
    if file is not None and title is None:
        try:
            text = file.read_text("utf-8", errors="replace")
        except OSError as error:
            raise BadInput(f"{file} cannot be read: {error.strerror}. Name a text file that holds the issue.") from None
        first, _, rest = text.strip().partition("\n")
        return _titled(first.lstrip("# "), rest)
    if title is None:
        raise BadInput("There is no issue: give --issue-file FILE, or --title and --body.")
    if file is not None:
        raise BadInput("Give either --issue-file or --title and --body, not both.")
    return _titled(title, body or "")


def _titled(title: str, body: str) -> tuple[str, str]:
    if not title.strip():
        raise BadInput("The issue has no title: say in one line what is wrong or wanted, and what happens below it.")
    return title.strip(), body.strip()
