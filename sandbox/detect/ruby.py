"""Recipes for Ruby: Bundler, or else Debian's own gems, with RSpec, Minitest or test-unit."""

from __future__ import annotations

import re
from dataclasses import replace

from sandbox.detect.files import Files, below
from sandbox.port import Recipe

NAMES = ("test_*", "*_test", "spec_*", "*_spec")
EACH_FILE = (
    f"""ruby -Ilib -Itest -e 'Dir["./test/**/{{{",".join(NAMES)}}}.rb"].sort.each {{ |file| require file }}' -- -v"""
)
BESIDE = re.compile(
    r"(rubocop|simplecov|coveralls|codecov|codeclimate|yard|pry|byebug|debug|guard|rdoc|redcarpet|ronn|kramdown|steep|rbs"
    r"|sorbet|appraisal|benchmark|bundler|rake\b|ruby-lsp|solargraph|github_changelog|gem-release|overcommit|standard)"
)
"""Gems that look at code or publish it: no test needs them."""
PACKAGES = {"rspec": "ruby-rspec", "rails": "rails", "rake": "rake"}


def detect(files: Files, folder: str, base_image: str) -> list[Recipe]:
    """Recipes for the Ruby project in `folder`: with its Gemfile, then with the gems that Debian has."""
    prefix = "" if folder == "." else folder + "/"
    specs = files.glob(prefix + "spec/*_spec.rb")
    units = files.glob(*(f"{prefix}test/{place}{name}.rb" for place in ("", "*/") for name in NAMES))
    if not specs and not units:
        return []
    command, reporter, why = _suite(files, folder, specs, units)
    gemfile = below(folder, "Gemfile")
    runner = {"rspec": "ruby-rspec", "test-unit": "ruby-test-unit", "minitest": "ruby-minitest"}[reporter]
    debian = Recipe(
        base_image,
        setup=(),
        test_command=command,
        reporter=reporter,
        packages=tuple(dict.fromkeys(["ruby", "rake", "bundler", runner, *_gems(files, folder)])),
        workdir=folder,
        sources={"setup": "the gems that Debian has", "test_command": why, "base_image": "the default"},
    )
    alone = replace(
        debian, test_command=EACH_FILE, sources={**debian.sources, "test_command": "the folder test, file by file"}
    )
    others = [debian, *([alone] if "rake" in command else [])]
    if not files.has(gemfile):
        return others
    bundled = replace(
        debian,
        setup=("bundle config set --local path ~/gems", "bundle install --jobs 2"),
        test_command=f"bundle exec {command}",
        packages=("ruby", "ruby-dev", "bundler", "build-essential"),
        env={"BUNDLE_WITHOUT": "production:deployment"},
        sources={**debian.sources, "setup": gemfile},
    )
    return [bundled, *others]


def _suite(files: Files, folder: str, specs: list[str], units: list[str]) -> tuple[str, str, str]:
    """The command of the whole suite, its reporter, and why."""
    if specs:
        return "rspec", "rspec", "the folder spec"
    texts = [files.text(path) for path in [*files.glob(below(folder, "test/*helper.rb")), *units[:40]]]
    old = any(re.search(r"""require ['"]test[/-]unit|Test::Unit::TestCase""", text) for text in texts)
    reporter = "test-unit" if old else "minitest"
    if files.has(below(folder, "bin/rails")):
        return "rails test", reporter, "bin/rails"
    if _has_test_task(files, folder):
        return "rake test", reporter, "Rakefile: test"
    return EACH_FILE, reporter, "the folder test"


def _gems(files: Files, folder: str) -> list[str]:
    """Debian's names of the gems that the project names; what Debian does not have is left out after the first try."""
    prefix = "" if folder == "." else folder + "/"
    text = "\n".join(files.text(path) for path in [prefix + "Gemfile", *files.glob(prefix + "*.gemspec")])
    named = re.findall(r"""^\s*(?:gem|\w+\.add_(?:\w+_)?dependency)[ (]+['"]([\w.-]+)['"]""", text, re.MULTILINE)
    kept = [name for name in dict.fromkeys(named) if not BESIDE.match(name)]
    return [PACKAGES.get(name, f"ruby-{name.lower().replace('_', '-')}") for name in kept]


def _has_test_task(files: Files, folder: str) -> bool:
    text = files.text(below(folder, "Rakefile"))
    return bool(re.search(r"TestTask|Minitest::TestTask|task\s*:?['\"]?test\b", text))
