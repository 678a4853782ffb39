"""Self-organized agents (arXiv 2404.02183) on a repository: mothers and children, each with a part that it can hold.

The root sees the issue and finds the places without reading all code. It hands out a skeleton: interfaces and
specifications. Each child writes its part from its own specification and its own code alone, or multiplies where the
part is too large. What they wrote is put into real files and proved; what fails goes down the tree, and only the agents
at fault change. A state that is worse than one before is gone back from.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from bot.prompts import block
from bot.publish.verdict import score
from bot.team import trim
from bot.team.board import Board
from bot.team.briefs import brief, diff, issue
from bot.team.briefs import plan as plan_text
from bot.team.delivery import Attempt, Delivery, told
from bot.team.designs import code_of, merged
from bot.team.evidence import Assignment, prove, test_files
from bot.team.organization import briefs
from bot.team.organization.agents import ROOT, Agent, Bounds, Room, Site, restored
from bot.team.organization.assembly import Assembled, Piece, assemble
from bot.team.organization.contracts import Frame
from bot.team.organization.growth import grown, with_code
from bot.team.organization.imports import import_check, skeleton_tree
from bot.team.organization.owners import Finding, concerned, failures, faults
from bot.team.organization.roles import MOTHER, TESTS, Skeleton
from bot.team.organization.spans import parse
from bot.team.organization.steering import corrected
from bot.team.roles import Reproduction
from bot.team.scout import without_code
from bot.team.session import Session, beside, keeping, settled, unfinished
from bot.team.steps import Answer, Ask, Execute, Step, Together
from repo_tools.tree import Tree
from sandbox.port import Result

ROUNDS = 4

Work = Generator[Step, Any, Delivery]


@dataclass(frozen=True)
class Begun:
    """What another strategy had done of the work before it was handed on."""

    board: Board
    """With the reproduction and the plan, if there are any."""
    tests: Tree
    """The base with the new tests."""
    asked: int
    """How often whoever writes tests was asked."""


@dataclass
class Growing(Session):
    """The state of one run."""

    bounds: Bounds = field(default_factory=Bounds)
    begun: Begun | None = None
    tests: Tree = field(init=False)
    """The base with the new tests: never anybody's code."""
    noted: dict[str, int] = field(default_factory=dict)
    """Agent -> how much of its memory is on the board."""
    best: tuple[Attempt, Agent] | None = None

    def grew(self, root: Agent, round_: int) -> Agent:
        """Keep what there is now and which agents got no further. Raises what ended the money or time of one."""
        self.unfinished += (said for one in root.everyone() for said in one.unfinished)
        self.prove_rest = partial(_proved_as_it_is, self, root, round_)
        stop = next((one.stop for one in root.everyone() if one.stop is not None), None)
        if stop is not None:
            raise stop
        return root

    def __post_init__(self) -> None:
        self.tests = self.work.tree
        self.work = replace(self.work, hints=without_code(self.work.hints))

    @property
    def spoken(self) -> str:
        """What the issue and the new tests say: a definition that they name is there for others than its makers."""
        task, tests = self.work.task, self.tests
        texts = [
            tests.read(path).decode("utf-8", "replace") for path in sorted(test_files(tests)) if tests.exists(path)
        ]
        return "\n".join([task.title, task.body, *(comment.body for comment in task.comments), *texts])

    def remember(self, root: Agent, round_: int) -> Generator[Step, Any, None]:
        """Put on the board what is new in the agents' memories."""
        for agent in root.everyone():
            new = agent.memory[self.noted.get(agent.id, 0) :]
            self.noted[agent.id] = len(agent.memory)
            for one in new:
                yield from self.put("agent", {"agent": agent.id, "kind": one.kind, "value": one.value}, round_)

    def site(self, round_: int, root: Agent | None = None) -> Site:
        """Where the agents work, with what is left of the bounds as the root sees it."""
        there = sum(1 for _ in root.everyone()) if root is not None else 1
        return Site(self.work.tree, self.bounds, Room(self.bounds.depth, max(0, self.bounds.agents - there)), round_)

    def root_ask(self, agent: str, observation: str = "") -> Ask:
        """The root's first task: to decide, and to divide."""
        site = self.site(1)
        frame = Frame(site, Agent(ROOT, "", ()))
        own = {"bounds": briefs.bounds(self.bounds, site.room), "observation": observation}
        places = brief(MOTHER, self.work, self.board, self.work.tree, **own)
        return Ask(MOTHER, self.work.tree, places, agent, frame.skeleton)

    def tests_ask(self) -> Ask:
        """The tests by which all is measured, from the issue alone."""
        places = brief(TESTS, self.work, self.board, self.tests)
        return Ask(TESTS, self.tests, places, self.name(TESTS))


