"""`literature run`: from a topic and a query file to a bundle (B1, B5, B15, B17).

Job: check every input, ask the providers through the one door, build and write the bundle; a
failed run leaves its manifest. Refuses to enrich and to use a cache. Importers: cli.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from omh_research.errors import OmhError, UsageError
from omh_research.literature import bundle
from omh_research.literature.building import EMPTY, SearchRun, build
from omh_research.literature.files import read_bytes
from omh_research.literature.manifest import (
    FilterSet,
    Manifest,
    ProviderPolicy,
    QueryPlan,
    digest,
)
from omh_research.literature.queries import QueriesError, parse_queries
from omh_research.literature.recall import Ask, recall
from omh_research.literature.rls_contract import (
    DEFAULT_PER_QUERY,
    DEFAULT_TOTAL,
    HOST_TOOL_PROVIDERS,
    MAX_PER_QUERY,
    MAX_QUERY_FILE_BYTES,
    MAX_TOPIC_CHARS,
    MAX_TOTAL,
    MAX_YEAR,
    MIN_YEAR,
    POLICY,
    PREPRINT_PROFILES,
    PROVIDER_ORDER,
    TOPUP_FLOOR,
    TOPUP_SHARE,
)

if TYPE_CHECKING:
    from omh_research.providers.academic.record import Filters, ProviderAnswer
    from omh_research.transport import Transport

ASK_TIMEOUT_S = 30.0
# The names of our provider modules where they differ from the contract's.
_MODULE_NAMES = {"semantic_scholar": "semanticscholar"}


class SearchRequest(Struct, frozen=True):
    """What the caller asks for; paths as given, unchecked. Limits count results."""

    topic: str
    query_file: str
    output_dir: str
    domain: str | None = None
    filters: FilterSet = FilterSet()
    provider_order: tuple[str, ...] = PROVIDER_ORDER
    max_results_per_query: int = DEFAULT_PER_QUERY
    max_total: int = DEFAULT_TOTAL
    scope_root: str | None = None
    preprint_profile: str = "auto"
    force: bool = False


class Outside(Struct, frozen=True):
    """The outside world of a run: how to ask, what time it is, a random run id's digits."""

    ask: Callable[[FilterSet], Ask]
    clock: Callable[[], datetime]
    rand: Callable[[int], str]


def outside(
    transport: Transport,
    *,
    clock: Callable[[], datetime],
    rand: Callable[[int], str],
    environ: Mapping[str, str] | None = None,
) -> Outside:
    """Return the real outside: providers behind `transport`, answers never from a cache."""

    def ask_with(filters: FilterSet) -> Ask:
        """Return the function that asks one provider one query within the filters."""
        from omh_research.providers.academic.search import fetch

        narrowed = _filters_of(filters)

        def ask(provider: str, query: str, limit: int) -> ProviderAnswer:
            return fetch(
                _MODULE_NAMES.get(provider, provider),
                query,
                limit=limit,
                filters=narrowed,
                transport=transport,
                timeout_s=ASK_TIMEOUT_S,
                environ=environ,
            )

        return ask

    return Outside(ask_with, clock, rand)


def _filters_of(filters: FilterSet) -> Filters:
    from omh_research.providers.academic.record import Filters

    return Filters(
        filters.min_year,
        filters.max_year,
        filters.publication_types,
        filters.exclude_preprints,
        filters.language or "",
        filters.open_access,
    )


def run_search(request: SearchRequest, world: Outside) -> Manifest:
    """Run a search and write its bundle; return the manifest, also of a failed run.

    Raises:
        UsageError: inputs or paths are missing, wrong or taken; nothing was written.
        QueriesError: the query file cannot be used; a failed manifest was left.
        StorageError: the bundle cannot be written.
    """
    folder, plan, fault = _checked_inputs(request)
    now = world.clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    run_id = f"rls-{now[:10].replace('-', '')}-{world.rand(12)}"
    run = _run_of(request, plan, run_id, now)
    if fault is not None:
        bundle.write_bundle(build(run, EMPTY, failure=fault.code), folder, force=request.force)
        raise fault
    recalled = recall(plan.items, run.policy, world.ask(request.filters), seen_at=now)
    built = build(run, recalled)
    bundle.write_bundle(built, folder, force=request.force)
    return built.manifest


