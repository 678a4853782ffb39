"""One small project for each runner whose results are read: tests that pass, fail, are skipped, cannot be loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sandbox.detect import jvm
from sandbox.detect.files import Files as Detected
from sandbox.port import Recipe
from sandbox.settings import SandboxSettings
from tests.sandbox.snapshots import Files


@dataclass(frozen=True)
class Project:
    """Its files, and its recipe."""

    files: Mapping[str, str | tuple[bytes, int]]
    recipe: Recipe
    selections: tuple[tuple[str, ...], ...] = field(default=())
    """What else to run: each as a run of its own."""
    watch: tuple[str, ...] = ()
    """The files whose lines are to be told."""


def _recipe(**values: object) -> Recipe:
    return Recipe(**{"base_image": SandboxSettings.base_image, "setup": (), **values})  # type: ignore[arg-type]


JAVA = {
    "src/test/java/org/SumsTest.java": (
        "package org;\nimport org.junit.*;\npublic class SumsTest {\n"
        '  @Test public void adds() { Assert.assertEquals("seen", 3, 1 - 2); }\n'
        "  @Test public void keepsZero() { }\n  @Ignore @Test public void later() { }\n"
        '  @Test public void breaks() { throw new IllegalStateException("odd"); }\n}\n'
    ),
    "src/test/java/org/NewTest.java": (
        "package org;\nimport org.junit.jupiter.api.*;\nclass NewTest {\n  @Test void holds() { }\n}\n"
    ),
    "src/test/java/org/LackingTest.java": "package org;\nimport com.nobody.Thing;\nclass LackingTest { }\n",
    "src/main/java/org/Sums.java": "package org;\npublic class Sums { }\n",
    "pom.xml": "<project><artifactId>sums</artifactId></project>\n",
}

PROJECTS = {
    "node": Project(
        {
            "package.json": '{"name": "x", "version": "1.0.0"}',
            "test/a.test.js": (
                "const test = require('node:test'); const assert = require('node:assert');\n"
                "const { describe, it } = test;\n"
                "test('passes', () => {});\n"
                "test('fails # at > odd', () => { assert.strictEqual(1, 2); });\n"
                "test('is skipped', { skip: 'why' }, () => {});\n"
                "test('is to do', { todo: true }, () => { assert.ok(false); });\n"
                "describe('suite', () => {\n"
                "  it('inner', () => {});\n"
                "  it('inner that fails', () => { throw new Error('two\\nlines'); });\n"
                "  describe('deep', () => { it('deeper', () => {}); });\n"
                "});\n"
            ),
            "test/b.test.js": "require('node:test')('passes', () => {});\n",
            "test/broken.test.js": "require('./nothing-here');\n",
        },
        _recipe(packages=("nodejs",), test_command="node --test", reporter="node", tests=("test/",)),
        (("test/b.test.js::passes",), ("test/b.test.js",)),
    ),
    "tap": Project(
        {
            "run.sh": (
                "echo 'TAP version 13'\necho '1..5'\necho 'ok 1 - plain'\necho 'not ok 2 - fails'\n"
                "echo '  ---'\necho '  message: seen'\necho '  ...'\necho 'ok 3 - left # SKIP no reason'\n"
                "echo 'not ok 4 later # TODO soon'\necho 'ok 5'\nfor name; do echo \"ok 6 - $name\"; done\nexit 1\n"
            )
        },
        _recipe(test_command="sh run.sh", reporter="tap"),
        (("a $(b)",),),
    ),
    "go": Project(
        {
            "go.mod": "module example.org/sums\n\ngo 1.19\n",
            "sums.go": "package sums\n\nfunc Add(a, b int) int { return a - b }\n",
            "sums_test.go": (
                'package sums\n\nimport "testing"\n\n'
                'func TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal("wrong sum")\n\t}\n}\n'
                'func TestZero(t *testing.T) {\n\tfor _, name := range []string{"a b", "c/d"} {\n'
                "\t\tt.Run(name, func(t *testing.T) {})\n\t}\n}\n"
                'func TestSkip(t *testing.T) { t.Skip("later") }\n'
            ),
            "broken/broken_test.go": 'package broken\n\nimport "testing"\n\nfunc TestA(t *testing.T) { nothing() }\n',
            "crash/crash_test.go": (
                'package crash\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestA(t *testing.T) { os.Exit(3) }\n'
            ),
            "empty/empty.go": "package empty\n",
        },
        _recipe(packages=("golang-go",), test_command="go test", reporter="go", tests=("./...",)),
        (("example.org/sums::TestZero/a_b", "example.org/sums::TestSkip"), ("broken/broken_test.go",)),
    ),
    "cargo": Project(
        {
            "Cargo.toml": '[package]\nname = "sums"\nversion = "0.1.0"\nedition = "2021"\n',
            "src/lib.rs": (
                "/// ```\n/// assert_eq!(sums::add(1, 0), 1);\n/// ```\npub fn add(a: i32, b: i32) -> i32 { a - b }\n"
                "#[cfg(test)]\nmod tests {\n    use super::add;\n"
                "    #[test]\n    fn zero() { assert_eq!(add(1, 0), 1); }\n"
                '    #[test]\n    fn sum() { println!("seen"); assert_eq!(add(1, 2), 3); }\n'
                "    #[test]\n    #[ignore]\n    fn later() {}\n"
                "    #[test]\n    #[should_panic]\n    fn panics() { panic!() }\n}\n"
            ),
            "tests/whole.rs": "#[test]\nfn zero() { assert_eq!(sums::add(1, 0), 1); }\n",
        },
        _recipe(packages=("cargo",), test_command="cargo test --offline", reporter="cargo"),
        (("src/lib.rs::tests::zero",), ("tests/whole.rs",)),
    ),
    "ctest": Project(
        {
            "CMakeLists.txt": (
                "cmake_minimum_required(VERSION 3.21)\nproject(sums NONE)\nenable_testing()\n"
                'add_test(NAME passes COMMAND true)\nadd_test(NAME "fails+(1)" COMMAND sh -c "echo seen; false")\n'
                'add_test(NAME left COMMAND sh -c "exit 77")\n'
                "set_tests_properties(left PROPERTIES SKIP_RETURN_CODE 77)\n"
            )
        },
        _recipe(
            packages=("cmake", "make"),
            setup=("cmake -S . -B build",),
            test_command="ctest --test-dir build",
            reporter="ctest",
        ),
        (("fails+(1)",),),
    ),
    "rspec": Project(
        {
            "spec/sums_spec.rb": (
                "describe 'Sums' do\n  it('adds') { expect(1 - 2).to eq 3 }\n  it('keeps zero') { expect(1).to eq 1 }\n"
                "  it 'is to come'\n  context \"when $(odd)\" do\n    it('is \"fine\"') { }\n  end\nend\n"
            ),
            "spec/other_spec.rb": "describe('Other') { it('passes') {} }\n",
            "broken/broken_spec.rb": "require 'nothing_here'\n",
        },
        _recipe(packages=("ruby-rspec",), test_command="rspec", reporter="rspec", tests=("spec",)),
        (('spec/sums_spec.rb::Sums when $(odd) is "fine"',), ("broken/broken_spec.rb",)),
    ),
    "minitest": Project(
        {
            "Rakefile": "require 'rake/testtask'\nRake::TestTask.new { |t| t.pattern = 'test/*_test.rb' }\n",
            "test/sums_test.rb": (
                "require 'minitest/autorun'\nclass SumsTest < Minitest::Test\n"
                "  def test_add; assert_equal 3, 1 - 2; end\n"
                "  def test_zero; assert true; end\n  def test_error; raise 'seen'; end\n"
                "  def test_later; skip 'why'; end\nend\n"
            ),
        },
        _recipe(packages=("rake", "ruby-minitest"), test_command="rake test", reporter="minitest"),
        (("SumsTest#test_zero",),),
    ),
    "test-unit": Project(
        {
            "Rakefile": "require 'rake/testtask'\nRake::TestTask.new { |t| t.pattern = 'test/test_*.rb' }\n",
            "test/test_sums.rb": (
                "require 'test/unit'\nclass TestSums < Test::Unit::TestCase\n"
                "  def test_add; assert_equal 3, 1 - 2, 'sums'; end\n  def test_zero; assert true; end\n"
                "  def test_error; raise 'seen'; end\n  def test_later; omit 'why'; end\n"
                "  def test_pending; pend 'todo'; end\n  def test_prints; puts 'noise: (1.0)'; print 'x'; end\n"
                "  test 'in: words' do assert true end\n  data('one' => 1)\n  def test_data(v); assert v; end\n"
                "  sub_test_case('inner') { def test_in; assert true; end }\nend\n"
                "class TestMore < TestSums\n  def test_more; assert true; end\nend\n"
            ),
        },
        _recipe(packages=("rake", "ruby-test-unit"), test_command="rake test", reporter="test-unit"),
        (("TestSums#test_zero", "inner#test_in"),),
    ),
    "automake": Project(
        {
            "configure.ac": (
                "AC_INIT([sums], [1])\nAM_INIT_AUTOMAKE([foreign])\n"
                "AC_CONFIG_FILES([Makefile inner/Makefile])\nAC_OUTPUT\n"
            ),
            "Makefile.am": "SUBDIRS = . inner\nTESTS = passes fails left broken\nXFAIL_TESTS = broken\n",
            "inner/Makefile.am": "TESTS = passes hard\n",
            **{
                name: (f"#!/bin/sh\n{text}\n".encode(), 0o100755)
                for name, text in {
                    "passes": "exit 0",
                    "fails": "echo seen; exit 1",
                    "left": "exit 77",
                    "broken": "exit 1",
                    "inner/passes": "exit 0",
                    "inner/hard": "exit 99",
                }.items()
            },
        },
        _recipe(
            packages=("automake", "make"),
            setup=("autoreconf --install", "./configure"),
            test_command="make check",
            reporter="automake",
        ),
    ),
    "meson": Project(
        {
            "meson.build": (
                "project('sums')\nsh = find_program('sh')\ntest('passes', sh, args: ['-c', 'exit 0'])\n"
                "test('fails $(b)', sh, args: ['-c', 'echo seen; exit 1'], suite: 'odd')\n"
                "test('left', sh, args: ['-c', 'exit 77'])\n"
                "test('points', sh, args: ['-c', 'echo 1..2; echo ok 1 one; echo not ok 2 two'], protocol: 'tap')\n"
            )
        },
        _recipe(
            packages=("meson",),
            setup=("meson setup ~/build",),
            test_command="meson test -C ~/build",
            reporter="meson",
        ),
        (("fails $(b)",),),
    ),
    "junit-console": Project(
        JAVA,
        jvm.detect(Detected(Files(JAVA)), ".", SandboxSettings.base_image)[-1],
        (("org.SumsTest#keepsZero",), ("src/test/java/org/NewTest.java",)),
    ),
    "phpunit": Project(
        {
            "tests/SumsTest.php": (
                "<?php\nnamespace Tests;\nuse PHPUnit\\Framework\\TestCase;\nclass SumsTest extends TestCase {\n"
                "  public function testAdd() { $this->assertSame(3, 1 - 2); }\n"
                "  public function testZero() { $this->assertTrue(true); }\n"
                "  public function testLater() { $this->markTestSkipped('why'); }\n"
                "  public function testError() { throw new \\Exception('seen'); }\n"
                "  /** @dataProvider pairs */\n  public function testPair($a) { $this->assertNotNull($a); }\n"
                "  public static function pairs() { return [['x'], 'named (set)' => ['y']]; }\n}\n"
            ),
            "tests/OtherTest.php": (
                "<?php\nclass OtherTest extends PHPUnit\\Framework\\TestCase {\n"
                "  public function testPasses() { $this->assertTrue(true); }\n}\n"
            ),
        },
        _recipe(packages=("phpunit",), test_command="phpunit", reporter="phpunit", tests=("tests",)),
        (('Tests\\SumsTest::testPair with data set "named (set)"',), ("tests/OtherTest.php",)),
    ),
    **{
        name: Project(
            {
                "package.json": '{"name": "x", "version": "1.0.0"}',
                "test/a.test.js": (
                    f"{start}describe('suite (a)', () => {{\n  it('passes', () => {{}});\n"
                    "  it('fails $(b)', () => { throw new Error('seen'); });\n  it.skip('is skipped', () => {});\n});\n"
                    "it('alone', () => {});\n"
                ),
                "test/b.test.js": f"{start}it('alone', () => {{}});\n",
                "broken/broken.test.js": f"{start}import './nothing-here.js';\n"
                if name == "vitest"
                else "require('./no');\n",
            },
            _recipe(
                packages=("nodejs", "npm"),
                setup=(f"npm install --no-audit --no-fund --loglevel=error {package}",),
                test_command=command,
                reporter=name,
                tests=tests,
            ),
            (
                ("test/a.test.js::" + join.join(["suite (a)", "fails $(b)"]),),
                ("test/b.test.js", "broken/broken.test.js"),
            ),
        )
        for name, package, command, tests, start, join in (
            ("jest", "jest@29", "npx jest", ("test",), "", " "),
            ("mocha", "mocha@10", "npx mocha", ("test/*.js",), "", " "),
            ("vitest", "vitest@1", "npx vitest run", ("test",), "import { describe, it } from 'vitest';\n", " "),
        )
    },
}

_HALF = (
    "/* \u00e9\U0001f600 a comment */\n"
    "function half(number) {\n"
    "  if (number > 10) {\n"
    "    return number / 2;\n"
    "  }\n"
    "  const never = () => {\n"
    "    return 0;\n"
    "  };\n"
    "  return number;\n"
    "}\n"
    "module.exports = { half };\n"
)
_NODE_TEST = "const { half } = require('../lib/half.js');\nrequire('node:test')('small', () => { half(4); });\n"
_JEST_TEST = "const { half } = require('../lib/half.js');\ntest('small', () => { half(4); });\n"

WATCHED = {
    "lines-node": Project(
        {"package.json": '{"name": "x"}', "lib/half.js": _HALF, "test/half.test.js": _NODE_TEST},
        _recipe(packages=("nodejs",), test_command="node --test", reporter="node", tests=("test/",)),
        watch=("lib/half.js",),
    ),
    "lines-jest": Project(
        {"package.json": '{"name": "x"}', "lib/half.js": _HALF, "test/half.test.js": _JEST_TEST},
        _recipe(
            packages=("nodejs", "npm"),
            setup=("npm install --no-save --no-audit --no-fund jest@29",),
            test_command="npx jest",
            reporter="jest",
            tests=("test",),
        ),
        watch=("lib/half.js",),
    ),
    "lines-go": Project(
        {
            "go.mod": "module example.org/sums\n\ngo 1.19\n",
            "half/half.go": (
                "package half\n\n// Half is a comment.\nfunc Half(number int) int {\n\tif number > 10 {\n"
                "\t\treturn number / 2\n\t}\n\treturn number\n}\n\nfunc Never() int {\n\treturn 0\n}\n"
            ),
            "half/half_test.go": 'package half\n\nimport "testing"\n\nfunc TestHalf(t *testing.T) { Half(4) }\n',
        },
        _recipe(packages=("golang-go",), test_command="go test", reporter="go", tests=("./...",)),
        (("example.org/sums/half::TestHalf",),),
        watch=("half/half.go",),
    ),
}
"""The same, for the lines that ran."""
