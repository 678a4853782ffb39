"""Whether a skeleton can be imported: its interfaces in their files, before there are bodies. For Python."""

from __future__ import annotations

import json

from bot.team.organization.assembly import Piece, assemble
from bot.team.organization.interfaces import PYTHON, skeleton
from bot.team.organization.roles import Skeleton
from bot.team.organization.spans import Span, parse
from repo_tools.tree import Tree

PROGRAM = """
import importlib, sys
bad = []
for folder, module in {modules}:
    sys.path.insert(0, folder)
    try:
        importlib.import_module(module)
    except BaseException as error:
        bad.append(f"{{module}}: {{type(error).__name__}}: {{error}}")
    sys.path.remove(folder)
print("\\n".join(bad))
sys.exit(bool(bad))
"""


def skeleton_tree(base: Tree, made: Skeleton) -> Tree:
    """`base` with the agreed signatures in it: above the old bodies, or above nothing but the specification."""
    agreed: dict[Span, tuple[str, str]] = {}
    for part in made.parts:
        for text, signature in part.signatures.items():
            agreed[parse(text)] = (signature, part.specification)
    pieces = [
        Piece(span, text)
        for path in sorted({span.path for span in agreed})
        for span, text in skeleton(base, path, agreed).items()
    ]
    return assemble(base, pieces).tree


def import_check(tree: Tree) -> str:
    """A shell command that imports the changed modules; empty if there are none."""
    modules = [module_of(tree, path) for path in sorted(tree.patch.files) if path.endswith(PYTHON)]
    if not modules:
        return ""
    program = PROGRAM.format(modules=json.dumps(modules)).strip()
    return f"python - <<'EOF'\n{program}\nEOF"


def module_of(tree: Tree, path: str) -> tuple[str, str]:
    """The folder that has to be on the path, and the dotted name of a module."""
    parts = path.removesuffix(".py").removesuffix(".pyi").split("/")
    start = len(parts) - 1
    while start and tree.exists("/".join([*parts[:start], "__init__.py"])):
        start -= 1
    names = parts[start:-1] if parts[-1] == "__init__" else parts[start:]
    return "/".join(parts[:start]) or ".", ".".join(names) or parts[-1]
