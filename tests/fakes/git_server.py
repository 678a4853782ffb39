"""A git host on this machine: the repositories below a folder over HTTP, by git's own backend."""

from __future__ import annotations

import base64
import contextlib
import http.server
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit


class GitServer(http.server.ThreadingHTTPServer):
    """Serves `folder`; lets nobody in but `user:password` if that is set; `redirect_to` sends everybody elsewhere."""

    daemon_threads = True

    def __init__(self, folder: Path, credential: str | None = None, redirect_to: str | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder = folder
        self.credential = credential
        self.redirect_to = redirect_to
        self.seen: list[str] = []
        """The credentials that were offered."""
        self.requests = 0
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(http.server.BaseHTTPRequestHandler):
    server: GitServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.server.requests += 1
        offered = base64.b64decode(self.headers.get("Authorization", "").removeprefix("Basic ")).decode()
        if offered:
            self.server.seen.append(offered)
        body = self._body()
        if self.server.redirect_to is not None:
            self._answer(301, {"Location": self.server.redirect_to + self.path}, b"")
        elif self.server.credential is not None and self.server.credential != offered:
            self._answer(401, {"WWW-Authenticate": 'Basic realm="git"'}, b"who are you?")
        else:
            self._backend(body)

    def do_POST(self) -> None:
        self.do_GET()

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            chunks = []
            while size := int(self.rfile.readline(), 16):
                chunks.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(chunks)
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _backend(self, body: bytes) -> None:
        parts = urlsplit(self.path)
        env = {
            "PATH": "/usr/bin:/bin:/usr/local/bin",
            "GIT_PROJECT_ROOT": str(self.server.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": parts.path,
            "QUERY_STRING": parts.query,
            "CONTENT_TYPE": self.headers.get("Content-Type") or "",
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding") or "",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol") or "",
            "REMOTE_USER": "somebody",
            "REMOTE_ADDR": "127.0.0.1",
        }
        printed = subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True).stdout
        head, _, data = printed.partition(b"\r\n\r\n")
        headers = dict(row.split(": ", 1) for row in head.decode("latin-1").split("\r\n") if ": " in row)
        self._answer(int(headers.pop("Status", "200").split(" ")[0]), headers, data)

    def _answer(self, status: int, headers: dict[str, str], data: bytes) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Silence."""


@contextlib.contextmanager
def git_server(folder: Path, credential: str | None = None, redirect_to: str | None = None) -> Iterator[GitServer]:
    """A server that runs for a while."""
    with GitServer(folder, credential, redirect_to) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
