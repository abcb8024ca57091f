"""A loopback site for provider tests: well-behaved HTTP, answers chosen by a function."""

from __future__ import annotations

import http.server
import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

from msgspec import Struct

from omh_research.transport import Transport


class Asked(Struct, frozen=True):
    """One request as it arrived; `params` holds the first value of each parameter."""

    method: str
    path: str
    params: dict[str, str]
    headers: dict[str, str]
    body: bytes


class Answer(Struct, frozen=True):
    """What to send back, after `delay_s` seconds."""

    body: bytes = b""
    status: int = 200
    content_type: str = "application/json"
    headers: dict[str, str] = {}
    delay_s: float = 0.0


class Site:
    """Serves `answer(asked)` on a loopback port and remembers what was asked."""

    def __init__(self, answer: Callable[[Asked], Answer]) -> None:
        self.asked: list[Asked] = []
        self.answer = answer
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]
        self.authority = f"127.0.0.1:{self._server.server_port}"
        self.base = f"http://{self.authority}"

    def _handler(self) -> type[http.server.BaseHTTPRequestHandler]:
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _serve(self) -> None:
                parts = urlsplit(self.path)
                params = {k: v[0] for k, v in parse_qs(parts.query, keep_blank_values=True).items()}
                length = int(self.headers.get("content-length") or 0)
                headers = {name.lower(): value for name, value in self.headers.items()}
                asked = Asked(self.command, parts.path, params, headers, self.rfile.read(length))
                site.asked.append(asked)
                answer = site.answer(asked)
                time.sleep(answer.delay_s)
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.content_type)
                self.send_header("Content-Length", str(len(answer.body)))
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer.body)

            do_GET = do_POST = _serve

            def log_message(self, *_: Any) -> None:
                pass

        return Handler

    def __enter__(self) -> Site:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def environ(self, *providers: str) -> dict[str, str]:
        """The environment in which `providers` live here."""
        found = {f"OMH_{name.upper()}_URL": self.base for name in providers}
        return found | {"OMH_ALLOW_HOSTS": self.authority}

    def transport(self, **options: Any) -> Transport:
        return Transport(environ={"OMH_ALLOW_HOSTS": self.authority}, **options)
