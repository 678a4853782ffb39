"""What the form of a bug report adds to an issue and no fault is about: its labels, and the reporter's machine."""

from __future__ import annotations

import re


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


FENCE = re.compile(r"\s*(`{3,}|~{3,})([^`]*)$")
"""The first or last line of a block of code, as far as its second group is empty."""

_LONGEST, _MOST_WORDS = 80, 6
"""Characters and words that the heading of such a part has at most."""
_HEADING = re.compile(r"\s*(?:#{1,6}\s|\*\*.+\*\*:?\s*$|(?:<details>)?\s*<summary>)")
_UNDERLINE = re.compile(r"\s*(?:-{4,}|={4,})[-= ]*$")
_MACHINE = re.compile(r"(?i)\b(?:environment|versions?|show_versions|system (?:info\w*|details)|os|dependencies)\b")
_FACT = re.compile(
    r"\s*(?:[-*+>|]\s"  # an entry of a list or table
    r"|[\w .()/'-]{1,40}(?::|=+)\s"  # `name: value`
    r"|\S.{0,40}?\bv?\d+\.\d"  # `name 1.2`
    r"|[\[({<\"}\])]|-{3}|={3}|_No response_|N/?A\b|$)"
)
_WORD = re.compile(r"[a-z]+")
_ASKED = _listed(
    "a actual additional alternatives and anything behavior behaviour bug check checklist code command comments "
    "complete confirmation considered context current d describe description details did else example expect expected "
    "extra feature happen happened how info information is issue know like log mcve minimal motivation need note "
    "notes observed other output please problem project proposal proposed related relevant report reproduce "
    "reproducible reproduction request result results s sample screenshot screenshots solution step steps summary the "
    "this to tools used ve verifiable we what you your"
)


def without_form(body: str) -> str:
    """The body of an issue without headings that only ask, and without what is filled in about a machine.

    That is what stands below a heading like `Environment` or `Versions` and is a list of facts or the first block.
    """
    lines = body.split("\n")
    kept: list[str] = []
    fence, of_machine, is_told = "", False, False
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        mark = FENCE.match(line)
        if mark is not None and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1][:3]
            if fence:
                # What a second block shows is something else.
                of_machine, is_told = of_machine and not is_told, True
        elif (not fence or of_machine) and _is_heading(line, below):
            fence, is_told = "", False  # A block that was left open ends with its part.
            of_machine = _is_short(line) and _MACHINE.search(line) is not None
            if not of_machine and _ASKED.issuperset(_WORD.findall(line.lower())):
                continue
        elif of_machine and not fence:
            of_machine = _FACT.match(line) is not None
        if not of_machine:
            kept.append(line)
    return "\n".join(kept)


def _is_heading(line: str, below: str) -> bool:
    return _HEADING.match(line) is not None or (bool(line.strip()) and _UNDERLINE.match(below) is not None)


def _is_short(line: str) -> bool:
    return len(line) <= _LONGEST and len(line.split()) <= _MOST_WORDS + 1
