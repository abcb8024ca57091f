"""`manifest.json`: the only entrance to a bundle (B4).

Job: the frozen types of the manifest, its canonical bytes and its own hash. Refuses to read or
write files. Importers: literature, providers.bundle, cli.
"""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from omh_research.literature.record import Count, Text, Year

Sha256 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]
FileName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_]+\.jsonl?$")]


class PlannedQuery(Struct, frozen=True):
    """One accepted query."""

    query_id: Text
    query: Text
    rationale: str | None = None


class QueryPlan(Struct, frozen=True):
    """Where the queries came from: `source` is a file name without its path."""

    source: str
    sha256: Sha256
    requested_count: Count
    accepted_count: Count
    items: tuple[PlannedQuery, ...]


class FilterSet(Struct, frozen=True):
    """What the recall was narrowed to."""

    min_year: Year | None = None
    max_year: Year | None = None
    publication_types: tuple[str, ...] = ()
    exclude_preprints: bool = False
    language: str | None = None
    open_access: bool | None = None


class ProviderPolicy(Struct, frozen=True):
    """How providers are asked (B5); numbers as in `rls_contract`."""

    name: str
    order: tuple[str, ...]
    skipped: tuple[str, ...]
    topup_share: float
    topup_floor: Count
    max_results_per_query: Count
    max_total: Count
    preprint_profile: str


class Attempt(Struct, frozen=True, omit_defaults=True):
    """One provider asked one query, or why it was not (B17)."""

    query_id: str
    provider: Text
    status: Literal["success", "partial", "empty", "error", "exhausted", "skipped"]
    results: Count
    empty_records: Count
    invalid_records: Count
    reason: str | None = None


class Counts(Struct, frozen=True):
    """Lines of the artifacts, failed attempts, hits dropped by the total, unusable entries."""

    raw: Count = 0
    normalized: Count = 0
    deduped: Count = 0
    failed: Count = 0
    dropped: Count = 0
    empty_records: Count = 0
    invalid_records: Count = 0


class Truncation(Struct, frozen=True):
    """Whether the total limit cut the recall, and which queries it left unasked or cut."""

    is_truncated: bool = False
    max_total: Count = 0
    dropped: Count = 0
    queries: tuple[str, ...] = ()


class DedupeSettings(Struct, frozen=True):
    """The rules the pool was merged by (B7)."""

    title_similarity: float
    token_jaccard: float
    max_year_gap: Count
    published_preferred: bool
    merged: Count


class AbstractEnrichment(Struct, frozen=True):
    """`run` never enriches (B15); how many candidates came with an abstract."""

    status: str = "not_requested"
    present: Count = 0
    absent: Count = 0


class Artifact(Struct, frozen=True):
    """One file of the bundle: a plain name, its hash and its size."""

    path: FileName
    sha256: Sha256
    bytes: Count


class Generator(Struct, frozen=True):
    """Which program wrote the bundle."""

    name: str
    version: str


class CacheUse(Struct, frozen=True):
    """Provider answers of a literature run are never served from a cache (B17)."""

    mode: str = "none"


class Manifest(Struct, frozen=True):
    """The bundle's manifest. `manifest_sha256` is of the canonical bytes without this field."""

    contract_version: Literal["rls.v1"]
    candidate_schema_version: Literal["rls.paper.v1"]
    search_run_id: Text
    topic: str
    topic_hash: Sha256
    domain: str | None
    query_plan: QueryPlan
    filters: FilterSet
    provider_policy: ProviderPolicy
    attempts: tuple[Attempt, ...]
    counts: Counts
    truncation: Truncation
    dedupe: DedupeSettings
    abstract_enrichment: AbstractEnrichment
    artifacts: dict[str, Artifact]
    status: Literal["success", "partial_success", "failed"]
    failure_code: str | None
    warnings: tuple[str, ...]
    created_at: Text
    cache: CacheUse
    generator: Generator
    manifest_sha256: str = ""


FIELDS = frozenset(Manifest.__struct_fields__)


def to_json(value: Any) -> bytes:
    """Return the canonical bytes of a JSON file: sorted keys, two spaces, UTF-8, final newline."""
    plain = msgspec.to_builtins(value)
    text = json.dumps(plain, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8") + b"\n"


def digest(data: bytes) -> str:
    """Return the SHA-256 of bytes, hex."""
    return hashlib.sha256(data).hexdigest()


def seal(manifest: Manifest) -> Manifest:
    """Return the manifest with its own hash filled in."""
    bare = msgspec.structs.replace(manifest, manifest_sha256="")
    return msgspec.structs.replace(bare, manifest_sha256=digest(to_json(bare)))


def is_sealed(manifest: Manifest, data: bytes) -> bool:
    """Tell whether `data` is exactly the canonical form of a manifest whose hash holds."""
    return seal(manifest) == manifest and to_json(manifest) == data
