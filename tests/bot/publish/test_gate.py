"""What a patch may not do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from bot.publish.gate import NAMED, SUBMODULE, Policy, objections
from bot.publish.objection import Objection
from bot.publish.protected import matches
from repo_tools.patch import EXECUTABLE, REGULAR, SYMLINK, FileState, Patch
from repo_tools.test_files import is_test
from repo_tools.tree import Tree, blob_id

TESTS = (
    "tests/test_sum.py",
    "tests/test_other.py",
    "tests/test_new.py",
    "conftest.py",
    "sum.test.js",
    "sum_test.go",
    "tests/sum.rs",
)

DEFAULT = Policy()


@dataclass(frozen=True)
class Files:
    """A base of a few files."""

    files: Mapping[str, tuple[int, bytes]]
    id: str = "base"

    def entries(self) -> Mapping[str, tuple[int, str]]:
        return {path: (mode, blob_id(data)) for path, (mode, data) in self.files.items()}

    def read(self, path: str) -> bytes:
        return self.files[path][1]


def tree(before: Mapping[str, str | bytes], after: Mapping[str, str | bytes | None]) -> Tree:
    """A tree whose patch turns `before` into `before` with `after`."""

    def data(text: str | bytes) -> bytes:
        return text if isinstance(text, bytes) else text.encode()

    base = Files({path: (REGULAR, data(text)) for path, text in before.items()})
    return Tree(base, Patch({path: None if text is None else FileState(data(text)) for path, text in after.items()}))


def found(
    before: Mapping[str, str | bytes], after: Mapping[str, str | bytes | None], policy: Policy = DEFAULT
) -> list[Objection]:
    return objections(tree(before, after), [path for path in after if path in TESTS], policy)


def rules(
    before: Mapping[str, str | bytes], after: Mapping[str, str | bytes | None], policy: Policy = DEFAULT
) -> list[str]:
    """The rules that object, `!` in front of those that block."""
    return [("!" if one.blocks else "") + one.rule for one in found(before, after, policy)]


def test_an_ordinary_change_is_not_objected_to() -> None:
    before = {
        "sum.py": "def add(a, b):\n    return a - b\n",
        "tests/test_sum.py": "def test_zero():\n    assert True\n",
    }
    after = {
        "sum.py": "def add(a, b):\n    return a + b\n",
        "tests/test_sum.py": before["tests/test_sum.py"] + "\n\ndef test_add():\n    assert add(1, 1) == 2\n",
        "tests/test_new.py": "import pytest\n\n@pytest.fixture(autouse=True)\ndef f(): ...\n\ndef test_x(): assert 1\n",
        "docs/changes.md": "* mended\n",
    }
    assert found(before, after) == []


class TestProtected:
    @pytest.mark.parametrize(
        ("path", "rule"),
        [
            (".gitmodules", "!git"),
            ("sub/.gitattributes", "!git"),
            (".github/workflows/ci.yml", "!github"),
            (".GitHub/CODEOWNERS", "!github"),
            (".gitlab-ci.yml", "!ci"),
            (".circleci/config.yml", "!ci"),
            ("Jenkinsfile", "!ci"),
            (".pre-commit-config.yaml", "!ci"),
            ("src/sitecustomize.py", "!ci"),
            ("AGENTS.md", "!agent-instructions"),
            ("docs/CLAUDE.md", "!agent-instructions"),
            (".cursor/rules/x.mdc", "!agent-instructions"),
            ("poetry.lock", "lock-file"),
            ("web/package-lock.json", "lock-file"),
            ("pyproject.toml", "manifest"),
            ("requirements-dev.txt", "manifest"),
        ],
    )
    def test_each_kind(self, path: str, rule: str) -> None:
        assert rules({}, {path: "x = 1\n"}) == [rule]
        assert rules({path: "x = 1\n"}, {path: None}) == [rule]
        assert rules({path: "x = 1\n"}, {path: "x = 2\n"}, Policy(allow=(path.lower(),))) == []

    def test_ordinary_names_are_not_protected(self) -> None:
        names = (".gitignore", "github/api.py", "docs/agents.rst", "src/lock.py", "src/setup/main.py", "ci.py")
        assert rules({}, dict.fromkeys(names, "x\n")) == []

    def test_a_repository_may_protect_more(self) -> None:
        assert rules({}, {"src/legal/terms.txt": "x\n"}, Policy(protect=("legal/",))) == ["!protected"]

    @pytest.mark.parametrize(
        ("pattern", "path", "expected"),
        [
            ("a.py", "x/a.py", True),
            ("a.py", "x/ba.py", False),
            ("build/", "x/build/y/z", True),
            ("build/", "build", False),
            ("build/", "rebuild/x", False),
            ("/docs/", "docs/a/b", True),
            ("/docs/", "x/docs/a", False),
            ("docs/**", "docs/a/b", True),
            ("docs/*.md", "docs/a.md", True),
            ("docs/*.md", "x/docs/a.md", False),
            ("*.PYC", "x/a.pyc", True),
        ],
    )
    def test_patterns(self, pattern: str, path: str, expected: bool) -> None:
        assert matches(path, pattern) is expected


class TestPathsAndModes:
    @pytest.mark.parametrize(
        "path", ["../x", "/etc/passwd", ".git/hooks/x", "a/.GIT/config", "a//b", "./x", "C:\\x", "git~1/x"]
    )
    def test_paths_outside_the_tree(self, path: str) -> None:
        assert "!path" in rules({}, {path: "x"})

    def test_a_path_below_a_file_or_link(self) -> None:
        base = Files({"link": (SYMLINK, b"/etc"), "file": (REGULAR, b"")})
        for path in ("link/passwd", "file/x"):
            assert [one.rule for one in objections(Tree(base, Patch({path: FileState(b"x")})), [], Policy())] == [
                "path"
            ]

    def test_modes(self) -> None:
        base = Files(
            {"a": (REGULAR, b"x"), "link": (SYMLINK, b"a"), "module": (SUBMODULE, b""), "run": (EXECUTABLE, b"#!x")}
        )

        def given(path: str, state: FileState | None) -> list[tuple[str, bool]]:
            return [(one.rule, one.blocks) for one in objections(Tree(base, Patch({path: state})), [], Policy())]

        assert given("new", FileState(b"/etc", SYMLINK)) == [("symlink", True)]
        assert given("link", FileState(b"/etc", SYMLINK)) == [("symlink", True)]
        assert given("link", FileState(b"x")) == [("symlink", True)]
        assert given("a", FileState(b"x", SYMLINK)) == [("symlink", True)]
        assert given("module", None) == [("submodule", True)]
        assert given("new", FileState(b"", SUBMODULE)) == [("submodule", True)]
        assert given("new", FileState(b"", 0o100777)) == [("mode", True)]
        assert given("a", FileState(b"x", EXECUTABLE)) == [("mode", False)]
        assert given("new", FileState(b"words", EXECUTABLE)) == [("mode", False)]
        assert given("new", FileState(b"#!/bin/sh\n", EXECUTABLE)) == []
        assert given("run", FileState(b"#!y", EXECUTABLE)) == []
        assert given("link", None) == []


class TestSizeAndContent:
    def test_too_many_files_and_lines(self) -> None:
        many = {f"a{number}.py": "x\n" for number in range(61)}
        assert rules({}, many) == ["!size"]
        assert rules({}, many, Policy(max_files=61)) == []
        assert rules({}, {"a.py": "x\n" * 3_001}) == ["!size"]
        assert "!size" in rules({}, {"a.bin": b"\0" * 300_000})
        assert rules({"a.py": "x\n" * 9_000}, {"a.py": "x\n" * 9_000 + "y\n"}) == []

    def test_moved_lines_are_no_change(self) -> None:
        lines = [f"line {number}\n" for number in range(4_000)]
        assert rules({"a.py": "".join(lines)}, {"a.py": "".join(lines[2_000:] + lines[:2_000])}) == []

    def test_binary_files(self) -> None:
        assert rules({}, {"a.png": b"\x89PNG\0\0"}) == ["binary"]
        assert rules({"a.png": b"\0"}, {"a.png": None}) == []

    @pytest.mark.parametrize(
        "secret", ["ghp_" + "aB3" * 12, "AKIA" + "ABCDEFGH" * 2, "xoxb-" + "123456789-abc" * 2, "sk-proj-" + "aB3d" * 9]
    )
    def test_secrets_in_new_lines_block_and_are_not_repeated(self, secret: str) -> None:
        (one,) = found({"a.py": "x = 1\n"}, {"a.py": f"x = 1\ny = '{secret}'\n"})
        assert (one.rule, one.blocks) == ("secret", True)
        assert secret not in one.text
        assert rules({"a.py": f"y = '{secret}'\n"}, {"a.py": f"y = '{secret}'\nx = 1\n"}) == []

    def test_characters_that_cannot_be_seen(self) -> None:
        assert rules({"a.py": "x\n"}, {"a.py": "x\ny = '\u202e'\n"}) == ["invisible"]
        assert rules({}, {"a.py": "\ufeffx\r\ny\r\n"}) == []

    @pytest.mark.parametrize(
        "path",
        ["build/lib/a.py", "dist/a.whl", "src/__pycache__/a.pyc", "node_modules/x/y.js", "a.py.orig", ".coverage"],
    )
    def test_build_products(self, path: str) -> None:
        assert "artefact" in rules({}, {path: "x\n"})
        assert rules({path: "x\n"}, {path: "y\n"}) == []

    @pytest.mark.parametrize(
        "change",
        [
            lambda line: line + "  ",
            lambda line: line.replace("    ", "\t\t").replace("\t\t", "    ").replace(" = ", "="),
            lambda line: line + "\r",
            lambda line: line.replace("'", '"'),
        ],
    )
    def test_changes_of_layout_alone(self, change: object) -> None:
        lines = [f"    x{number} = 'a'" for number in range(30)]
        assert rules({"a.py": "\n".join(lines)}, {"a.py": "\n".join(map(change, lines))}) == ["churn"]  # type: ignore[arg-type]

    def test_indenting_a_block_is_no_churn(self) -> None:
        lines = [f"x{number} = 1" for number in range(30)]
        indented = ["with y:", *(f"    {line}" for line in lines)]
        assert rules({"a.py": "\n".join(lines)}, {"a.py": "\n".join(indented)}) == []

    def test_code_that_asks_whether_it_is_tested(self) -> None:
        line = 'import os\nif "PYTEST_CURRENT_TEST" in os.environ: ...\n'
        assert rules({}, {"a.py": line}) == ["!test-detected"]
        assert rules({}, {"tests/test_new.py": line}) == []
        assert rules({}, {"a.py": "import sys\nif 'unittest' in sys.modules: ...\n"}) == ["!test-detected"]
        assert rules({}, {"a.js": "if (process.env.JEST_WORKER_ID) {}\n"}) == ["!test-detected"]

    def test_many_of_one_kind_are_counted(self) -> None:
        ones = found({}, {f"build/a{number}.txt": "x\n" for number in range(20)})
        assert [one.rule for one in ones] == ["artefact"] * (NAMED + 1)
        assert "15 more" in ones[-1].text

    def test_those_that_block_come_first(self) -> None:
        assert rules({}, {"a.orig": "x\n", ".github/x": "x\n", "setup.py": "x\n"})[0] == "!github"


SUITE = """
import unittest
import pytest
from sum import add

