"""Recall: which provider is asked which query, and what came of it (B5, B6, B14).

Job: the policy `priority-fallback-topup` as one pure loop over an `ask` function that is handed
in. Refuses to fetch, to merge, to write. Importers: literature.

A provider that fails three times running is not asked again in this run: a dead service must not
cost its time-out for each of 25 queries.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from omh_research.lazy_re import lazy_re
from omh_research.literature.manifest import Attempt, PlannedQuery, ProviderPolicy, Truncation
from omh_research.literature.record import Paper, paper_of
from omh_research.literature.rls_contract import (
    ANSWERED,
    HOST_TOOL_PROVIDERS,
    HOST_TOOL_REASON,
)

if TYPE_CHECKING:
    from omh_research.providers.academic.record import ProviderAnswer

Ask = Callable[[str, str, int], "ProviderAnswer"]
MAX_FAILURES = 3
TOTAL_REASON = "total limit reached"
_URL = lazy_re(r"https?://\S+")
_SAID = lazy_re(r"^(.{0,60} answered HTTP \d{3})\b.*", re.DOTALL)
_REASON_CHARS = 240


class Recalled(Struct, frozen=True):
    """All usable hits in order, every attempt, and what the total limit cut."""

    hits: tuple[Paper, ...]
    attempts: tuple[Attempt, ...]
    truncation: Truncation


class _Run:
    """The state of one recall: hits so far, and failures running by provider."""

    def __init__(self, policy: ProviderPolicy, ask: Ask, seen_at: str) -> None:
        self.policy, self.ask, self.seen_at = policy, ask, seen_at
        self.hits: list[Paper] = []
        self.attempts: list[Attempt] = []
        self.failures: dict[str, int] = {}
        self.dropped = 0
        self.cut_queries: list[str] = []

    def skip(self, query_id: str, provider: str, reason: str) -> None:
        """Record a provider that was not asked."""
        self.attempts.append(Attempt(query_id, provider, "skipped", 0, 0, 0, reason))

    def try_provider(self, item: PlannedQuery, provider: str, wanted: int) -> int:
        """Ask one provider one query; return how many usable records it had."""
        if self.failures.get(provider, 0) >= MAX_FAILURES:
            reason = f"not asked: {MAX_FAILURES} failures running"
            self.skip(item.query_id, provider, reason)
            return 0
        answer = self.ask(provider, item.query, wanted)
        papers, unusable = self._papers(item, provider, answer)
        status = answer.status
        if unusable and status == "success":
            status = "partial" if papers else "error"
        self.failures[provider] = 0 if status in ANSWERED else self.failures.get(provider, 0) + 1
        self.attempts.append(
            Attempt(
                item.query_id,
                provider,
                status,  # type: ignore[arg-type]
                len(papers),
                answer.empty_records,
                answer.invalid_records + unusable,
                plain_reason(answer.reason, provider) or None,
            )
        )
        room = self.policy.max_total - len(self.hits)
        self.hits.extend(papers[:room])
        if len(papers) > room:
            self.dropped += len(papers) - room
            self.cut_queries.append(item.query_id)
        return len(papers)

    def _papers(
        self, item: PlannedQuery, provider: str, answer: ProviderAnswer
    ) -> tuple[list[Paper], int]:
        papers: list[Paper] = []
        unusable = 0
        for rank, record in enumerate(answer.records, 1):
            try:
                papers.append(
                    paper_of(
                        record,
                        query_id=item.query_id,
                        rank=rank,
                        provider=provider,
                        seen_at=self.seen_at,
                    )
                )
            except ValueError:
                unusable += 1
        return papers, unusable


def plain_reason(reason: str, provider: str) -> str:
    """Return a failure's reason fit for a bundle (B11).

    No address, since it may name a host of this machine, and nothing of what the provider said,
    since an error page may echo a key.
    """
    bare = _SAID.sub(r"\1.", reason)
    return " ".join(_URL.sub(provider, bare).split())[:_REASON_CHARS]


def recall(
    items: Sequence[PlannedQuery], policy: ProviderPolicy, ask: Ask, *, seen_at: str
) -> Recalled:
    """Ask the providers every query in turn and return all usable hits.

    For each query the first provider is asked for `max_results_per_query`; the next only while
    the usable results stay below `topup_share` of that (at least `topup_floor`). Once `max_total`
    hits are held, the queries left are not asked; they are named in `truncation`.
    """
    run = _Run(policy, ask, seen_at)
    per_query = policy.max_results_per_query
    enough = min(per_query, max(policy.topup_floor, math.ceil(policy.topup_share * per_query)))
    for item in items:
        found = 0
        is_full = len(run.hits) >= policy.max_total
        if is_full:
            run.cut_queries.append(item.query_id)
            run.skip(item.query_id, policy.order[0], TOTAL_REASON)
        for provider in () if is_full else policy.order:
            if found < enough and len(run.hits) < policy.max_total:
                found += run.try_provider(item, provider, per_query - found)
        for provider in HOST_TOOL_PROVIDERS:
            run.skip(item.query_id, provider, HOST_TOOL_REASON)
    cut = tuple(dict.fromkeys(run.cut_queries))
    truncation = Truncation(bool(cut), policy.max_total, run.dropped, cut)
    return Recalled(tuple(run.hits), tuple(run.attempts), truncation)
