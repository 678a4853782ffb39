"""The shell texts that run inside containers. What a recipe or a caller gives is quoted or stands in a file."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from sandbox.port import Recipe

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]+(:[a-z0-9]+)?(=[A-Za-z0-9.+:~-]+)?\Z")


@dataclass(frozen=True)
class Places:
    """Where things are for the commands: fixed in a container, anywhere for a plain process."""

    repo: str = "/repo"
    home: str = "/home/agent"
    given: str = "/agent-fix/in"
    """What is put in for one run: the command, the names of deleted files, helper files of a reporter."""
    out: str = "/agent-fix/out"
    """Where test reports go."""


CONTAINER = Places()

KILLED = 137
KILLED_INSIDE = 217
"""The first process turns a command's 137 into this, which leaves 137 to mean: killed from outside."""

CERTIFICATES = (
    "SSL_CERT_FILE",
    "PIP_CERT",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "GIT_SSL_CAINFO",
    "CARGO_HTTP_CAINFO",
)
"""The variables by which the usual package managers find the certificates that they trust."""

_GROUND = """\
exec 2>&1
set -e
for tool in bash git; do
  command -v $tool >/dev/null || { echo "the base image has no $tool: use one that has bash and git"; exit 1; }
done
if ! grep -q '^agent:' /etc/passwd; then
  echo "agent:x:10001:10001:agent:/home/agent:/bin/bash" >> /etc/passwd
  echo "agent:x:10001:" >> /etc/group
fi
mkdir -p /home/agent /repo /cache /agent-fix/in /agent-fix/out
chown 10001:10001 /home/agent /repo /cache /agent-fix/in /agent-fix/out
git config --system user.name agent-fix
git config --system user.email agent-fix@localhost
git config --system init.defaultBranch main
"""


def ground(packages: Sequence[str]) -> str:
    """What root does before a project is set up. Raises `ValueError` for what is no name of a Debian package."""
    return _GROUND + _packages(packages) + "rm -rf /agent-fix/in/* /tmp/*\n"


def _packages(names: Sequence[str]) -> str:
    wrong = [name for name in names if not _PACKAGE.match(name)]
    if wrong:
        raise ValueError(f"not the name of a Debian package: {', '.join(map(repr, wrong))}")
    if not names:
        return ""
    return (
        "command -v apt-get >/dev/null || { echo 'the base image has no apt-get: use a Debian one'; exit 1; }\n"
        "export DEBIAN_FRONTEND=noninteractive\n"
        "options='-o Acquire::https::CaInfo='\n"
        '[ -s /agent-fix/in/ca.pem ] && options="${options}/agent-fix/in/ca.pem" || options=\n'
        "apt-get $options -q update\n"
        f"apt-get $options -q install -y --no-install-recommends {shlex.join(names)}\n"
        "apt-get clean\n"
        "rm -rf /var/lib/apt/lists/*\n"
    )


def start(recipe: Recipe, places: Places) -> str:
    """The first process: deletes what is gone, runs the command file, and reaps whatever is orphaned meanwhile."""
    root = shlex.quote(places.repo)
    workdir = shlex.quote(f"{places.repo}/{recipe.workdir}")
    given = shlex.quote(places.given)
    return (
        "exec 2>&1\n"
        "trap : HUP INT QUIT TERM\n"  # a test that signals the first process must not end it; children get the defaults
        f"cd {root} || exit 125\n"
        f"if [ -s {given}/deleted ]; then xargs -0 rm -f -- <{given}/deleted; fi\n"
        f"cd {workdir} || exit 125\n"
        f"bash {given}/command </dev/null\n"
        "code=$?\n"
        f'[ "$code" -eq {KILLED} ] && code={KILLED_INSIDE}\n'
        'exit "$code"\n'
    )


def variables(recipe: Recipe, places: Places) -> dict[str, str]:
    """What every command of a recipe finds in its environment; the `PATH` is added by `exports`."""
    return {
        "HOME": places.home,
        "LANG": "C.UTF-8",
        "CI": "true",
        "PYTHONUNBUFFERED": "1",  # or a run that is ended at its limit shows nothing
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "NPM_CONFIG_PREFIX": f"{places.home}/.local",
        "AGENT_FIX_OUT": places.out,
        "AGENT_FIX_LIB": f"{places.given}/lib",
        **recipe.env,
    }


