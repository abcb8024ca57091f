"""`rls.paper.v1`: one candidate paper, and how a provider's record becomes one (B3).

Job: the frozen value type, its stable id, its flat old fields, its canonical bytes. Refuses to
invent: missing is null or []; a malformed DOI is dropped with a warning. Importers: literature,
providers.bundle.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from omh_research.lazy_re import lazy_re
from omh_research.literature.bibrecord import BibRecord, clean_doi
from omh_research.literature.titles import read_title

if TYPE_CHECKING:
    from omh_research.providers.academic.record import Record

Year = Annotated[int, Meta(ge=1000, le=3000)]
Count = Annotated[int, Meta(ge=0)]
Rank = Annotated[int, Meta(ge=1)]
Text = Annotated[str, Meta(min_length=1)]
Doi = Annotated[str, Meta(pattern=r"^10\.[^A-Z\s]+/[^A-Z\s]+$")]

_UNSOUND = lazy_re("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


class Identifiers(Struct, frozen=True):
    """Persistent identifiers, null when unknown. `doi` is lower case and starts with `10.`."""

    doi: Doi | None = None
    pmid: Text | None = None
    arxiv: Text | None = None
    openalex: Text | None = None
    semantic_scholar: Text | None = None


class Publication(Struct, frozen=True):
    """How and where the work was published, null where no provider says."""

    publication_type: str | None = None
    is_preprint: bool | None = None
    preprint_server: str | None = None
    peer_reviewed: bool | None = None
    version: str | None = None
    language: str | None = None
    is_open_access: bool | None = None


class PaperSource(Struct, frozen=True):
    """One hit that this paper stands for. `rank` counts from 1 within its query and provider."""

    provider: Text
    provider_record_id: str
    query_id: str
    rank: Rank
    url: str | None
    first_seen_at: str


class QueryMatch(Struct, frozen=True):
    """A query that found the paper, and its best rank there."""

    query_id: str
    provider: Text
    rank: Rank


class AbstractProvenance(Struct, frozen=True):
    """Where the abstract comes from."""

    provider: Text
    provider_record_id: str


class Paper(Struct, frozen=True):
    """One candidate of a bundle, schema `rls.paper.v1`; the flat fields repeat the nested ones."""

    record_id: Text
    title: Text
    authors: tuple[str, ...]
    identifiers: Identifiers
    venue: str | None
    year: Year | None
    published_date: str | None
    online_date: str | None
    url: str | None
    abstract: str | None
    abstract_status: Literal["present", "missing", "attempted", "not_requested"]
    abstract_provenance: AbstractProvenance | None
    publication: Publication
    sources: Annotated[tuple[PaperSource, ...], Meta(min_length=1)]
    query_matches: tuple[QueryMatch, ...]
    quality_warnings: tuple[str, ...]
    doi: Doi | None
    source: Text
    pmid: str | None
    openalex_id: str | None
    semantic_scholar_id: str | None
    arxiv_id: str | None
    language: str | None
    is_open_access: bool | None
    record_type: Literal["paper"] = "paper"
    schema_version: Literal["rls.paper.v1"] = "rls.paper.v1"


FIELDS = frozenset(Paper.__struct_fields__)


def encode(paper: Paper) -> bytes:
    """Return the canonical line of a paper: sorted keys, UTF-8, no newline (B10)."""
    return msgspec.json.encode(paper, order="sorted")


def sound_text(value: str | None) -> str | None:
    """Return text without control characters and lone surrogates; None for no text."""
    if value is None:
        return None
    return _UNSOUND.sub("", value).strip() or None


def paper_of(record: Record, *, query_id: str, rank: int, provider: str, seen_at: str) -> Paper:
    """Return the candidate for one hit, before merging.

    `provider` is the contract's name of the provider, `seen_at` ISO-8601 UTC with Z. Raises
    `ValueError` for a record whose title holds no usable character.
    """
    title = sound_text(record.title)
    if not title:
        raise ValueError("a record without a title is no candidate")
    doi = clean_doi(record.doi) if record.doi else None
    warnings = set(record.warnings)
    if record.doi and not doi:
        warnings.add("invalid_doi_discarded")
    if record.retracted:
        warnings.add("retracted")
    identifiers = _identifiers_of(record, doi)
    authors = tuple(a for a in map(sound_text, record.authors) if a)
    abstract, key = sound_text(record.abstract), sound_text(record.provider_record_id) or ""
    year = record.year if record.year and 1000 <= record.year <= 3000 else None
    gaps = gaps_of(authors, year, identifiers, sound_text(record.url))
    return flatten(
        Paper(
            record_id=ids_of(title, authors, year, identifiers)[0],
            title=title,
            authors=authors,
            identifiers=identifiers,
            venue=sound_text(record.venue),
            year=year,
            published_date=sound_text(record.published_date),
            online_date=sound_text(record.online_date),
            url=sound_text(record.url),
            abstract=abstract,
            abstract_status="present" if abstract else "not_requested",
            abstract_provenance=AbstractProvenance(provider, key) if abstract else None,
            publication=_publication_of(record),
            sources=(PaperSource(provider, key, query_id, rank, sound_text(record.url), seen_at),),
            query_matches=(QueryMatch(query_id, provider, rank),),
            quality_warnings=tuple(sorted({*warnings, *(f"missing_{gap}" for gap in gaps)})),
            doi=None,
            source=provider,
            pmid=None,
            openalex_id=None,
            semantic_scholar_id=None,
            arxiv_id=None,
            language=None,
            is_open_access=None,
        )
    )


def _identifiers_of(record: Record, doi: str | None) -> Identifiers:
    return Identifiers(
        doi,
        sound_text(record.pmid),
        sound_text(record.arxiv),
        sound_text(record.openalex),
        sound_text(record.semantic_scholar),
    )


def _publication_of(record: Record) -> Publication:
    return Publication(
        sound_text(record.publication_type),
        record.is_preprint,
        sound_text(record.preprint_server),
        record.peer_reviewed,
        sound_text(record.version),
        sound_text(record.language),
        record.is_open_access,
    )


def gaps_of(
    authors: tuple[str, ...], year: int | None, identifiers: Identifiers, url: str | None
) -> list[str]:
    """Return which values a citable candidate must have are missing (B13)."""
    has_id = url or any(getattr(identifiers, name) for name in Identifiers.__struct_fields__)
    found = {"authors": bool(authors), "year": year is not None, "identifier": bool(has_id)}
    return [name for name, is_there in found.items() if not is_there]


def flatten(paper: Paper) -> Paper:
    """Return the paper with its flat old fields taken from the nested ones (B3)."""
    return msgspec.structs.replace(
        paper,
        doi=paper.identifiers.doi,
        pmid=paper.identifiers.pmid,
        openalex_id=paper.identifiers.openalex,
        semantic_scholar_id=paper.identifiers.semantic_scholar,
        arxiv_id=paper.identifiers.arxiv,
        language=paper.publication.language,
        is_open_access=paper.publication.is_open_access,
    )


def is_flat(paper: Paper) -> bool:
    """Tell whether the flat fields say the same as the nested ones."""
    return flatten(paper) == paper


def ids_of(
    title: str, authors: tuple[str, ...], year: int | None, identifiers: Identifiers
) -> list[str]:
    """Return the ids a record may bear, the preferred one first (B3).

    DOI, PMID, OpenAlex, Semantic Scholar, arXiv, the folded title's hash; last a hash of title,
    authors and year, for works that share a title and have no identifier.
    """
    ids = [
        f"{name}:{value}"
        for name in ("doi", "pmid", "openalex", "semantic_scholar", "arxiv")
        if (value := getattr(identifiers, name))
    ]
    compact = read_title(title).compact or title
    ids.append(f"title:{_digest(compact)}")
    ids.append(f"title:{_digest(compact, *authors, str(year))}")
    return ids


def _digest(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode("utf-8")).hexdigest()[:24]


def bib_of(paper: Paper, rank: int) -> BibRecord:
    """Return the paper as de-duplication reads it; `rank` is its place in the recall."""
    return BibRecord(
        title=paper.title,
        authors=paper.authors[:60],
        year=paper.year,
        venue=paper.venue or "",
        doi=paper.identifiers.doi or "",
        pmid=paper.identifiers.pmid or "",
        arxiv=paper.identifiers.arxiv or "",
        openalex=paper.identifiers.openalex or "",
        semantic_scholar=paper.identifiers.semantic_scholar or "",
        publication_type=paper.publication.publication_type or "",
        is_preprint=bool(paper.publication.is_preprint),
        has_abstract=bool(paper.abstract),
        rank=rank,
    )
