"""A literature run's result as the files of a bundle (B2, B4, B10, B13).

Job: pure assembly of every artifact's bytes and of the manifest, from what was recalled. The same
recall gives the same bytes but for the run's id and times. Refuses to fetch and to touch files.
Importers: literature.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from omh_research import __version__
from omh_research.literature import titles
from omh_research.literature.manifest import (
    AbstractEnrichment,
    Artifact,
    Attempt,
    CacheUse,
    Counts,
    DedupeSettings,
    FilterSet,
    Generator,
    Manifest,
    ProviderPolicy,
    QueryPlan,
    Truncation,
    digest,
    seal,
    to_json,
)
from omh_research.literature.merging import MergedPool, dedupe_map, merge_hits
from omh_research.literature.recall import Recalled
from omh_research.literature.record import Paper, Rank, Text
from omh_research.literature.rls_contract import (
    ARTIFACTS,
    CANDIDATE_SCHEMA_VERSION,
    CONTRACT_VERSION,
    GENERATOR,
    HOST_TOOL_REASON,
)

NO_CANDIDATES = "no_valid_candidates"
EMPTY = Recalled((), (), Truncation())


class RawHit(Struct, frozen=True):
    """One line of `candidates_raw`: the least that says which hit came from where (B11)."""

    query_id: Text
    provider: Text
    rank: Rank
    provider_record_id: str
    title: Text
    doi: str | None
    year: int | None
    url: str | None
    retrieved_at: str


class ProvenanceRow(Struct, frozen=True):
    """One line of `provenance`: a hit, its line in `candidates_normalized`, its canonical paper."""

    provider: Text
    query_id: Text
    rank: Rank
    provider_record_id: str
    line: Rank
    record_id: Text
    canonical_id: Text


class SearchRun(Struct, frozen=True):
    """What a run was asked to do, and its id and time (ISO-8601 UTC with Z)."""

    run_id: str
    created_at: str
    topic: str
    domain: str | None
    plan: QueryPlan
    filters: FilterSet
    policy: ProviderPolicy


class BuiltBundle(Struct, frozen=True):
    """A bundle in memory: the sealed manifest and each artifact's bytes by file name."""

    manifest: Manifest
    files: dict[str, bytes]


def build(run: SearchRun, recalled: Recalled, *, failure: str = "") -> BuiltBundle:
    """Return the bundle of a run. `failure` is the code of an input that could not be used."""
    pool = merge_hits(recalled.hits)
    counts = _counts(recalled, pool)
    if not failure and not pool.papers:
        failure = NO_CANDIDATES
    warnings = _warnings(recalled, pool.papers, counts)
    status = "failed" if failure else "partial_success" if warnings else "success"
    if failure:
        warnings = (f"{failure}: the bundle cannot be used", *warnings)
    files = {
        ARTIFACTS["candidates_raw"]: lines(_raw_hits(recalled.hits)),
        ARTIFACTS["candidates_normalized"]: lines(recalled.hits),
        ARTIFACTS["candidates_deduped"]: lines(pool.papers),
        ARTIFACTS["provenance"]: lines(_provenance(recalled.hits, pool)),
        ARTIFACTS["dedupe_map"]: to_json(dedupe_map(recalled.hits, pool)),
        ARTIFACTS["search_log"]: to_json(_search_log(run, recalled, counts, warnings, status)),
    }
    manifest = Manifest(
        contract_version=CONTRACT_VERSION,
        candidate_schema_version=CANDIDATE_SCHEMA_VERSION,
        search_run_id=run.run_id,
        topic=run.topic,
        topic_hash=topic_hash(run.topic),
        domain=run.domain,
        query_plan=run.plan,
        filters=run.filters,
        provider_policy=run.policy,
        attempts=recalled.attempts,
        counts=counts,
        truncation=recalled.truncation,
        dedupe=DedupeSettings(
            titles.TITLE_SIMILARITY,
            titles.TOKEN_JACCARD,
            1,
            True,
            counts.normalized - counts.deduped,
        ),
        abstract_enrichment=_enrichment(pool.papers),
        artifacts={
            key: Artifact(name, digest(files[name]), len(files[name]))
            for key, name in ARTIFACTS.items()
        },
        status=status,  # type: ignore[arg-type]
        failure_code=failure or None,
        warnings=warnings,
        created_at=run.created_at,
        cache=CacheUse(),
        generator=Generator(GENERATOR, __version__),
    )
    return BuiltBundle(seal(manifest), files)


