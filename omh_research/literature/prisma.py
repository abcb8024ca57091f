"""The counts of a PRISMA 2020 flow diagram, as far as a search can know them (B12).

Job: derive the identification box from a manifest. Refuses to count screening: that happens
later, elsewhere. Importers: literature.export.
"""

from __future__ import annotations

from typing import Any

from omh_research.literature.manifest import Manifest


def summarise(manifest: Manifest) -> dict[str, Any]:
    """Return the identification counts: by provider, removed before screening, left to screen."""
    identified: dict[str, int] = dict.fromkeys(manifest.provider_policy.order, 0)
    for attempt in manifest.attempts:
        if attempt.results:
            identified[attempt.provider] = identified.get(attempt.provider, 0) + attempt.results
    counts = manifest.counts
    unanswered = [a for a in manifest.attempts if a.status in ("error", "exhausted")]
    return {
        "search_run_id": manifest.search_run_id,
        "searched_at": manifest.created_at,
        "queries": manifest.query_plan.accepted_count,
        "identified": {"by_provider": identified, "total": sum(identified.values())},
        "removed_before_screening": {
            "duplicates": counts.normalized - counts.deduped,
            "over_total_limit": counts.dropped,
        },
        "unusable_entries": counts.empty_records + counts.invalid_records,
        "unanswered_requests": len(unanswered),
        "records_to_screen": counts.deduped,
        "status": manifest.status,
    }
