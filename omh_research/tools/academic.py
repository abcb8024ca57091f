"""Academic search: the scholarly evidence tool with the seed's contract.

Job: query arXiv, Crossref, OpenAlex, Semantic Scholar and PubMed side by side, each failing
alone, and merge the results (spec T6, T7, T7c; seed orkas-deep-research). Refuses to rank by
itself, to call a model and to turn a provider's failure into "nothing found": it is in `errors`.
Importers: cli, wiring, delegates.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from omh_research.providers.academic import (
    arxiv,
    crossref,
    openalex,
    pubmed,
    semanticscholar,
)
from omh_research.providers.academic.record import (
    MAX_AUTHORS,
    ParsedRecords,
    ProviderAnswer,
    seed_result,
)
from omh_research.providers.academic.search import fetch
from omh_research.providers.together import run_together

if TYPE_CHECKING:
    from omh_research.transport import Transport

__all__ = [
    "DEFAULT_LIMIT",
    "DEFAULT_SOURCES",
    "DEFAULT_TIMEOUT",
    "MAX_AUTHORS",
    "parse_arxiv",
    "parse_crossref",
    "parse_openalex",
    "parse_pubmed",
    "parse_semanticscholar",
    "search",
]

DEFAULT_SOURCES = ("arxiv", "openalex", "crossref", "semanticscholar", "pubmed")
DEFAULT_LIMIT = 5
DEFAULT_TIMEOUT = 30.0
MAX_LIMIT = 25
MAX_TIMEOUT = 60.0

Body = bytes | str | Mapping[str, Any]


def search(
    query: str,
    sources: Sequence[str] | None = None,
    limit: int = DEFAULT_LIMIT,
    timeout: float = DEFAULT_TIMEOUT,
    *,
    transport: Transport | None = None,
    environ: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return `{query, sources_queried, count, results, errors}`, the `data` of the seed's envelope.

    `limit` (results per source) is clamped to 1..25, `timeout` (seconds, for all together, since
    they run side by side) to 1..60. Results come in the order of `sources`, without repeats of a
    DOI or title. `errors` holds `{source, error}` per source that could not answer (plus
    `exhausted_until` when it asked to be left alone). Never raises for a provider's fault.
    `environ` is where providers find keys, addresses and `OMH_CONTACT` (default: the process's).
    """
    wanted = list(dict.fromkeys(sources or DEFAULT_SOURCES))
    known = [name for name in wanted if name in DEFAULT_SOURCES]
    ask = partial(
        fetch, query=query, limit=clamp_limit(limit), timeout_s=clamp_timeout(timeout),
        transport=transport or _open_door(), environ=os.environ if environ is None else environ,
    )  # fmt: skip
    answers = _ask_all(query, known, ask)
    results: list[dict[str, Any]] = []
    errors: list[dict[str, Any]] = []
    seen = _Seen()
    for name in wanted:
        if name not in answers:
            errors.append({"source": name, "error": "unknown source"})
            continue
        answer = answers[name]
        if not answer.is_known:
            errors.append(_failure(answer))
        found = [seed_result(record) for record in answer.records]
        results.extend(result for result in found if seen.take(result))
    return {
        "query": query,
        "sources_queried": known,
        "count": len(results),
        "results": results,
        "errors": errors,
    }


def clamp_limit(limit: float) -> int:
    """Return `limit` within 1..25; garbage counts as 1."""
    return max(1, min(int(limit), MAX_LIMIT)) if math.isfinite(limit) else 1


def clamp_timeout(timeout: float) -> float:
    """Return `timeout` within 1..60 seconds; not a number counts as 1."""
    if math.isnan(timeout):
        return 1.0
    return max(1.0, min(float(timeout), MAX_TIMEOUT))


def _open_door() -> Transport:
    from omh_research.transport import Transport

    return Transport()


def _ask_all(
    query: str, names: list[str], ask: Callable[[str], ProviderAnswer]
) -> dict[str, ProviderAnswer]:
    if not query.strip():
        return {name: ProviderAnswer(name, "error", reason="the query is empty") for name in names}
    jobs: dict[str, Callable[[], ProviderAnswer]] = {name: partial(ask, name) for name in names}
    answers = {}
    for name, outcome in run_together(jobs).items():
        if isinstance(outcome, Exception):
            raise outcome
        answers[name] = outcome
    return answers


def _failure(answer: ProviderAnswer) -> dict[str, Any]:
    failure: dict[str, Any] = {"source": answer.provider, "error": answer.reason}
    if answer.exhausted_until:
        failure["exhausted_until"] = answer.exhausted_until
    return failure


class _Seen:
    """The DOIs and titles that are in the results already."""

    def __init__(self) -> None:
        self._dois: set[str] = set()
        self._titles: dict[str, bool] = {}

    def take(self, result: dict[str, Any]) -> bool:
        """Return whether `result` is new, and remember it.

        One DOI is one work. Equal titles are one work unless both have a DOI and those differ:
        "Editorial" and "Correction" are titles of many.
        """
        doi, title = result["doi"], " ".join(result["title"].casefold().split())
        known = doi in self._dois or (title in self._titles and not (doi and self._titles[title]))
        if known:
            return False
        if doi:
            self._dois.add(doi)
        self._titles[title] = bool(doi)
        return True


def _seed_results(parsed: ParsedRecords) -> list[dict[str, Any]]:
    return [seed_result(record) for record in parsed.records]


def parse_arxiv(body: bytes | str) -> list[dict[str, Any]]:
    """Return the seed's results of an arXiv Atom feed; raises `ProviderError` for another body."""
    return _seed_results(arxiv.parse(body))


def parse_openalex(body: Body) -> list[dict[str, Any]]:
    """Return the seed's results of an OpenAlex body; raises `ProviderError` for another body."""
    return _seed_results(openalex.parse(body))


def parse_crossref(body: Body) -> list[dict[str, Any]]:
    """Return the seed's results of a Crossref body; raises `ProviderError` for another body."""
    return _seed_results(crossref.parse(body))


def parse_semanticscholar(body: Body) -> list[dict[str, Any]]:
    """Return the seed's results of a Semantic Scholar body; raises `ProviderError` otherwise."""
    return _seed_results(semanticscholar.parse(body))


def parse_pubmed(body: bytes | str) -> list[dict[str, Any]]:
    """Return the seed's results of a PubMed record body; raises `ProviderError` otherwise."""
    return _seed_results(pubmed.parse(body))
