"""Prompts: one Markdown file a role, with named places and no logic, and the one function that fills them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from importlib.resources import files

PLACE = re.compile(r"\{\{([a-z_]+)\}\}")


def render(name: str, places: Mapping[str, str]) -> str:
    """The prompt `name` with every place filled. Raises `ValueError` on a missing or an unused place."""
    text = files(__name__).joinpath(f"{name}.md").read_text("utf-8").strip()
    wanted = set(PLACE.findall(text))
    if wanted != set(places):
        missing, unused = sorted(wanted - set(places)), sorted(set(places) - wanted)
        raise ValueError(f"prompt {name}: missing places {missing}, unused places {unused}")
    # One pass over the template only: a value that looks like a place is never filled in turn.
    return PLACE.sub(lambda match: places[match[1]], text)


def block(label: str, text: str) -> str:
    """`text` as data: between two marks that hold its own hash, so that it cannot contain its end."""
    mark = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"<data {label} {mark}>\n{text.rstrip()}\n</data {mark}>"
