"""The academic providers as search providers of leads.

Job: ask one and turn its records into hits. Refuses to hide a failure: it raises. Importers:
providers.web, wiring.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from omh_research.documents.source import Hit
from omh_research.errors import ProviderError
from omh_research.providers.academic.search import fetch
from omh_research.providers.web.hits import hit_of_record, is_web_url

if TYPE_CHECKING:
    from omh_research.transport import Transport

DEFAULT_TIMEOUT_S = 30.0


class Scholarly(Struct):
    """One academic provider (`arxiv`, `crossref`, …) as a `SearchProvider`."""

    name: str
    transport: Transport
    environ: Mapping[str, str]
    timeout_s: float = DEFAULT_TIMEOUT_S

    def search(self, query: str, *, limit: int) -> list[Hit]:
        """Return at most `limit` hits; raises `ProviderError` when the answer is unknown."""
        answer = fetch(
            self.name,
            query,
            limit=limit,
            transport=self.transport,
            timeout_s=self.timeout_s,
            environ=self.environ,
        )
        if not answer.is_known:
            raise ProviderError(answer.reason)
        hits = [hit_of_record(record, rank) for rank, record in enumerate(answer.records, 1)]
        return [hit for hit in hits if is_web_url(hit.url)]
