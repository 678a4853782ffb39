"""The worker's side of a run on a forge: check out, have the team work, hand the change to the publisher."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dbos import DBOS, DBOSConfiguredInstance

from bot.errors import Cancelled, Refused, public
from bot.forge.port import Host
from bot.llm.budget import Limits
from bot.publish.hidden_text import told
from bot.publish.outcomes import PRESENTATIONS
from bot.publish.proposal import PullRequestText
from bot.publish.reviewers import PLACES, reviewers
from bot.publish.sanitize import code, fitted
from bot.service.desk import Desk
from bot.service.effects import Paused, Steps
from bot.service.job import Job, Publisher, Workshop
from bot.service.order import Ended, Order
from bot.service.parts import Shared
from bot.service.patience import Patience, fetched, patiently
from bot.service.requests import Publication, RunRequest
from bot.service.runs import RunFolder, begin_or_find
from bot.service.story import Published
from bot.service.telling import Teller
from bot.service.workflow import step
from bot.task import Outcome, Task
from bot.transcript import Transcript
from repo_tools.changes import authors, diff_commits, fork_point
from repo_tools.checkout import Commit, Repository
from repo_tools.mirrors import Mirrors
from repo_tools.tree import Base, Tree

LOG = logging.getLogger("agent-fix.worker")
LOOK_SECONDS = 1.0
"""How often a run looks whether it is still wanted."""
SIGN_OFF = ("Signed-off-by", "Developer Certificate of Origin")
NOTE_CHARS = 4_000_000
DIFF_CHARS = 16_000
ANSWER_CHARS = 600


@dataclass(frozen=True)
class Hands:
    """A workshop, and the way to end all work in it at once."""

    shop: Workshop
    stop: Callable[[], None]


@dataclass(frozen=True)
class Place(Hands):
    """A workshop for one whole run."""

    transcript: Transcript


Lend = Callable[[Order, str], AbstractContextManager[Hands]]
"""A workshop for a part of a run, by the part's name."""
Furnish = Callable[[Order, RunFolder, Publisher, Teller], AbstractContextManager[Place]]


@dataclass(frozen=True)
class Means:
    """What workers work with, made once for a process by the wiring."""

    host: Host
    mirrors: Mirrors
    desk: Desk
    state: Path
    limits: Limits
    models: Mapping[str, str]
    furnish: Furnish
    lend: Lend
    patience: Patience
    leaving: threading.Event
    """Set when the process is told to end: its runs stop, and go on in the next process."""


class ToPublisher:
    """A `bot.service.job.Publisher` that has the publisher's role do it, wherever that runs."""

    def __init__(self, request: RunRequest, desk: Desk, transcript: Path) -> None:
        self._request = request
        self._desk = desk
        self._transcript = transcript

    def publish(self, order: Order, tree: Tree, text: PullRequestText, message: str) -> Published:  # noqa: ARG002 - the port's
        """Raises `Cancelled` if nobody wants it any more, `Refused` if the forge or a rule forbids it."""
        request = self._request
        outcome = Outcome.DRAFT if text.draft else Outcome.FIXED
        files: Any = tree.patch.to_json()
        done = self._desk.publish(
            Publication(
                request=request,
                base=tree.base.id,
                files=files,
                title=text.title,
                body=text.body,
                message=message,
                draft=text.draft,
                reviewers=reviewers(codeowners(tree.base), tree.patch.files, request.caller),
                sign_off=wants_sign_off(tree.base),
                note=self._transcript.read_text("utf-8")[:NOTE_CHARS],
                conclusion=PRESENTATIONS[outcome].conclusion,
                state=text.state,
                evidence=text.evidence,
                account=text.account,
                check=text.check,
                answers=answers(request, tree, text),
            )
        )
        if done.withheld:
            raise Cancelled(done.withheld) if done.cancelled else Refused(done.withheld)
        return Published(done.branch, done.commit, done.url)


@DBOS.dbos_class()
class GitHubRuns(DBOSConfiguredInstance):
    """The workflow of a run on a forge."""

    def __init__(self, means: Means) -> None:
        super().__init__("github runs")
        self._means = means

    @DBOS.workflow(name="github run")
    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        """`RunRequest` and `Ended` as JSON."""
        return carry_out(RunRequest.model_validate(request), self._means, step).model_dump(mode="json")


def carry_out(request: RunRequest, means: Means, steps: Steps) -> Ended:
    """One run. Raises `Paused` if it was called off, or the process ends: then nobody else hears of it from here."""
    teller = Teller(request, means.desk)
    try:
        ended = _worked(request, means, steps, teller)
    except Exception as error:
        LOG.exception("run %s", request.run)
        outcome = Outcome.REFUSED if isinstance(error, Refused) else Outcome.ERROR
        # What others' errors say may name this machine's files, and is shown on the forge; the log has all of it.
        ended = Ended(run=request.run, outcome=outcome, reason=public(error))
    teller.end(ended)
    return ended