def self_organized(
    work: Assignment, bounds: Bounds | None = None, rounds: int = ROUNDS, begun: Begun | None = None
) -> Work:
    """The organization's work on one issue; `begun` if it was handed on by another strategy."""
    session = Growing(work, bounds=bounds or Bounds(), begun=begun)
    return (yield from keeping(_solve(session, rounds), session))


def _solve(session: Growing, rounds: int) -> Work:
    answer, found = yield from _opened(session)
    skeleton = answer.submitted if isinstance(answer.submitted, Skeleton) else None
    if skeleton is not None and skeleton.decision == "change" and (found is None or found.decision == "reproduced"):
        skeleton = yield from _imported(session, skeleton)
    if skeleton is None:
        return session.delivery("stuck")
    yield from _decided(session, skeleton, 1)
    if skeleton.decision != "change":
        return Delivery(None, skeleton.plan, session.board, (), "declined")
    if found is not None and found.decision != "reproduced":
        declined = skeleton.plan.model_copy(update={"decision": found.decision, "diagnosis": found.reason})
        yield from session.put("plan", declined, 1)
        return Delivery(None, declined, session.board, (), "declined")
    root = session.grew((yield from _grown(session, skeleton)), 1)
    ended = yield from _rounds(session, root, rounds)
    return session.delivery(ended)


def _decided(session: Growing, skeleton: Skeleton, round_: int) -> Generator[Step, Any, None]:
    """Put on the board what the root decided, and in which words."""
    yield from session.put("skeleton", skeleton, round_)
    yield from session.put("plan", skeleton.plan, round_)


def _opened(session: Growing) -> Generator[Step, Any, tuple[Answer, Reproduction | None]]:
    """The root's decision, and the tests: made beside each other, or taken over."""
    if session.begun is not None:
        session.board, session.tests = session.begun.board, session.begun.tests
        session.calls[TESTS.name] = session.begun.asked
        answer = yield from session.heard(session.root_ask("mother-0", plan_text(session.board.last("plan"))))
        return answer, session.board.last("reproduction")
    asks = {"mother": session.root_ask("mother-0"), "tests": session.tests_ask()}
    answer, designed = answers = yield Together({name: partial(beside, ask) for name, ask in asks.items()})
    for ask, one in zip(asks.values(), answers, strict=True):
        session.unfinished += unfinished(ask, one)
    found = designed.submitted if isinstance(designed.submitted, Reproduction) else None
    yield from session.put("reproduction", found, 1)
    session.tests = designed.tree.only(test_files(designed.tree))
    return answer, found


def _imported(session: Growing, skeleton: Skeleton) -> Generator[Step, Any, Skeleton | None]:
    """The skeleton, or another one if its interfaces alone already keep the project from being imported."""
    base = session.work.tree
    tree = skeleton_tree(base, skeleton)
    command = import_check(tree)
    if not command:
        return skeleton
    result: Result = yield Execute(tree, command)
    if result.exit_code == 0 or result.ended != "exit":
        return skeleton
    before: Result = yield Execute(base, command)
    if before.exit_code != 0:
        return skeleton
    said = block("your skeleton without bodies cannot be imported", trim.of_run(result)[-2_000:])
    answer = yield from session.heard(session.root_ask("mother-0~2", said))
    return answer.submitted if isinstance(answer.submitted, Skeleton) else None


def _grown(session: Growing, skeleton: Skeleton) -> Generator[Step, Any, Agent]:
    """The root with all that it and its descendants wrote."""
    spans = tuple(dict.fromkeys(parse(code.span) for code in skeleton.code))
    root = Agent(ROOT, issue(session.work.task), spans, asked=2)
    root = root.remembering(1, "specification", {"specification": skeleton.diagnosis, "spans": [str(s) for s in spans]})
    if skeleton.code:
        root = with_code(session.site(1), root, skeleton.code)
    if skeleton.parts:
        root = yield from grown(session.site(1, root), root, skeleton.parts)
    return root