def topic_hash(topic: str) -> str:
    """Return the SHA-256 of a topic, spaces and case aside."""
    return digest(" ".join(topic.split()).casefold().encode("utf-8"))


def lines(rows: Iterable[Struct]) -> bytes:
    """Return the canonical bytes of a JSONL artifact."""
    return b"".join(msgspec.json.encode(row, order="sorted") + b"\n" for row in rows)


def _raw_hits(hits: Sequence[Paper]) -> Iterable[RawHit]:
    for hit in hits:
        source = hit.sources[0]
        yield RawHit(
            source.query_id,
            source.provider,
            source.rank,
            source.provider_record_id,
            hit.title,
            hit.identifiers.doi,
            hit.year,
            source.url,
            source.first_seen_at,
        )


def _provenance(hits: Sequence[Paper], pool: MergedPool) -> Iterable[ProvenanceRow]:
    for at, hit in enumerate(hits):
        source = hit.sources[0]
        yield ProvenanceRow(
            source.provider,
            source.query_id,
            source.rank,
            source.provider_record_id,
            at + 1,
            hit.record_id,
            pool.papers[pool.paper_of_hit[at]].record_id,
        )


def _counts(recalled: Recalled, pool: MergedPool) -> Counts:
    return Counts(
        raw=len(recalled.hits),
        normalized=len(recalled.hits),
        deduped=len(pool.papers),
        failed=sum(a.status in ("error", "exhausted") for a in recalled.attempts),
        dropped=recalled.truncation.dropped,
        empty_records=sum(a.empty_records for a in recalled.attempts),
        invalid_records=sum(a.invalid_records for a in recalled.attempts),
    )


def _enrichment(papers: Sequence[Paper]) -> AbstractEnrichment:
    present = sum(p.abstract is not None for p in papers)
    return AbstractEnrichment(present=present, absent=len(papers) - present)


def _warnings(recalled: Recalled, papers: Sequence[Paper], counts: Counts) -> tuple[str, ...]:
    """Return why a run is no full success, one line each (B13)."""
    lines = [
        f"provider_{a.status}: {a.provider} {a.query_id}: {a.reason or 'no reason given'}"
        for a in recalled.attempts
        if a.status in ("error", "exhausted") or _is_lost(a)
    ]
    for word, number in (("empty", counts.empty_records), ("invalid", counts.invalid_records)):
        if number:
            lines.append(f"{word}_records: {number} entries of providers' answers were unusable")
    if recalled.truncation.is_truncated:
        queries = ", ".join(recalled.truncation.queries)
        lines.append(f"truncated: the total limit cut or left out {queries}")
    gaps = Counter(warning for paper in papers for warning in paper.quality_warnings)
    lines += [
        f"{name}: {number} candidates"
        for name, number in sorted(gaps.items())
        if _counts_as_gap(name)
    ]
    return tuple(lines)


def _is_lost(attempt: Attempt) -> bool:
    """A skip that is none of the fixed ones: the provider was given up or the total was reached."""
    return attempt.status == "skipped" and attempt.reason != HOST_TOOL_REASON


def _counts_as_gap(warning: str) -> bool:
    return warning.startswith("missing_") or warning == "invalid_doi_discarded"


def _search_log(
    run: SearchRun, recalled: Recalled, counts: Counts, warnings: Sequence[str], status: str
) -> dict[str, Any]:
    """Return the readable log: every query with its attempts, in order."""
    by_query: dict[str, list[Any]] = {item.query_id: [] for item in run.plan.items}
    for attempt in recalled.attempts:
        by_query.setdefault(attempt.query_id, []).append(msgspec.to_builtins(attempt))
    return {
        "search_run_id": run.run_id,
        "topic": run.topic,
        "domain": run.domain,
        "created_at": run.created_at,
        "provider_policy": run.policy.name,
        "provider_order": list(run.policy.order),
        "status": status,
        "queries": [
            {
                "query_id": item.query_id,
                "query": item.query,
                "rationale": item.rationale,
                "results": sum(a["results"] for a in by_query[item.query_id]),
                "attempts": by_query[item.query_id],
            }
            for item in run.plan.items
        ],
        "total_unique_results": counts.deduped,
        "counts": msgspec.to_builtins(counts),
        "warnings": list(warnings),
    }
