"""Fixtures of the network tests: a private state folder, a clean environment, a scripted server."""

from __future__ import annotations

import http.server
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from omh_research.transport import Transport

from .hostile import Script, ScriptedServer, reply


@pytest.fixture(autouse=True)
def own_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test touches the user's state folder, proxies or allow-list."""
    monkeypatch.setenv("OMH_STATE_HOME", str(tmp_path / "state"))
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "OMH_OFFLINE", "OMH_ALLOW_HOSTS"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture(scope="session", autouse=True)
def warm_engine() -> None:
    """Load the HTTP engine once, so that no short time limit pays for it."""
    with ScriptedServer(reply(b"")) as server:
        Transport(environ=server.environ()).get(server.url())


class Servers:
    """Starts scripted servers that end with the test."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def start(self, script: Script) -> ScriptedServer:
        return self._stack.enter_context(ScriptedServer(script))


@pytest.fixture
def servers() -> Iterator[Servers]:
    with ExitStack() as stack:
        yield Servers(stack)


@pytest.fixture
def secure(tmp_path: Path) -> Iterator[tuple[int, Path]]:
    """A TLS server whose certificate is for site.test; yields its port and the certificate."""
    if not shutil.which("openssl"):
        pytest.skip("needs the openssl program")
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out",
               str(certificate), "-days", "2", "-subj", "/CN=site.test", "-addext", "subjectAltName=DNS:site.test"]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            moved = self.path == "/down"
            self.send_response(302 if moved else 200)
            if moved:
                self.send_header("Location", f"http://site.test:{self.server.server_port}/")  # type: ignore[attr-defined]
            self.send_header("Content-Length", "6")
            self.end_headers()
            self.wfile.write(b"secure")

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server.server_port, certificate
    server.shutdown()
    server.server_close()
