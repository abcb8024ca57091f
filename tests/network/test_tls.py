"""TLS: the certificate must be for the URL's host, while the socket goes to the checked address."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