def _run_of(request: SearchRequest, plan: QueryPlan, run_id: str, now: str) -> SearchRun:
    policy = ProviderPolicy(
        POLICY,
        tuple(p for p in request.provider_order if p in PROVIDER_ORDER),
        HOST_TOOL_PROVIDERS,
        TOPUP_SHARE,
        TOPUP_FLOOR,
        request.max_results_per_query,
        request.max_total,
        request.preprint_profile,
    )
    topic = " ".join(request.topic.split())
    return SearchRun(run_id, now, topic, request.domain, plan, request.filters, policy)


def _checked_inputs(request: SearchRequest) -> tuple[str, QueryPlan, QueriesError | None]:
    """Return the output folder, the plan, and what is wrong with the queries.

    Any other fault is raised, and then all faults are named in one message.
    """
    faults: list[str] = _value_faults(request)
    folder, data = "", b""
    source = os.path.basename(request.query_file)
    if not request.output_dir:
        faults.append("--output-dir is missing")
    if not request.query_file:
        faults.append("--query-file is missing")
    try:
        if request.output_dir:
            folder = bundle.check_in_scope(request.output_dir, request.scope_root, "--output-dir")
            bundle.check_free(folder, force=request.force)
    except UsageError as error:
        faults.append(str(error).rstrip("."))
    fault = None
    plan = QueryPlan(source, digest(b""), 0, 0, ())
    try:
        if request.query_file:
            data = _read_queries(request)
            plan = parse_queries(data, source=source)
    except QueriesError as error:
        fault, plan = error, QueryPlan(source, digest(data), error.requested, 0, ())
    except OmhError as error:
        faults.append(str(error).rstrip("."))
    if faults:
        raise UsageError("; ".join([*faults, *([str(fault).rstrip(".")] if fault else [])]) + ".")
    return folder, plan, fault


def _read_queries(request: SearchRequest) -> bytes:
    path = bundle.check_in_scope(request.query_file, request.scope_root, "--query-file")
    data = read_bytes(path, max_bytes=MAX_QUERY_FILE_BYTES)
    if data is None:
        raise UsageError(f"--query-file: there is no file {os.path.basename(path)}.")
    return data


def _value_faults(request: SearchRequest) -> list[str]:
    faults = []
    topic = request.topic.strip()
    if not topic or len(topic) > MAX_TOPIC_CHARS or not _is_sound(topic):
        faults.append("--topic is missing, too long or holds broken characters")
    if request.domain is not None and not _is_sound(request.domain):
        faults.append("--domain holds broken characters")
    known = (*PROVIDER_ORDER, *HOST_TOOL_PROVIDERS)
    unknown = [name for name in request.provider_order if name not in known]
    if unknown:
        faults.append(f"--provider-order names {unknown[0]!r}; rls.v1 knows {', '.join(known)}")
    elif not set(request.provider_order) & set(PROVIDER_ORDER):
        faults.append("--provider-order names no provider that can be asked")
    elif len(set(request.provider_order)) != len(request.provider_order):
        faults.append("--provider-order names a provider twice")
    if not 1 <= request.max_results_per_query <= MAX_PER_QUERY:
        faults.append(f"--max-results-per-query must be 1 to {MAX_PER_QUERY}")
    if not 1 <= request.max_total <= MAX_TOTAL:
        faults.append(f"--max-total must be 1 to {MAX_TOTAL}")
    if request.preprint_profile not in PREPRINT_PROFILES:
        faults.append(f"--preprint-profile knows {', '.join(PREPRINT_PROFILES)}")
    return faults + _year_faults(request.filters)


def _year_faults(filters: FilterSet) -> list[str]:
    years = [y for y in (filters.min_year, filters.max_year) if y is not None]
    if any(not MIN_YEAR <= year <= MAX_YEAR for year in years):
        return [f"years must be {MIN_YEAR} to {MAX_YEAR}"]
    if len(years) == 2 and years[0] > years[1]:
        return ["--min-year is after --max-year"]
    return []


def _is_sound(text: str) -> bool:
    return not any(ord(c) < 32 or ord(c) == 127 or "\ud800" <= c <= "\udfff" for c in text)
