"""The REST API's repositories, refs, commits and files, as far as the bot reads them."""

from __future__ import annotations

import base64
import posixpath
import subprocess
from collections.abc import Callable

from tests.fakes.github_server import bare, render
from tests.fakes.github_server.exchange import NOT_FOUND, Answer, Call, Refusal, route
from tests.fakes.github_server.render import Json


@route("GET", "/repos/{owner}/{repo}", needs="metadata=read")
def read_repository(call: Call) -> Answer:
    role = None
    if call.caller.token is not None:
        app = call.caller.installation is not None or call.caller.token.kind == "actions"
        role = "read" if app else call.world.role(call.repository, call.account)
    return Answer(200, render.repository(call.world, call.repository, role))


def _ref(call: Call, name: str, sha: str) -> Json:
    url = f"{call.world.api}/repos/{call.repository.full_name}/git"
    return {
        "ref": name,
        "node_id": render.node("REF", int(sha[:8], 16)),
        "url": f"{url}/{name}",
        "object": {"type": "commit", "sha": sha, "url": f"{url}/commits/{sha}"},
    }


@route("GET", "/repos/{owner}/{repo}/git/matching-refs/{ref*}", needs="contents=read")
def list_matching_refs(call: Call) -> Answer:
    found = bare.refs(call.repository.path, f"refs/{call.args['ref']}")
    return call.page(found, lambda pair: _ref(call, *pair))


@route("GET", "/repos/{owner}/{repo}/git/ref/{ref*}", needs="contents=read")
def read_ref(call: Call) -> Answer:
    wanted = f"refs/{call.args['ref']}"
    for name, sha in bare.refs(call.repository.path, wanted):
        if name == wanted:
            return Answer(200, _ref(call, name, sha))
    raise Refusal(*NOT_FOUND)


@route("GET", "/repos/{owner}/{repo}/contents/{path*}", needs="contents=read")
def read_contents(call: Call) -> Answer:
    ref = call.query.get("ref", call.repository.default_branch)
    path = call.args["path"]
    if bare.head(call.repository.path, ref) is None:
        raise Refusal(*NOT_FOUND)
    mode, _, there = bare.git(call.repository.path, "ls-tree", ref, path).partition(" ")
    sha = there.partition("\t")[0].rpartition(" ")[2]
    if mode not in _CONTENTS:
        raise Refusal(*NOT_FOUND)
    data = b"" if mode == "160000" else _blob(call, sha)
    if mode == "120000":
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), data.decode()))
        found = bare.git(call.repository.path, "ls-tree", ref, target)
        if found.startswith("100"):
            mode, data = "100644", _blob(call, found.split()[2])
    url = f"{call.world.api}/repos/{call.repository.full_name}/contents/{path}?ref={ref}"
    page = f"{call.world.origin}/{call.repository.full_name}/blob/{ref}/{path}"
    return Answer(200, {
        "size": len(data), "name": path.rpartition("/")[2], "path": path, "sha": sha, "url": url, "git_url": url,
        "html_url": page, "download_url": page, "_links": {"git": url, "self": url, "html": page},
        **_CONTENTS[mode](data),
    })  # fmt: skip


_CONTENTS: dict[str, Callable[[bytes], Json]] = {
    "160000": lambda _: {"type": "submodule", "submodule_git_url": None, "download_url": None},
    "120000": lambda data: {"type": "symlink", "target": data.decode()},
    **dict.fromkeys(
        ("100644", "100755"),
        lambda data: {"type": "file", "encoding": "base64", "content": base64.encodebytes(data).decode()},
    ),
}
"""Mode in git -> what GitHub says of it beyond what it says of everything; a link to a file is shown as that file."""


def _blob(call: Call, sha: str) -> bytes:
    return subprocess.run(
        ["git", "cat-file", "blob", sha], cwd=call.repository.path, capture_output=True, check=True
    ).stdout
