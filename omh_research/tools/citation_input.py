"""The input of the citations tool, checked once and made into values (spec T11, T16, T25).

Job: read the seed's JSON payload leniently where that loses nothing, refuse it by name where it
would, fill gaps from an evidence ledger, and answer which source a citation means. Refuses to
verify (see `citations`). Importers: tools.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from msgspec import Struct

from omh_research.errors import ToolInputError
from omh_research.tools.identifiers import find_dois, normalise_doi, work_key
from omh_research.tools.ledger import EvidenceRow, by_source
from omh_research.tools.quotes import (
    MISSING,
    NOT_FOUND,
    VERIFIED,
    PreparedQuote,
    PreparedText,
    match,
    prepare_quotes,
)
from omh_research.tools.urls import canonical

MAX_SOURCES = 1_000
MAX_SOURCE_CHARS = 10_000_000
MAX_TOTAL_INPUT_CHARS = 40_000_000
MAX_CLAIMS = 5_000
MAX_CITATIONS = 20_000
BASIS_TEXT, BASIS_LEDGER = "source_text", "ledger_quotes"


class Citation(Struct, frozen=True):
    """One citation of a claim as given; "" where the payload gives nothing."""

    source: str = ""
    url: str = ""
    quote: str = ""
    doi: str = ""


class Claim(Struct, frozen=True):
    """One drafted claim with its citations."""

    text: str
    citations: tuple[Citation, ...] = ()


class CheckedSource(Struct, frozen=True, dict=True):
    """One source of the payload. `pieces` are the texts quotes are looked for in, one by one.

    The pieces of a resumed source are its ledger quotes: a quote never spans two of them.
    """

    id: str
    url: str
    title: str
    date: str = ""
    accessed_at: str = ""
    limitations: str = ""
    publisher: str = ""
    source_type: str = ""
    doi: str = ""
    pieces: tuple[str, ...] = ()
    basis: str = BASIS_TEXT

    @cached_property
    def prepared(self) -> tuple[PreparedText, ...]:
        """The pieces made ready for matching, once."""
        return tuple(PreparedText(piece) for piece in self.pieces)

    @cached_property
    def dois(self) -> frozenset[str]:
        """The source's own DOI and those in its address and text, normalised."""
        own = normalise_doi(self.doi) if self.doi else None
        held = [doi for piece in self.pieces for doi in find_dois(piece)]
        return frozenset([*([own] if own else []), *find_dois(self.url), *held])

    @cached_property
    def key(self) -> str:
        """The key under which the source is one reference: its work, or its id without URL."""
        return work_key(self.url, self.doi or None) if self.url else f"id:{self.id}"

    def find(self, quote: PreparedQuote) -> tuple[str, PreparedText | None]:
        """Return the quote's status (T12) and the piece it was found in."""
        if not self.pieces:
            return (NOT_FOUND if quote.norm else MISSING), None
        status = MISSING
        for piece in self.prepared:
            status = match(quote, piece)
            if status == VERIFIED:
                return status, piece
        return status, None


class CitationInput(Struct, frozen=True, dict=True):
    """A checked payload. `problems` are faults of the input that stop nothing, in words."""

    sources: tuple[CheckedSource, ...]
    claims: tuple[Claim, ...]
    comparison: tuple[dict[str, Any], ...] = ()
    problems: tuple[str, ...] = ()

    @cached_property
    def quotes(self) -> dict[str, PreparedQuote]:
        """Every quote cited, made ready for matching together, once."""
        cited = dict.fromkeys(cite.quote for claim in self.claims for cite in claim.citations)
        return dict(zip(cited, prepare_quotes(list(cited)), strict=True))

    @cached_property
    def _by_key(self) -> tuple[dict[str, CheckedSource], dict[str, list[CheckedSource]]]:
        ids: dict[str, CheckedSource] = {}
        keys: dict[str, list[CheckedSource]] = {}
        for source in self.sources:
            ids.setdefault(source.id, source)
            if source.url:
                for key in {canonical(source.url), source.key}:
                    keys.setdefault(key, []).append(source)
        return ids, keys

    def resolve(self, citation: Citation) -> tuple[CheckedSource | None, str]:
        """Return the source a citation means and how it was found: "id", "url" or "".

        An id and an address that name different works resolve to nothing.
        """
        ids, _ = self._by_key
        by_id = ids.get(citation.source)
        url = citation.url or (citation.source if by_id is None else "")
        by_url = self._at(url) if url else None
        if by_id is not None:
            agrees = not citation.url or (by_url is not None and by_url.key == by_id.key)
            return (by_id, "id") if agrees else (None, "")
        if by_url is not None and (not citation.source or citation.source == url):
            return by_url, "url"
        return None, ""

    def _at(self, url: str) -> CheckedSource | None:
        _, keys = self._by_key
        found = keys.get(canonical(url)) or keys.get(work_key(url)) or []
        return found[0] if found else None


