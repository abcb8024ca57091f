"""A bibliographic record as de-duplication reads it, and how plain rows become one.

Job: the frozen value type, and lenient reading of the usual spellings of its fields. Refuses to
invent what a row does not say. Importers: literature.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

MAX_AUTHORS = 60
ARXIV_DOI = "10.48550/arxiv."

_GLUED = re.compile(r"\.(?=[^\W\d_]{2,})")
_YEAR = re.compile(r"(?<!\d)(1\d{3}|2\d{3})(?!\d)")
_DOI = re.compile(r"10\.\d{4,9}(?:\.\d+)*/\S{1,400}")
_VERSION = re.compile(r"(?:\.pub\d{1,2}|[/._-]?v\d{1,2}|\.v\d{1,2})$")
_NUMBERED_VERSION = re.compile(r"^(10\.(?:12688|21956|35241)/[a-z]+\.\d+)\.\d{1,2}$")


class BibRecord(Struct, frozen=True):
    """A bibliographic record as de-duplication reads it; everything but `title` may be empty.

    `year` is None when unknown; `doi` lower case `10.…`. `publication_type` is the provider's
    word ("journal-article", "preprint", ...). `rank` breaks ties: lower is better.
    """

    title: str
    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str = ""
    doi: str = ""
    pmid: str = ""
    arxiv: str = ""
    openalex: str = ""
    semantic_scholar: str = ""
    volume: str = ""
    pages: str = ""
    publication_type: str = ""
    is_preprint: bool = False
    has_abstract: bool = False
    rank: int = 0


def record_from(row: Mapping[str, Any]) -> BibRecord:
    """Read a plain mapping in any of the usual spellings into a `BibRecord`.

    Known keys: title; authors or author (list, or one string in any common form); year; venue,
    journal or booktitle; identifiers {doi, pmid, arxiv, openalex, semantic_scholar} or the same
    flat (arxiv_id, openalex_id, semantic_scholar_id, s2 too); volume, pages; publication_type,
    type or ENTRYTYPE; is_preprint; abstract. Wrong types count as missing.
    """
    nested = row.get("identifiers")
    ids: Mapping[str, Any] = nested if isinstance(nested, Mapping) else {}
    publication = row.get("publication")
    form: Mapping[str, Any] = publication if isinstance(publication, Mapping) else {}
    doi = clean_doi(_first_text(ids.get("doi"), row.get("doi"))) or ""
    arxiv = _first_text(ids.get("arxiv"), row.get("arxiv"), row.get("arxiv_id")).lower()
    if not arxiv and doi.startswith(ARXIV_DOI):
        arxiv = doi.removeprefix(ARXIV_DOI)
    return BibRecord(
        title=_first_text(row.get("title")),
        authors=split_authors(row.get("authors") or row.get("author") or ()),
        year=read_year(row.get("year")),
        venue=_first_text(row.get("venue"), row.get("journal"), row.get("booktitle")),
        doi=doi,
        pmid=_first_text(ids.get("pmid"), row.get("pmid")),
        arxiv=re.sub(r"v\d+$", "", arxiv.removeprefix("arxiv:")),
        openalex=_first_text(ids.get("openalex"), row.get("openalex"), row.get("openalex_id")),
        semantic_scholar=_first_text(
            ids.get("semantic_scholar"),
            row.get("semantic_scholar"),
            row.get("semantic_scholar_id"),
            row.get("s2"),
        ),
        volume=_first_text(row.get("volume")),
        pages=_first_text(row.get("pages")),
        publication_type=_first_text(
            form.get("publication_type"), row.get("publication_type"), row.get("ENTRYTYPE")
        ),
        is_preprint=bool(form.get("is_preprint") or row.get("is_preprint")),
        has_abstract=bool(row.get("abstract")),
    )


def _first_text(*values: object) -> str:
    for value in values:
        if isinstance(value, str) and value.strip():
            return value.strip()
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return ""


def read_year(value: object) -> int | None:
    """Return the year (1000 to 2999) in a number or a text, or None."""
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        return None
    found = _YEAR.search(str(value)[:40])
    return int(found.group(1)) if found else None


def clean_doi(raw: str) -> str | None:
    """Return the DOI inside `raw`, lower case `10.…`, or None when there is none (B3)."""
    found = _DOI.search(raw[:500].strip().lower().replace("%2f", "/"))
    if not found:
        return None
    doi = found.group(0).rstrip(".,;:'\"<>")
    for opening, closing in ("()", "[]", "{}"):
        while doi.endswith(closing) and doi.count(closing) > doi.count(opening):
            doi = doi[:-1]
    return doi if doi.partition("/")[2] else None


def split_authors(value: object) -> tuple[str, ...]:
    """Return the authors' names in a list, or in one string of any common form."""
    if isinstance(value, str):
        text = html.unescape(html.unescape(value[:20_000])) if "&" in value else value[:20_000]
        text = _GLUED.sub(".\n", text)
        if " and " in text:
            parts = text.split(" and ")
        elif ";" in text:
            parts = text.split(";")
        elif "\n" in text:
            parts = text.split("\n")
        else:
            parts = text.split(",")
        return tuple(p.strip() for p in parts if p.strip())[:MAX_AUTHORS]
    if isinstance(value, Sequence):
        return tuple(str(v).strip() for v in value if isinstance(v, str) and v.strip())[
            :MAX_AUTHORS
        ]
    return ()


def doi_base(doi: str) -> str:
    """Return a DOI without its version suffix (".pub3", "/v1", F1000's ".2")."""
    numbered = _NUMBERED_VERSION.match(doi)
    return numbered.group(1) if numbered else _VERSION.sub("", doi)