def caches(folder: str) -> dict[str, str]:
    """Variables that keep the downloads of a set-up in `folder`, out of the environment."""
    return {
        "PIP_CACHE_DIR": f"{folder}/pip",
        "UV_CACHE_DIR": f"{folder}/uv",
        "POETRY_CACHE_DIR": f"{folder}/poetry",
        "UV_LINK_MODE": "copy",  # it may be another file system
        "npm_config_cache": f"{folder}/npm",
        "npm_config_store_dir": f"{folder}/pnpm",
        "YARN_CACHE_FOLDER": f"{folder}/yarn",
        "COMPOSER_CACHE_DIR": f"{folder}/composer",
    }


def is_variable(name: str) -> bool:
    """Whether a shell can have a variable of that name."""
    return bool(_VARIABLE.match(name))


def exports(values: Mapping[str, str], recipe: Recipe, places: Places) -> str:
    """Shell lines that set variables and lead the `PATH`. Raises `ValueError` for what is no name of a variable."""
    wrong = [name for name in values if not is_variable(name)]
    if wrong:
        raise ValueError(f"not the name of a variable: {', '.join(map(repr, wrong))}")
    folders = [f"{places.home}/{folder}/bin" for folder in ("venv", ".local", ".cargo", "go")]
    folders += [f"{places.repo}/{recipe.workdir}/node_modules/.bin", f"{places.repo}/node_modules/.bin"]
    lines = [f"export {name}={shlex.quote(value)}\n" for name, value in values.items()]
    return "".join(lines) + f'export PATH={shlex.quote(":".join(folders))}:"$PATH"\n'


def steps(lines: Sequence[str]) -> str:
    """Shell text that runs each line on its own, shows it first, and ends at the first that fails."""
    function = (
        'step() { printf "\\n$ %s\\n" "$1"; bash -o pipefail -c "$1" </dev/null || '
        '{ code=$?; printf "\\n[exit code %s]\\n" "$code"; exit "$code"; }; }\n'
    )
    return function + "".join(f"step {shlex.quote(line)}\n" for line in lines)


def setup(recipe: Recipe, places: Places, values: Mapping[str, str]) -> str:
    """The command file of a set-up; `values` are variables that it has beyond the recipe's."""
    return (
        exports({**variables(recipe, places), **values}, recipe, places)
        + f"( cd {shlex.quote(places.repo)} && {COMMIT} ) || exit\n"
        + steps([*recipe.setup, *recipe.build])
    )


def check(recipe: Recipe, places: Places, changed: Iterable[str], command: str, *, behind: bool) -> str:
    """The command file of a run on a tree that differs from the environment's in the files `changed`.

    `behind`: the environment's commit is of an earlier tree; the files that it lacks are given.
    """
    text = exports(variables(recipe, places), recipe, places)
    if behind:
        text += RENEW.format(repo=shlex.quote(places.repo), given=shlex.quote(places.given))
    if any(fnmatchcase(path, pattern) for path in changed for pattern in recipe.build_inputs):
        text += steps(recipe.build)
    return text + command + "\n"


GIT = "git -c user.name=agent-fix -c user.email=agent-fix@localhost -c core.hooksPath=/dev/null"
COMMIT = f"git init -q && git add -A -f && {GIT} commit -q --allow-empty -m 'The project at its base commit'"
"""Version tools and tests expect a git repository: one commit, no history, no remote."""
RENEW = f"""\
( cd {{repo}} &&
{{{{ [ ! -s {{given}}/gone ] || xargs -0 git rm -q --cached --ignore-unmatch -- <{{given}}/gone; }}}} &&
{{{{ [ ! -d {{given}}/base ] ||
( cd {{given}}/base && git --git-dir={{repo}}/.git --work-tree=. add -f --ignore-removal . ); }}}} &&
{GIT} commit -q --amend --allow-empty --no-edit ) >/dev/null || exit
"""
"""Makes the one commit that of the tree that a run starts from; the files themselves are left as they are.

Set-up may have installed hooks by now, which would judge it.
"""

CLEAN = """\
find /tmp -mindepth 1 -delete 2>/dev/null
rm -rf /agent-fix/in/*
true
"""
"""Leaves nothing of the operator's in an environment's image."""

CLEAN_CACHE = "find /cache -mindepth 1 -delete 2>/dev/null\n"
