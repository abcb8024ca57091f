"""Wikipedia's full-text search, keyless and steady.

Job: choose the edition by the query's script, one request, one pure parser. Refuses to read
articles (the page reader does). Importers: providers.web.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from msgspec import Struct

from omh_research.documents.source import Hit
from omh_research.errors import ProviderError
from omh_research.lazy_re import lazy_re
from omh_research.providers.asking import Question
from omh_research.providers.cleaning import clean_text, items, json_body, mapping
from omh_research.providers.endpoints import base_url
from omh_research.providers.web.hits import make_hits
from omh_research.providers.web.scripts import language_of_query

if TYPE_CHECKING:
    from omh_research.transport import Transport

NAME = "wikipedia"
DEFAULT_TIMEOUT_S = 20.0
# Operators of the search syntax: phrases, exclusions, wildcards, `intitle:` and its kin.
_OPERATORS = lazy_re(r"[\"“”~*?!\\|]|(?<!\S)-|(?<=\w):(?=\S)")


class Wikipedia(Struct):
    """The search of one edition as a `SearchProvider`; `language` "" means: by the query."""

    transport: Transport
    environ: Mapping[str, str]
    timeout_s: float = DEFAULT_TIMEOUT_S
    language: str = ""
    name: str = NAME

    def search(self, query: str, *, limit: int) -> list[Hit]:
        """Return at most `limit` hits; raises `ProviderError` when the answer is unknown."""
        base = base_url(NAME, self.environ, language=self.language or edition(query))
        question = Question(NAME, self.transport, self.timeout_s, environ=self.environ, base=base)
        params = {
            "action": "query",
            "list": "search",
            "format": "json",
            "formatversion": "2",
            "srlimit": str(min(max(limit, 1), 50)),
            "srsearch": " ".join(_OPERATORS.sub(" ", query).split())[:300],
        }
        return parse(question.answer("/w/api.php", params, accept="application/json"), base, limit)


def edition(query: str) -> str:
    """Return the language code of the edition that fits the query's script; `en` by default."""
    return language_of_query(query)


def parse(body: bytes | str | Mapping[str, Any], base: str, limit: int = 50) -> list[Hit]:
    """Return the hits of a search body; `base` is the edition's address (articles are below it)."""
    data = json_body(body, NAME)
    found = mapping(mapping(data).get("query")).get("search")
    if not isinstance(found, list) or "error" in mapping(data):
        raise ProviderError(f"{NAME} answered with an error or an unknown shape.")
    rows = []
    for each in items(found):
        title = clean_text(mapping(each).get("title"))
        if title:
            path = quote(title.replace(" ", "_"), safe="/:@!$*(),;'")
            snippet = mapping(each).get("snippet")
            rows.append((f"{base}/wiki/{path}", title, snippet, ""))
    return make_hits(NAME, rows, limit)