EXPECTED = 3

@pytest.mark.parametrize("a", [1, 2])
def test_many(a):
    assert add(a, 0) == a

def test_one():
    got = add(1, 2)
    assert got == EXPECTED
    assert got != 4

def test_error():
    with pytest.raises(ValueError):
        add("a", 1)

class TestMore:
    def test_in_class(self):
        assert add(2, 2) == 4

class Old(unittest.TestCase):
    def test_old(self):
        self.assertEqual(add(0, 0), 0)
"""


class TestPythonTests:
    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("[1, 2]", "[1, 2, 3]"),
            ("    got = add(1, 2)\n", "    got = add(1, 2)\n    assert isinstance(got, int)\n"),
            ("from sum import add\n", "from sum import add, sub\n"),
            ("EXPECTED = 3\n", "EXPECTED = 3\nOTHER = 4\n"),
            ("class TestMore:\n", "class TestMore:\n    def test_new(self): assert add(1, 1) == 2\n\n"),
            ("def test_error", "# a word\ndef test_error"),
            ("test_error()", "test_error( )"),
            ("def test_one", "def test_first"),
            ("    got = add(1, 2)\n", "    more = {}\n    more['a'] = add(2, 2)\n    got = add(1, 2)\n"),
            ("    assert got != 4\n", "    assert got != 4\n    got = add(2, 2)\n    assert got == 4\n"),
            ("class TestMore:\n", "class TestNew:\n    def setup_method(self): ...\n\nclass TestMore:\n"),
            ("class TestMore:\n", "@pytest.fixture\ndef b(): ...\n\nclass TestMore:\n"),
            ("import unittest\n", "import os\nimport unittest\n"),
            ("def test_one", "def assert_odd(number):\n    assert number % 2\n\ndef test_one"),
            ("EXPECTED = 3\n", "EXPECTED = 3\nMANY = [got for got in range(3)]\n"),
        ],
    )
    def test_what_is_only_added_or_renamed(self, old: str, new: str) -> None:
        assert old in SUITE
        assert rules({"tests/test_sum.py": SUITE}, {"tests/test_sum.py": SUITE.replace(old, new)}) == []

    @pytest.mark.parametrize(
        ("old", "new", "rule"),
        [
            (SUITE[SUITE.index("def test_error") : SUITE.index("class TestMore")], "", "!test-removed"),
            (SUITE[SUITE.index("class Old") :], "", "!test-removed"),
            ("def test_one", "def check_one", "!test-removed"),
            ("class Old", "def broken(:\n\nclass Old", "!test-removed"),
            ("def test_one", "@pytest.mark.skip\ndef test_one", "!test-skipped"),
            ("def test_one", "@pytest.mark.xfail(reason='x')\ndef test_one", "!test-skipped"),
            ("    def test_old", "    @unittest.expectedFailure\n    def test_old", "!test-skipped"),
            ("class Old", "@unittest.skipIf(True, 'x')\nclass Old", "!test-skipped"),
            ("    got = add(1, 2)", "    pytest.skip('later')\n    got = add(1, 2)", "!test-skipped"),
            ("    def test_in", "    pytestmark = pytest.mark.skip\n    def test_in", "!test-skipped"),
            ("class TestMore:\n", "class TestMore:\n    __test__ = False\n", "!test-skipped"),
            ("    assert got != 4\n", "", "test-weakened"),
            ("    with pytest.raises(ValueError):\n        add", "    if True:\n        add", "test-weakened"),
            ("assertEqual(add(0, 0), 0)", "add(0, 0)", "test-weakened"),
            ("raises(ValueError)", "raises(Exception)", "test-changed"),
            ("== EXPECTED", "== 5", "test-changed"),
            ("got = add(1, 2)", "got = add(2, 1)", "test-changed"),
            ("    got = add", "    return\n    got = add", "test-changed"),
            ("[1, 2]", "[1]", "test-changed"),
            ("[1, 2]", "[1, 3]", "test-changed"),
            ("EXPECTED = 3", "EXPECTED = 5", "test-changed"),
            ("EXPECTED = 3\n", "EXPECTED = 3\nEXPECTED = 5\n", "test-changed"),
            ("from sum import add\n", "from tests.fake import add\n", "test-changed"),
            ("from sum import add\n", "from sum import add\nfrom tests.fake import *\n", "test-changed"),
            ("EXPECTED = 3\n", "EXPECTED = 3\n\ndef add(a, b):\n    return a + b\n", "test-changed"),
            ("EXPECTED = 3\n", "EXPECTED = 3\n\ndef ValueError(): ...\n", "test-changed"),
            ("EXPECTED = 3\n", "EXPECTED = 3\n@pytest.fixture(name='a')\ndef fixed(): ...\n", "test-changed"),
            ("EXPECTED = 3\n", "EXPECTED = 3\nif True:\n    from fake import add\n", "test-changed"),
            ("EXPECTED = 3\n", "EXPECTED = 3\ndef setup_function(): ...\n", "test-changed"),
            ("    assert got == EXPECTED\n", "    got = EXPECTED\n    assert got == EXPECTED\n", "test-changed"),
            ("    got = add", "    import sum\n    sum.add = max\n    got = add", "test-changed"),
            ("    got = add", "    setattr(sum, 'add', max)\n    got = add", "test-changed"),
            ("    got = add", "    from fake import add\n    got = add", "test-changed"),
            ("    def test_old", "    async def test_old", "test-changed"),
            ("assertEqual(add(0, 0), 0)", "assertEqual(add(0, 0), 0)\n        yield", "test-changed"),
            ("    def test_old", "    def setUp(self): ...\n\n    def test_old", "test-changed"),
            ("    def test_old", "    def assertEqual(self, one, two): ...\n\n    def test_old", "test-changed"),
            ("class Old(unittest.TestCase)", "class Old(Lenient, unittest.TestCase)", "test-changed"),
        ],
    )
    def test_what_says_less(self, old: str, new: str, rule: str) -> None:
        assert old in SUITE
        assert rule in rules({"tests/test_sum.py": SUITE}, {"tests/test_sum.py": SUITE.replace(old, new)})

    def test_skipping_a_whole_module_names_each_test(self) -> None:
        ones = found({"tests/test_sum.py": SUITE}, {"tests/test_sum.py": SUITE + "\npytestmark = pytest.mark.skip\n"})
        assert [one.rule for one in ones] == ["test-skipped"] * 5
        assert "`tests/test_sum.py::TestMore::test_in_class`" in " ".join(one.text for one in ones)

    def test_deleting_the_file_removes_them_and_moving_them_does_not(self) -> None:
        before = {"tests/test_sum.py": SUITE}
        assert set(rules(before, {"tests/test_sum.py": None})) == {"!test-removed"}
        assert rules(before, {"tests/test_sum.py": None, "tests/test_new.py": SUITE}) == []
        weaker = SUITE.replace("    assert got != 4\n", "")
        assert rules(before, {"tests/test_sum.py": None, "tests/test_new.py": weaker}) == ["test-weakened"]

    def test_a_second_definition_does_not_hide_the_first(self) -> None:
        shadowed = SUITE + "\n\ndef test_one():\n    pass\n"
        assert rules({"tests/test_sum.py": SUITE}, {"tests/test_sum.py": shadowed}) == ["test-weakened"]

    @pytest.mark.parametrize("path", ["tests/other.py", "tests/__init__.py"])
    def test_what_has_no_tests_serves_others(self, path: str) -> None:
        before = {path: "def same(one, two):\n    assert one == two\n"}

        def given(after: str | None) -> list[str]:
            return [one.rule for one in objections(tree(before, {path: after}), [path], DEFAULT)]

        assert given(before[path].replace("assert one == two", "pass")) == ["test-changed"]
        assert given(before[path] + "\nsame = print\n") == ["test-changed"]
        assert given(before[path] + "\ndef load_tests(loader, tests, pattern): ...\n") == ["test-changed"]
        assert given(None) == ["test-changed"]
        assert given(before[path] + "\ndef other(one):\n    assert one\n") == []

    def test_a_file_that_never_could_be_parsed_is_compared_by_its_lines(self) -> None:
        old = "print 'x'\nassert 1\nassert 2\n"
        assert rules({"tests/test_sum.py": old}, {"tests/test_sum.py": old.replace("assert 2\n", "")}) == [
            "test-weakened"
        ]

    @pytest.mark.parametrize(
        "added",
        [
            "def pytest_collection_modifyitems(items): items.clear()\n",
            "collect_ignore = ['tests/test_sum.py']\n",
            "pytest_plugins = ['other']\n",
            "@pytest.fixture(autouse=True)\ndef patched(monkeypatch): ...\n",
        ],
    )
    def test_what_decides_how_others_run(self, added: str) -> None:
        before = "import pytest\n\n@pytest.fixture\ndef number(): return 1\n"
        assert rules({"conftest.py": before}, {"conftest.py": before + added}) == ["!test-config"]
        assert rules({}, {"conftest.py": added}) == ["!test-config"]
        assert rules({"conftest.py": before + added}, {"conftest.py": None}) == ["!test-config"]

    def test_fixtures_may_be_added_and_not_changed(self) -> None:
        before = "import pytest\n\n@pytest.fixture\ndef number(): return 1\n"
        more = before + "\n@pytest.fixture\ndef other(): return 2\n"
        assert rules({"conftest.py": before}, {"conftest.py": more}) == []
        assert rules({"conftest.py": before}, {"conftest.py": before.replace("1", "3")}) == ["test-changed"]


class TestRunnerSettings:
    @pytest.mark.parametrize(
        ("path", "old", "new"),
        [
            (
                "pyproject.toml",
                "[tool.pytest.ini_options]\naddopts = '-q'\n",
                "[tool.pytest.ini_options]\naddopts = '-k x'\n",
            ),
            ("setup.cfg", "[metadata]\nname = x\n", "[metadata]\nname = x\n[tool:pytest]\naddopts = --deselect a\n"),
            ("tox.ini", "[pytest]\ntestpaths = tests\n", "[pytest]\ntestpaths = other\n"),
            ("package.json", '{"scripts": {"test": "jest"}}', '{"scripts": {"test": "true"}}'),
            ("package.json", '{"scripts": {"test:unit": "jest"}}', '{"scripts": {"test:unit": "true"}}'),
            (
                "package.json",
                '{"scripts": {"test": "jest"}, "jest": {"bail": 1}}',
                '{"scripts": {"test": "jest"}, "jest": {"bail": 0}}',
            ),
        ],
    )
    def test_in_files_that_hold_other_things_too(self, path: str, old: str, new: str) -> None:
        assert rules({path: old}, {path: new}) == ["!test-config", "manifest"]
        assert rules({path: old}, {path: "\n" + old}) == ["manifest"]

    @pytest.mark.parametrize("path", ["pytest.ini", "sub/jest.config.js", ".mocharc.yml", "src/setupTests.ts"])
    def test_in_files_of_their_own(self, path: str) -> None:
        assert rules({}, {path: "x\n"}) == ["!test-config"]
        assert rules({path: "x\n"}, {path: None}) == ["!test-config"]

    def test_that_cannot_be_read(self) -> None:
        assert "!test-config" in rules({"pyproject.toml": "a = 1\n"}, {"pyproject.toml": "a = \n"})
        assert "!test-config" in rules({"package.json": "{}"}, {"package.json": "[]"})


JS = "test('adds', () => {\n  expect(add(1, 1)).toBe(2);\n});\n"
GO = "func TestAdd(t *testing.T) {\n\tif add(1, 1) != 2 {\n\t\tt.Fatal()\n\t}\n}\n"


RUST = "#[test]\nfn adds() {\n    assert_eq!(add(1, 1), 2);\n}\n"


class TestOtherLanguages:
    def test_a_new_test_of_a_panic_is_no_test_that_is_expected_to_fail(self) -> None:
        more = RUST + "\n#[test]\n#[should_panic(expected = 'x')]\nfn panics() {\n    add(1, 0);\n}\n"
        assert rules({"tests/sum.rs": RUST}, {"tests/sum.rs": more}) == []

    @pytest.mark.parametrize("path", ["tests/data/a.png", "pkg/testdata/a.golden", "src/__snapshots__/a.test.js.snap"])
    @pytest.mark.parametrize(("old", "new"), [(b"\0\1", None), (b"a\n", None), (b"a\n", b"b\n")])
    def test_data_that_tests_read(self, path: str, old: bytes, new: bytes | None) -> None:
        ones = objections(tree({path: old}, {path: new}), [path] if is_test(path) else [], DEFAULT)
        assert [one.rule for one in ones] == ["test-changed"]

    @pytest.mark.parametrize(
        ("path", "old", "new", "rule"),
        [
            ("sum.test.js", JS, "", "!test-removed"),
            ("sum.test.js", JS, JS.replace("test(", "test.skip("), "!test-skipped"),
            ("sum.test.js", JS, JS.replace("adds", "sums"), "test-changed"),
            ("sum.test.js", JS, JS.replace("test('adds'", "later('adds'"), "!test-removed"),
            ("sum.test.js", JS, JS + "test.only('x', () => {});\n", "!test-skipped"),
            ("sum.test.js", JS, JS.replace("expect(add(1, 1)).toBe(2)", "add(1, 1)"), "test-weakened"),
            ("sum.test.js", JS, JS.replace("toBe(2)", "toBe(3)"), "test-changed"),
            ("sum.test.js", JS, JS + JS.replace("test(", "test.failing("), "!test-skipped"),
            ("tests/sum.rs", RUST, RUST.replace("fn ", "#[should_panic]\nfn "), "!test-skipped"),
            ("tests/sum.rs", RUST, "#[ignore = 'slow']\n" + RUST, "!test-skipped"),
            ("sum_test.go", GO, None, "!test-removed"),
            ("sum_test.go", GO, GO.replace("\tif", "\tt.Skip()\n\tif"), "!test-skipped"),
            ("sum_test.go", GO, GO.replace("t.Fatal()", ""), "test-weakened"),
        ],
    )
    def test_what_says_less(self, path: str, old: str, new: str | None, rule: str) -> None:
        assert rules({path: old}, {path: new}) == [rule]

    def test_what_is_only_added(self) -> None:
        assert rules({"sum.test.js": JS}, {"sum.test.js": JS + JS.replace("adds", "adds more")}) == []
        assert rules({"sum_test.go": GO}, {"sum_test.go": GO + GO.replace("TestAdd", "TestMore")}) == []
