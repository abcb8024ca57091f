"""Asking one scholarly provider one query.

Job: `fetch` joins request, door and parser of a provider and says honestly how it went (spec
T7b, T7c, B6). Refuses to merge providers, to rank, and to call a failure "nothing found".
Importers: tools.academic, literature, wiring.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import structs

from omh_research.errors import ProviderError
from omh_research.providers.academic import (
    arxiv,
    crossref,
    datacite,
    openalex,
    pubmed,
    semanticscholar,
)
from omh_research.providers.academic.record import (
    NO_FILTERS,
    Filters,
    ParsedRecords,
    ProviderAnswer,
    Record,
)
from omh_research.providers.asking import ExhaustedError, Question

if TYPE_CHECKING:
    from omh_research.transport import Transport

PROVIDERS = ("arxiv", "crossref", "openalex", "semanticscholar", "pubmed", "datacite")
_JSON = "application/json"
_XML = "application/xml, text/xml, application/atom+xml"
_JSON_MODULES: Mapping[str, Any] = {
    "crossref": crossref,
    "openalex": openalex,
    "semanticscholar": semanticscholar,
    "datacite": datacite,
}
_EMPTY_FEED = (
    "arXiv answered an empty feed twice, which it also does under load: whether there is nothing "
    "cannot be told."
)


def fetch(
    provider_name: str,
    query: str,
    *,
    limit: int,
    filters: Filters = NO_FILTERS,
    transport: Transport,
    timeout_s: float,
    environ: Mapping[str, str] | None = None,
) -> ProviderAnswer:
    """Return how `provider_name` answers `query`, with at most `limit` records.

    Never raises for what a provider or the network does: see `ProviderAnswer.status`. `timeout_s`
    bounds everything. Raises `ValueError` for an unknown provider name.
    """
    if provider_name not in PROVIDERS:
        raise ValueError(f"unknown provider {provider_name!r}")
    env = os.environ if environ is None else environ
    headers = semanticscholar.headers(env) if provider_name == "semanticscholar" else {}
    question = Question(provider_name, transport, timeout_s, headers=headers, environ=env)
    wanted = _Wanted(query, limit, filters, env)
    try:
        parsed = _ask(provider_name, question, wanted)
    except ExhaustedError as error:
        return ProviderAnswer(
            provider_name, "exhausted", reason=error.message, exhausted_until=error.until
        )
    except ProviderError as error:
        return ProviderAnswer(provider_name, "error", reason=error.message)
    return _answer(provider_name, parsed, limit, filters)


class _Wanted(NamedTuple):
    """What every provider's `search_request` takes, in its order."""

    query: str
    limit: int
    filters: Filters
    environ: Mapping[str, str]


def _ask(name: str, question: Question, wanted: _Wanted) -> ParsedRecords:
    if name == "arxiv":
        return _ask_arxiv(question, *arxiv.search_request(*wanted))
    if name == "pubmed":
        return _ask_pubmed(question, wanted)
    module = _JSON_MODULES[name]
    path, params = module.search_request(*wanted)
    parsed: ParsedRecords = module.parse(question.answer(path, params, accept=_JSON))
    return parsed


def _ask_arxiv(question: Question, path: str, params: Mapping[str, str]) -> ParsedRecords:
    for _ in range(2):
        parsed = arxiv.parse(question.answer(path, params, accept=_XML))
        if parsed.records or parsed.empty_records or parsed.invalid_records:
            return parsed
    raise ProviderError(_EMPTY_FEED)


def _ask_pubmed(question: Question, wanted: _Wanted) -> ParsedRecords:
    path, params = pubmed.search_request(*wanted)
    ids, total = pubmed.parse_ids(question.answer(path, params, accept=_JSON))
    if not ids:
        if total:
            raise ProviderError("PubMed counted matches but named none.")
        return ParsedRecords((), total=0)
    path, params = pubmed.records_request(ids[: wanted.limit], wanted.environ)
    parsed = pubmed.parse(question.answer(path, params, accept=_XML))
    return parsed._replace(total=total)


def _answer(name: str, parsed: ParsedRecords, limit: int, filters: Filters) -> ProviderAnswer:
    kept = tuple(record for record in parsed.records if passes(record, filters))[:limit]
    bad = parsed.empty_records + parsed.invalid_records
    answer = ProviderAnswer(
        name,
        "success" if kept else "empty",
        kept,
        parsed.empty_records,
        parsed.invalid_records,
        total=parsed.total,
    )
    if bad and kept:
        reason = f"{bad} of {bad + len(parsed.records)} entries were unusable."
        return structs.replace(answer, status="partial", reason=reason)
    if bad and not parsed.records:
        reason = f"None of the {bad} entries was usable."
        return structs.replace(answer, status="error", reason=reason)
    return answer


def passes(record: Record, filters: Filters) -> bool:
    """Return whether `record` is within `filters`, for what the provider could not narrow.

    What a record does not say never excludes it, except that a known preprint is excluded.
    """
    if record.year is not None:
        if filters.min_year is not None and record.year < filters.min_year:
            return False
        if filters.max_year is not None and record.year > filters.max_year:
            return False
    if filters.exclude_preprints and record.is_preprint:
        return False
    if filters.language and record.language and record.language != filters.language:
        return False
    return not (filters.open_access and record.is_open_access is False)
