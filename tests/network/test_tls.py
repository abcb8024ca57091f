"""TLS: the certificate must be for the URL's host, while the socket goes to the checked address."""

from __future__ import annotations

import http.server
import os
import shutil
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """
import sys
from omh_research.errors import TransportError
from omh_research.transport import Transport
port = sys.argv[1]
hosts = ("site.test", "other.test", "leak.test")
environ = {"OMH_ALLOW_HOSTS": ",".join(f"{host}:{port}" for host in hosts)}
transport = Transport(environ=environ, resolver=lambda host, port: ["127.0.0.1"])
for url in sys.argv[2:]:
    try:
        print(transport.get(url, timeout_s=20).body.decode())
    except TransportError as error:
        print(error.state, error.message)
"""


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


def _lines(port: int, urls: list[str], **extra: str) -> list[str]:
    run = subprocess.run([sys.executable, "-c", PROGRAM, str(port), *urls], capture_output=True,
                         text=True, timeout=120, env={**os.environ, **extra})  # fmt: skip
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def test_certificate_is_checked_against_the_host_of_the_url(secure: tuple[int, Path]) -> None:
    port, certificate = secure
    urls = [
        f"https://site.test:{port}/",
        f"https://other.test:{port}/",
        f"https://site.test:{port}/down",
    ]
    good, other, down = _lines(port, urls, SSL_CERT_FILE=str(certificate))
    assert good == "secure"
    assert other.startswith("error") and "certificate" in other
    assert down.startswith("refused") and "leave https" in down


def test_unknown_authority_is_not_trusted(secure: tuple[int, Path]) -> None:
    port, _ = secure
    (line,) = _lines(port, [f"https://site.test:{port}/"])
    assert line.startswith("error") and "certificate" in line
