"""The tools of the roles: looking, changing, trying, submitting. Which role has which is said in `roles.py`."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import BaseModel, ConfigDict, Field

from bot.publish.failures import is_right_reason, read_failure
from bot.team import trim
from bot.team.designs import code_of
from bot.team.desk import Desk, Tool, ToolRefused
from bot.team.roles import Challenge, Change, Plan, Reproduction, Review, Role, Solution, Submission, Writes
from repo_tools import edits
from repo_tools.search import BadPattern, Found
from repo_tools.syntax import syntax_error
from repo_tools.test_files import is_test
from repo_tools.tree import Tree
from sandbox.port import TestOutcome


class Arguments(BaseModel):
    """Arguments of a tool; an unknown one is an error."""

    model_config = ConfigDict(extra="forbid")


class Read(Arguments):
    """Show lines of a file, numbered."""

    path: str
    first: int = Field(default=1, ge=1)
    last: int | None = Field(default=None, description="default: 200 lines from first")


class Search(Arguments):
    """Search all files for a regular expression; answers path:line: text."""

    pattern: str = Field(min_length=1)
    glob: str = Field(default="", description="only paths that match, for example src/**/*.py")


class Outline(Arguments):
    """List the definitions of a file, or the files of a folder."""

    path: str


class Name(Arguments):
    """A name, dotted or not."""

    name: str = Field(min_length=1)


class FindDefinition(Name):
    """Find where a class, function, method or constant is defined."""


class FindReferences(Name):
    """Find where a name is used."""


class Replacement(Arguments):
    """One exact replacement."""

    old: str = Field(description="exact text, unique in the file, with its indentation; empty to add at the file's end")
    new: str


class Edit(Arguments):
    """Replace exact texts in a file. All of the replacements are made or none."""

    path: str
    edits: list[Replacement] = Field(min_length=1)


class Create(Arguments):
    """Create a new file."""

    path: str
    text: str


class Rename(Arguments):
    """Rename a file."""

    path: str
    to: str


class Delete(Arguments):
    """Delete a file."""

    path: str


class RunTests(Arguments):
    """Run the project's tests. Name test files or test ids (path::Class::test); none named means the whole suite."""

    tests: list[str] = Field(default=[], max_length=40)
    without_change: bool = Field(
        default=False, description="with the tests as changed, but all other files as at first"
    )


class Run(Arguments):
    """Run a shell command at the root of a copy of the repository; what it changes is thrown away."""

    command: str = Field(min_length=1)


def _read(desk: Desk, wanted: Read) -> str:
    try:
        return edits.read_lines(desk.tree, wanted.path, wanted.first, wanted.last or wanted.first + 199)
    except edits.EditRefused as refusal:
        raise ToolRefused(str(refusal)) from None


def _outline(desk: Desk, wanted: Outline) -> str:
    view, path = desk.effects.view(desk.tree), wanted.path.strip("/").removeprefix("./")
    if desk.tree.exists(path):
        lines = [f"{d.first_line}-{d.last_line} {d.kind} {d.name}: {d.signature}" for d in view.outline(path)]
        return trim.middle("\n".join(lines), trim.TOOL_RESULT) or "no definitions found in this file; read it"
    below = sorted(name for name in view.files() if path in ("", ".") or name.startswith(path + "/"))
    if not below:
        raise ToolRefused(f"there is no file or folder {wanted.path!r}.")
    return trim.middle("\n".join(below), trim.TOOL_RESULT)


def _search(desk: Desk, wanted: Search) -> str:
    try:
        found = desk.effects.view(desk.tree).search(wanted.pattern, wanted.glob or "**", limit=80)
    except BadPattern as error:
        raise ToolRefused(str(error)) from None
    return _lines(found) or "nothing found"


def _lines(found: Found) -> str:
    lines = [f"{hit.path}:{hit.line}: {hit.text.rstrip()[:200]}" for hit in found.lines]
    more = "" if found.complete or not lines else "\n[there is more: narrow the search]"
    return trim.middle("\n".join(lines), trim.TOOL_RESULT) + more


