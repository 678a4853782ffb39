"""What agents may hand over, and how their texts come into real files."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.team.organization.agents import Agent, Bounds, Room, Site, too_large_for_one, too_much
from bot.team.organization.assembly import Piece, assemble
from bot.team.organization.contracts import Frame
from bot.team.organization.growth import with_code
from bot.team.organization.handing_out import REMOVED
from bot.team.organization.interfaces import same_signature
from bot.team.organization.owners import faults, finding
from bot.team.organization.roles import Division, Skeleton, Steering, Written
from bot.team.organization.spans import Span, located, overlapping, parse, text_of, within
from bot.team.roles import Plan, Subtask
from bot.team.strategies.self_organized import put_together
from repo_tools.tree import Tree
from tests.fakes.memory_base import MemoryBase

CODE = '''"""A module."""

from __future__ import annotations

import os

LIMIT = 3


class Box:
    """Holds a value."""

    def __init__(self, value):
        self.value = value

    @property
    def size(self):
        return self._size

    @size.setter
    def size(self, size):
        self._size = size

    def first(self):
        return self.value[0]


def load(path):
    # how it is read
    with open(path) as file:
        return file.read()


def save(path, text):
    return os.write(path, text)


if __name__ == "__main__":
    load("x")
'''
OTHER = "export function load(path) {\n  return read(path);\n}\n\nexport function save(path) {\n  return 1;\n}\n"
TREE = Tree(
    MemoryBase(
        {
            "pkg/box.py": CODE.encode(),
            "crlf.py": b"import a\r\n\r\n\r\ndef f(x):\r\n    return x\r\n",
            "web/load.js": OTHER.encode(),
            "NEWS.md": b"# News\n\n- old\n",
            "logo.png": b"\x89PNG\0\0",
            "tests/test_box.py": b"def test(): pass\n",
        }
    )
)
LOAD = Span("pkg/box.py", "load")


def frame(agent: Agent, *, bounds: Bounds | None = None, room: Room | None = None, blamed: Any = ()) -> Frame:
    return Frame(Site(TREE, bounds or Bounds(), room or Room(3, 20), 1), agent, frozenset(blamed))


def child(*spans: str, **signatures: str) -> Agent:
    return Agent(
        "1", "Do it.", tuple(map(parse, spans)), {parse(k.replace("__", "::")): v for k, v in signatures.items()}
    )


def written(*code: dict[str, Any], **more: Any) -> Written:
    return Written.model_validate({"code": list(code), **more})


def put(*pieces: Piece, path: str = "pkg/box.py") -> str:
    return assemble(TREE, list(pieces)).tree.read(path).decode()


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("pkg/a.py::Box.first", Span("pkg/a.py", "Box.first")),
        ("./pkg/a.py::Box::first()", Span("pkg/a.py", "Box.first")),
        ("`pkg/a.py:3-9`", Span("pkg/a.py", "", 3, 9)),
        ("pkg/a.py:3", Span("pkg/a.py", "", 3, 3)),
        ("NEWS.md", Span("NEWS.md")),
    ],
)
def test_places_are_named_in_three_ways(text: str, span: Span) -> None:
    assert parse(text) == span
    assert parse(str(span)) == span


def test_a_span_is_a_definition_with_what_wraps_it() -> None:
    assert text_of(TREE, LOAD).startswith("def load(path):")
    both = text_of(TREE, Span("pkg/box.py", "Box.size"))
    assert both.startswith("    @property") and both.endswith("self._size = size"), "getter and setter are one"
    assert located(TREE, Span("pkg/box.py", "nothing")) is None
    assert located(TREE, Span("NEWS.md", "", 9, 12)) is None


def test_spans_overlap_by_name_and_by_lines() -> None:
    box, first = Span("pkg/box.py", "Box"), Span("pkg/box.py", "Box.first")
    assert overlapping(TREE, box, first) and overlapping(TREE, first, Span("pkg/box.py"))
    assert overlapping(TREE, LOAD, Span("pkg/box.py", "", 1, 30))
    assert overlapping(TREE, Span("pkg/box.py", "Box.new"), Span("pkg/box.py", "Box.new"))
    assert not overlapping(TREE, LOAD, first)
    assert not overlapping(TREE, box, Span("pkg/box.py", "Boxes"))


def test_a_span_is_within_another_if_nothing_of_it_stands_outside() -> None:
    box, whole, lines = Span("pkg/box.py", "Box"), Span("pkg/box.py"), Span("pkg/box.py", "", 1, 30)
    for inner, outer in ((box, whole), (Span("pkg/box.py", "Box.first"), box), (box, box), (box, lines)):
        assert within(TREE, inner, outer)
        assert inner == outer or not within(TREE, outer, inner)
    assert not within(TREE, LOAD, lines), "it begins there and ends below"
    assert within(TREE, Span("new.py", "f"), Span("new.py"))
    assert not within(TREE, Span("new.py"), Span("new.py", "f"))
    assert not within(TREE, LOAD, Span("web/load.js"))


def test_a_text_comes_in_its_place_at_the_indentation_of_the_place() -> None:
    made = put(
        Piece(Span("pkg/box.py", "Box.first"), "def first(self):\n    return self.value[-1]", ("import sys",)),
        Piece(LOAD, "def load(path):\n    return sys.stdin", ("import os", "import sys")),
    )
    before, after = CODE.split("    def first(self):\n        return self.value[0]\n\n\ndef load")
    assert (
        "    def first(self):\n        return self.value[-1]\n\n\ndef load(path):\n    return sys.stdin\n\n\ndef save"
        in made
    )
    assert made.count("import sys") == made.count("import os") == 1
    assert made.startswith(before.replace("import os\n", "import os\nimport sys\n"))
    assert made.endswith(after.split("return file.read()")[1])
    ast.parse(made)


def test_new_definitions_come_beside_their_kind() -> None:
    made = put(
        Piece(Span("pkg/box.py", "Box.last"), "def last(self):\n    return self.value[-1]"),
        Piece(Span("pkg/box.py", "helper"), "def helper():\n    return 1", after="load"),
        Piece(Span("pkg/box.py", "other"), "def other():\n    return 2"),
    )
    names = [node.name for node in ast.parse(made).body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    assert names == ["Box", "load", "helper", "save", "other"]
    assert "        return self.value[0]\n\n    def last(self):\n        return self.value[-1]\n\n\ndef load" in made
    assert "    return 2\n\n\nif __name__" in made
    assert "\n\n\n\n" not in made


def test_a_new_file_holds_all_that_was_made_for_it() -> None:
    made = put(
        Piece(Span("pkg/new.py", "one"), "def one():\n    return two()"),
        Piece(Span("pkg/new.py", "two"), "def two():\n    return math.pi", ("import math",)),
        path="pkg/new.py",
    )
    assert made == "import math\n\n\ndef one():\n    return two()\n\n\ndef two():\n    return math.pi\n"
    assert put(Piece(Span("pkg/whole.py"), "x = 1\n"), path="pkg/whole.py") == "x = 1\n"


def test_line_ends_and_what_nobody_owns_stay_byte_for_byte() -> None:
    data = assemble(TREE, [Piece(Span("crlf.py", "f"), "def f(x):\n    return x + 1", ("import b",))]).tree.read(
        "crlf.py"
    )
    assert data == b"import a\r\nimport b\r\n\r\n\r\ndef f(x):\r\n    return x + 1\r\n"
    assert put(Piece(Span("NEWS.md", "", 3, 3), "- new\n- old"), path="NEWS.md") == "# News\n\n- new\n- old\n"
    script = put(Piece(Span("web/load.js", "save"), "export function save(path) {\n  return 2;\n}"), path="web/load.js")
    assert script == OTHER.replace("return 1", "return 2")


def test_a_removed_definition_is_cut_out_and_a_removed_file_goes() -> None:
    assert "def save" not in put(Piece(Span("pkg/box.py", "save"), ""))
    made = assemble(TREE, [Piece(Span("web/load.js"), "")])
    assert not made.tree.exists("web/load.js")
    root = Agent("0", "", ())
    parts = [{"spans": ["web/load.js", "NEWS.md", "pkg/box.py::load"], "signatures": {"web/load.js": REMOVED}}]
    assert frame(root).skeleton(skeleton(*parts), TREE) == ""


def test_it_is_known_where_each_piece_stands() -> None:
    made = assemble(
        TREE,
        [
            Piece(Span("pkg/box.py", "save"), "def save(path, text):\n    pass", ("import re",)),
            Piece(Span("pkg/box.py", "Box.first"), "def first(self):\n    a = 1\n    return a"),
        ],
    )
    lines = made.tree.read("pkg/box.py").decode().split("\n")
    for span, (first, last) in made.places.items():
        assert lines[first - 1].strip().startswith(f"def {span.last_name}")
        assert located(made.tree, span) == (first, last)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("def f(a, *, b=1) -> int", "def f(a,*,b = 1):", True),
        ("def f(a) -> int", "def f(a) -> str", False),
        ("def f(a)", "async def f(a)", False),
        ("def f(a, b=1)", "def f(a, b=2)", False),
        ("class A(B)", "class A(B):", True),
    ],
)
def test_signatures_are_compared_by_what_they_say(one: str, other: str, same: bool) -> None:
    assert same_signature("a.py", one, other) is same


LOADED = (
    "def load(path, *, encoding='utf-8'):\n    with open(path, encoding=encoding) as file:\n        return file.read()"
)
AGREED = {"pkg/box.py__load": "def load(path, *, encoding='utf-8'):"}


def test_code_that_keeps_to_what_was_agreed_on_is_taken() -> None:
    own = child("pkg/box.py::load", **AGREED)
    assert frame(own).written(written({"span": "pkg/box.py::load", "text": LOADED}), TREE) == ""
    edits = [
        {"old": "def load(path):", "new": "def load(path, *, encoding='utf-8'):"},
        {"old": "open(path)", "new": "open(path, encoding=encoding)"},
    ]
    assert frame(own).written(written({"span": "pkg/box.py::load", "edits": edits}), TREE) == ""


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ([], "there is no code"),
        ([{"span": "pkg/box.py::save", "text": "def save(path, text):\n    pass"}], "is not yours"),
        ([{"span": "pkg/box.py::load", "text": "def load(path):\n    return 1"}], "was agreed on as"),
        ([{"span": "pkg/box.py::load", "text": LOADED.replace("load", "read")}], "was there and is gone"),
        ([{"span": "pkg/box.py::load", "text": LOADED + "\n\n\ndef invented():\n    pass"}], "nobody agreed on it"),
        ([{"span": "pkg/box.py::load", "text": "def load(path:\n"}], "would not parse"),
        ([{"span": "pkg/box.py::load", "edits": [{"old": "path", "new": "p"}]}], "must be there once"),
        ([{"span": "pkg/box.py::load", "edits": [{"old": "zzz", "new": "p"}]}], "0 times"),
        ([{"span": "pkg/box.py::load"}], "neither text nor an edit"),
        ([{"span": "pkg/box.py::load", "text": LOADED + "\n    # " + "long " * 2000}], "too much for one agent"),
    ],
)
def test_code_that_does_not_is_sent_back(code: list[dict[str, Any]], said: str) -> None:
    assert said in frame(child("pkg/box.py::load", **AGREED)).written(written(*code), TREE)


def test_the_owner_of_some_lines_may_change_the_signature_in_them_if_it_was_agreed_on() -> None:
    place = located(TREE, LOAD)
    assert place is not None
    lines = f"pkg/box.py:{place[0]}-{place[1]}"
    parts = [
        {
            "spans": [lines, "NEWS.md", "web/load.js"],
            "signatures": {"pkg/box.py::load": "def load(path, *, encoding='utf-8'):"},
        }
    ]
    assert frame(Agent("0", "", ())).skeleton(skeleton(*parts), TREE) == ""
    for agreed, said in ((AGREED, ""), ({}, "nobody agreed to change that")):
        answer = frame(child(lines, **agreed)).written(written({"span": lines, "text": LOADED}), TREE)
        assert said in answer if said else answer == ""


def test_one_place_may_be_larger_than_several() -> None:
    large = Tree(MemoryBase({"a.py": b"x = 1  # a line of code\n" * 400, "b.py": b"y = 2\n"}))
    bounds = Bounds(held=1_500)
    assert not too_much(large, [parse("a.py")], bounds)
    assert too_much(large, [parse("a.py"), parse("b.py")], bounds)
    assert too_much(large, [parse("a.py")], Bounds(held=1_000))


def test_a_signature_that_nobody_spoke_of_stays() -> None:
    own = child("pkg/box.py::Box")
    text = text_of(TREE, Span("pkg/box.py", "Box")).replace("first(self)", "first(self, number)")
    assert "nobody agreed to change that" in frame(own).written(
        written({"span": "pkg/box.py::Box", "text": text}), TREE
    )


def test_a_definition_that_is_to_be_made_must_come() -> None:
    own = child("pkg/box.py::load", "pkg/box.py::fresh", pkg_fresh="x")
    said = frame(own).written(written({"span": "pkg/box.py::load", "text": text_of(TREE, LOAD)}), TREE)
    assert "fresh is to be made" in said


HELPER = {
    "spans": ["pkg/box.py::decode"],
    "signatures": {"pkg/box.py::decode": "def decode(data: bytes) -> str:"},
    "specification": "Decodes bytes as UTF-8: decode(b'a') == 'a'.",
}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, ""),
        (
            {"spans": ["pkg/box.py::unused"], "signatures": {"pkg/box.py::unused": "def unused():"}},
            "nothing in your code uses",
        ),
        ({"spans": ["pkg/box.py::save"], "signatures": {}}, "a helper is a new definition"),
        ({"signatures": {}}, "agree on its signature"),
        ({"spans": ["web/x.py::decode"], "signatures": {"web/x.py::decode": "def decode(d):"}}, "your own file"),
        ({"signatures": {"pkg/box.py::decode": "decode the data"}}, "does not parse"),
    ],
)
def test_helpers_are_declared_and_called(change: dict[str, Any], said: str) -> None:
    text = "def load(path):\n    return decode(open(path, 'rb').read())"
    submitted = written({"span": "pkg/box.py::load", "text": text}, helpers=[HELPER | change])
    answer = frame(child("pkg/box.py::load")).written(submitted, TREE)
    assert said in answer if said else answer == ""


def test_no_helpers_where_the_bounds_are_reached() -> None:
    text = "def load(path):\n    return decode(open(path, 'rb').read())"
    submitted = written({"span": "pkg/box.py::load", "text": text}, helpers=[HELPER])
    for room in (Room(0, 20), Room(3, 0)):
        assert "at most 0 more agents" in frame(child("pkg/box.py::load"), room=room).written(submitted, TREE)


def skeleton(*parts: dict[str, Any], **more: Any) -> Skeleton:
    filled = [{"specification": "Read with the encoding that is given.", **part} for part in parts]
    known: dict[str, Any] = {
        "decision": "change",
        "diagnosis": "There is no encoding.",
        "title": "Carry the encoding",
        "summary": "It is carried.",
        "parts": filled,
    }
    return Skeleton.model_validate(known | more)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([{"spans": ["pkg/box.py::load", "web/load.js::load"]}, {"spans": ["NEWS.md:3-3"]}], ""),
        ([{"spans": ["pkg/box.py::Box"]}, {"spans": ["pkg/box.py::Box.first", "web/load.js"]}], "given away twice"),
        ([{"spans": ["pkg/box.py::load", "pkg/box.py::load", "web/load.js"]}], "given away twice"),
        ([{"spans": ["pkg/box.py::lod", "NEWS.md", "web/load.js"]}], "if it is to be made, agree on its signature"),
        ([{"spans": ["pkg/box.py::first", "NEWS.md", "web/load.js"]}], "Do you mean pkg/box.py::Box.first?"),
        ([{"spans": ["tests/test_box.py::test", "NEWS.md", "web/load.js"]}], "tests are another role's"),
        ([{"spans": ["NEWS.md:30-40", "web/load.js", "pkg/box.py"]}], "has no line 30"),
        ([{"spans": ["../x.py", "web/load.js", "pkg/box.py"]}], "is refused"),
        ([{"spans": ["pkg", "web/load.js", "pkg/box.py"]}], "is a folder"),
        ([{"spans": ["NEWS.md/x.py", "web/load.js", "pkg/box.py"]}], "is a file, not a folder"),
        ([{"spans": ["logo.png", "web/load.js", "pkg/box.py"]}], "is binary"),
        ([{"spans": ["pkg/box.py::load"]}], "one agent's work"),
        (
            [{"spans": [f"pkg/n.py::f{n}"], "signatures": {f"pkg/n.py::f{n}": f"def f{n}():"}} for n in range(13)],
            "group them",
        ),
    ],
)
def test_a_skeleton_gives_each_place_one_owner(parts: list[dict[str, Any]], said: str) -> None:
    root = Agent("0", "", ())
    answer = frame(root).skeleton(skeleton(*parts), TREE)
    assert said in answer if said else answer == ""


def test_a_decision_goes_with_what_is_handed_out() -> None:
    assert "but your decision is change" in frame(Agent("0", "", ())).skeleton(skeleton(), TREE)
    answer = frame(Agent("0", "", ())).skeleton(skeleton({"spans": ["NEWS.md"]}, decision="cannot_reproduce"), TREE)
    assert "but your decision is cannot_reproduce" in answer


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([["pkg/box.py::Box.first", "pkg/box.py::Box.size"], ["pkg/box.py::load"]], ""),
        ([["pkg/box.py::Box"]], "nobody owns pkg/box.py::load"),
        ([["pkg/box.py::Box", "pkg/box.py::load"]], "the same part once more"),
        ([["pkg/box.py::Box"], ["pkg/box.py::load"], ["web/load.js::load"]], "lies outside"),
        ([["pkg/box.py"]], "lies outside"),
        ([["pkg/box.py::Box", "pkg/box.py::fresh"], ["pkg/box.py::load", "pkg/fresh.py"]], "pkg/fresh.py lies outside"),
    ],
)
def test_a_part_is_divided_whole_and_no_further(parts: list[list[str]], said: str) -> None:
    division = Division.model_validate(
        {"parts": [{"spans": spans, "specification": "Read with the encoding that is given."} for spans in parts]}
    )
    answer = frame(child("pkg/box.py::Box", "pkg/box.py::load")).division(division, TREE)
    assert said in answer if said else answer == ""


def test_feedback_that_changes_nothing_is_sent_back() -> None:
    assert "changes nothing" in frame(Agent("0", "", ())).steering(Steering(cause="Who knows why it is."), TREE)
    unknown = Steering.model_validate(
        {"cause": "It is so.....", "directions": [{"part": "7", "direction": "Do it again."}]}
    )
    assert "there is no child '7'" in frame(Agent("0", "", ())).steering(unknown, TREE)


def organized(*children: Agent) -> Agent:
    return Agent("0", "", (), children=children)


def having(id_: str, code: dict[str, str], **signatures: str) -> Agent:
    texts = {parse(span): text for span, text in code.items()}
    agreed = {parse(key.replace("__", "::")): value for key, value in signatures.items()}
    return Agent(id_, "", tuple(texts), agreed, code=texts)


def found(root: Agent) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.title, one.owners) for one in faults(TREE, root, put_together(TREE, root))]


def test_a_planted_duplicate_is_found_with_its_owner() -> None:
    call = {"pkg/box.py::load": "def load(path):\n    return decode(path)"}
    one = having("1", {**call, "pkg/box.py::decode": "def decode(d):\n    return d"})
    two = having("2", {"pkg/box.py::decode": "def decode(d):\n    return 2"})
    assert found(organized(one)) == []
    assert found(organized(one, two)) == [("pkg/box.py::decode is defined twice", ("2",))]
    again = "def load(path):\n    return decode(path)\n\n\ndef decode(d):\n    return 3"
    hidden = having("2", {"pkg/box.py::load": again})
    twice = having("1", {"pkg/box.py::decode": "def decode(d):\n    return d"})
    assert ("pkg/box.py::decode is defined twice", ("1",)) in found(organized(hidden, twice))


def test_a_helper_that_nobody_calls_is_an_orphan() -> None:
    root = organized(having("1", {"pkg/box.py::alone": "def alone():\n    return alone"}))
    assert found(root) == [("pkg/box.py::alone is an orphan", ("1",))]
    assert faults(TREE, root, put_together(TREE, root), "please add `alone()`") == [], "the issue asks for it"


def test_a_missing_piece_a_plea_and_a_broken_interface_are_found() -> None:
    missing = Agent("1", "", (Span("pkg/box.py", "fresh"), LOAD), code={LOAD: text_of(TREE, LOAD)})
    silent = Agent("4", "", (Span("pkg/box.py", "Box.first"),))
    plea = Agent("2", "", (LOAD,), plea="It needs the encoding.")
    changed = having(
        "3", {"pkg/box.py::save": "def save(path):\n    pass"}, **{"pkg/box.py__save": "def save(path, text)"}
    )
    assert found(organized(missing, plea, changed, silent)) == [
        ("pkg/box.py::fresh is missing", ("1",)),
        ("child 2 finds its interface unworkable", ("2",)),
        ("child 4 handed over nothing", ("4",)),
        ("the interface of pkg/box.py::save is broken", ("3",)),
    ]


def test_new_files_are_handed_out_written_and_multiplied_like_others() -> None:
    run, helper = "def run(x: int) -> int:", "def decode(data: bytes) -> str:"
    parts = [
        {"spans": ["new/__init__.py"]},
        {"spans": ["new/core.py"], "signatures": {"new/core.py::run": run}},
        {"spans": ["new/util.py::f"], "signatures": {"new/util.py::f": "def f():"}},
    ]
    assert frame(Agent("0", "", ())).skeleton(skeleton(*parts), TREE) == ""
    own = replace(child("new/core.py"), signatures={parse("new/core.py::run"): run})
    text = '"""Core."""\n\nimport os\n\n\ndef run(x: int) -> int:\n    return decode(x)\n'
    declared = HELPER | {"spans": ["new/core.py::decode"], "signatures": {"new/core.py::decode": helper}}
    submitted = written({"span": "new/core.py", "text": text, "imports": ["import re"]}, helpers=[declared])
    assert frame(own).written(submitted, TREE) == ""
    mother = with_code(frame(own).site, own, submitted.code)
    below = having("1.1", {"new/core.py::decode": f"{helper}\n    return ''"}, **{"new/core.py__decode": helper})
    root = organized(replace(mother, children=(below,)))
    together = put_together(TREE, root)
    made = text.replace("import os\n", "import os\nimport re\n") + f"\n\n{helper}\n    return ''\n"
    assert together.tree.read("new/core.py").decode() == made
    assert faults(TREE, root, together) == []


def test_a_trace_leads_to_the_owners_of_its_lines_the_innermost_first() -> None:
    root = organized(
        having("1", {"pkg/box.py::load": "def load(path):\n    # more\n    # lines\n    return save(path, 1)"}),
        having("2", {"pkg/box.py::save": "def save(path, text):\n    raise ValueError"}),
        Agent("3", "", (Span("pkg/box.py", "Box"),)),
    )
    made = put_together(TREE, root)
    line = {span.name: place for span, place in made.places.items()}
    trace = (
        f"tests/test_box.py:4: in test\n/repo/pkg/box.py:{line['load'][1]}: in load\n    return save(path, 1)\n"
        f"/repo/pkg/box.py:{line['save'][1]}: ValueError"
    )
    assert finding("t", trace, root, made).owners == ("2", "1")
    assert finding("t", "pkg/box.py:12: in first", root, made).owners == ("3",), "who changed nothing is found too"
    assert finding("t", "tests/test_box.py:4: AssertionError", root, made).owners == ()


def test_removed_is_agreed_on_like_a_signature() -> None:
    own = Agent("1", "", (Span("pkg/box.py", "save"), LOAD), {Span("pkg/box.py", "save"): REMOVED})
    gone = Agent(**{**vars(own), "code": {Span("pkg/box.py", "save"): ""}})
    submitted = written({"span": "pkg/box.py::load", "text": "def load(path):\n    return 2"})
    assert frame(gone).written(submitted, TREE) == ""
    kept = Agent("1", "", (Span("pkg/box.py", "save"), LOAD), code={Span("pkg/box.py", "save"): ""})
    assert "was there and is gone" in frame(kept).written(submitted, TREE)


PLACES = st.sampled_from(
    [
        "pkg/box.py::Box",
        "pkg/box.py::Box.first",
        "pkg/box.py::load",
        "pkg/box.py::made",
        "pkg/box.py:3-9",
        "pkg/box.py",
        "crlf.py",
        "::",
        "web/load.js::load",
        "NEWS.md:2-99",
        "pkg/new.py::f",
        "pkg/new.py",
        "a::b::c",
        "pkg/box.py:9-2",
    ]
)
TEXTS = st.sampled_from(
    [
        "",
        "x = 1",
        "def load(path):\n    return 1",
        "    def first(self):\n\treturn 2",
        "class Box:\n    pass\n",
        "- new",
        "}{",
        "\x00",
    ]
) | st.text(max_size=30)
CODES = st.lists(
    st.fixed_dictionaries(
        {"span": PLACES},
        optional={
            "text": TEXTS,
            "edits": st.lists(st.fixed_dictionaries({"old": st.just("path"), "new": TEXTS}), max_size=2),
            "imports": st.lists(st.sampled_from(["import os", "import re", "from .x import", "}"]), max_size=2),
        },
    ),
    max_size=3,
)
SIGNATURES = st.dictionaries(
    PLACES, st.sampled_from(["def load(path):", "def made():", "removed", "??", ""]), max_size=2
)


@given(places=st.lists(PLACES, min_size=1, max_size=4), signatures=SIGNATURES, code=CODES)
@settings(max_examples=100, deadline=None)
def test_whatever_is_handed_out_is_answered(
    places: list[str], signatures: dict[str, str], code: list[dict[str, Any]]
) -> None:
    part = {"spans": places, "signatures": signatures, "specification": "Read with the encoding that is given."}
    own = child(*places)
    division = Division.model_validate({"parts": [part, part]})
    direction = {"part": "new", "action": "add", "direction": "Make what is missing.", **part}
    del direction["specification"]
    steering = Steering.model_validate({"cause": "Who knows why.", "directions": [direction], "code": code})
    assert isinstance(frame(Agent("0", "", ())).skeleton(skeleton(part, code=code), TREE), str)
    assert isinstance(frame(own).division(division, TREE), str)
    assert isinstance(frame(own).steering(steering, TREE), str)
    assert isinstance(frame(own).written(Written.model_validate({"code": code, "helpers": [part]}), TREE), str)


OWN = (
    (
        "pkg/box.py::load",
        "def load(path):\n    return path",
        "def load(path):\n\treturn 1\n\n",
        "    def load(path): ...",
    ),
    ("pkg/box.py::Box.first", "def first(self):\n    return 1", "    def first(self):\n        return '''\nx'''"),
    ("pkg/box.py::Box.size", "@property\ndef size(self):\n    return 2", "def size(self): return 3"),
    ("pkg/box.py::made", "def made():\n    return load(2)", "async def made(): pass", "made = 3"),
    ("pkg/box.py:7-7", "LIMIT = 4", "LIMIT = 4\nMORE = 5\n", "def sneaked():\n    pass"),
    ("NEWS.md:3-3", "- new\n- old", "", "\u00e9 \u20ac"),
    ("pkg/new.py", "import os\n\nx = os\n", "x = (", "def f():\n    pass"),
    ("crlf.py::f", "def f(x):\n    return x + 1", "def f(x):\r\n    return 2"),
)


@given(data=st.data())
@settings(max_examples=250, deadline=None)
def test_what_is_taken_can_be_put_together(data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(OWN), min_size=1, max_size=4, unique=True))
    imports = st.lists(st.sampled_from(["import re", "from os import path", "import os"]), max_size=2)
    code = [
        {"span": span, "text": data.draw(st.sampled_from(texts)), "imports": data.draw(imports) if "::" in span else []}
        for span, *texts in chosen
    ]
    agreed = {parse("pkg/box.py::made"): "def made():"}
    own = replace(child(*(span for span, *_ in chosen)), signatures=agreed)
    submitted = Written.model_validate({"code": code})
    if frame(own).written(submitted, TREE):
        return
    own = with_code(frame(own).site, own, submitted.code)
    together = put_together(TREE, organized(own))
    assert set(together.places) == set(own.code)
    for span, (first, last) in together.places.items():
        lines = together.tree.read(span.path).decode().replace("\r\n", "\n").split("\n")
        assert " ".join(own.code[span].split()) == " ".join("\n".join(lines[first - 1 : last]).split()), span
    for path in together.tree.patch.files:
        if path.endswith(".py"):
            ast.parse(together.tree.read(path))
    rest = together.tree.read("crlf.py").replace(b"\r\n", b"")
    assert b"\n" not in rest
    assert b"\r" not in rest


def test_what_is_too_large_for_one_agent_is_told_from_a_plan() -> None:
    def plan(*regions: str) -> Plan:
        task = Subtask(title="Do it", regions=list(regions)[:12], change="change it")
        return Plan(decision="change", diagnosis="It is so and so.", subtasks=[task])

    assert not too_large_for_one(plan("pkg/box.py:10-20", "web/load.js:1-3"), TREE)
    many = [f"f{n % 4}.py:{n + 1}-{n + 1}" for n in range(8)]
    assert too_large_for_one(plan(*many), TREE)
    assert not too_large_for_one(
        plan(*[one.replace("f1", "f0").replace("f2", "f0").replace("f3", "f0") for one in many]), TREE
    )
    large = Tree(MemoryBase({"a.py": b"x = 1  # a line of code\n" * 2000}))
    assert too_large_for_one(plan("a.py:1-2000"), large)
