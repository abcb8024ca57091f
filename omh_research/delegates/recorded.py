"""The recording library: caps, record and providers behind one door (spec T5, T19, T23).

Job: the `Library` a researcher is handed. Every search and every read is looked up in the run's
record first, counted against the caps, made, and recorded before its answer is returned. What is
local (a corpus) costs nothing and may have changed: an operator's retry looks it up anew, with a
new budget; what was fetched from the web stays fetched. Refuses a fetch past the budget and says
so. Importers: wiring.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from omh_research.delegates.traffic import Traffic
from omh_research.documents.source import Fetch, Hit, Page
from omh_research.errors import ProviderError
from omh_research.providers.interface import Reader, Renewable, SearchProvider


class Record(Protocol):
    """What the library needs of the store: the fetch record of one run."""

    def rows(self) -> tuple[Fetch, ...]:
        """Return the ledger's rows in order."""
        ...

    def record(self, row: Fetch) -> None:
        """Append one row, durable."""
        ...

    def hold(self, text: str) -> str:
        """Keep a text; return its SHA-256."""
        ...

    def text(self, sha256: str) -> str | None:
        """Return a kept text."""
        ...

    def keep_hits(self, hits: list[Hit]) -> str:
        """Keep a hit list; return its SHA-256."""
        ...

    def hits(self, sha256: str) -> list[Hit]:
        """Return a kept hit list."""
        ...


class Budget(Struct, frozen=True):
    """How many fetches are allowed: in the whole run, and for one subquestion."""

    total: int = 40
    per_subquestion: int = 8


def budget_of(caps_plan: Mapping[str, Any]) -> Budget:
    """Return the fetch budget that a caps plan grants (defaults of spec T2 where it is silent)."""
    return Budget(
        total=int(caps_plan.get("total_fetch_budget", 40)),
        per_subquestion=int(caps_plan.get("fetch_budget_per_subquestion", 8)),
    )


def fold_query(query: str) -> str:
    """Return the form in which two queries are one: casefolded, whitespace folded."""
    return " ".join(query.casefold().split())


