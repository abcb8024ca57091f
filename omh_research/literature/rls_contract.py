"""The constants of the bundle contract `rls.v1` (seed research-literature-search).

Job: every name, number and list that a reader of bundles may rely on, in a module whose name no
downstream skill shares. A change of meaning here needs a new `CONTRACT_VERSION`. Refuses to hold
behaviour. Importers: literature, cli.
"""

from __future__ import annotations

from typing import Final

CONTRACT_VERSION: Final = "rls.v1"
CANDIDATE_SCHEMA_VERSION: Final = "rls.paper.v1"
GENERATOR = "omh-research"

# Only these are queried under rls.v1, in this order unless the caller gives another (B5, B14).
PROVIDER_ORDER = ("openalex", "semantic_scholar", "crossref")
# Tools that only a host has: always recorded as skipped, never asked.
HOST_TOOL_PROVIDERS = ("mcp", "duckduckgo")
HOST_TOOL_REASON = "host tool required"
POLICY = "priority-fallback-topup"
TOPUP_SHARE = 0.70
TOPUP_FLOOR = 5
PREPRINT_PROFILES = ("auto",)

MIN_QUERIES = 5
MAX_QUERIES = 25
DEFAULT_PER_QUERY = 50
DEFAULT_TOTAL = 500
MAX_PER_QUERY = 200
MAX_TOTAL = 10_000
MIN_YEAR = 1000
MAX_YEAR = 3000

STATUSES = ("success", "partial_success", "failed")
ATTEMPT_STATUSES = ("success", "partial", "empty", "error", "exhausted", "skipped")
ANSWERED = ("success", "partial", "empty")
ABSTRACT_STATUSES = ("present", "missing", "attempted", "not_requested")

MANIFEST = "manifest.json"
# Key in the manifest -> file in the bundle (B2, B17).
ARTIFACTS = {
    "candidates_raw": "candidates_raw.jsonl",
    "candidates_normalized": "candidates_normalized.jsonl",
    "candidates_deduped": "candidates_deduped.jsonl",
    "provenance": "provenance.jsonl",
    "dedupe_map": "dedupe_map.json",
    "search_log": "search_log.json",
}

# What a candidate must say to be citable; a pool with gaps here is partial_success (B13).
REQUIRED_VALUES = ("authors", "year", "identifier")

MAX_QUERY_FILE_BYTES = 1_000_000
MAX_QUERY_CHARS = 1_000
MAX_TOPIC_CHARS = 2_000
MAX_LINE_BYTES = 2_000_000
MAX_ARTIFACT_BYTES = 256_000_000
MAX_MANIFEST_BYTES = 16_000_000
