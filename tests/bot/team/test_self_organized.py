"""An organization of agents on whole projects: who is made, what each sees, what comes out, in whatever order."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from bot.bench.made_projects import Player, Project, project
from bot.llm.budget import estimate_tokens
from bot.llm.port import Completion, Request
from bot.publish.verdict import baseline
from bot.team.delivery import Delivery
from bot.team.evidence import Assignment
from bot.team.loop import perform
from bot.team.organization import roles
from bot.team.organization.agents import Bounds
from bot.team.scout import scout
from bot.team.steps import Strategy
from bot.team.strategies.self_organized import self_organized
from tests.fakes.stage import Stage, call, reply

LIMITS = {"mother": roles.MOTHER.request_tokens, "child": roles.CHILD.request_tokens, "reproducer": 24_000}


class Organized(Stage):
    """A stage whose model is a function, and whose parts run in an order of one's choice."""

    def __init__(self, folder: Path, made: Project, model: Any, order: Callable[[list[str]], None]) -> None:
        super().__init__(folder, {}, made.report)
        self._model = model
        self._order = order
        self.together_at_most = 0

    def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        completion: Completion = self._model.complete(request)
        return completion

    def together(self, parts: Mapping[str, Callable[[], Strategy[Any]]], known_bad: frozenset[str]) -> list[Any]:
        self.together_at_most = max(self.together_at_most, len(parts))
        names = list(parts)
        self._order(names)
        done = {name: perform(parts[name](), self, known_bad) for name in names}
        return [done[name] for name in parts]


def solved(
    folder: Path,
    made: Project,
    model: Any = None,
    order: Callable[[list[str]], None] = lambda names: None,
    bounds: Bounds | None = None,
) -> tuple[Organized, Delivery]:
    stage = Organized(folder, made, model or Player(), order)
    view = stage.view(made.tree)
    seen = scout(view, made.task)
    work = Assignment(made.task, made.tree, baseline(made.report(made.tree, ())), seen.hints, seen.examples)
    delivery: Delivery = perform(self_organized(work, bounds), stage)
    return stage, delivery


def agents(stage: Stage) -> set[str]:
    """The agents of the organization itself, without whoever writes the tests."""
    return {ask.agent.partition("~")[0].partition("-")[2] for ask in stage.asks if ask.role.name in ("mother", "child")}


def test_a_trivial_issue_is_one_agents_work(tmp_path: Path) -> None:
    stage, delivery = solved(tmp_path, project(2_000, 2))
    assert agents(stage) == {"0"}
    assert delivery.best is not None
    assert delivery.best.sound


def test_a_large_issue_makes_agents_by_its_size_with_children_of_children(tmp_path: Path) -> None:
    made = project(4_000, 60)
    stage, delivery = solved(tmp_path, made)
    assert delivery.best is not None
    assert delivery.best.sound
    assert len(agents(stage)) >= 8
    assert any("." in agent for agent in agents(stage)), "nobody multiplied further down"
    assert set(made.functions.values()) <= set(delivery.best.tree.patch.files)


def test_agents_grow_with_the_issue_and_not_with_the_project(tmp_path: Path) -> None:
    counted = {
        (lines, functions): len(agents(solved(tmp_path / f"{lines}-{functions}", project(lines, functions))[0]))
        for lines in (1_000, 8_000)
        for functions in (2, 8, 32)
    }
    assert counted[1_000, 2] == counted[8_000, 2] == 1
    assert counted[1_000, 8] == counted[8_000, 8] < counted[1_000, 32] == counted[8_000, 32]


def test_no_request_is_larger_than_its_role_allows(tmp_path: Path) -> None:
    stage, _ = solved(tmp_path, project(8_000, 90))
    for request in stage.requests:
        assert estimate_tokens(request) <= LIMITS[request.role], request.agent
    children = [estimate_tokens(request) for request in stage.requests if request.role == "child"]
    assert max(children) < 1.5 * min(children), "what a child is shown depends on its part alone"


def test_a_child_sees_its_own_part_and_nothing_else(tmp_path: Path) -> None:
    stage, _ = solved(tmp_path, project(2_000, 12))
    for request in stage.requests:
        if request.role != "child":
            continue
        text = "\n".join(message.content for message in request.messages)
        assert "All functions whose names begin" not in text, "the issue"
        assert [tool.name for tool in request.tools] == ["submit"]
        ask = next(ask for ask in stage.asks if ask.agent == request.agent)
        own = set(ask.brief["code"].split("def scale_")[1:])
        assert text.count("def scale_") - text.count("def scale_1(") <= 2 * len(own) + 1


def test_siblings_give_the_same_in_any_order(tmp_path: Path) -> None:
    made = project(3_000, 40)
    ends, records = set(), set()
    for number, order in enumerate(
        [lambda names: None, lambda names: names.reverse(), random.Random(1).shuffle, random.Random(2).shuffle]
    ):
        stage, delivery = solved(tmp_path / str(number), made, order=order)
        assert stage.together_at_most > 2
        assert delivery.best is not None
        ends.add(repr(sorted(delivery.best.tree.patch.to_json().items())))
        records.add(repr([(note.slot, note.value) for note in stage.notes if note.slot == "agent"]))
    assert len(ends) == len(records) == 1


def test_what_each_agent_did_and_was_told_can_be_read_on_the_board(tmp_path: Path) -> None:
    stage, delivery = solved(tmp_path, project(2_000, 8))
    kept = [entry.value for entry in delivery.board.all("agent")]
    for agent in agents(stage):
        kinds = [one["kind"] for one in kept if one["agent"] == agent]
        assert kinds[0] == "specification"
        assert agent == "0" or "wrote" in kinds


class Splitter(Player):
    """Divides whatever it may, and every child wants helpers."""

    def complete(self, request: Request) -> Completion:
        completion = super().complete(request)
        if request.role != "child":
            return completion
        first = request.messages[1].content
        span = first.split("### ", 1)[1].split("\n", 1)[0]
        path, _, name = span.partition("::")
        helper = f"helper_of_{name.replace('.', '_')}"
        body = f"def {name}(value, *, offset=0):\n    return {helper}(value, offset=offset)"
        part = {
            "spans": [f"{path}::{helper}"],
            "signatures": {f"{path}::{helper}": f"def {helper}(value, *, offset=0):"},
            "specification": "Gives the value with the offset, as others expect it.",
        }
        if "no more agents" in first or len(request.messages) > 3:
            plain = f"def {name}(value, *, offset=0):\n    return value + offset"
            return reply(call("submit", code=[{"span": span, "text": plain}]))
        return reply(call("submit", code=[{"span": span, "text": body}], helpers=[part]))


@pytest.mark.parametrize("bounds", [Bounds(), Bounds(depth=2, breadth=3, agents=10), Bounds(agents=3), Bounds(depth=1)])
@pytest.mark.parametrize("functions", [3, 9, 30])
def test_a_model_that_always_splits_comes_to_an_end_within_the_bounds(
    tmp_path: Path, bounds: Bounds, functions: int
) -> None:
    model = Splitter(group=1, most=bounds.breadth)
    stage, _ = solved(tmp_path, project(2_000, functions), model, bounds=bounds)
    made = agents(stage)
    assert len(made) <= bounds.agents
    assert max(agent.count(".") + 1 for agent in made) <= bounds.depth
    assert stage.together_at_most <= max(2, bounds.breadth)
    assert len(stage.asks) <= bounds.agents * 2 * bounds.asks + 8
