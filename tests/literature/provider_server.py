"""The three providers of `rls.v1` on loopback: they say what a test's script tells them."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

Answer = tuple[int, dict[str, str], bytes]
Script = Callable[[str, str], Answer]
PREFIXES = {"openalex": "openalex", "s2": "semantic_scholar", "crossref": "crossref"}
QUERY_NAMES = {"openalex": "search", "semantic_scholar": "query", "crossref": "query"}


def ok(value: Any) -> Answer:
    body = value if isinstance(value, bytes) else json.dumps(value).encode("utf-8")
    return 200, {"content-type": "application/json"}, body


def refuse(status: int, body: bytes = b"", **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, {"content-type": "text/plain", **named}, body


def html() -> Answer:
    return 200, {"content-type": "text/html"}, b"<html><body>Please log in</body></html>"


def openalex_body(works: list[Any]) -> Answer:
    return ok({"meta": {"count": len(works)}, "results": works})


def work(number: int, **changes: Any) -> dict[str, Any]:
    """An OpenAlex work that lacks nothing."""
    return {
        "id": f"https://openalex.org/W{1000 + number}",
        "doi": f"https://doi.org/10.1000/work.{number}",
        "title": f"Study number {number} of copper surfaces in hospital wards",
        "publication_year": 2020,
        "publication_date": "2020-03-01",
        "language": "en",
        "type": "article",
        "authorships": [{"author": {"display_name": "Anna Casey"}}],
        "primary_location": {"source": {"display_name": "Journal of Hospital Infection"}},
        "open_access": {"is_oa": True},
        "abstract_inverted_index": {"Copper": [0], "kills": [1], "bacteria.": [2]},
        **changes,
    }


def paper(number: int, **changes: Any) -> dict[str, Any]:
    """A Semantic Scholar paper that lacks nothing."""
    return {
        "paperId": f"{number:040x}",
        "title": f"Paper number {number} on silver coatings in clinics",
        "year": 2021,
        "authors": [{"name": "David Adams"}],
        "externalIds": {"DOI": f"10.2000/paper.{number}"},
        "venue": "Silver Letters",
        "abstract": "Silver also works.",
        **changes,
    }


class ProviderServer:
    """Use as a context manager. `asked` lists (provider, query) in order."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: list[tuple[str, str]] = []
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                provider = PREFIXES[parts.path.split("/")[1]]
                query = parse_qs(parts.query).get(QUERY_NAMES[provider], [""])[0]
                server.asked.append((provider, query))
                status, headers, body = server.script(provider, query)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.authority = f"127.0.0.1:{self._server.server_port}"

    def environ(self) -> dict[str, str]:
        """Return the variables that send every provider's requests here."""
        root = f"http://{self.authority}"
        return {
            "OMH_OPENALEX_URL": f"{root}/openalex",
            "OMH_SEMANTICSCHOLAR_URL": f"{root}/s2",
            "OMH_CROSSREF_URL": f"{root}/crossref",
            "OMH_ALLOW_HOSTS": self.authority,
        }

    def __enter__(self) -> ProviderServer:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
