"""git, run so that neither this machine nor the repository has a say in what it does.

Every command starts from an empty environment and without the configuration of the machine. What a
repository could use to have a program run (hooks, fsmonitor, ssh and credential commands, transports,
pagers, signing) is overruled here, in the one scope that outranks its own configuration; filters,
external diffs and merge drivers need configuration as well, which `repo_tools.checkout` never shows to git.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from repo_tools.errors import GitFailed

LOCAL_SECONDS = 300.0
"""Limit for a command that only reads or writes on this machine."""

_OVERRULED = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.sshCommand": "false",
    "core.askPass": "",
    "core.editor": "false",
    "core.pager": "cat",
    "core.attributesFile": os.devnull,
    "core.excludesFile": os.devnull,
    "core.autocrlf": "false",
    "core.quotePath": "false",
    "credential.helper": "",
    "protocol.allow": "never",
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "maintenance.auto": "false",
    "gc.auto": "0",
    "gpg.program": "false",
    "init.templateDir": "",
    # Who owns the folder does not matter when nothing in it is obeyed.
    "safe.directory": "*",
}


@dataclass(frozen=True)
class Git:
    """git on one git directory; of no directory, git finds the repository around `folder`."""

    folder: Path
    """Where commands run."""
    git_dir: Path | None = None
    protocols: tuple[str, ...] = ()
    """The transports that may be used; none by default, so that nothing is fetched behind anyone's back."""
    config: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)

    def run(
        self,
        *arguments: str | bytes,
        data: bytes = b"",
        env: Mapping[str, str] | None = None,
        seconds: float = LOCAL_SECONDS,
        accept: Iterable[int] = (0,),
        silent: bool = False,
    ) -> bytes:
        """Standard output of one command that reads `data`.

        Raises `GitFailed` for a code that is not in `accept`, after `seconds`, and, if the command should be
        `silent`, for any word on standard error.
        """
        output, errors, code = self._finish(arguments, data, env, seconds)
        if code not in accept or (silent and errors):
            said = errors.decode("utf-8", "replace").strip() or f"it ended with code {code} and said nothing"
            raise GitFailed(f"git {_shown(arguments)} failed: {said}")
        return output

    def start(self, *arguments: str, stdin: int) -> subprocess.Popen[bytes]:
        """A command that stays: its standard output is a pipe, its errors are dropped."""
        try:
            return subprocess.Popen(  # noqa: S603  (a fixed program, arguments made here, no shell)
                [self._program(), *arguments],
                cwd=self.folder,
                env=self.environment(),
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise GitFailed(f"git could not be started in {self.folder}: {error}") from error

    def environment(self) -> dict[str, str]:
        """All that git sees of this process."""
        config = {**_OVERRULED, **self.config}
        env = {
            "PATH": f"{Path(self._program()).parent}{os.pathsep}{os.defpath}",
            "HOME": os.devnull,
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_LITERAL_PATHSPECS": "1",
            # Outranks `protocol.<name>.allow`, which a repository's own configuration could set.
            "GIT_ALLOW_PROTOCOL": ":".join(self.protocols) or "none",
            "GIT_CONFIG_COUNT": str(len(config)),
        }
        for number, (key, value) in enumerate(config.items()):
            env[f"GIT_CONFIG_KEY_{number}"] = key
            env[f"GIT_CONFIG_VALUE_{number}"] = value
        if self.git_dir is not None:
            env["GIT_DIR"] = str(self.git_dir)
        return {**env, **self.env}

    @staticmethod
    def _program() -> str:
        program = shutil.which("git")
        if program is None:
            raise GitFailed("git is not installed, or not on the PATH: install git 2.38 or newer")
        return program

    def _finish(
        self, arguments: tuple[str | bytes, ...], data: bytes, env: Mapping[str, str] | None, seconds: float
    ) -> tuple[bytes, bytes, int]:
        try:
            # A session of its own, so that a transport which git started ends together with it.
            process = subprocess.Popen(  # noqa: S603  (a fixed program, arguments made here, no shell)
                [self._program(), *arguments],
                cwd=self.folder,
                env={**self.environment(), **(env or {})},
                stdin=subprocess.PIPE if data else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise GitFailed(f"git {_shown(arguments)} could not be started in {self.folder}: {error}") from error
        try:
            output, errors = process.communicate(data or None, timeout=seconds)
        except subprocess.TimeoutExpired as error:
            raise GitFailed(f"git {_shown(arguments)} did not end within {seconds:g} seconds") from error
        finally:
            end(process)
        return output, errors, process.returncode


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started; does nothing to one that has ended."""
    if process.poll() is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            process.kill()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            try:
                pipe.close()
            except BrokenPipeError:
                continue
    process.wait()


def pipe(stream: IO[bytes] | None) -> IO[bytes]:
    """A stream of a process that was started with a pipe for it."""
    if stream is None:
        raise ValueError("the process was started without this pipe")
    return stream


def _shown(arguments: tuple[str | bytes, ...]) -> str:
    texts = [a if isinstance(a, str) else a.decode("utf-8", "replace") for a in arguments]
    return " ".join(texts)[:200]