def _find_definition(desk: Desk, wanted: FindDefinition) -> str:
    found = desk.effects.view(desk.tree).find_definition(wanted.name)[:40]
    lines = [f"{path}:{d.first_line}-{d.last_line} {d.kind} {d.name}: {d.signature}" for path, d in found]
    return "\n".join(lines) or f"no definition of {wanted.name!r} found; search for it"


def _find_references(desk: Desk, wanted: FindReferences) -> str:
    found = desk.effects.view(desk.tree).find_references(wanted.name, limit=60)
    return _lines(found) or f"no use of {wanted.name!r} found; search for it"


def _allow(desk: Desk, *paths: str) -> None:
    for path in paths:
        test = is_test(path)
        if desk.role.writes is Writes.CODE and test:
            raise ToolRefused(f"{path} is a test file, and tests are the tester's. Change the code alone.")
        if desk.role.writes is Writes.TESTS and not test:
            raise ToolRefused(f"{path} is not a test file, and you may write tests alone. Report a fault of the code.")
        if desk.role.writes is Writes.NOTHING:
            raise ToolRefused("your role cannot change files.")


def _changed(desk: Desk, make: Callable[[Tree], Tree], done: str) -> str:
    try:
        desk.tree = make(desk.tree)
    except edits.EditRefused as refusal:
        raise ToolRefused(str(refusal)) from None
    return done


def _edit(desk: Desk, wanted: Edit) -> str:
    _allow(desk, wanted.path)
    pairs = [(one.old, one.new) for one in wanted.edits]
    return _changed(
        desk,
        lambda tree: edits.apply_edits(tree, wanted.path, pairs, syntax_error=syntax_error),
        f"done: {len(pairs)} replacement{'s' * (len(pairs) > 1)} in {wanted.path}",
    )


def _create(desk: Desk, wanted: Create) -> str:
    _allow(desk, wanted.path)
    wrong = syntax_error(wanted.path, wanted.text.encode("utf-8", "replace"))
    if wrong is not None:
        raise ToolRefused(f"{wanted.path} would not parse: {wrong}. Nothing was created.")
    return _changed(desk, lambda tree: edits.create(tree, wanted.path, wanted.text), f"done: created {wanted.path}")


def _rename(desk: Desk, wanted: Rename) -> str:
    _allow(desk, wanted.path, wanted.to)
    return _changed(
        desk, lambda tree: edits.rename(tree, wanted.path, wanted.to), f"done: {wanted.path} is {wanted.to}"
    )


def _delete(desk: Desk, wanted: Delete) -> str:
    _allow(desk, wanted.path)
    return _changed(desk, lambda tree: edits.delete(tree, wanted.path), f"done: deleted {wanted.path}")


def _run(desk: Desk, wanted: Run) -> str:
    result = desk.effects.run(desk.agent, desk.tree, wanted.command)
    if desk.role.writes is Writes.NOTHING:
        desk.unmet.append("you have not seen yet what your command said")
    elif result.exit_code != 0 and not desk.role.red:
        desk.unmet.append("a command did not end with exit code 0")
    return trim.of_run(result)


def _run_tests(desk: Desk, wanted: RunTests) -> str:
    if wanted.without_change:
        bare = desk.tree.only({path for path in desk.tree.patch.files if is_test(path)})
        report = desk.effects.test(desk.agent, bare, tuple(wanted.tests), "asked for by the role, without the change")
        return trim.of_tests(report, desk.known_bad)
    report = desk.effects.test(desk.agent, desk.tree, tuple(wanted.tests), "asked for by the role")
    fresh = report.having(TestOutcome.FAILED, TestOutcome.ERROR) - desk.known_bad
    desk.tested = (desk.tree, {test: report.messages.get(test, "") for test in sorted(fresh)})
    if desk.role.writes is Writes.NOTHING:
        desk.unmet.append("you have not seen yet what the tests said")
    elif not desk.role.red and (fresh or not report.tests):
        desk.unmet.append("the tests did not pass")
    return trim.of_tests(report, desk.known_bad)


