"""DuckDuckGo's HTML result page, the keyless default.

Job: one request and a pure parser of the page. Refuses to call a bot check "no results": a page
that shows neither results nor its own "no results" line is unknown. Importers: providers.web.
"""

from __future__ import annotations

from collections.abc import Mapping
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from msgspec import Struct

from omh_research.corpus.taming import tame
from omh_research.documents.source import Hit
from omh_research.errors import ProviderError
from omh_research.providers.asking import Question
from omh_research.providers.cleaning import items, json_body, mapping
from omh_research.providers.web.hits import make_hits

if TYPE_CHECKING:
    from omh_research.transport import Transport

NAME = "duckduckgo"
DEFAULT_TIMEOUT_S = 20.0
_BOT_CHECK = ("anomaly-modal", "challenge-form", "anomaly.js")


class DuckDuckGo(Struct):
    """The HTML service as a `SearchProvider`."""

    transport: Transport
    environ: Mapping[str, str]
    timeout_s: float = DEFAULT_TIMEOUT_S
    name: str = NAME

    def search(self, query: str, *, limit: int) -> list[Hit]:
        """Return at most `limit` hits; raises `ProviderError` when the answer is unknown."""
        question = Question(NAME, self.transport, self.timeout_s, environ=self.environ)
        response = question.send("/html/", {"q": query}, accept="text/html")
        if response.status not in (200, 202):
            raise ProviderError(f"{NAME} answered HTTP {response.status}.")
        return parse(response.body, limit)


def parse(body: bytes | str, limit: int = 30) -> list[Hit]:
    """Return the hits of a result page (or of an instant answer in JSON)."""
    text = body.decode("utf-8", errors="replace") if isinstance(body, bytes) else body
    if text.lstrip()[:1] == "{":
        return _parse_instant_answer(text, limit)
    reader = _Results()
    reader.feed(tame(text))
    reader.close()
    hits = make_hits(NAME, ((_target(u), t, s, "") for u, t, s in reader.rows()), limit)
    if hits or reader.says_nothing_found:
        return hits
    if any(mark in text for mark in _BOT_CHECK):
        raise ProviderError(f"{NAME} answered with a bot check: blocked for now.")
    raise ProviderError(f"{NAME} answered with a page that is no result page.")


def _target(href: str) -> str:
    """Return where a result leads: DuckDuckGo wraps links in `/l/?uddg=…`."""
    try:
        parts = urlsplit("https:" + href if href.startswith("//") else href)
        wrapped = parse_qs(parts.query).get("uddg") if parts.path == "/l/" else None
        host = parts.hostname or ""
    except ValueError:
        return ""
    if wrapped:
        return wrapped[0]
    return "" if host.endswith("duckduckgo.com") and parts.path == "/y.js" else href


class _Results(HTMLParser):
    """Collects (href, title, snippet) of `result__a` and `result__snippet` links."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.says_nothing_found = False
        self._rows: list[list[str]] = []
        self._into: int | None = None
        self._ad = False

    def rows(self) -> list[list[str]]:
        """The organic results as [href, title, snippet]."""
        return self._rows

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        classes = given.get("class", "").split()
        if "no-results" in classes:
            self.says_nothing_found = True
        if "result" in classes:
            self._ad = "result--ad" in classes
        if "result__a" in classes and not self._ad:
            self._rows.append([given.get("href", ""), "", ""])
            self._into = 1
        elif "result__snippet" in classes and self._rows and not self._ad:
            self._into = 2

    def handle_endtag(self, tag: str) -> None:
        if tag in ("a", "div", "td"):
            self._into = None

    def handle_data(self, data: str) -> None:
        if self._into is not None:
            self._rows[-1][self._into] += data


def _parse_instant_answer(text: str, limit: int) -> list[Hit]:
    data = mapping(json_body(text, NAME))
    if "RelatedTopics" not in data and "Results" not in data:
        raise ProviderError(f"{NAME} answered with an unknown shape.")
    rows = [(data.get("AbstractURL"), data.get("Heading"), data.get("AbstractText"), "")]
    for group in (*items(data.get("Results")), *items(data.get("RelatedTopics"))):
        for topic in items(mapping(group).get("Topics")) or [group]:
            said = str(mapping(topic).get("Text") or "")
            rows.append((mapping(topic).get("FirstURL"), said.partition(" - ")[0], said, ""))
    return make_hits(NAME, rows, limit)
