"""Each kind of hint that an issue may give leads to its place, and what is not the project's own code stands apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_tools.file_kinds import FileKind
from repo_tools.index import Index
from repo_tools.ranking import Ranking, rank
from repo_tools.tree import PastChange, Tree
from tests.fakes.memory_base import MemoryBase, memory_tree

CART = b'''"""Carts."""


class Cart:
    """What somebody wants to buy."""

    def add_item(self, item, quantity):
        if quantity < 0:
            raise ValueError("cannot take %d of %s" % (quantity, item))
        self.items.append((item, quantity))

    def total(self):
        return sum(price(item) for item in self.items)

    def clear(self):
        self.items = []
'''

FILES = {
    "shop/__init__.py": b"from shop.cart import Cart\nfrom shop.pricing.rules import Discount\n",
    "shop/cart.py": CART,
    "shop/pricing/__init__.py": b"",
    "shop/pricing/rules.py": b"""class Discount:
    def apply(self, amount):
        return amount * self.rate

    def limit_rate(self, highest):
        self.rate = min(self.rate, highest)


class Voucher:
    def apply(self, amount):
        return amount - self.worth
""",
    "shop/wire/client.py": b"""class Client:
    def send(self, request):
        self.socket.write(request)

    def close(self):
        self.socket = None
""",
    "shop/wire/server.py": b"""class Server:
    def send(self, request):
        self.queue.put(request)

    def close(self):
        self.queue = None
""",
    "shop/report.py": b"""class InvoicePrinter:
    def header(self):
        return "Invoice"

    def lines(self, entries):
        for entry in entries:
            self.out.write(entry)


def write_report(entries, out):
    print("Report of", len(entries))
    for entry in entries:
        out.write(entry)
