"""DataCite: looking up the DOIs that live there (arXiv, Zenodo, data sets).

Job: look-up and search requests and a pure parser. Refuses to fetch. Importers:
providers.academic, tools.academic.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from omh_research.errors import ProviderError
from omh_research.providers.academic.record import Filters, ParsedRecords, Record, parse_entries
from omh_research.providers.cleaning import (
    arxiv_of_doi,
    clean_date,
    clean_doi,
    clean_names,
    clean_text,
    clean_year,
    items,
    json_body,
    mapping,
)

NAME = "datacite"
MAX_ROWS = 100


def search_request(
    query: str, limit: int, filters: Filters, environ: Mapping[str, str]
) -> tuple[str, dict[str, str]]:
    """Return (path, parameters) of a search; its query syntax characters are blanked."""
    words = "".join(char if char.isalnum() or char in " -'" else " " for char in query)
    params = {"query": " ".join(words.split()), "page[size]": str(min(max(limit, 1), MAX_ROWS))}
    return "/dois", params


def lookup_request(doi: str, environ: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return (path, parameters) of the look-up of one DOI."""
    return f"/dois/{quote(doi, safe='')}", {}


def parse(body: bytes | str | Mapping[str, Any]) -> ParsedRecords:
    """Return the works of a body; raises `ProviderError` for an error or any other body."""
    data = json_body(body, "DataCite")
    if not isinstance(data, Mapping) or data.get("errors") or "data" not in data:
        raise ProviderError("DataCite answered with an error or an unknown shape.")
    entries = data["data"] if isinstance(data["data"], list) else [data["data"]]
    total = mapping(data.get("meta")).get("total")
    return parse_entries(entries, _record, total)


def _record(entry: object) -> Record | None:
    facts = mapping(mapping(entry).get("attributes"))
    titles = [clean_text(mapping(each).get("title")) for each in items(facts.get("titles"))]
    title = next((each for each in titles if each), "")
    if not title:
        return None
    doi = clean_doi(facts.get("doi"))
    arxiv = arxiv_of_doi(doi)
    general = clean_text(mapping(facts.get("types")).get("resourceTypeGeneral"))
    is_preprint = True if arxiv or general == "Preprint" else None
    publisher = facts.get("publisher")
    name = clean_text(mapping(publisher).get("name")) or clean_text(publisher)
    abstracts = [
        clean_text(mapping(each).get("description"))
        for each in items(facts.get("descriptions"))
        if mapping(each).get("descriptionType") == "Abstract"
    ]
    year = clean_year(facts.get("publicationYear"))
    return Record(
        provider=NAME,
        provider_record_id=doi or "",
        title=title,
        abstract=next((each for each in abstracts if each), ""),
        authors=clean_names([_creator(each) for each in items(facts.get("creators"))]),
        doi=doi,
        arxiv=arxiv,
        venue=name or None,
        year=year,
        published_date=_issued(facts) or (str(year) if year else None),
        url=clean_text(facts.get("url")) or (f"https://doi.org/{doi}" if doi else None),
        publication_type=general.lower() or None,
        is_preprint=is_preprint,
        preprint_server=name if is_preprint else None,
        peer_reviewed=False if is_preprint else None,
        version=clean_text(facts.get("version")) or None,
        language=clean_text(facts.get("language"))[:2].lower() or None,
    )


def _creator(entry: object) -> str:
    creator = mapping(entry)
    given, family = clean_text(creator.get("givenName")), clean_text(creator.get("familyName"))
    return f"{given} {family}".strip() if family else clean_text(creator.get("name"))


def _issued(facts: Mapping[str, Any]) -> str | None:
    for each in items(facts.get("dates")):
        if mapping(each).get("dateType") == "Issued":
            return clean_date(mapping(each).get("date"))
    return None
