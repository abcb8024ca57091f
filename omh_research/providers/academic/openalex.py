"""OpenAlex: what to ask and how to read the answer.

Job: search and look-up requests, and a pure parser of works. Refuses to fetch. The interface as
of 2026: searches are metered even without a key, `OPENALEX_API_KEY` lifts the allowance, look-ups
by DOI stay free; `AND`, `OR`, `NOT`, quotes, brackets and wildcards are operators in `search`.
Importers: providers.academic, tools.academic.
"""

from __future__ import annotations

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

NAME = "openalex"
MAX_ROWS = 200
_OPERATORS = lazy_re(r"[\"'“”‘’()\[\]{}*?~^|!:\\]")
_BOOLEAN = lazy_re(r"\b(?:AND|OR|NOT)\b")
_FIELDS = (
    "id,doi,title,display_name,publication_year,publication_date,ids,language,primary_location,"
    "locations,type,open_access,authorships,is_retracted,abstract_inverted_index"
)
_MAX_ABSTRACT_WORDS = 20_000


def search_request(
    query: str, limit: int, filters: Filters, environ: Mapping[str, str]
) -> tuple[str, dict[str, str]]:
    """Return (path, parameters) of a works search."""
    words = _BOOLEAN.sub(lambda word: word.group().lower(), _OPERATORS.sub(" ", query))
    params = {
        "search": " ".join(words.split()),
        "per-page": str(min(max(limit, 1), MAX_ROWS)),
        "select": _FIELDS,
    }
    if narrowed := _filter(filters):
        params["filter"] = narrowed
    return "/works", params | _access(environ)


def lookup_request(doi: str, environ: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return (path, parameters) of the look-up of one DOI."""
    return f"/works/https://doi.org/{quote(doi, safe='')}", _access(environ)


def _access(environ: Mapping[str, str]) -> dict[str, str]:
    access = {}
    if key := environ.get("OPENALEX_API_KEY"):
        access["api_key"] = key
    if contact := environ.get("OMH_CONTACT"):
        access["mailto"] = contact
    return access


def _filter(filters: Filters) -> str:
    parts = []
    if filters.min_year is not None:
        parts.append(f"from_publication_date:{filters.min_year:04d}-01-01")
    if filters.max_year is not None:
        parts.append(f"to_publication_date:{filters.max_year:04d}-12-31")
    if filters.publication_types:
        parts.append("type:" + "|".join(filters.publication_types))
    if filters.exclude_preprints:
        parts.append("type:!preprint")
    if filters.language:
        parts.append(f"language:{filters.language}")
    if filters.open_access is not None:
        parts.append(f"is_oa:{str(filters.open_access).lower()}")
    return ",".join(parts)


def parse(body: bytes | str | Mapping[str, Any]) -> ParsedRecords:
    """Return the works of a search or look-up body; raises `ProviderError` for any other body."""
    data = json_body(body, "OpenAlex")
    if not isinstance(data, Mapping) or data.get("error"):
        raise ProviderError("OpenAlex answered with an error or an unknown shape.")
    if "results" in data:
        entries, total = data["results"], mapping(data.get("meta")).get("count")
        if entries is None:
            entries = [None]
        if not isinstance(entries, list):
            raise ProviderError("OpenAlex answered without a list of results.")
    elif str(data.get("id", "")).startswith("https://openalex.org/W") or "doi" in data:
        entries, total = [data], 1
    else:
        raise ProviderError("OpenAlex answered with something that is no work.")
    return parse_entries(entries, _record, total)


def _record(work: object) -> Record | None:
    if not isinstance(work, Mapping):
        return None
    title = clean_text(work.get("title")) or clean_text(work.get("display_name"))
    if not title:
        return None
    url = clean_text(work.get("id")) or None
    openalex = url.rpartition("/")[2] if url else None
    doi = clean_doi(work.get("doi"))
    location = mapping(work.get("primary_location"))
    kind = clean_text(work.get("type")) or None
    is_preprint = kind == "preprint" if kind else None
    venue = clean_text(mapping(location.get("source")).get("display_name")) or None
    return Record(
        provider=NAME,
        provider_record_id=openalex or doi or "",
        title=title,
        abstract=abstract_of(work.get("abstract_inverted_index")),
        authors=clean_names([_author(entry) for entry in items(work.get("authorships"))]),
        doi=doi,
        pmid=clean_pmid(mapping(work.get("ids")).get("pmid")),
        arxiv=arxiv_of_doi(doi) or _arxiv_location(work),
        openalex=openalex,
        venue=venue,
        year=clean_year(work.get("publication_year")),
        published_date=clean_date(work.get("publication_date")),
        url=url or clean_text(location.get("landing_page_url")) or None,
        publication_type=kind,
        is_preprint=is_preprint,
        preprint_server=venue if is_preprint else None,
        peer_reviewed=False if is_preprint else None,
        version=clean_text(location.get("version")) or None,
        language=clean_text(work.get("language")) or None,
        is_open_access=_flag(mapping(work.get("open_access")).get("is_oa")),
        retracted=_flag(work.get("is_retracted")),
        warnings=("invalid_doi_discarded",) if work.get("doi") and not doi else (),
    )


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _author(entry: object) -> str:
    authorship = mapping(entry)
    name = mapping(authorship.get("author")).get("display_name")
    return clean_text(name) or clean_text(authorship.get("raw_author_name"))


def _arxiv_location(work: Mapping[str, Any]) -> str | None:
    for location in items(work.get("locations")):
        url = clean_text(mapping(location).get("landing_page_url"))
        if "arxiv.org/abs/" in url and (found := clean_arxiv(url)[0]):
            return found
    return None


def abstract_of(inverted: object) -> str:
    """Return the abstract spelled by an inverted index (word: positions); "" when unusable."""
    if not isinstance(inverted, Mapping):
        return ""
    places = [
        (position, word)
        for word, positions in inverted.items()
        for position in items(positions)
        if isinstance(position, int) and not isinstance(position, bool)
    ]
    places.sort()
    return clean_text(" ".join(word for _, word in places[:_MAX_ABSTRACT_WORDS]))
