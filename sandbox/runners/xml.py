"""Runners that write JUnit XML themselves: Maven and Gradle, PHPUnit, CTest."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from sandbox.port import Result
from sandbox.runners import junit
from sandbox.runners.base import Asked, Findings, Reporter, any_of, the

_JAVA_FILE = re.compile(r".*?(?:^|/)(?:java|kotlin|groovy|scala)/(?P<name>.+)\.(?:java|kt|groovy|scala)$")


class Maven(Reporter):
    """Surefire's and Failsafe's files. Ids are `package.Class#test`; a selected run of a test runs all its runs."""

    folders: tuple[str, ...] = ("surefire-reports", "failsafe-reports")

    def command(self, asked: Asked) -> str:
        found = " -o ".join(f"-path '*/{folder}/TEST-*.xml'" for folder in self.folders)
        # Set-up may have left reports of its own.
        return (
            f"find . -type f \\( {found} \\) -delete\n"
            f"{self.tests(asked)}\n"
            "code=$?\n"
            f"find . -type f \\( {found} \\) -print0 | "
            '{ n=0; while read -r -d "" file; do cp "$file" "$AGENT_FIX_OUT/$((n += 1)).xml"; done; }\n'
            'exit "$code"'
        )

    def tests(self, asked: Asked) -> str:
        """The command line without the gathering of reports."""
        options = ["--batch-mode", "--fail-at-end"]
        if asked.chosen:
            names = ",".join(java_name(test, "#") for test in asked.chosen)
            options += [f"-Dtest={names}", "-DfailIfNoTests=false", "-Dsurefire.failIfNoSpecifiedTests=false"]
        return f"{asked.recipe.test_command} {shlex.join([*options, *asked.recipe.tests])}"

    def read(self, asked: Asked, result: Result, files: Mapping[str, bytes]) -> Findings:
        return [
            (f"{case.classname}#{case.name}", case.outcome, case.message)
            for name in sorted(files)
            if name.endswith(".xml")
            for case in junit.cases(files[name])
        ]


class Gradle(Maven):
    """Gradle's files, of the same form."""

    folders = ("test-results/*",)

    def tests(self, asked: Asked) -> str:
        options = ["--continue", "--console=plain"]
        named = [word for test in asked.chosen for word in ("--tests", java_name(test, "."))]
        return f"{asked.recipe.test_command} {shlex.join([*options, *asked.recipe.tests, *named])}"


def java_name(test: str, mark: str) -> str:
    """A test or a test file as the build tools select it: without the parameters of one run."""
    if file := _JAVA_FILE.match(test):
        return file["name"].replace("/", ".")
    name, _, method = test.partition("#")
    method = re.split(r"[(\[{ ]", method, maxsplit=1)[0]
    return f"{name}{mark}{method}" if method else name


class Phpunit(Reporter):
    """PHPUnit. Ids are `Name\\Of\\Class::test`, with the data set where there is one."""

    def command(self, asked: Asked) -> str:
        files = [test for test in asked.chosen if "::" not in test]
        names = [test for test in asked.chosen if "::" in test]
        words = list(asked.recipe.tests)
        if len(files) == 1 and not names:  # it takes one file, not several
            words = files
        elif names and not files:
            words = ["--filter", f"/{any_of(names)}/", *words]
        return f'{asked.recipe.test_command} --log-junit "$AGENT_FIX_OUT/junit.xml" {shlex.join(words)}'

    def read(self, asked: Asked, result: Result, files: Mapping[str, bytes]) -> Findings:
        return [
            (f"{case.classname.replace('.', chr(92))}::{case.name}", case.outcome, case.message)
            for case in junit.cases(the(files, "junit.xml"))
        ]


class Ctest(Reporter):
    """CTest from CMake 3.21 on. Ids are its names."""

    def command(self, asked: Asked) -> str:
        words = ["--output-on-failure", *asked.recipe.tests]
        if asked.chosen:
            words += ["-R", any_of(asked.chosen)]
        return f'{asked.recipe.test_command} --output-junit "$AGENT_FIX_OUT/junit.xml" {shlex.join(words)}'

    def read(self, asked: Asked, result: Result, files: Mapping[str, bytes]) -> Findings:
        return [(case.name, case.outcome, case.message) for case in junit.cases(the(files, "junit.xml"))]
