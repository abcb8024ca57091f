"""`enrich-abstracts`: fill the abstracts of a chosen subset from the providers (B9).

Job: for each row without an abstract ask the providers in turn, accept only a record that is the
same work, and say how it went in `abstract_status`, `abstract_provenance` and counts. Fields of a
row that are not ours (scores, notes of a later step) pass through unchanged. Refuses to touch the
input and to take an abstract for a work it cannot identify. Importers: literature, cli.

Statuses: present; missing (every provider answered and none has it); attempted (some provider
gave no answer, so nobody knows); not_requested.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from omh_research.documents.state import load_json_object
from omh_research.errors import DamagedFileError, StorageError, ToolInputError, UsageError
from omh_research.literature import legacy, matching
from omh_research.literature.bundle import check_in_scope
from omh_research.literature.files import read_bytes, replace
from omh_research.literature.record import Paper, bib_of, paper_of, sound_text
from omh_research.literature.rls_contract import (
    MAX_ARTIFACT_BYTES,
    MAX_LINE_BYTES,
    PROVIDER_ORDER,
)
from omh_research.literature.titles import read_title

if TYPE_CHECKING:
    from omh_research.literature.recall import Ask
    from omh_research.providers.academic.record import Record

LOOKED_AT = 5
MISSING_WARNING = "abstract_missing"
MAX_FAILURES = 3


class EnrichRequest(Struct, frozen=True):
    """What to enrich: paths as given; `adapt_legacy` accepts old title/year/id rows."""

    input_path: str
    output_path: str
    adapt_legacy: bool = False
    force: bool = False
    scope_root: str | None = None


class EnrichCounts(Struct, frozen=True):
    """How many rows there were and what became of their abstracts."""

    rows: int = 0
    already_present: int = 0
    filled: int = 0
    missing: int = 0
    attempted: int = 0
    legacy_adapted: int = 0


class Enriched(Struct, frozen=True):
    """The outcome: counts and one warning line for each row still without an abstract."""

    counts: EnrichCounts
    warnings: tuple[str, ...]


def enrich_file(request: EnrichRequest, ask: Ask, clock: Callable[[], datetime]) -> Enriched:
    """Enrich a JSONL file into another one, written whole.

    Raises:
        UsageError: a path is missing, outside the scope root, or taken.
        ToolInputError: a line is no paper (all such lines are named).
        StorageError: the output cannot be written.
    """
    source = check_in_scope(request.input_path, request.scope_root, "--input")
    target = check_in_scope(request.output_path, request.scope_root, "--output")
    if os.path.lexists(target) and not request.force:
        raise UsageError(
            f"{os.path.basename(target)} is there already.", hint="Replace it with --force."
        )
    data = read_bytes(source, max_bytes=MAX_ARTIFACT_BYTES)
    if data is None:
        raise UsageError(f"--input: there is no file {os.path.basename(source)}.")
    seen_at = clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    rows = _read_rows(data, request.adapt_legacy, seen_at)
    run = _Enrichment(ask, seen_at)
    out = [run.enrich(row, paper) for row, paper in rows]
    body = b"".join(msgspec.json.encode(row, order="sorted") + b"\n" for row in out)
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
    except OSError as error:
        raise StorageError(f"Cannot make the folder of --output: {error.strerror}.") from error
    replace(target, body)
    return Enriched(_counts(out, run.filled), tuple(run.warnings))


def _read_rows(data: bytes, adapt_legacy: bool, seen_at: str) -> list[tuple[dict[str, Any], Paper]]:
    """Return each line as (row, paper); name every line that is neither new nor adaptable."""
    rows: list[tuple[dict[str, Any], Paper]] = []
    faults: list[str] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            rows.append(_read_row(line, number, adapt_legacy, seen_at))
        except (DamagedFileError, ToolInputError) as error:
            faults.append(str(error))
    if faults:
        more = f" (and {len(faults) - 5} more)" if len(faults) > 5 else ""
        raise ToolInputError(" ".join(faults[:5]) + more)
    return rows


def _read_row(
    line: bytes, number: int, adapt_legacy: bool, seen_at: str
) -> tuple[dict[str, Any], Paper]:
    row = load_json_object(line, where=f"line {number}", max_bytes=MAX_LINE_BYTES)
    if legacy.is_legacy(row):
        if not adapt_legacy:
            raise ToolInputError(
                f"line {number}: an old row without a schema.",
                hint="Adapt such rows with --legacy.",
            )
        paper = legacy.adapt(row, line=number, seen_at=seen_at)
        own = legacy.to_row(paper)
        return {**{k: v for k, v in row.items() if k not in own}, **own}, paper
    try:
        return row, msgspec.convert(row, Paper)
    except (msgspec.ValidationError, RecursionError) as error:
        raise ToolInputError(f"line {number}: {error}.") from None


class _Enrichment:
    """One pass over the rows; a provider that fails three times running is left alone."""

    def __init__(self, ask: Ask, seen_at: str) -> None:
        self._ask, self._seen_at = ask, seen_at
        self._failures: dict[str, int] = {}
        self.filled = 0
        self.warnings: list[str] = []

    def enrich(self, row: Mapping[str, Any], paper: Paper) -> dict[str, Any]:
        """Return the row with its abstract filled, or with why it is not."""
        out = dict(row)
        if paper.abstract and paper.abstract.strip():
            out["abstract_status"] = "present"
            return out
        found, is_known = self._look(paper)
        if found is not None:
            abstract, provider, key = found
            self.filled += 1
            out["abstract"], out["abstract_status"] = abstract, "present"
            out["abstract_provenance"] = {"provider": provider, "provider_record_id": key}
            out["quality_warnings"] = [w for w in paper.quality_warnings if w != MISSING_WARNING]
            return out
        status = "missing" if is_known else "attempted"
        out["abstract"], out["abstract_status"], out["abstract_provenance"] = None, status, None
        out["quality_warnings"] = sorted({*paper.quality_warnings, MISSING_WARNING})
        self.warnings.append(f"{MISSING_WARNING}: {paper.record_id} ({status})")
        return out

    def _look(self, paper: Paper) -> tuple[tuple[str, str, str] | None, bool]:
        """Return (abstract, provider, its record id) if found, and whether all answered."""
        is_known = True
        for provider in PROVIDER_ORDER:
            if self._failures.get(provider, 0) >= MAX_FAILURES:
                is_known = False
                continue
            answer = self._ask(provider, paper.title, LOOKED_AT)
            if not answer.is_known:
                self._failures[provider] = self._failures.get(provider, 0) + 1
                is_known = False
                continue
            self._failures[provider] = 0
            for record in answer.records:
                abstract = sound_text(record.abstract)
                if abstract and is_same_work(paper, record):
                    return (abstract, provider, sound_text(record.provider_record_id) or ""), True
        return None, is_known


def is_same_work(paper: Paper, record: Record) -> bool:
    """Tell whether a provider's record is the paper, by the rules of de-duplication."""
    try:
        other = paper_of(record, query_id="", rank=1, provider=record.provider, seen_at="")
    except ValueError:
        return False
    pair: Sequence[Paper] = (paper, other)
    one, two = (matching.features_of(bib_of(p, 0), read_title(p.title)) for p in pair)
    return matching.judge(one, two).is_same


def _counts(rows: Sequence[Mapping[str, Any]], filled: int) -> EnrichCounts:
    statuses = [row["abstract_status"] for row in rows]
    return EnrichCounts(
        rows=len(rows),
        already_present=statuses.count("present") - filled,
        filled=filled,
        missing=statuses.count("missing"),
        attempted=statuses.count("attempted"),
        legacy_adapted=sum(legacy.WARNING in row["quality_warnings"] for row in rows),
    )
