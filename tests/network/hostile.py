"""A raw loopback server whose every byte is scripted, and a record of sockets opened.

Job: play the hostile servers of the battery. Refuses to be a correct HTTP server.
"""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any

Script = Callable[[socket.socket, bytes], None]

_connects: list[tuple[Any, ...]] = []
_recording = threading.Event()


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if event == "socket.connect" and _recording.is_set():
        _connects.append(args)


sys.addaudithook(_hook)


@contextlib.contextmanager
def recorded_connects():  # type: ignore[no-untyped-def]
    """Yield the list of (socket, address) pairs that this process connects to meanwhile."""
    _connects.clear()
    _recording.set()
    try:
        yield _connects
    finally:
        _recording.clear()


class ScriptedServer:
    """Listens on a loopback port; `script` gets each connection and the request's bytes."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.authority = f"127.0.0.1:{self.port}"
        self.requests: list[bytes] = []
        self._open: list[socket.socket] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def url(self, path: str = "/") -> str:
        return f"http://{self.authority}{path}"

    def environ(self) -> dict[str, str]:
        return {"OMH_ALLOW_HOSTS": self.authority}

    def __enter__(self) -> ScriptedServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        for connection in self._open:
            with contextlib.suppress(OSError):
                connection.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._open.append(connection)
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            request = read_request(connection)
            self.requests.append(request)
            self._script(connection, request)
        with contextlib.suppress(OSError):
            connection.close()


def read_request(connection: socket.socket) -> bytes:
    """Read one request: its head, and a body of declared length."""
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = connection.recv(65536)
        if not chunk:
            return data
        data += chunk
    head, _, rest = data.partition(b"\r\n\r\n")
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            wanted = int(line.split(b":")[1])
            while len(rest) < wanted:
                rest += connection.recv(65536)
    return head + b"\r\n\r\n" + rest


def reply(
    body: bytes = b"", *, status: str = "200 OK", headers: str = "", length: bool = True
) -> Script:
    """Return a script that answers with one well-formed response."""
    head = f"HTTP/1.1 {status}\r\n{headers}"
    if length:
        head += f"Content-Length: {len(body)}\r\n"
    payload = head.encode("latin-1") + b"\r\n" + body

    def script(connection: socket.socket, request: bytes) -> None:
        connection.sendall(payload)

    return script


def raw(*parts: bytes) -> Script:
    """Return a script that sends bytes as they are."""

    def script(connection: socket.socket, request: bytes) -> None:
        for part in parts:
            connection.sendall(part)

    return script


def by_path(**scripts: Script) -> Script:
    """Return a script that picks by the first path segment (`/name/…`)."""

    def script(connection: socket.socket, request: bytes) -> None:
        path = request.split(b" ", 2)[1].decode("ascii")
        name = path.strip("/").partition("/")[0].partition("?")[0] or "root"
        scripts[name](connection, request)

    return script
