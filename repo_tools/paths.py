"""Which paths a change may name: relative, inside the tree, and none that git keeps to itself."""

from __future__ import annotations

import re

_IGNORED = dict.fromkeys([*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF])
"""Characters that a Macintosh file system does not see."""
_SHORT = re.compile(r"git~\d+")
"""What Windows may call `.git` where names are short."""
_ABSOLUTE = re.compile(r"/|[A-Za-z]:[\\/]")
_PARTS = re.compile(r"[\\/]")
_HALF = re.compile("[\ud800-\udc7f\udd00-\udfff]")
_LONGEST = 255


def defect(path: str) -> str | None:
    """What is wrong with `path` as the name of a file in a repository, in a few words; `None` if nothing is."""
    parts = path.split("/")
    defects = {
        "it is empty": not path,
        "it holds a zero byte": "\0" in path,
        "it holds half a character (a lone surrogate)": _HALF.search(path),
        "it is absolute; paths are relative to the root of the repository": _ABSOLUTE.match(path),
        "'..' leads out of the folder, and nothing outside the repository can be reached": ".." in parts,
        "it has an empty part or '.' in it": "" in parts or "." in parts,
        "it names git's own directory, which nobody may touch": any(map(is_git_directory, _PARTS.split(path))),
        f"a part of it is longer than {_LONGEST} bytes": any(_bytes(part) > _LONGEST for part in parts),
    }
    return next((text for text, found in defects.items() if found), None)


def is_git_directory(name: str) -> bool:
    """Whether some file system would take `name` for `.git`: by case, by ignored characters, by a short name."""
    seen = name.translate(_IGNORED).split(":")[0].rstrip(" .").lower()
    return seen == ".git" or _SHORT.fullmatch(seen) is not None


def _bytes(part: str) -> int:
    return len(part.encode("utf-8", "surrogatepass"))
