"""From a provider's list of results to hits.

Job: keep http(s) results with a title, clean their texts, number them. Refuses to rank. Importers:
providers.web.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from omh_research.documents.source import Hit, Identifiers
from omh_research.providers.academic.record import Record
from omh_research.providers.cleaning import clean_date, clean_text

MAX_SNIPPET_CHARS = 2_000
MAX_TITLE_CHARS = 300


def make_hits(
    provider: str, rows: Iterable[tuple[object, object, object, object]], limit: int
) -> list[Hit]:
    """Return at most `limit` hits from (url, title, snippet, date) rows, in order.

    Rows without an http(s) URL are skipped, repeated URLs kept once. A date that is no ISO date
    ("3 days ago") is left out: it cannot be cited.
    """
    hits: list[Hit] = []
    seen: set[str] = set()
    for url, title, snippet, date in rows:
        address = url.strip() if isinstance(url, str) else ""
        if not is_web_url(address) or address in seen:
            continue
        seen.add(address)
        name = clean_text(title)[:MAX_TITLE_CHARS] or address
        said = clean_text(snippet)[:MAX_SNIPPET_CHARS]
        hits.append(Hit(address, name, said, provider, len(hits) + 1, clean_date(date) or ""))
        if len(hits) >= limit:
            break
    return hits


def is_web_url(url: str) -> bool:
    """Return whether `url` is http(s) with a host (the door's own rules come later)."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False


def hit_of_record(record: Record, rank: int) -> Hit:
    """Return the hit for a scholarly record: its landing page, its abstract as the snippet."""
    url = f"https://doi.org/{record.doi}" if record.doi else (record.url or "")
    if record.arxiv and (record.provider == "arxiv" or not record.doi):
        url = f"https://arxiv.org/abs/{record.arxiv}"
    return Hit(
        url=url,
        title=record.title[:MAX_TITLE_CHARS],
        snippet=record.abstract[:MAX_SNIPPET_CHARS],
        provider=record.provider,
        rank=rank,
        date=record.published_date or (str(record.year) if record.year else ""),
        identifiers=Identifiers(record.doi, record.arxiv, record.pmid),
    )