def _see_that_tests_reproduce(desk: Desk, reason: str) -> None:
    """Raises `ToolRefused` unless the tests as they are now were seen to fail, for the reason that is given."""
    if desk.tested is None or desk.tested[0] != desk.tree:
        raise ToolRefused("not taken: you did not run the tests as they are now. Tests that reproduce an issue fail.")
    failures = [read_failure(text) for text in desk.tested[1].values()]
    if not failures:
        raise ToolRefused("not taken: no test failed. Tests that reproduce an issue fail before it is solved.")
    # Told once: where it cannot be helped, as for a new name that the issue leaves open, the verdict says so.
    if not desk.asked_why and not any(is_right_reason(one, f"{desk.issue}\n{reason}") for one in failures):
        desk.asked_why = True
        raise ToolRefused(
            f"not taken: the tests fail with `{failures[0].gist}`, which neither the issue nor your reason names. If "
            "the issue is about that, name it in `reason` and say why; if not, they show something else: mend them."
        )


TOOLS = {
    tool.name: tool
    for tool in (
        Tool("read", Read, _read),
        Tool("search", Search, _search),
        Tool("outline", Outline, _outline),
        Tool("find_definition", FindDefinition, _find_definition),
        Tool("find_references", FindReferences, _find_references),
        Tool("edit", Edit, _edit),
        Tool("create", Create, _create),
        Tool("rename", Rename, _rename),
        Tool("delete", Delete, _delete),
        Tool("run_tests", RunTests, _run_tests),
        Tool("run", Run, _run),
    )
}


def tools_of(role: Role) -> dict[str, Tool]:
    """The tools of a role by name, with its own `submit` last."""
    return {name: TOOLS[name] for name in role.tools} | {"submit": Tool("submit", role.submits, _submit)}


def _submit(desk: Desk, wanted: Submission) -> str:
    if desk.unmet:
        raise ToolRefused(
            f"not taken, because in this reply {' and '.join(dict.fromkeys(desk.unmet))}. Look at it; mend it, or "
            "submit again if it is as it should be."
        )
    changed = bool(desk.tree.patch)
    if isinstance(wanted, Change) and not (code_of(desk.tree).patch or wanted.plan_fault or wanted.wrong_tests):
        raise ToolRefused(
            "nothing is changed yet. Make the change first, or say in plan_fault why the plan is wrong, or in "
            "wrong_tests why a new test is."
        )
    if isinstance(wanted, Solution) and changed != (wanted.decision == "change"):
        raise ToolRefused(f"files are {'' if changed else 'not '}changed, but your decision is {wanted.decision}.")
    if isinstance(wanted, Review) and not any(is_test(path) for path in desk.tree.patch.files):
        raise ToolRefused("there is no new test yet. Write the tests and run them before you submit.")
    if isinstance(wanted, Reproduction) and (wanted.decision == "reproduced") != changed:
        raise ToolRefused(f"there are {'' if changed else 'no '}new tests, but your decision is {wanted.decision}.")
    if isinstance(wanted, Reproduction) and desk.tree.patch != desk.began.patch:
        _see_that_tests_reproduce(desk, wanted.reason)
    if isinstance(wanted, Challenge) and wanted.verdict == "refuted" and not wanted.counterexample:
        raise ToolRefused("to refute the change, give the counterexample that you executed.")
    if isinstance(wanted, Plan) and wanted.decision == "change" and not wanted.subtasks:
        raise ToolRefused("a plan for a change needs at least one subtask with the regions that it touches.")
    objection = desk.objection(wanted, desk.tree)
    if objection:
        raise ToolRefused(objection)
    desk.submitted = wanted
    return "taken"
