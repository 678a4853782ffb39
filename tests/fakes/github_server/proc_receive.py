"""git's `proc-receive` hook of the stand-in: decides each ref of a push in GitHub's own words.

Of all hooks only this one can say the reason that the client prints in parentheses. It is run by git for a push,
with the pusher's rights in `STAND_IN_*` variables, and speaks pkt-line on standard input and output.
"""

from __future__ import annotations

import os
import subprocess
import sys

ZERO = "0" * 40


def read() -> str | None:
    """One packet without its line end, None for a flush."""
    size = int(sys.stdin.buffer.read(4), 16)
    return None if size == 0 else sys.stdin.buffer.read(size - 4).decode("utf-8", "surrogateescape").rstrip("\n")


def write(text: str | None) -> None:
    data = b"" if text is None else (text + "\n").encode("utf-8", "surrogateescape")
    sys.stdout.buffer.write(b"0000" if text is None else b"%04x%s" % (len(data) + 4, data))


def git(*args: str) -> str:
    return subprocess.run(["git", *args], capture_output=True, text=True, check=True).stdout


def touched_workflow(commands: list[tuple[str, str, str]]) -> str | None:
    """A workflow file that the push would create or update, compared with what the repository has already."""
    for _, new, _ in commands:
        if new == ZERO:
            continue
        log = git("log", "--format=", "--name-only", "--diff-filter=AMR", new, "--not", "--all", "--")
        for name in log.splitlines():
            if name.startswith(".github/workflows/"):
                return name
    return None


def verdict(old: str, new: str, ref: str, workflow: str | None) -> str:
    """The answer for one ref, after it was done if it may be."""
    if workflow:
        who, name, kind = os.environ["STAND_IN_WORKFLOWS"].split("|")
        what = f"create or update workflow `{workflow}` without `{name}` {kind}"
        return f"ng {ref} refusing to allow a {who} to {what}"
    if ref in os.environ["STAND_IN_PROTECTED"].split(":"):
        sys.stderr.write(f"error: GH006: Protected branch update failed for {ref}.\n")
        sys.stderr.write("error: Changes must be made through a pull request.\n")
        return f"ng {ref} protected branch hook declined"
    args = ["-d", ref, old] if new == ZERO else [ref, new, old]
    done = subprocess.run(["git", "update-ref", *args], capture_output=True, text=True)
    return f"ok {ref}" if done.returncode == 0 else f"ng {ref} failed to update ref"


def main() -> None:
    read()
    while read() is not None:
        pass
    write("version=1")
    write(None)
    sys.stdout.buffer.flush()
    commands: list[tuple[str, str, str]] = []
    while (line := read()) is not None:
        old, new, ref = line.split(" ", 2)
        commands.append((old, new, ref))
    workflow = touched_workflow(commands) if os.environ.get("STAND_IN_WORKFLOWS") else None
    for old, new, ref in commands:
        write(verdict(old, new, ref, workflow))
    write(None)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
