"""What a scholarly provider says about one work, and how an answer went.

Job: the frozen value types shared by the academic providers and their callers, the counting of
what an answer's entries were, and the seed's result dict. Refuses to fetch, to merge records or
to judge them. Importers: providers.academic, tools.academic, literature.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from msgspec import Struct

from omh_research.providers.cleaning import is_empty_entry

MAX_AUTHORS = 10
"""Authors kept in the seed's result dict (seed orkas-deep-research; a `Record` keeps all)."""

ANSWER_STATES = ("success", "partial", "empty", "error", "exhausted", "skipped")


class Record(Struct, frozen=True):
    """One work as one provider describes it; missing is None, "" or (), never a made-up text.

    `provider_record_id` is the provider's own key (arXiv `2002.00741v1`, OpenAlex `W…`, Semantic
    Scholar's paper id, the DOI for Crossref and DataCite, the PMID for PubMed). `doi` is lower
    case and starts with `10.`; `arxiv` has no version; `openalex` is the bare `W…`. Dates are
    ISO 8601, as exact as the provider is (`2024`, `2024-03`, `2024-03-28`). `published_date` is
    the first publication, `online_date` the first appearance on line where the provider tells.
    `language` is an ISO 639-1 code. `is_preprint`, `peer_reviewed`, `is_open_access` and
    `retracted` are None where the provider does not say. `warnings` are words such as
    `invalid_doi_discarded` (spec B3).
    """

    provider: str
    provider_record_id: str
    title: str
    abstract: str = ""
    authors: tuple[str, ...] = ()
    doi: str | None = None
    pmid: str | None = None
    arxiv: str | None = None
    openalex: str | None = None
    semantic_scholar: str | None = None
    venue: str | None = None
    year: int | None = None
    published_date: str | None = None
    online_date: str | None = None
    url: str | None = None
    publication_type: str | None = None
    is_preprint: bool | None = None
    preprint_server: str | None = None
    peer_reviewed: bool | None = None
    version: str | None = None
    language: str | None = None
    is_open_access: bool | None = None
    retracted: bool | None = None
    warnings: tuple[str, ...] = ()


class Filters(Struct, frozen=True):
    """What a search is narrowed to; every provider applies what its interface can express.

    Years are inclusive. `publication_types` holds OpenAlex's words (`article`, `review`,
    `book-chapter` …). `language` is an ISO 639-1 code. `open_access` None means: either.
    """

    min_year: int | None = None
    max_year: int | None = None
    publication_types: tuple[str, ...] = ()
    exclude_preprints: bool = False
    language: str = ""
    open_access: bool | None = None


NO_FILTERS = Filters()


class ParsedRecords(NamedTuple):
    """Outcome of parsing one body: the good records, and how many entries were no records.

    `empty_records` counts null or empty entries, `invalid_records` entries that are not objects
    or carry no title (spec B6). `total` is the provider's own count of matches, None if untold.
    """

    records: tuple[Record, ...]
    empty_records: int = 0
    invalid_records: int = 0
    total: int | None = None


class ProviderAnswer(Struct, frozen=True):
    """How one provider answered one query (spec T7c, B17).

    `status` is one of `ANSWER_STATES`: success; partial (some entries were unusable); empty (a
    real "nothing found"); error and exhausted mean *unknown*, never "nothing". `reason` says why
    in one line without secrets. `exhausted_until` is ISO-8601 UTC when the provider told us to
    stay away for longer than we may wait.
    """

    provider: str
    status: str
    records: tuple[Record, ...] = ()
    empty_records: int = 0
    invalid_records: int = 0
    reason: str = ""
    exhausted_until: str | None = None
    total: int | None = None

    @property
    def is_known(self) -> bool:
        """True when the provider really answered (so that an absence means absence)."""
        return self.status in ("success", "partial", "empty")


def parse_entries(
    entries: Iterable[object], parse: Callable[[Any], Record | None], total: object
) -> ParsedRecords:
    """Return the records of an answer's entries; empty and unusable ones are counted (B6)."""
    records: list[Record] = []
    empty = invalid = 0
    for entry in entries:
        if is_empty_entry(entry):
            empty += 1
        elif record := parse(entry):
            records.append(record)
        else:
            invalid += 1
    return ParsedRecords(tuple(records), empty, invalid, total if isinstance(total, int) else None)


def seed_result(record: Record) -> dict[str, Any]:
    """Return the seed's result shape `{id, source, title, text, authors, date, doi, url}`.

    `text` is the abstract ("" when there is none), `authors` at most `MAX_AUTHORS`, `pmid` is
    present only when known (spec T6).
    """
    result: dict[str, Any] = {
        "id": _seed_id(record),
        "source": record.provider,
        "title": record.title,
        "text": record.abstract,
        "authors": list(record.authors[:MAX_AUTHORS]),
        "date": record.published_date or (str(record.year) if record.year else None),
        "doi": record.doi,
        "url": record.url,
    }
    if record.pmid:
        result["pmid"] = record.pmid
    return result


def _seed_id(record: Record) -> str:
    """The identifier the seed gives a result: arXiv and OpenAlex by URL, the rest by key."""
    if record.provider in ("arxiv", "openalex") and record.url:
        return record.url
    return record.provider_record_id or record.doi or record.url or record.title
