"""Semantic Scholar: what to ask and how to read the answer.

Job: search and look-up requests, and a pure parser of papers. Refuses to fetch. The keyless pool
is shared and often throttled; `SEMANTIC_SCHOLAR_API_KEY` (or `S2_API_KEY`) gives an own rate. The
search has no operators, and a hyphenated word finds nothing. Importers: providers.academic,
tools.academic.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from omh_research.errors import ProviderError
from omh_research.lazy_re import lazy_re
from omh_research.providers.academic.record import Filters, ParsedRecords, Record, parse_entries
from omh_research.providers.cleaning import (
    arxiv_of_doi,
    clean_arxiv,
    clean_date,
    clean_doi,
    clean_names,
    clean_pmid,
    clean_text,
    clean_year,
    items,
    json_body,
    mapping,
)

NAME = "semanticscholar"
MAX_ROWS = 100
_FIELDS = (
    "title,abstract,year,authors,externalIds,url,venue,publicationDate,publicationTypes,"
    "isOpenAccess,journal"
)
_HYPHENS = lazy_re(r"[-‐‑‒–—−]")
_QUOTES = lazy_re(r"[\"“”„«»+|*~()\[\]{}]")
_TYPES = {"article": "JournalArticle", "review": "Review", "book": "Book", "dataset": "Dataset",
          "book-chapter": "BookSection", "editorial": "Editorial", "letter": "LettersAndComments",
          "proceedings-article": "Conference"}  # fmt: skip
_SERVERS = {"arxiv.org": "arXiv", "arxiv": "arXiv", "biorxiv": "bioRxiv", "medrxiv": "medRxiv",
            "social science research network": "SSRN", "research square": "Research Square",
            "chemrxiv": "ChemRxiv", "psyarxiv": "PsyArXiv"}  # fmt: skip
_LIST_KEYS = ("data", "recommendedPapers", "papers")


def search_request(
    query: str, limit: int, filters: Filters, environ: Mapping[str, str]
) -> tuple[str, dict[str, str]]:
    """Return (path, parameters) of a paper search."""
    words = _QUOTES.sub(" ", _HYPHENS.sub(" ", query))
    params = {
        "query": " ".join(words.split()),
        "limit": str(min(max(limit, 1), MAX_ROWS)),
        "fields": _FIELDS,
    }
    if filters.min_year is not None or filters.max_year is not None:
        params["year"] = f"{filters.min_year or ''}-{filters.max_year or ''}"
    types = [_TYPES[kind] for kind in filters.publication_types if kind in _TYPES]
    if types:
        params["publicationTypes"] = ",".join(types)
    return "/graph/v1/paper/search", params


def lookup_request(doi: str, environ: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return (path, parameters) of the look-up of one DOI."""
    return f"/graph/v1/paper/DOI:{quote(doi, safe='/')}", {"fields": _FIELDS}


def headers(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the request headers: the key, where the environment has one."""
    key = environ.get("SEMANTIC_SCHOLAR_API_KEY") or environ.get("S2_API_KEY")
    return {"x-api-key": key} if key else {}


def parse(body: bytes | str | Mapping[str, Any] | list[Any]) -> ParsedRecords:
    """Return the papers of a search, match or look-up body; raises `ProviderError` otherwise."""
    data = json_body(body, "Semantic Scholar")
    if isinstance(data, Mapping) and isinstance(data.get("body"), Mapping):
        data = data["body"]  # some mirrors wrap the answer together with its status
    entries, total = _entries(data)
    return parse_entries(entries, _record, total)


def _entries(data: object) -> tuple[list[Any], object]:
    if isinstance(data, list):
        return data, None
    if not isinstance(data, Mapping) or data.get("error") or data.get("message"):
        raise ProviderError("Semantic Scholar answered with an error or an unknown shape.")
    for key in _LIST_KEYS:
        if key in data:
            found = data[key]
            if found is not None and not isinstance(found, list):
                raise ProviderError("Semantic Scholar answered without a list of papers.")
            return [None] if found is None else found, data.get("total")
    if data.get("paperId"):
        return [data], 1
    if data.get("total") == 0:
        return [], 0
    raise ProviderError("Semantic Scholar answered with something that is no paper.")


def _record(paper: object) -> Record | None:
    if not isinstance(paper, Mapping):
        return None
    title = clean_text(paper.get("title"))
    if not title or "authorId" in paper:
        return None
    external = mapping(paper.get("externalIds"))
    doi = clean_doi(external.get("DOI"))
    paper_id = clean_text(paper.get("paperId"))
    venue = clean_text(paper.get("venue")) or clean_text(mapping(paper.get("journal")).get("name"))
    server = _SERVERS.get(venue.lower()) if venue else None
    types = clean_names(paper.get("publicationTypes"))
    url = clean_text(paper.get("url")) or _own_url(doi, paper_id)
    return Record(
        provider=NAME,
        provider_record_id=paper_id or doi or url,
        title=title,
        abstract=clean_text(paper.get("abstract")),
        authors=clean_names([mapping(each).get("name") for each in items(paper.get("authors"))]),
        doi=doi,
        pmid=clean_pmid(external.get("PubMed")),
        arxiv=clean_arxiv(external.get("ArXiv"))[0] or arxiv_of_doi(doi),
        semantic_scholar=paper_id or None,
        venue=venue or None,
        year=clean_year(paper.get("year")),
        published_date=clean_date(paper.get("publicationDate")),
        url=url or None,
        publication_type=_kebab(types[0]) if types else None,
        is_preprint=True if server else (False if venue else None),
        preprint_server=server,
        peer_reviewed=False if server else None,
        is_open_access=_flag(paper.get("isOpenAccess")),
        warnings=("invalid_doi_discarded",) if external.get("DOI") and not doi else (),
    )


def _own_url(doi: str | None, paper_id: str) -> str:
    if doi:
        return f"https://doi.org/{doi}"
    return f"https://www.semanticscholar.org/paper/{paper_id}" if paper_id else ""


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _kebab(name: str) -> str:
    """Return `journal-article` for `JournalArticle`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()
