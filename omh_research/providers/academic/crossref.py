"""Crossref: what to ask and how to read the answer.

Job: search and look-up requests, and a pure parser of works. Refuses to fetch. Free text needs no
escaping; a `mailto` address puts requests into the polite pool. Importers: providers.academic,
tools.academic.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from omh_research.errors import ProviderError
from omh_research.providers.academic.record import Filters, ParsedRecords, Record, parse_entries
from omh_research.providers.cleaning import (
    arxiv_of_doi,
    clean_doi,
    clean_names,
    clean_text,
    clean_year,
    first_text,
    iso_date,
    items,
    json_body,
    mapping,
)

NAME = "crossref"
MAX_ROWS = 100
# OpenAlex's words (the callers' vocabulary) to Crossref's.
_TYPES = {
    "article": "journal-article",
    "review": "journal-article",
    "book-chapter": "book-chapter",
    "book": "book",
    "dataset": "dataset",
    "dissertation": "dissertation",
    "preprint": "posted-content",
    "report": "report",
    "reference-entry": "reference-entry",
    "proceedings-article": "proceedings-article",
    "editorial": "journal-article",
    "letter": "journal-article",
}
_RETRACTIONS = frozenset({"retraction", "withdrawal", "removal", "partial_retraction"})


def search_request(
    query: str, limit: int, filters: Filters, environ: Mapping[str, str]
) -> tuple[str, dict[str, str]]:
    """Return (path, parameters) of a works search."""
    params = {"query": " ".join(query.split()), "rows": str(min(max(limit, 1), MAX_ROWS))}
    parts = []
    if filters.min_year is not None:
        parts.append(f"from-pub-date:{filters.min_year:04d}")
    if filters.max_year is not None:
        parts.append(f"until-pub-date:{filters.max_year:04d}")
    types = {_TYPES.get(kind, kind) for kind in filters.publication_types}
    parts.extend(f"type:{kind}" for kind in sorted(types))
    if parts:
        params["filter"] = ",".join(parts)
    return "/works", params | _access(environ)


def lookup_request(doi: str, environ: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return (path, parameters) of the look-up of one DOI."""
    return f"/works/{quote(doi, safe='')}", _access(environ)


def _access(environ: Mapping[str, str]) -> dict[str, str]:
    contact = environ.get("OMH_CONTACT")
    return {"mailto": contact} if contact else {}


def parse(body: bytes | str | Mapping[str, Any]) -> ParsedRecords:
    """Return the works of a search or look-up body; raises `ProviderError` for any other body."""
    data = json_body(body, "Crossref")
    message = data.get("message") if isinstance(data, Mapping) else None
    if not isinstance(message, Mapping) or data.get("status", "ok") != "ok":
        raise ProviderError("Crossref answered with an error or an unknown shape.")
    kind = data.get("message-type", "work-list" if "items" in message else "work")
    if kind == "work-list" and isinstance(message.get("items", []), list | None):
        entries = [None] if message.get("items", []) is None else message.get("items", [])
        total = message.get("total-results")
    elif kind == "work":
        entries, total = [message], 1
    else:
        raise ProviderError(f"Crossref answered with {clean_text(kind)[:40]!r}, not with works.")
    return parse_entries(entries, _record, total)


def _record(work: object) -> Record | None:
    if not isinstance(work, Mapping):
        return None
    title = first_text(work.get("title"))
    if not title:
        return None
    doi = clean_doi(work.get("DOI"))
    kind = clean_text(work.get("type")) or None
    is_preprint = (
        clean_text(work.get("subtype")) == "preprint" if kind == "posted-content" else None
    )
    if is_preprint is None and kind is not None:
        is_preprint = False
    published = _date(work, "issued") or _date(work, "published") or _date(work, "posted")
    url = clean_text(work.get("URL")) or (f"https://doi.org/{doi}" if doi else "")
    return Record(
        provider=NAME,
        provider_record_id=doi or url,
        title=title,
        abstract=clean_text(work.get("abstract")),
        authors=clean_names([_author(entry) for entry in items(work.get("author"))]),
        doi=doi,
        arxiv=arxiv_of_doi(doi),
        venue=first_text(work.get("container-title")) or None,
        year=clean_year((published or "")[:4]),
        published_date=published,
        online_date=_date(work, "published-online"),
        url=url or None,
        publication_type=kind,
        is_preprint=is_preprint,
        preprint_server=_server(work) if is_preprint else None,
        peer_reviewed=False if is_preprint else None,
        language=clean_text(work.get("language"))[:2].lower() or None,
        is_open_access=_open_licence(work),
        retracted=_retracted(work),
        warnings=("invalid_doi_discarded",) if work.get("DOI") and not doi else (),
    )


def _author(entry: object) -> str:
    author = mapping(entry)
    name = f"{clean_text(author.get('given'))} {clean_text(author.get('family'))}".strip()
    return name or clean_text(author.get("name"))


def _date(work: Mapping[str, Any], field: str) -> str | None:
    rows = items(mapping(work.get(field)).get("date-parts"))
    return iso_date(items(rows[0])) if rows else None


def _server(work: Mapping[str, Any]) -> str | None:
    """Return the preprint server: the institution, else the publisher."""
    institutions = work.get("institution")
    first = institutions[0] if isinstance(institutions, list) and institutions else institutions
    name = clean_text(mapping(first).get("name"))
    return name or clean_text(work.get("publisher")) or None


def _open_licence(work: Mapping[str, Any]) -> bool | None:
    """Return True for a Creative Commons licence, else None: Crossref never says "closed"."""
    urls = (clean_text(mapping(each).get("URL")) for each in items(work.get("license")))
    return True if any("creativecommons.org/" in url for url in urls) else None


def _retracted(work: Mapping[str, Any]) -> bool | None:
    """Return True when an update says so; None otherwise: no update is no clean bill.

    `updated-by` names notices about this work (`update-to` would be this work's own notice).
    """
    kinds = {clean_text(mapping(each).get("type")) for each in items(work.get("updated-by"))}
    return True if kinds & _RETRACTIONS else None


def retraction_date(body: bytes) -> str | None:
    """Return the date of the retraction notice in a look-up body, None when there is none."""
    message = mapping(mapping(json_body(body, "Crossref")).get("message"))
    for update in items(message.get("updated-by")):
        if clean_text(mapping(update).get("type")) in _RETRACTIONS:
            return _date(mapping(update), "updated")
    return None
