"""The issue's own code, run before and after the change: evidence that costs no token. Python alone, so far."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from repo_tools.tree import Tree
from sandbox.port import Result

FENCE = re.compile(
    r"^(?P<fence>```+|~~~+)[ \t]*(?P<language>[\w.+-]*)[^\n]*\n(?P<code>.*?)^(?P=fence)[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
PYTHON = frozenset({"", "python", "py", "python3", "pycon", "python-console", "console"})
MARK = "agent-fix-examples:"
SHOWN = 1_500
MOST = 8


@dataclass(frozen=True)
class Ran:
    """One statement or block of the issue, as executed."""

    source: str
    wanted: str | None
    """What the issue says comes out; None if it shows nothing."""
    got: str

    @property
    def as_wanted(self) -> bool | None:
        """Whether it came out as the issue says; None if the issue says nothing."""
        return None if self.wanted is None else _plain(self.wanted) == _plain(self.got)


def blocks(text: str) -> tuple[str, ...]:
    """The blocks of Python in an issue's text, in order."""
    found = []
    for match in FENCE.finditer(text.replace("\r\n", "\n")):
        code, language = match["code"], match["language"].lower()
        if ">>> " in code or (language in PYTHON - {"", "console"} and _compiles(code)):
            found.append(code)
    return tuple(found[:MOST])


def is_python(tree: Tree) -> bool:
    """Whether most of the code is Python."""
    endings = [path.rpartition(".")[2] for path in tree.base.entries()]
    return endings.count("py") > max(
        endings.count(other) for other in ("js", "ts", "go", "rs", "java", "rb", "php", "c", "cpp")
    )


def command(found: Sequence[str]) -> str:
    """A shell command that runs the blocks in one process, in order, and prints what came out of each."""
    program = files(__package__).joinpath("run_examples.txt").read_text("utf-8")
    packed = base64.b64encode(json.dumps(list(found)).encode()).decode()
    return f"python - {packed} <<'PROGRAM'\n{program}\nPROGRAM"


def outcomes(result: Result) -> tuple[Ran, ...]:
    """What the command printed; nothing if it could not be run."""
    line = next((line for line in reversed(result.output.splitlines()) if line.startswith(MARK)), None)
    if line is None:
        return ()
    try:
        rows = json.loads(line.removeprefix(MARK))
        return tuple(Ran(str(row[0]), None if row[1] is None else str(row[1]), str(row[2])) for row in rows)
    except (ValueError, TypeError, IndexError):
        return ()  # the project's code shares the output, and may have written such a line itself


def shown(ran: Sequence[Ran]) -> str:
    """What came out, for a reader; empty if the code only lacks names that the issue leaves to the reader."""
    parts = []
    for one in (one for one in ran if not _lacks_a_name(one.got)):
        said = f"{one.source.rstrip()}\n-> {one.got.strip()[-SHOWN:] or '(nothing printed)'}"
        parts.append(
            said
            + (f"\n   the issue shows: {one.wanted.strip()[:SHOWN]}" if one.as_wanted is False and one.wanted else "")
        )
    return "\n".join(parts)


def compared(before: Sequence[Ran], after: Sequence[Ran]) -> str:
    """One sentence on what the change does to the issue's own code; empty if it tells nothing."""
    if not before or len(before) != len(after):
        return ""
    changed = [(old, new) for old, new in zip(before, after, strict=True) if _plain(old.got) != _plain(new.got)]
    if not changed:
        same = "The code in the issue gives the same output with the change as without it."
        return same if any(_tells(ran.got) for ran in after) else ""
    old, new = changed[0]
    source = old.source.strip().splitlines()[-1]
    return f"The issue's own `{source[:120]}` gave `{_short(old.got)}` and gives `{_short(new.got)}` now."


def _tells(got: str) -> bool:
    """Whether an output says anything of the project."""
    return bool(got.strip()) and not _lacks_a_name(got)


def _lacks_a_name(got: str) -> bool:
    """Whether the issue's own code, and not the project's, uses a name that is not there."""
    lines = got.strip().splitlines() or [""]
    places = [line for line in lines if line.lstrip().startswith('File "')]
    return lines[-1].startswith("NameError:") and all('"<issue>"' in line for line in places[-1:])


def _short(text: str) -> str:
    lines = text.strip().splitlines() or ["nothing"]
    return lines[-1][:120].replace("`", "'")


def _plain(text: str) -> str:
    """Without what differs between two runs of the same: addresses, white space at line ends, traceback frames."""
    text = re.sub(r"0x[0-9a-f]+", "0x", text)
    if "Traceback (most recent call last)" in text:
        text = text.strip().splitlines()[-1]
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def _compiles(code: str) -> bool:
    try:
        compile(code, "issue", "exec")
    except (SyntaxError, ValueError):
        return False
    return True
