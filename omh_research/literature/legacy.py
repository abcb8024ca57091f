"""Old `title/year/id` rows as papers: an adapter that is asked for by name (B9).

Job: turn a row of the old kind into `rls.paper.v1`, marked `legacy_adapted`. Refuses to guess
what a row does not say and to pass an old row off as the new schema. Importers: literature, cli.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from omh_research.errors import ToolInputError
from omh_research.lazy_re import lazy_re
from omh_research.literature.bibrecord import clean_doi, read_year, split_authors
from omh_research.literature.record import (
    AbstractProvenance,
    Identifiers,
    Paper,
    PaperSource,
    Publication,
    flatten,
    gaps_of,
    ids_of,
    sound_text,
)

WARNING = "legacy_adapted"
SOURCE = "legacy"
_ARXIV = lazy_re(r"(?:arxiv:|/abs/)?((?:[a-z-]+(?:\.[a-z]{2})?/)?\d{4}\.?\d{3,5})(?:v\d+)?$", re.I)
_OPENALEX = lazy_re(r"(?:^|/)(W\d{4,})$", re.I)
_PREFIXED = lazy_re(r"^(doi|pmid|arxiv|openalex|semantic_scholar|s2):\s*(.+)$", re.I)


def is_legacy(row: Mapping[str, Any]) -> bool:
    """Tell whether a row claims no schema: only such rows are adapted."""
    return "schema_version" not in row and "record_type" not in row


def adapt(row: Mapping[str, Any], *, line: int, seen_at: str) -> Paper:
    """Return an old row as a paper with the warning `legacy_adapted`.

    Known old fields: title, year, id, doi, pmid, arxiv(_id), openalex(_id), semantic_scholar(_id),
    authors or author, venue or journal, abstract, url, source, language, is_open_access.

    Raises:
        ToolInputError: the row has no title; `line` is named.
    """
    title = _text(row.get("title"))
    if not title:
        raise ToolInputError(f"line {line}: an old row needs a title.")
    identifiers, warnings = _identifiers(row)
    authors = tuple(
        a for a in map(sound_text, split_authors(row.get("authors") or row.get("author"))) if a
    )
    year, abstract = read_year(row.get("year")), _text(row.get("abstract"))
    key, url = _text(row.get("id")) or "", _text(row.get("url"))
    source = _text(row.get("source")) or SOURCE
    is_open = row.get("is_open_access")
    gaps = gaps_of(authors, year, identifiers, url)
    return flatten(
        Paper(
            record_id=ids_of(title, authors, year, identifiers)[0],
            title=title,
            authors=authors,
            identifiers=identifiers,
            venue=_text(row.get("venue")) or _text(row.get("journal")),
            year=year,
            published_date=_text(row.get("published_date")) or _text(row.get("date")),
            online_date=None,
            url=url,
            abstract=abstract,
            abstract_status="present" if abstract else "not_requested",
            abstract_provenance=AbstractProvenance(source, key) if abstract else None,
            publication=Publication(
                publication_type=_text(row.get("publication_type")),
                language=_text(row.get("language")),
                is_open_access=is_open if isinstance(is_open, bool) else None,
            ),
            sources=(PaperSource(source, key, "", line, url, seen_at),),
            query_matches=(),
            quality_warnings=tuple(sorted({WARNING, *warnings, *(f"missing_{g}" for g in gaps)})),
            doi=None,
            source=source,
            pmid=None,
            openalex_id=None,
            semantic_scholar_id=None,
            arxiv_id=None,
            language=None,
            is_open_access=None,
        )
    )


def _text(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return None
    return sound_text(str(value))


def _identifiers(row: Mapping[str, Any]) -> tuple[Identifiers, list[str]]:
    """Read identifiers from their own fields, then from a prefixed or telling `id`."""
    found = {
        "doi": _text(row.get("doi")),
        "pmid": _text(row.get("pmid")),
        "arxiv": _text(row.get("arxiv")) or _text(row.get("arxiv_id")),
        "openalex": _text(row.get("openalex")) or _text(row.get("openalex_id")),
        "semantic_scholar": _text(row.get("semantic_scholar"))
        or _text(row.get("semantic_scholar_id")),
    }
    key = _text(row.get("id")) or ""
    prefixed = _PREFIXED.match(key)
    if prefixed:
        name = prefixed.group(1).lower().replace("s2", "semantic_scholar")
        found[name] = found[name] or prefixed.group(2).strip()
    elif clean_doi(key):
        found["doi"] = found["doi"] or key
    elif match := _OPENALEX.search(key):
        found["openalex"] = found["openalex"] or match.group(1).upper()
    warnings = []
    doi = clean_doi(found["doi"] or "")
    if found["doi"] and not doi:
        warnings.append("invalid_doi_discarded")
    arxiv = _ARXIV.search(found["arxiv"]) if found["arxiv"] else None
    return Identifiers(
        doi,
        found["pmid"],
        arxiv.group(1) if arxiv else None,
        found["openalex"],
        found["semantic_scholar"],
    ), warnings


def to_row(paper: Paper) -> dict[str, Any]:
    """Return a paper as a plain row."""
    row: dict[str, Any] = msgspec.to_builtins(paper)
    return row
