"""A mother's feedback: what she may give to whom, and that no agents are made beyond the bounds by it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.bench.made_projects import project
from bot.llm.port import Completion, Request
from bot.team.loop import perform
from bot.team.organization import briefs
from bot.team.organization.agents import Agent, Bounds, Room, Site
from bot.team.organization.growth import with_code
from bot.team.organization.owners import Finding
from bot.team.organization.roles import Code, Steering
from bot.team.organization.spans import parse
from bot.team.organization.steering import corrected
from bot.team.strategies.self_organized import put_together
from repo_tools.tree import Tree
from tests.bot.team.test_self_organized import Organized
from tests.bot.team.test_self_organized_parts import TREE, child, frame, having
from tests.fakes.memory_base import MemoryBase
from tests.fakes.stage import call, reply

LOAD = having("1", {"pkg/box.py::load": "def load(path):\n    return path"})
ROOT = replace(
    having("0", {"pkg/box.py::save": "def save(path, text):\n    return 1"}),
    spans=(parse("pkg/box.py::save"),),
    children=(LOAD,),
)
BELOW = replace(
    child("pkg/box.py::Box", "pkg/box.py::load"), children=(replace(child("pkg/box.py::Box.size"), id="1.1"),)
)


def adding(*spans: str) -> list[dict[str, Any]]:
    new = {"part": "new", "action": "add", "direction": "Make what is missing there."}
    return [new | {"spans": span.split()} for span in spans]


def said(agent: Agent, *directions: dict[str, Any], blamed: Any = ("1",)) -> str:
    steering = Steering.model_validate({"cause": "Something is missing.", "directions": list(directions)})
    return frame(agent, blamed=blamed).steering(steering, TREE)


@pytest.mark.parametrize(
    ("agent", "added", "fault"),
    [
        (ROOT, ["web/load.js::load", "NEWS.md"], ""),
        (ROOT, ["NEWS.md", "NEWS.md"], "part 2: NEWS.md is given away twice"),
        (ROOT, ["web/load.js::load", "web/load.js"], "given away twice"),
        (ROOT, ["pkg/box.py::save"], "given away twice"),
        (ROOT, ["pkg/box.py::load"], "given away twice"),
        (BELOW, ["pkg/box.py::Box.first", "pkg/box.py::load"], ""),
        (BELOW, ["pkg/box.py::save"], "pkg/box.py::save lies outside"),
        (BELOW, ["web/load.js"], "web/load.js lies outside"),
    ],
)
def test_what_a_mother_adds_has_one_owner_and_is_hers_to_give(agent: Agent, added: list[str], fault: str) -> None:
    answer = said(agent, *adding(*added))
    assert fault in answer if fault else answer == ""


def test_a_part_cannot_be_added_without_its_places() -> None:
    with pytest.raises(ValueError, match="to add a part, name its `spans`"):
        said(ROOT, {"part": "new", "action": "add", "direction": "Make what is missing there."})


@pytest.mark.parametrize("action", ["change", "drop"])
def test_a_child_is_given_one_direction(action: str) -> None:
    one = {"part": "1", "direction": "Take the encoding."}
    assert said(ROOT, one) == ""
    assert "child 1 has two directions: give one." in said(ROOT, one, one | {"action": action})


def test_import_statements_go_with_the_text_that_needed_them() -> None:
    """An import that cannot work would keep the file from being loaded whatever its agent wrote afterwards."""
    load, save = "pkg/box.py::load", "pkg/box.py::save"

    def wrote(agent: Agent, span: str, imports: list[str], **how: Any) -> Agent:
        code = Code.model_validate({"span": span, "imports": imports} | how)
        return with_code(Site(TREE, Bounds(), Room(2, 4), 1), agent, [code])

    def imported(agent: Agent) -> set[str]:
        text = put_together(TREE, replace(agent, id="0")).tree.read("pkg/box.py").decode()
        return set(re.findall(r"^import (\w+)", text, re.MULTILINE)) - {"os"}

    one = wrote(child(load, save), load, ["import nowhere"], text="def load(path):\n    return nowhere(path)")
    one = wrote(one, save, ["import json"], text="def save(path, text):\n    return json.dumps(text)")
    assert imported(one) == {"nowhere", "json"}
    assert "import nowhere; import json" in briefs.code(TREE, one), "it sees what it gave"
    one = wrote(one, save, ["import re"], edits=[{"old": "json.dumps(text)", "new": "json.dumps(re.escape(text))"}])
    assert imported(one) == {"nowhere", "json", "re"}
    one = wrote(one, load, [], text="def load(path):\n    return path")
    assert imported(one) == {"json", "re"}


class Removing:
    """The mother finds that a child's function has to go."""

    def complete(self, request: Request) -> Completion:
        assert request.role == "mother", "there is nothing that the child could write"
        gone = {"part": "1", "direction": "Nobody needs it: it goes.", "signatures": {"pkg/box.py::load": "removed"}}
        return reply(call("submit", cause="It is not needed.", directions=[gone]))


