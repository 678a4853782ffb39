"""Recipes for Ruby: Bundler, with RSpec or Minitest."""

from __future__ import annotations

import re

from sandbox.detect.files import Files, below
from sandbox.port import Recipe

EACH_FILE = """ruby -Ilib -Itest -e 'Dir["./test/**/{test_*,*_test}.rb"].sort.each { |file| require file }' -- -v"""


def detect(files: Files, folder: str, base_image: str) -> list[Recipe]:
    """A recipe for the Ruby project in `folder`: with its Gemfile, or with Debian's own gems."""
    prefix = "" if folder == "." else folder + "/"
    specs = files.glob(prefix + "spec/*_spec.rb")
    units = files.glob(prefix + "test/*_test.rb", prefix + "test/*test_*.rb")
    bundled = files.has(below(folder, "Gemfile"))
    if not specs and not units:
        return []
    start = "bundle exec " if bundled else ""
    rake = _has_test_task(files, folder)
    if specs:
        command, reporter, tests, why = f"{start}rspec", "rspec", (), "the folder spec"
    elif files.has(below(folder, "bin/rails")):
        command, reporter, tests, why = f"{start}rails test", "minitest", (), "bin/rails"
    elif rake:
        command, reporter, tests, why = f"{start}rake test", "minitest", (), "Rakefile: test"
    else:
        command, reporter, tests, why = start + EACH_FILE, "minitest", (), "the folder test"
    debian = ("ruby-rspec",) if specs else ("ruby-minitest", "rake")
    return [
        Recipe(
            base_image,
            setup=("bundle config set --local path ~/gems", "bundle install --jobs 2") if bundled else (),
            test_command=command,
            reporter=reporter,
            tests=tests,
            packages=("ruby", "ruby-dev", "bundler", "build-essential") if bundled else ("ruby", *debian),
            workdir=folder,
            env={"BUNDLE_WITHOUT": "production:deployment"} if bundled else {},
            sources={
                "setup": below(folder, "Gemfile") if bundled else "Debian's own gems: there is no Gemfile",
                "test_command": why,
                "base_image": "the default",
            },
        )
    ]


def _has_test_task(files: Files, folder: str) -> bool:
    text = files.text(below(folder, "Rakefile"))
    return bool(re.search(r"TestTask|Minitest::TestTask|task\s*:?['\"]?test\b", text))
