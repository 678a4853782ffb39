"""What a check costs: from a changed file to the first line of a test, beside a bare `docker exec` of the same command.

`python -m bot.bench.checks [--times N] [--files N] [--at-once N]` makes a small project, sets it up, and measures
both ways in turn; then it runs several checks at once and looks for anything that they left.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import re
import statistics
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from bot.settings import load_settings
from bot.wiring import sandbox_settings
from sandbox.archive import USER_ID
from sandbox.docker_engine import DockerSandbox
from sandbox.port import Environment, Recipe

LIMIT_SECONDS = 1.5
FIRST = "import time\n\ndef test_first():\n    raise AssertionError(f'began at {time.time()!r}')\n"
BEGAN = re.compile(r"began at (\d+\.\d+)")
TEST = "tests/test_first.py"


class Generated:
    """A project of many small modules and one test, which fails with the time at which it began."""

    def __init__(self, modules: int, changed: int = 0) -> None:
        self._files = {f"package/module_{n}.py": f"VALUE = {n + (n < changed)}\n".encode() for n in range(modules)}
        self._files |= {"package/__init__.py": b"", TEST: FIRST.encode()}

    def entries(self) -> dict[str, tuple[int, str]]:
        """See `sandbox.port.Snapshot`."""
        return {path: (0o100644, hashlib.sha256(data).hexdigest()) for path, data in self._files.items()}

    def read(self, path: str) -> bytes:
        """See `sandbox.port.Snapshot`."""
        return self._files[path]


def checked(sandbox: DockerSandbox, environment: Environment, project: Generated) -> float:
    """Seconds from the call to the first test."""
    start = time.time()
    report = sandbox.test(environment, project, seconds=120)
    return began("\n".join(report.messages.values())) - start


def executed(container: str) -> float:
    """Seconds from `docker exec` to the first test."""
    command = ["docker", "exec", "--user", str(USER_ID), "--workdir", "/repo", container]
    start = time.time()
    done = subprocess.run(
        [*command, "/home/agent/venv/bin/python", "-m", "pytest", TEST], capture_output=True, text=True, check=False
    )
    return began(done.stdout + done.stderr) - start


def began(text: str) -> float:
    """When the test began, by what it said."""
    found = BEGAN.search(text)
    if found is None:
        raise SystemExit(f"the test did not run:\n{text}")
    return float(found[1])


@contextlib.contextmanager
def running(image: str) -> Iterator[str]:
    """The id of a container that waits for commands."""
    command = ["docker", "run", "--detach", "--network", "none", "--entrypoint", "sleep", image, "3600"]
    identity = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    try:
        yield identity
    finally:
        subprocess.run(["docker", "rm", "--force", identity], capture_output=True, check=True)


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--files", type=int, default=500)
    parser.add_argument("--at-once", type=int, default=10)
    options = parser.parse_args(arguments)
    told = sandbox_settings(load_settings(), "bench", "bench")
    setup = ("python3 -m venv ~/venv", "pip install --quiet pytest")
    recipe = Recipe(told.base_image, setup, "python -m pytest", "pytest", tests=(TEST,))
    base, changed = Generated(options.files), Generated(options.files, changed=3)
    with contextlib.closing(DockerSandbox(told)) as sandbox:
        for project in (base, changed):
            environment = sandbox.prepare(recipe, project)
            print(f"prepared in {environment.seconds:.2f} s, {'built' if environment.built else 'found'}")
        with running(environment.id) as container:
            executed(container)
            pairs = [(executed(container), checked(sandbox, environment, changed)) for _ in range(options.times)]
        compare(pairs)
        at_once(sandbox, environment, changed, options.at_once)
    left = subprocess.run(
        ["docker", "ps", "--all", "--quiet", "--filter", "label=agent-fix.run=bench"],
        capture_output=True,
        text=True,
        check=True,
    )
    print(f"containers left: {len(left.stdout.split())}")


def compare(pairs: list[tuple[float, float]]) -> None:
    """Print each pair, and what a check takes more in the middle and at worst."""
    print(f"{'exec':>8} {'check':>8} {'more':>8}  seconds to the first test")
    for bare, check in pairs:
        print(f"{bare:8.2f} {check:8.2f} {check - bare:8.2f}")
    more = [check - bare for bare, check in pairs]
    middle = statistics.median(more)
    print(f"more in the middle {middle:.2f} s, at worst {max(more):.2f} s; the limit is {LIMIT_SECONDS} s")


def at_once(sandbox: DockerSandbox, environment: Environment, project: Generated, number: int) -> None:
    """Run several checks side by side and print how long all and the slowest first test took."""
    start = time.monotonic()
    with ThreadPoolExecutor(number) as pool:
        firsts = list(pool.map(lambda _: checked(sandbox, environment, project), range(number)))
    print(f"{number} at once: all ended after {time.monotonic() - start:.2f} s, slowest first test {max(firsts):.2f} s")


if __name__ == "__main__":
    main()
