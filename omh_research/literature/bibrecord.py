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

from omh_research.lazy_re import lazy_re

MAX_AUTHORS = 60
ARXIV_DOI = "10.48550/arxiv."

_GLUED = lazy_re(r"\.(?=[^\W\d_]{2,})")
_YEAR = lazy_re(r"(?<!\d)(1\d{3}|2\d{3})(?!\d)")
_DOI = lazy_re(r"10\.\d{4,9}(?:\.\d+)*/\S{1,400}")
_VERSION = lazy_re(r"(?:\.pub\d{1,2}|[/._-]?v\d{1,2}|\.v\d{1,2})$")
_NUMBERED_VERSION = lazy_re(r"^(10\.(?:12688|21956|35241)/[a-z]+\.\d+)\.\d{1,2}$")


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
    get = row.get
    nested, publication = get("identifiers"), get("publication")
    ids = nested if nested and isinstance(nested, Mapping) else {}
    form = publication if publication and isinstance(publication, Mapping) else {}
    doi = clean_doi(_text(ids.get("doi")) or _text(get("doi"))) or ""
    arxiv = _text(ids.get("arxiv")) or _text(get("arxiv")) or _text(get("arxiv_id"))
    if not arxiv and doi.startswith(ARXIV_DOI):
        arxiv = doi.removeprefix(ARXIV_DOI)
    return BibRecord(
        title=_text(get("title")),
        authors=split_authors(get("authors") or get("author") or ()),
        year=read_year(get("year")),
        venue=_text(get("venue")) or _text(get("journal")) or _text(get("booktitle")),
        doi=doi,
        pmid=_text(ids.get("pmid")) or _text(get("pmid")),
        arxiv=_bare_arxiv(arxiv) if arxiv else "",
        openalex=_text(ids.get("openalex")) or _text(get("openalex")) or _text(get("openalex_id")),
        semantic_scholar=_text(ids.get("semantic_scholar"))
        or _text(get("semantic_scholar"))
        or _text(get("semantic_scholar_id"))
        or _text(get("s2")),
        volume=_text(get("volume")),
        pages=_text(get("pages")),
        publication_type=_text(form.get("publication_type"))
        or _text(get("publication_type"))
        or _text(get("ENTRYTYPE")),
        is_preprint=bool(form.get("is_preprint") or get("is_preprint")),
        has_abstract=bool(get("abstract")),
    )


def _text(value: object) -> str:
    if value is None:
        return ""
    if type(value) is str:
        return value.strip()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def _bare_arxiv(text: str) -> str:
    """Return an arXiv id without prefix and version."""
    return re.sub(r"v\d+$", "", text.lower().removeprefix("arxiv:"))


def read_year(value: object) -> int | None:
    """Return the year (1000 to 2999) in a number or a text, or None."""
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        return None
    if isinstance(value, int):
        return value if 1000 <= value <= 2999 else None
    found = _YEAR.search(value[:40])
    return int(found.group(1)) if found else None


def clean_doi(raw: str) -> str | None:
    """Return the DOI inside `raw`, lower case `10.…`, or None when there is none (B3)."""
    if not raw:
        return None
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
            if len(parts) == 2 and any(len(part.split()) < 2 for part in parts):
                parts = [text]  # "Smith, John" is one author
        return tuple([p.strip() for p in parts if p.strip()])[:MAX_AUTHORS]
    if isinstance(value, Sequence):
        return tuple(str(v).strip() for v in value if isinstance(v, str) and v.strip())[
            :MAX_AUTHORS
        ]
    return ()


def doi_base(doi: str) -> str:
    """Return a DOI without its version suffix (".pub3", "/v1", F1000's ".2")."""
    numbered = _NUMBERED_VERSION.match(doi)
    return numbered.group(1) if numbered else _VERSION.sub("", doi)
