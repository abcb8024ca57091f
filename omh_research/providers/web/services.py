"""Search services with a JSON interface: Tavily, Brave, Serper, SearXNG.

Job: one request and one pure parser each. Refuses to fall back to another service. Importers:
providers.web.

Interfaces as of 2026: Tavily POST /search with a bearer key; Brave GET /res/v1/web/search with
`X-Subscription-Token`; Serper POST /search with `X-API-KEY`; SearXNG GET /search?format=json,
which many public instances switch off (they answer an HTML 403).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from omh_research.documents.source import Hit
from omh_research.errors import PrerequisiteError, ProviderError
from omh_research.providers.asking import Question
from omh_research.providers.cleaning import items, json_body, mapping
from omh_research.providers.web.hits import make_hits
from omh_research.providers.web.keys import KEY_NAMES

if TYPE_CHECKING:
    from omh_research.transport import Transport

DEFAULT_TIMEOUT_S = 20.0
MAX_RESULTS = 20
Body = bytes | str | Mapping[str, Any]


def parse_tavily(body: Body, limit: int = MAX_RESULTS) -> list[Hit]:
    """Return the hits of a Tavily body; raises `ProviderError` for any other body."""
    results = _list(mapping(json_body(body, "tavily")).get("results"), "tavily")
    rows = [mapping(each) for each in results]
    return make_hits(
        "tavily",
        (
            (row.get("url"), row.get("title"), row.get("content") or row.get("snippet"),
             row.get("published_date"))
            for row in rows
        ),
        limit,
    )  # fmt: skip


def parse_brave(body: Body, limit: int = MAX_RESULTS) -> list[Hit]:
    """Return the hits of a Brave body; no `web` part means nothing was found."""
    data = json_body(body, "brave")
    if not isinstance(data, Mapping) or not {"web", "query", "mixed"} & data.keys():
        raise ProviderError("brave answered with an unknown shape.")
    rows = [mapping(each) for each in items(mapping(data.get("web")).get("results"))]
    return make_hits(
        "brave",
        (
            (row.get("url"), row.get("title"), row.get("description"), row.get("page_age"))
            for row in rows
        ),
        limit,
    )


def parse_serper(body: Body, limit: int = MAX_RESULTS) -> list[Hit]:
    """Return the hits of a Serper body; raises `ProviderError` for any other body."""
    data = mapping(json_body(body, "serper"))
    if "organic" not in data and "searchParameters" not in data:
        raise ProviderError("serper answered with an unknown shape.")
    rows = [mapping(each) for each in items(data.get("organic"))]
    return make_hits(
        "serper",
        ((row.get("link"), row.get("title"), row.get("snippet"), row.get("date")) for row in rows),
        limit,
    )


def parse_searxng(body: Body, limit: int = MAX_RESULTS) -> list[Hit]:
    """Return the hits of a SearXNG body.

    An empty list while engines did not respond is unknown, not "nothing found" (spec T7c).
    """
    data = mapping(json_body(body, "searxng"))
    rows = [mapping(each) for each in _list(data.get("results"), "searxng")]
    if not rows and items(data.get("unresponsive_engines")):
        raise ProviderError("searxng found nothing while engines did not respond.")
    return make_hits(
        "searxng",
        (
            (row.get("url"), row.get("title"), row.get("content"), row.get("publishedDate"))
            for row in rows
        ),
        limit,
    )


def _list(value: object, provider: str) -> list[Any]:
    if not isinstance(value, list):
        raise ProviderError(f"{provider} answered with an unknown shape.")
    return value


class Service(Struct):
    """A JSON search service as a `SearchProvider`; `key` is "" for SearXNG."""

    name: str
    transport: Transport
    environ: Mapping[str, str]
    key: str = ""
    timeout_s: float = DEFAULT_TIMEOUT_S

    def search(self, query: str, *, limit: int) -> list[Hit]:
        """Return at most `limit` hits; raises `ProviderError` when the answer is unknown."""
        if self.name in KEY_NAMES and not self.key:
            raise PrerequisiteError(
                f"{self.name} needs a key.",
                hint=f"Set {KEY_NAMES[self.name]} in the environment or in .env.",
            )
        return _SEARCHES[self.name](self, query, min(max(limit, 1), MAX_RESULTS))

    def question(self, headers: Mapping[str, str]) -> Question:
        """Return the question that asks this service."""
        return Question(
            self.name, self.transport, self.timeout_s, headers=headers, environ=self.environ
        )


def _search_tavily(service: Service, query: str, limit: int) -> list[Hit]:
    question = service.question({"authorization": f"Bearer {service.key}"})
    payload = {"query": query[:400], "max_results": limit, "search_depth": "basic"}
    return parse_tavily(question.answer_to_post("/search", payload), limit)


def _search_brave(service: Service, query: str, limit: int) -> list[Hit]:
    question = service.question({"x-subscription-token": service.key})
    params = {"q": query[:400], "count": str(limit)}
    body = question.answer("/res/v1/web/search", params, accept="application/json")
    return parse_brave(body, limit)


def _search_serper(service: Service, query: str, limit: int) -> list[Hit]:
    question = service.question({"x-api-key": service.key})
    return parse_serper(question.answer_to_post("/search", {"q": query, "num": limit}), limit)


def _search_searxng(service: Service, query: str, limit: int) -> list[Hit]:
    params = {"q": query, "format": "json"}
    body = service.question({}).answer("/search", params, accept="application/json")
    return parse_searxng(body, limit)


_SEARCHES: Mapping[str, Callable[[Service, str, int], list[Hit]]] = {
    "tavily": _search_tavily,
    "brave": _search_brave,
    "serper": _search_serper,
    "searxng": _search_searxng,
}