class RecordedLibrary:
    """A `Library` for one task. Providers are tried in order until one answers."""

    def __init__(
        self,
        subquestion: str,
        record: Record,
        providers: Sequence[SearchProvider],
        reader: Reader,
        rules: LibraryRules,
    ) -> None:
        self._subquestion, self._record = subquestion, record
        self._providers, self._reader, self._rules = tuple(providers), reader, rules
        self._retry = rules.retry if isinstance(reader, Renewable) else 0

    def _rows(self) -> list[Fetch]:
        """Return the rows that still hold: of a local source those since the last retry."""
        return [row for row in self._record.rows() if row.retry == self._retry]

    def search(self, query: str, *, limit: int = 10) -> list[Hit]:
        """Return hits from the record, else from the first provider that answers.

        Raises:
            ProviderError: no provider gave an answer (unknown, never an empty list).
        """
        folded = fold_query(query)
        with self._rules.traffic.alone(f"search {folded}"):
            return self._search(query, folded, limit)

    def _search(self, query: str, folded: str, limit: int) -> list[Hit]:
        reasons: list[str] = []
        for provider in self._providers:
            recorded = self._recorded_search(folded, provider.name)
            if recorded is not None:
                return recorded[:limit]
        for provider in self._providers:
            try:
                hits = provider.search(query, limit=limit)
            except ProviderError as error:
                reasons.append(f"{provider.name}: {error.message}")
                self._record.record(
                    self._row("search", "error", folded, provider.name, detail=error.message)
                )
                continue
            sha256 = self._record.keep_hits(hits)
            row = self._row("search", "ok", folded, provider.name, sha256=sha256)
            self._record.record(_with(row, results=len(hits)))
            return hits
        raise ProviderError(
            f"No search answered for {query!r}: " + ("; ".join(reasons) or "no provider set up")
        )

    def _recorded_search(self, folded: str, provider: str) -> list[Hit] | None:
        for row in self._rows():
            if (row.kind, row.query, row.provider) != ("search", folded, provider):
                continue
            if row.status != "ok" or not row.sha256:
                continue
            if row.subquestion != self._subquestion:
                self._note_repeat("search", query=folded, provider=provider)
            return self._record.hits(row.sha256)
        return None

    def read(self, url: str) -> Page:
        """Return the page from the record, else read it if the budget allows."""
        canonical = self._rules.canonical(url)
        with self._rules.traffic.alone(f"read {canonical}"):
            known = self._known(canonical, url)
            return self._fetch(canonical, url) if known is None else known

    def _known(self, canonical: str, url: str) -> Page | None:
        for row in self._rows():
            if row.kind == "fetch" and row.canonical_url == canonical and row.charge:
                known = self._recorded_page(row, url)
                if known is not None:
                    if row.subquestion != self._subquestion:
                        self._note_repeat("fetch", canonical_url=canonical)
                    return known
        return None

    def _fetch(self, canonical: str, url: str) -> Page:
        traffic = self._rules.traffic
        with traffic.settled():
            if self.remaining_fetches() <= 0:
                self._refuse(canonical)
                said = "The fetch cap is reached."
                return Page(url=url, final_url=url, state="refused", detail=said)
            traffic.reserve(self._subquestion)
        row: Fetch | None = None
        try:
            page = self._reader.read(url)
            row = self._page_row(canonical, page)
        finally:
            with traffic.settled():
                traffic.release(self._subquestion)
                if row is not None:
                    self._record.record(row)
        return page

    def _page_row(self, canonical: str, page: Page) -> Fetch:
        row = Fetch(
            kind="fetch",
            status=page.state,
            accessed_at=self._rules.now(),
            canonical_url=canonical,
            subquestion=self._subquestion,
            provider=self._reader.name,
            charge=1,
            title=page.title,
            date=page.date,
            detail=page.detail,
            retry=self._retry,
        )
        if page.state != "ok":
            return row
        row = _with(row, identifiers=page.identifiers)
        return _with(row, sha256=self._record.hold(page.text), page_starts=page.page_starts)

    def _recorded_page(self, row: Fetch, url: str) -> Page | None:
        if row.status != "ok":
            return Page(url=url, final_url=url, state=row.status, detail=row.detail)
        text = self._record.text(row.sha256)
        if text is None:
            return None
        return Page(
            url=url,
            final_url=row.canonical_url,
            state="ok",
            title=row.title,
            text=text,
            date=row.date,
            page_starts=row.page_starts,
            identifiers=row.identifiers,
        )

    def remaining_fetches(self) -> int:
        """Return how many more reads this task may make."""
        with self._rules.traffic.settled():
            charged = [row for row in self._rows() if row.charge]
            total, own = self._rules.traffic.reserved(self._subquestion)
        own += sum(row.charge for row in charged if row.subquestion == self._subquestion)
        total += sum(row.charge for row in charged)
        budget = self._rules.budget
        return max(0, min(budget.total - total, budget.per_subquestion - own))

    def _refuse(self, canonical: str) -> None:
        for row in self._rows():
            if (row.status, row.canonical_url) == ("refused_cap", canonical) and (
                row.subquestion == self._subquestion
            ):
                return
        row = Fetch(
            kind="fetch",
            status="refused_cap",
            accessed_at=self._rules.now(),
            canonical_url=canonical,
            subquestion=self._subquestion,
            retry=self._retry,
        )
        self._record.record(row)

    def _note_repeat(
        self, kind: str, *, query: str = "", canonical_url: str = "", provider: str = ""
    ) -> None:
        for row in self._rows():
            if (row.kind, row.status, row.query, row.canonical_url, row.subquestion) == (
                kind, "deduplicated", query, canonical_url, self._subquestion,
            ):  # fmt: skip
                return
        self._record.record(
            Fetch(
                kind=kind,
                status="deduplicated",
                accessed_at=self._rules.now(),
                query=query,
                canonical_url=canonical_url,
                subquestion=self._subquestion,
                provider=provider,
                retry=self._retry,
            )
        )

    def _row(
        self,
        kind: str,
        status: str,
        query: str,
        provider: str,
        *,
        sha256: str = "",
        detail: str = "",
    ) -> Fetch:
        return Fetch(
            kind=kind,
            status=status,
            accessed_at=self._rules.now(),
            query=query,
            subquestion=self._subquestion,
            provider=provider,
            sha256=sha256,
            detail=detail,
            retry=self._retry,
        )


class LibraryRules(Struct, frozen=True):
    """What every library of a run shares: URL form, clock, budget, requests under way.

    `retry` counts the operator's retries of the run so far (spec E14).
    """

    canonical: Callable[[str], str]
    now: Callable[[], str]
    budget: Budget
    traffic: Traffic
    retry: int = 0


def _with(row: Fetch, **changes: Any) -> Fetch:
    from msgspec.structs import replace

    return replace(row, **changes)