def _worked(request: RunRequest, means: Means, steps: Steps, teller: Teller) -> Ended:
    remote = means.host.forge(request.repository).code.remote()

    def head() -> str:
        with fetched(means.mirrors, remote, start_of(request)) as repository:
            return repository.resolve(start_of(request)).id

    base: str = patiently(means.patience, "check out", head)
    with fetched(means.mirrors, remote, base) as repository:
        fork = forked_from(request, base, repository, means) if request.revision else None
        order = order_for(request, base, fork, means, repository)
        folder = begin_or_find(means.state, order)
        publisher = ToPublisher(request, means.desk, folder.transcript)
        with means.furnish(order, folder, publisher, teller) as place, watching(request.run, means, place):
            look = None if fork else newest(request, means, repository)
            known = {"request": request.to_json(), "base": base, "order": order.model_dump(mode="json")}
            share = Shared(request.run, known)
            shop = replace(place.shop, newest=look, fork=fork, share=share)
            job = Job(order, repository.resolve(base), shop, steps, place.transcript)
            ended = job.carry_out(others_at_work(request, repository.resolve(base), fork))
            if place.shop.cancel.is_set():
                raise Paused
        folder.keep(ended)
    return ended


@contextmanager
def watching(run: str, means: Means, place: Hands) -> Iterator[None]:
    """Stop the work in `place` within seconds of the run being called off, or of the process being told to end."""
    done = threading.Event()

    def look() -> None:
        while not done.wait(LOOK_SECONDS):
            if means.leaving.is_set() or means.desk.status(run) == "CANCELLED":
                LOG.info("run %s: stopped", run)
                place.stop()
                return

    watcher = threading.Thread(target=look, name=f"watch {run}", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def newest(request: RunRequest, means: Means, repository: Repository) -> Callable[[], Commit]:
    """Finds the branch that the pull request goes to, as it is when it is asked for."""

    def head() -> str:
        remote = means.host.forge(request.repository).code.remote()
        with fetched(means.mirrors, remote, request.branch) as mirror:
            return mirror.resolve(request.branch).id

    def look() -> Commit:
        found: str = patiently(means.patience, "base now", head)
        fetched(means.mirrors, means.host.forge(request.repository).code.remote(), found).close()
        return repository.resolve(found)

    return look


def forked_from(request: RunRequest, head: str, repository: Repository, means: Means) -> Commit:
    """Where the pull request that is revised left the branch that it goes to, with all files."""
    remote = means.host.forge(request.repository).code.remote()

    def find() -> str:
        with fetched(means.mirrors, remote, request.branch) as mirror:
            return fork_point(mirror.resolve(head), mirror.resolve(request.branch)).id

    found: str = patiently(means.patience, "fork", find)
    fetched(means.mirrors, remote, found).close()
    return repository.resolve(found)


def start_of(request: RunRequest) -> str:
    """The revision that the work starts from."""
    return request.revision.head if request.revision else request.branch


def order_for(request: RunRequest, base: str, fork: Commit | None, means: Means, repository: Repository) -> Order:
    """The run as the team's side knows it."""
    title, body, comments = request.title, request.body, request.comments
    if fork is not None:
        title = f"Revise the change for: {title}"
        wanted = asked(request, fork, repository.resolve(base))
        body = f"{wanted}\n\nThe issue that the change is for:\n\n{request.title}\n\n{body}"
        comments = ()
    task = Task(request.repository, title, body, base, request.number, comments, request.strategy)
    return Order(
        run=request.run,
        task=task,
        repository=repository.git_dir,
        limits=means.limits,
        models=dict(means.models),
        started=request.at,
        closes=request.branch == request.default_branch,
        notes=tuple(
            f"Taken out of the issue's text, since its readers do not see it: {one}" for one in told(request.removed)
        ),
    )


def asked(request: RunRequest, fork: Commit, head: Commit) -> str:
    """What reviewers want, and the change that they speak of."""
    said = "\n\n".join(f"{it.author}: {it.body}" for it in request.comments)
    return f"Reviewers of the change ask:\n\n{said}\n\nThe change so far:\n\n{diff_commits(fork, head)[:DIFF_CHARS]}"


def others_at_work(request: RunRequest, head: Commit, fork: Commit | None) -> str:
    """Why the bot keeps off a branch that somebody else has committed to; empty if it may go on."""
    revision = request.revision
    if revision is None or fork is None or revision.asked or authors(fork, head) <= {revision.author}:
        return ""
    return (
        f"Somebody else committed to `{revision.branch}`, so it is theirs now. "
        f"Say `/agent-fix revise` to have the bot go on from there."
    )


def codeowners(base: Base) -> str:
    """The repository's CODEOWNERS; empty if it has none."""
    there = base.entries()
    found = next((path for path in PLACES if path in there), None)
    return base.read(found).decode("utf-8", "replace") if found else ""


def wants_sign_off(base: Base) -> bool:
    """Whether the repository asks for a sign-off in each commit."""
    there = base.entries()
    if ".github/dco.yml" in there:
        return True
    guides = [path for path in there if path.rpartition("/")[2].lower().startswith("contributing.")]
    return any(word in base.read(path).decode("utf-8", "replace") for path in guides for word in SIGN_OFF)


def answers(request: RunRequest, tree: Tree, text: PullRequestText) -> dict[int, str]:
    """What each thread of a review is answered: whether its own file was changed, and what was done."""
    threads = request.revision.threads if request.revision else {}
    # What was done in all stands in the pull request; each thread is spared it.
    done = fitted(text.account.partition("\n\n")[0], ANSWER_CHARS)
    said = {}
    for thread, path in threads.items():
        here = f"{code(path)} is changed" if path in tree.patch.files else f"{code(path)} is as it was"
        shown = "as far as it could be shown" if text.draft else "and the tests were run again"
        said[thread] = f"Revised, {shown}; {here}. {done}"
    return said
