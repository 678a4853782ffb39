"""What was agreed on between agents, and whether a text keeps it: signatures, and which names a file may gain."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from bot.team.organization.spans import CONTAINERS, Span, lines_of, outline, text_of
from repo_tools import python_code
from repo_tools.symbols import Definition
from repo_tools.tree import Tree

DEFINING = CONTAINERS | {"function", "method", "type", "macro"}
"""Kinds of definitions that somebody has to have agreed on. Variables and constants go with the code around them."""
PYTHON = (".py", ".pyi", ".pyw")


def signature_fault(path: str, span: Span, signature: str) -> str:
    """Why a text is no signature of what a span names; empty if it is one, or nobody can tell."""
    if not path.endswith(PYTHON):
        return ""
    node = _parsed(signature)
    if node is None:
        return f"the signature of {span} does not parse: write it as `def name(arguments) -> type`, without a body."
    if getattr(node, "name", "") != span.last_name:
        return f"the signature of {span} is one of {getattr(node, 'name', '')!r}."
    return ""


def broken(tree: Tree, span: Span, agreed: str) -> str:
    """How the definition in `tree` differs from the signature that was agreed on; empty if it does not."""
    now = signature_in(tree, span)
    if now is None:
        return f"{span} is not defined."
    if same_signature(span.path, now, agreed):
        return ""
    return f"{span} was agreed on as `{agreed.strip()}` and is `{now}`."


def signature_in(tree: Tree, span: Span) -> str | None:
    """The signature of a definition, as one line; None if it is not there."""
    found = [one for one in outline(tree, span.path) if one.name == span.name]
    if not found:
        return None
    if span.path.endswith(PYTHON):
        node = _parsed("\n".join(line for line in _dedented(text_of(tree, span))))
        if node is not None:
            return _head(node)
    return found[-1].signature


def same_signature(path: str, one: str, other: str) -> bool:
    """Whether two signatures say the same. A result's type that only one of them names is no difference."""
    if path.endswith(PYTHON):
        left, right = _parsed(one), _parsed(other)
        if left is None or right is None:
            return _squeezed(one) == _squeezed(other)
        if isinstance(left, ast.ClassDef) or isinstance(right, ast.ClassDef):
            return _head(left) == _head(right)
        both = left.returns is not None and right.returns is not None
        same_result = not both or ast.dump(left.returns or left) == ast.dump(right.returns or right)
        return type(left) is type(right) and _arguments(left) == _arguments(right) and same_result
    return _squeezed(one) == _squeezed(other)


def skeleton(tree: Tree, path: str, signatures: Mapping[Span, tuple[str, str]]) -> Mapping[Span, str]:
    """Span -> the text that stands for it before there is a body: an agreed signature with its specification in it.

    What is there already keeps its body under the new signature. For Python alone.
    """
    made = {}
    for span, (agreed, spec) in signatures.items():
        if span.path != path or not path.endswith(PYTHON) or _parsed(agreed) is None:
            continue
        old = text_of(tree, span)
        head = agreed.strip().rstrip(":") + ":"
        if old:
            body = _under(head, old)
            if body:
                made[span] = body
        else:
            said = spec.replace("\\", "\\\\").replace('"""', "'''")
            made[span] = "\n".join([head, *(f"    {line}" for line in f'"""{said}"""'.split("\n"))])
    return made


def _under(head: str, old: str) -> str:
    """A function's old text with a new head; empty if it cannot be told where the head ends."""
    lines = _dedented(old)
    try:
        node = python_code.module("\n".join(lines)).body[0]
    except (SyntaxError, ValueError, IndexError):
        return ""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.body[0].lineno <= node.lineno:
        return ""
    return "\n".join([*lines[: node.lineno - 1], head, *lines[node.body[0].lineno - 1 :]])


def new_names(before: Tree, after: Tree, paths: Collection[str]) -> Iterator[Span]:
    """What files define now and did not before; members of what is new are not told apart."""
    yield from _gained(before, after, paths)


def lost_names(before: Tree, after: Tree, paths: Collection[str]) -> Iterator[Span]:
    """What files defined and do not define now."""
    yield from _gained(after, before, paths)


def _gained(old: Tree, new: Tree, paths: Collection[str]) -> Iterator[Span]:
    for path in sorted(paths):
        known = {one.name for one in outline(old, path)}
        fresh: set[str] = set()
        for one in outline(new, path):
            if one.kind in DEFINING and one.name not in known and not _within(one, fresh):
                fresh.add(one.name)
                yield Span(path, one.name)


def _within(one: Definition, names: Collection[str]) -> bool:
    return any(one.name.startswith(f"{name}.") for name in names)


def defined_twice(tree: Tree, spans: Sequence[Span]) -> list[Span]:
    """Those of the spans whose name has more than one definition that stands apart in its file."""
    found = []
    for span in spans:
        at = [one for one in outline(tree, span.path) if one.name == span.name]
        lines = lines_of(tree, span.path) or []
        apart = [
            other
            for one, other in itertools.pairwise(at)
            if "".join(lines[one.last_line : other.first_line - 1]).strip()
        ]
        if apart:
            found.append(span)
    return found


def used(tree: Tree, span: Span, paths: Collection[str]) -> bool:
    """Whether the name of a definition stands anywhere in `paths` outside of that definition."""
    word = re.compile(rf"(?<!\w){re.escape(span.last_name)}(?!\w)")
    for path in paths:
        lines = lines_of(tree, path) or []
        if path == span.path:
            for one in reversed([one for one in outline(tree, path) if one.name == span.name]):
                lines = [*lines[: one.first_line - 1], *lines[one.last_line :]]
        if any(word.search(line) for line in lines):
            return True
    return False


def _dedented(text: str) -> list[str]:
    lines = text.split("\n")
    indent = len(lines[0]) - len(lines[0].lstrip())
    return [line[indent:] if not line[:indent].strip() else line for line in lines]


def _parsed(signature: str) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | None:
    text = signature.strip()
    for candidate in (text, text.rstrip(":") + ": pass", text + "\n    pass"):
        try:
            body = python_code.module(candidate).body
        except (SyntaxError, ValueError):
            continue
        # Of several, such as a property's getter and setter, the last one counts.
        if body and isinstance(body[-1], ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return body[-1]
    return None


def _arguments(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    return ast.unparse(node.args)


def _head(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(ast.unparse(one) for one in [*node.bases, *node.keywords])
        return f"class {node.name}({bases})" if bases else f"class {node.name}"
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{word} {node.name}({ast.unparse(node.args)}){result}"


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text).rstrip("{:;=")