def test_a_child_whose_code_goes_is_not_asked_to_write_it(tmp_path: Path) -> None:
    stage = Organized(tmp_path, project(100, 1), Removing(), lambda names: None)
    site = Site(TREE, Bounds(), Room(2, 4), 2)
    now = perform(corrected(site, ROOT, [Finding("t", "it fails", ("1",))], "", TREE), stage)
    assert now.children[0].code == {parse("pkg/box.py::load"): ""}
    assert "Nobody needs it" in now.children[0].memory[-1].value, "it is told all the same"


class Multiplying:
    """The mother of two changes her first and adds two parts; each child wants as many helpers as it may have."""

    def complete(self, request: Request) -> Completion:
        first = request.messages[1].content
        if request.role == "mother":
            change = {"part": "1", "direction": "Take the offset and add it."}
            return reply(call("submit", cause="It is not taken.", directions=[change, *adding("a.py::f2", "a.py::f3")]))
        span = first.split("### ", 1)[1].split("\n", 1)[0]
        name = span.rpartition("::")[2]
        most = re.search(r"declare helpers, (\d+) at most", first)
        helpers = [f"{name}_{number}" for number in range(int(most[1]) if most else 0)]
        body = " + ".join([*(f"{helper}()" for helper in helpers), "1"])
        parts = [
            {
                "spans": [f"a.py::{helper}"],
                "signatures": {f"a.py::{helper}": f"def {helper}():"},
                "specification": "Gives 1, which its caller adds to others.",
            }
            for helper in helpers
        ]
        return reply(call("submit", code=[{"span": span, "text": f"def {name}():\n    return {body}"}], helpers=parts))


@pytest.mark.parametrize("room", range(2, 16))
def test_changed_and_added_children_share_what_is_left_of_the_agents(tmp_path: Path, room: int) -> None:
    tree = Tree(MemoryBase({"a.py": b"\n\n".join(b"def f%d():\n    return 0\n" % number for number in range(4))}))
    first, second = (having(str(n + 1), {f"a.py::f{n}": f"def f{n}():\n    return 0"}) for n in range(2))
    mother = Agent("0", "Add one.", (), children=(first, second), born=2)
    site = Site(tree, Bounds(), Room(2, room), 2)
    stage = Organized(tmp_path, project(100, 1), Multiplying(), lambda names: None)
    now = perform(corrected(site, mother, [Finding("t", "it fails", ("1",))], "", tree), stage)
    made = [agent.id for agent in now.everyone() if agent not in mother.everyone()]
    new = sum(1 for _ in now.everyone()) - sum(1 for _ in mother.everyone())
    assert {"3", "4"} <= set(made), "both were added"
    assert room - 3 < new <= room, "all that was left is used, and no more"