def _rounds(session: Growing, root: Agent, rounds: int) -> Generator[Step, Any, str]:
    """Put together, prove, correct. Every state that could be delivered is executed, the last one too."""
    base, spoken, last = session.work.tree, session.spoken, False
    for number in range(1, rounds + 1):
        made = put_together(base, root)
        findings = faults(base, root, made, spoken)
        proves = not findings or last or number == rounds
        if proves:
            attempt = yield from _proved(session, made, findings, number)
            root, worse = _kept(session, attempt, root, number)
            if settled(session.work, attempt):
                yield from session.remember(root, number)
                return "done"
            made = put_together(base, root) if worse else made
            best = session.best[0] if session.best else attempt
            findings = failures(best.verdict, best.after, root, made)
        root = concerned(root, findings, number)
        yield from session.remember(root, number)
        if last or number == rounds:
            break
        before = root
        root = yield from _corrected(session, root, findings, made, number)
        # What nobody changes any more is proved as it is, if it was not yet.
        last = root.pieces() == before.pieces() and not root.disputes
        root = root.undisputed()
        if last and proves:
            break
    return "stuck" if last else "done"


def put_together(base: Tree, root: Agent) -> Assembled:
    """All pieces in their files; of two for one span the one that was agreed on first."""
    pieces: dict[str, Piece] = {}
    for piece in root.pieces():
        pieces.setdefault(str(piece.span), piece)
    return assemble(base, list(pieces.values()))


def _proved(session: Growing, made: Assembled, findings: list[Finding], number: int) -> Generator[Step, Any, Attempt]:
    tree, skeleton = merged(made.tree, session.tests), session.board.last("skeleton")
    reproduction = session.board.last("reproduction")
    stated = reproduction.reason if reproduction else ""
    verdict, after = yield from prove(session.work, tree, stated, session.without)
    doubts = [f"{each.title}: {each.text}" for each in findings]
    change = skeleton.change.model_copy(update={"doubts": [*doubts, *skeleton.doubts][:5]})
    attempt = Attempt(number, tree, verdict, after, change)
    session.attempts.append(attempt)
    session.prove_rest = None
    yield from session.put("verification", told(verdict, after), number)
    return attempt


def _proved_as_it_is(session: Growing, root: Agent, number: int) -> Generator[Step, Any, None]:
    """What an organization has written when it has to end, if it was not proved already."""
    yield from session.remember(root, number)
    made = put_together(session.work.tree, root)
    known = [attempt.tree.patch for attempt in session.attempts]
    if made.tree.patch and merged(made.tree, session.tests).patch not in known:
        findings = faults(session.work.tree, root, made, session.spoken)
        yield from _proved(session, made, findings, number)


def _kept(session: Growing, attempt: Attempt, root: Agent, number: int) -> tuple[Agent, bool]:
    """The state to go on from: the new one, or the best one before, if the new one is worse."""
    if session.best is None or score(attempt.verdict) >= score(session.best[0].verdict):
        session.best = (attempt, root)
        return root, False
    back = restored(session.best[1], root)
    why = f"the change of this round made it worse and was taken back: {'; '.join(attempt.verdict.reasons)[:600]}"
    back = replace(back, plea="").remembering(number, "rolled back", why)
    session.best = (session.best[0], back)
    return back, True


def _corrected(
    session: Growing, root: Agent, findings: list[Finding], made: Assembled, number: int
) -> Generator[Step, Any, Agent]:
    now = merged(made.tree, session.tests)
    if root.children:
        root = yield from corrected(session.site(number + 1, root), root, findings, "", now)
    else:
        root = yield from _alone(session, root, findings, number + 1)
    root = session.grew(root, number + 1)
    if root.disputes:
        yield from session.put("dispute", root.disputes, number)
        answer = yield from session.heard(session.tests_ask())
        if isinstance(answer.submitted, Reproduction):
            yield from session.put("reproduction", answer.submitted, number)
            session.tests = answer.tree.only(test_files(answer.tree))
    return root


def _alone(session: Growing, root: Agent, findings: list[Finding], number: int) -> Generator[Step, Any, Agent]:
    """A root without children is told what failed, and may write anew or multiply after all."""
    wrote = block("what you wrote", trim.middle(diff_of(session.work.tree, root), 6_000))
    seen = f"{wrote}\n\n{briefs.executed(findings)}"
    answer = yield from session.heard(session.root_ask(root.name("mother"), seen))
    root = replace(root, asked=root.asked + 1)
    if not isinstance(answer.submitted, Skeleton) or answer.submitted.decision != "change":
        return root
    new = answer.submitted
    yield from _decided(session, new, number)
    root = replace(root, spans=tuple(dict.fromkeys(parse(code.span) for code in new.code)), code={}, imports={})
    root = with_code(session.site(number), root, new.code)
    if new.parts:
        root = yield from grown(session.site(number, root), root, new.parts)
    return root


def diff_of(base: Tree, root: Agent) -> str:
    """What an organization changed, for reading."""
    return diff(code_of(put_together(base, root).tree))