""",
    "shop/filler.py": b"\n\n".join(b"def helper_%d(value):\n    return value + %d" % (n, n) for n in range(40)),
    "tests/test_cart.py": b"def test_total_of_cart():\n    assert Cart().total() == 0\n" * 5,
    "docs/cart.md": b"The total of a cart is a total of a cart.\n",
    "shop/vendor/carts.py": b"class Cart:\n    def total(self):\n        return 0\n",
    "shop/cart_pb2.py": b"class Cart:\n    total = 1\n",
    "shop/tables.py": b"# Generated from cart.y, do not edit\nclass Cart:\n    def total(self):\n        return 2\n",
    "shop/pricing/limits.py": b"LOWEST_PRICE = 3\nlowest = 0\n\n\ndef limits(prices):\n    return min(prices)\n",
    "setup.py": b"total = cart = 0\n",
}


@pytest.fixture
def ranked(tmp_path: Path):  # type: ignore[no-untyped-def]
    def of(issue: str, files: dict[str, bytes] | None = None) -> Ranking:
        return rank(Index.open(tmp_path).view(memory_tree(FILES if files is None else files)), issue)

    return of


def first(ranking: Ranking) -> tuple[str, str]:
    hit = ranking.regions[0]
    return ranking.files[0].path, f"{hit.path}:{hit.symbol}"


@pytest.mark.parametrize(
    ("issue", "file", "definition"),
    [
        pytest.param(
            "Wrong sum\n`Cart.total` is too high after `clear`",
            "shop/cart.py",
            "Cart.total",
            id="a name with its owner",
        ),
        pytest.param(
            "Crash on close\n```python\nfrom shop.wire.server import Server\nServer().close()\n```",
            "shop/wire/server.py",
            "Server.close",
            id="code that imports it",
        ),
        pytest.param(
            "Somebody pays less than that\nThere is LOWEST_PRICE but nobody looks at it.",
            "shop/pricing/limits.py",
            "LOWEST_PRICE",
            id="a constant",
        ),
        pytest.param(
            "Cannot put things in\nValueError: cannot take -3 of apple",
            "shop/cart.py",
            "Cart.add_item",
            id="a message with its holes filled",
        ),
        pytest.param(
            'It fails\nTraceback (most recent call last):\n  File "/usr/lib/python3/shop/wire/server.py", '
            "line 6, in close\n    self.queue = None\nAttributeError: x",
            "shop/wire/server.py",
            "Server.close",
            id="a stack trace of a version whose lines differ",
        ),
        pytest.param(
            "Strange\nSee https://github.com/shop/shop/blob/main/shop/pricing/rules.py#L10-L11",
            "shop/pricing/rules.py",
            "Voucher.apply",
            id="a link to a line",
        ),
        pytest.param(
            "Too generous\nLine 6 of shop/pricing/rules.py should raise",
            "shop/pricing/rules.py",
            "Discount.limit_rate",
            id="a line pointed at in prose",
        ),
        pytest.param(
            "Odd code\nI do not see why it has\n```\nself.rate = min(self.rate, highest)\n```",
            "shop/pricing/rules.py",
            "Discount.limit_rate",
            id="a quoted line of code",
        ),
        pytest.param(
            "Invoice printer prints no header",
            "shop/report.py",
            "InvoicePrinter.header",
            id="two words that are one name",
        ),
        pytest.param(
            "Limiting the rates fails", "shop/pricing/rules.py", "Discount.limit_rate", id="other endings of words"
        ),
        pytest.param(
            "Please handle `add-item` on negative quantities", "shop/cart.py", "Cart.add_item", id="an option"
        ),
    ],
)
def test_a_hint_leads_to_its_place(ranked, issue: str, file: str, definition: str) -> None:  # type: ignore[no-untyped-def]
    assert first(ranked(issue)) == (file, f"{file}:{definition}")


def test_of_a_stack_trace_the_last_frame_of_the_project_counts_most(ranked) -> None:  # type: ignore[no-untyped-def]
    frames = "\n".join(
        f'  File "/venv/lib/{path}", line {line}, in {name}\n    pass'
        for path, line, name in [
            ("shop/report.py", 9, "write_report"),
            ("shop/wire/client.py", 2, "send"),
            ("requests/client.py", 5, "close"),
        ]
    )
    found = ranked(f"Broken\nTraceback (most recent call last):\n{frames}")
    assert first(found) == ("shop/wire/client.py", "shop/wire/client.py:Client.send")
    assert "stack trace" in found.regions[0].why
    assert [hit.symbol for hit in found.regions[:2]] == ["Client.send", "write_report"]


def test_what_is_not_the_projects_own_code_stands_apart(ranked) -> None:  # type: ignore[no-untyped-def]
    found = ranked("Total of the cart is wrong\n`Cart.total` should be tested")
    own = {"shop/__init__.py", *(path for path in FILES if path.startswith("shop/"))}
    assert {file.path for file in found.files} <= own - {"shop/vendor/carts.py", "shop/cart_pb2.py", "shop/tables.py"}
    assert {kind: [file.path for file in files] for kind, files in found.apart.items()} == {
        FileKind.TEST: ["tests/test_cart.py"],
        FileKind.DOCS: ["docs/cart.md"],
        FileKind.VENDORED: ["shop/vendor/carts.py"],
        FileKind.GENERATED: ["shop/cart_pb2.py", "shop/tables.py"],
        FileKind.TOOLING: ["setup.py"],
    }


def test_every_hit_says_why_in_one_line_and_where(ranked) -> None:  # type: ignore[no-untyped-def]
    found = ranked("Wrong sum\n`Cart.total` is too high for the items")
    assert all(file.why and "\n" not in file.why for file in found.files if file.score > 0)
    hit = found.regions[0]
    assert (hit.path, hit.first_line, hit.last_line, hit.symbol) == ("shop/cart.py", 12, 13, "Cart.total")
    assert hit.why == "the issue mentions Cart.total"


def test_an_identifier_that_only_one_place_defines_beats_words_that_all_have(ranked) -> None:  # type: ignore[no-untyped-def]
    files = {
        **{f"app/module_{n}.py": b"def run(task):\n    'Run the task, run the queue, stop'\n" * 3 for n in range(12)},
        "app/other.py": b"def drain_backlog():\n    pass\n",
    }
    assert first(ranked("Run of the task: run hangs in `drain_backlog`", files))[0] == "app/other.py"


@pytest.mark.parametrize("issue", ["", "\n\n", "`", "???\n```\n", "the of and", 'File "", line 0', "\0\ud800 ___ __"])
def test_any_text_is_ranked(ranked, issue: str) -> None:  # type: ignore[no-untyped-def]
    found = ranked(issue)
    assert len(found.files) == len({file.path for file in found.files})


@pytest.mark.parametrize("files", [{}, {"README.md": b"Nothing"}, {"tests/test_a.py": b"def test_a(): pass\n"}])
def test_a_tree_without_code_of_its_own_has_no_hits(ranked, files: dict[str, bytes]) -> None:  # type: ignore[no-untyped-def]
    found = ranked("test_a fails\nNothing works", files)
    assert found.files == ()
    assert found.regions == ()


def test_the_same_issue_on_the_same_tree_ranks_the_same(ranked) -> None:  # type: ignore[no-untyped-def]
    issue = "Totals\n`total` of `Cart` and `send` and `apply` and `close`"
    assert ranked(issue) == ranked(issue)


def test_definitions_of_other_languages_are_found(ranked) -> None:  # type: ignore[no-untyped-def]
    files = {
        "src/router.ts": b"export class Router {\n  matchRoute(path: string) {\n    return this.find(path);\n  }\n}\n",
        "src/tree.ts": b"export class Tree {\n  find(path: string) {\n    return null;\n  }\n}\n",
        "cmd/mux.go": b'package mux\n\nfunc (mx *Mux) Handle(pattern string) {\n\tpanic("bad")\n}\n',
    }
    assert first(ranked("Route\n`Router.matchRoute` is slow", files)) == (
        "src/router.ts",
        "src/router.ts:Router.matchRoute",
    )
    trace = "Panic\n```\ngoroutine 1 [running]:\nmain.main()\n\t/home/me/x/cmd/mux.go:4 +0x1d\n```"
    assert first(ranked(trace, files)) == ("cmd/mux.go", "cmd/mux.go:mux.Mux.Handle")


def test_the_list_of_definitions_is_not_filled_by_one_file(ranked) -> None:  # type: ignore[no-untyped-def]
    members = b"".join(b"    def render_page_%d(self): return self.page\n" % n for n in range(30))
    files = {
        "site/pages.py": b"class PageRenderer:\n" + members,
        "site/theme.py": b"class Theme:\n    def render_page(self): return self.page\n",
    }
    found = ranked("Rendering of a page is slow\nThe page is rendered twice", files)
    assert "site/theme.py" in [hit.path for hit in found.regions[:10]]
    assert [hit.score for hit in found.regions] == sorted((hit.score for hit in found.regions), reverse=True)


def test_a_constant_that_the_issue_names_is_likely_code_beside_functions_of_its_words(tmp_path: Path) -> None:
    line = b"    lock(file, given=path, back=None)\n"
    functions = b"\n\n".join(b"def lock_file_%d(path):\n" % n + line * 9 for n in range(9))
    files = {**FILES, "shop/locks.py": b"FILE_LOCKS = {}\n\n\n" + functions}
    issue = "A lock of a file is never given back\nEach file that was ever opened leaves its lock in FILE_LOCKS."
    found = rank(Index.open(tmp_path).view(memory_tree(files)), issue)
    assert found.regions[0].symbol == "FILE_LOCKS"
    assert found.regions[0].why == "the issue mentions FILE_LOCKS"


def test_a_past_change_whose_message_has_the_words_of_the_issue_speaks_for_its_files(tmp_path: Path) -> None:
    issue = "Parcels get lost\nOn holidays the courier never rings twice."
    past = (
        PastChange("Bump the version", ("shop/report.py", "shop/cart.py")),
        PastChange("Let the courier ring twice\n\nParcels got lost.", ("shop/wire/client.py", "docs/cart.md")),
        PastChange("Move parcels, couriers and holidays", tuple(path for path in FILES if path.endswith(".py"))),
        PastChange("Ring the courier", ("shop/gone.py",)),
    )
    told = Index.open(tmp_path / "told").view(Tree(MemoryBase(FILES, past=past)))
    silent = Index.open(tmp_path / "silent").view(Tree(MemoryBase(FILES)))
    assert rank(told, issue).files[0].path == "shop/wire/client.py"
    assert rank(silent, issue).files[0].path != "shop/wire/client.py"
    assert rank(told, issue) == rank(told, issue)


class Watched(MemoryBase):
    """A base that tells which files were read."""

    def read(self, path: str) -> bytes:
        self.__dict__.setdefault("asked", []).append(path)
        return super().read(path)

    def take_asked(self) -> set[str]:
        return set(self.__dict__.pop("asked", []))


def test_a_later_question_reads_no_file_but_for_lines_that_it_quotes(tmp_path: Path) -> None:
    base = Watched(FILES)
    view = Index.open(tmp_path).view(Tree(base))
    issue = "Cart.add_item takes what it should not\n\nValueError: cannot take -1 of soap"
    before = rank(view, issue)
    base.take_asked()
    assert rank(view, issue) == before
    assert rank(Index.open(tmp_path).view(Tree(base)), issue) == before
    assert base.take_asked() == set()
    found = rank(view, "Wrong items\n\n```python\nself.items.append((item, quantity))\nno.such(line, anywhere)\n```\n")
    assert base.take_asked() == {"shop/cart.py"}
    assert {hit.symbol for hit in found.regions if "holds the line" in hit.why} == {"Cart.add_item"}


def test_what_the_title_names_is_looked_for_where_a_package_has_it_from(ranked) -> None:  # type: ignore[no-untyped-def]
    doc = b"# wrong result, apart from that a wrong result"
    files = {
        "shop/__init__.py": b"from shop.parts import apart\n",
        "shop/parts.py": b"def apart(whole):\n    # the wrong result\n    return list(whole)\n",
        "shop/boxes.py": b"class Box:\n    def apart(self):\n        " + doc + b"\n        return self.parts\n",
        "shop/other.py": b"def other():\n    return 1\n",
        "shop/more.py": b"def more():\n    return 1\n",
    }
    issue = "Wrong result with apart\nThe result is wrong."
    found = ranked(issue, files)
    assert found.files[0].path == "shop/parts.py"
    assert found.files[0].why == "defines apart, which the title names and a package offers"
    hidden = {**files, "shop/__init__.py": b""}
    assert ranked(issue, hidden).files[0].path != "shop/parts.py"


def test_one_definition_with_all_words_says_more_for_its_file_than_many_with_one_each(ranked) -> None:  # type: ignore[no-untyped-def]
    words = ["parcel", "courier", "holiday", "doorbell", "signature", "window"]
    some = b"\n\n".join(
        b"def note_%d(it):\n    # %s %s\n    return it" % (n, one.encode(), one.encode()) for n, one in enumerate(words)
    )
    every = b"def deliver(it):\n    # %s\n    return it" % " ".join(words).encode()
    files = {"post/notes.py": some, "post/round.py": every}
    issue = "It gets lost\nOn a holiday the courier does not ring the doorbell: no signature, a parcel in the window."
    assert ranked(issue, files).files[0].path == "post/round.py"


def test_words_that_people_report_with_lead_nowhere(ranked) -> None:  # type: ignore[no-untyped-def]
    talk = (
        b"def show(it):\n    # Example: the expected result, seemed different, was given instead. Thanks, please try.\n"
    )
    files = {
        "post/talk.py": talk * 3,
        "post/round.py": b"def deliver(it):\n    # ring\n    return courier(it)\n" + b"    value = 1\n" * 30,
        "post/other.py": b"def other(it):\n    return it\n",
    }
    issue = (
        "Unexpected result, seems different\nPlease try the example: given is something else instead, see the courier."
    )
    assert ranked(issue, files).files[0].path == "post/round.py"