def read_payload(
    payload: Any, rows: Iterable[EvidenceRow] = (), *, resume: bool = False
) -> CitationInput:
    """Return the checked payload, gaps filled from ledger `rows` by source id or URL (T16).

    With `resume` a source without text takes the exact quotes saved for it as its pieces. Raises
    ToolInputError, naming the place, for what cannot be read or is too large.
    """
    if not isinstance(payload, Mapping):
        raise ToolInputError("The payload must be a JSON object with sources and claims.")
    items = _list(payload, "sources")
    if len(items) > MAX_SOURCES:
        raise ToolInputError(f"{len(items)} sources are more than the {MAX_SOURCES} allowed.")
    saved = by_source(rows)
    sources = tuple(_source(item, number, saved, resume) for number, item in enumerate(items))
    if sum(len(piece) for source in sources for piece in source.pieces) > MAX_TOTAL_INPUT_CHARS:
        raise ToolInputError(f"The sources hold more than {MAX_TOTAL_INPUT_CHARS:,} characters.")
    claims = tuple(_claim(item, number) for number, item in enumerate(_list(payload, "claims")))
    if len(claims) > MAX_CLAIMS or sum(len(c.citations) for c in claims) > MAX_CITATIONS:
        raise ToolInputError(f"At most {MAX_CLAIMS:,} claims with {MAX_CITATIONS:,} citations.")
    comparison = []
    for number, row in enumerate(_list(payload, "comparison")):
        if not isinstance(row, Mapping):
            raise ToolInputError(f"comparison[{number}] must be an object.")
        comparison.append(dict(row))
    return CitationInput(sources, claims, tuple(comparison), tuple(_problems(sources)))


def _list(payload: Mapping[str, Any], name: str, place: str = "") -> list[Any]:
    value = payload.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise ToolInputError(f"{place}{name} must be a list, not {type(value).__name__}.")
    return value


def _text(item: Mapping[str, Any], name: str, place: str) -> str:
    value = item.get(name)
    if value is None:
        return ""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise ToolInputError(f"{place}.{name} must be text, not {type(value).__name__}.")
    return value


def _source(
    item: Any, number: int, saved: Mapping[str, list[EvidenceRow]], resume: bool
) -> CheckedSource:
    place = f"sources[{number}]"
    if not isinstance(item, Mapping):
        raise ToolInputError(f"{place} must be an object.")
    text = _text(item, "text", place)
    if len(text) > MAX_SOURCE_CHARS:
        raise ToolInputError(f"{place}.text is longer than {MAX_SOURCE_CHARS:,} characters.")
    id_, url = (
        _text(item, "id", place).strip() or f"s{number + 1}",
        _text(item, "url", place).strip(),
    )
    rows = saved.get(id_) or (saved.get(canonical(url)) if url else None) or []
    quotes = tuple(dict.fromkeys(row.quote for row in rows if row.quote.strip()))
    from_ledger = resume and not text.strip() and bool(quotes)

    def filled(name: str, ledger_name: str) -> str:
        own = _text(item, name, place).strip()
        return own or next((v for row in rows if (v := getattr(row, ledger_name))), "")

    return CheckedSource(
        id=id_,
        url=url or next((row.canonical_url for row in rows if row.canonical_url), ""),
        title=filled("title", "title"),
        date=filled("date", "published_at"),
        accessed_at=filled("accessed_at", "accessed_at"),
        limitations=filled("limitations", "limitations"),
        publisher=filled("publisher", "publisher"),
        source_type=filled("source_type", "source_type"),
        doi=_text(item, "doi", place).strip(),
        pieces=quotes if from_ledger else (text,) if text.strip() else (),
        basis=BASIS_LEDGER if from_ledger else BASIS_TEXT,
    )


def _claim(item: Any, number: int) -> Claim:
    place = f"claims[{number}]"
    if isinstance(item, str):
        return Claim(item)
    if not isinstance(item, Mapping):
        raise ToolInputError(f"{place} must be an object with text and citations.")
    citations = []
    for index, citation in enumerate(_list(item, "citations", f"{place}.")):
        where = f"{place}.citations[{index}]"
        if isinstance(citation, str):
            citation = {"source": citation}
        if not isinstance(citation, Mapping):
            raise ToolInputError(f"{where} must be an object.")
        names = ("source", "url", "quote", "doi")
        values = {name: _text(citation, name, where) for name in names}
        values["source"], values["url"] = values["source"].strip(), values["url"].strip()
        citations.append(Citation(**values))
    return Claim(_text(item, "text", place), tuple(citations))


def _problems(sources: tuple[CheckedSource, ...]) -> Iterable[str]:
    """Yield what is wrong with the sources as a set."""
    seen: set[str] = set()
    for source in sources:
        if source.id in seen:
            yield f"two sources have the id {source.id}: the first one is used"
        seen.add(source.id)
        if not source.pieces:
            yield f"source {source.id} has no text: no quote can be found in it"
        if source.doi and normalise_doi(source.doi) is None:
            yield f"source {source.id} has a malformed DOI: {source.doi[:80]}"
