"""One repository map by aider, measured: run by path with the Python of aider's own environment, never imported.

Arguments: the folder. Standard input: the paths of the files, a line each. Prints CPU seconds and peak memory as JSON.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

MAP_TOKENS = 1024


def main() -> None:
    """Draw the map and print what it took; what is imported and set up before is not counted."""
    from aider.io import InputOutput  # type: ignore[import-not-found]
    from aider.models import Model  # type: ignore[import-not-found]
    from aider.repomap import RepoMap  # type: ignore[import-not-found]

    root = Path(sys.argv[1])
    files = [str(root / line) for line in sys.stdin.read().splitlines()]
    model, console = Model("gpt-4o"), InputOutput(pretty=False, yes=True)
    start, began = time.process_time(), time.monotonic()
    drawn = RepoMap(map_tokens=MAP_TOKENS, root=str(root), main_model=model, io=console).get_repo_map([], files)
    took = {
        "map": time.process_time() - start,
        "wall": time.monotonic() - began,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "characters": len(drawn or ""),
    }
    print(f"\n{json.dumps(took)}")


if __name__ == "__main__":
    main()
