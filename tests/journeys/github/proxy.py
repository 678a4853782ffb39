"""Something between GitHub and the listener that loses an answer."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def losing_answers(port: int, to: int, lost: Callable[[], None]) -> Iterator[None]:
    """Pass requests on from one port to another; call `lost` when the answer is there, and hang up without it."""
    with socket.create_server(("127.0.0.1", port)) as server:
        server.settimeout(0.05)
        done = threading.Event()

        def serve() -> None:
            while not done.is_set():
                try:
                    client, _ = server.accept()
                except TimeoutError:
                    continue
                with client, socket.create_connection(("127.0.0.1", to)) as behind:
                    client.settimeout(0.2)
                    try:
                        while data := client.recv(65536):
                            behind.sendall(data)
                    except TimeoutError:
                        pass  # all of it was sent: GitHub waits for the answer now
                    assert behind.recv(65536).startswith(b"HTTP/1.1 202")
                    lost()

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
