"""The comparison table of a landscape (spec T17): nothing stands in it that no quote carries.

Job: print every factual cell that a verified, aligned claim of that row's source covers, and
`Not verified` in all others. Refuses to verify quotes and to call the whole table verified.
Importers: tools.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from omh_research.lazy_re import lazy_re
from omh_research.tools.alignment import ALIGNED, compare
from omh_research.tools.citation_input import CheckedSource
from omh_research.tools.dates import find_dates
from omh_research.tools.evidence_table import escape_cell, table
from omh_research.tools.identifiers import work_key

COMPARISON_KEYS = (
    "candidate", "best_for", "os", "installation", "local_model_path", "privacy",
    "license_open_source", "project_activity", "activity_observed_at", "hardware_constraints",
    "ideal_user", "evidence_sources",
)  # fmt: skip
NOT_VERIFIED = "Not verified"
_FREE_KEYS = frozenset({"candidate", "best_for", "ideal_user", "evidence_sources"})
_FACTUAL_KEYS = tuple(key for key in COMPARISON_KEYS if key not in _FREE_KEYS)
_HEADINGS = (
    "Candidate", "Best for", "OS", "Installation", "Local model path", "Privacy",
    "License / open source", "Project activity", "Activity observed", "Hardware constraints",
    "Ideal user", "Evidence",
)  # fmt: skip
_EMPTY = lazy_re(r"(?i)\s*(?:not verified|unknown|n/?a|none stated|not stated|tbd|-|—)?\s*\.?")
_ISO_DATE = lazy_re(r"\d{4}-\d{2}(?:-\d{2})?(?:T[\d:.Z+-]{0,20})?")
_MIN_CELL_COVERAGE = 0.75


class ComparisonTable(Struct, frozen=True):
    """The result: rows with exactly the keys of T17, Markdown, and warnings."""

    rows: list[dict[str, Any]]
    markdown: str
    warnings: list[dict[str, Any]]


def compare_candidates(
    rows: Sequence[Mapping[str, Any]],
    sources: Sequence[CheckedSource],
    evidence: Sequence[Mapping[str, Any]],
) -> ComparisonTable:
    """Return the checked comparison of `rows`; `evidence` are the rows of `evidence_rows`.

    A cell is covered when all its numbers and names, and three quarters of its words, stand in
    the verified, aligned claims and quotes of the row's own sources, the same way round.
    """
    if not rows:
        return ComparisonTable([], "", [])
    by_id = {source.id: source for source in reversed(sources)}
    supported = [row for row in evidence if row["support_status"] == "supported"]
    checked: list[dict[str, Any]] = []
    warnings: list[dict[str, Any]] = []
    lines, covered = [], 0
    for number, row in enumerate(rows):
        named = _named_sources(row, by_id)
        own = [item for item in supported if item["source"] in named]
        cells, faults = _check_row(row, own, [by_id[name] for name in named])
        kept = [name for name in named if any(item["source"] == name for item in own)]
        faults += [("evidence_sources", "source_without_verified_evidence", name)
                   for name in _names(row) if name not in kept]  # fmt: skip
        warnings += [
            {"row": number, "candidate": cells["candidate"], "field": field, "issue": issue,
             "detail": detail}
            for field, issue, detail in faults
        ]  # fmt: skip
        covered += sum(cells[key] != NOT_VERIFIED for key in _FACTUAL_KEYS)
        ids = ", ".join(item["evidence_id"] for item in own) or NOT_VERIFIED
        lines.append((*(escape_cell(cells[key]) for key in COMPARISON_KEYS[:-1]), ids))
        checked.append({**cells, "evidence_sources": kept})
    total = len(rows) * len(_FACTUAL_KEYS)
    heading = ["## Comparison", "", f"{covered} of {total} factual cells verified.", ""]
    markdown = "\n".join([*heading, *table(_HEADINGS, lines)]) + "\n"
    return ComparisonTable(checked, markdown, warnings)


_Fault = tuple[str, str, str]


def _check_row(
    row: Mapping[str, Any], own: Sequence[Mapping[str, Any]], sources: Sequence[CheckedSource]
) -> tuple[dict[str, str], list[_Fault]]:
    """Return the printed cells of one row and what was left out of it."""
    cells: dict[str, str] = {}
    faults: list[_Fault] = [
        (str(key), "unknown_key", "not a key of the comparison: left out")
        for key in row
        if key not in COMPARISON_KEYS
    ]
    for key in COMPARISON_KEYS[:-1]:
        text = _cell(row.get(key))
        if key in _FREE_KEYS:
            cells[key] = text or "Not stated"
            continue
        covered = _is_covered(text, own)
        if key == "activity_observed_at":
            covered = _is_observed(text, own, sources)
        cells[key] = text if covered else NOT_VERIFIED
        if text and not covered:
            faults.append((key, "cell_not_covered", f"no verified claim carries: {text[:120]}"))
    if cells["activity_observed_at"] == NOT_VERIFIED and cells["project_activity"] != NOT_VERIFIED:
        cells["project_activity"] = NOT_VERIFIED
        faults.append(("project_activity", "no_observed_date", "activity needs an observed date"))
    return cells, faults


def _cell(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        value = ", ".join(str(part) for part in value)
    text = " ".join(str(value).split()) if value is not None else ""
    return "" if _EMPTY.fullmatch(text) else text


def _is_covered(text: str, own: Sequence[Mapping[str, Any]]) -> bool:
    """Say whether the claims and quotes of `own` carry the cell `text`, alone or together."""
    if not text or not own:
        return False
    passages = [f"{item['claim']}\n{item['quote']}" for item in own]
    for passage in [*passages, "\n".join(passages)]:
        found = compare(text, passage)
        if found.status == ALIGNED and found.coverage >= _MIN_CELL_COVERAGE:
            return True
    return False


def _is_observed(
    text: str, own: Sequence[Mapping[str, Any]], sources: Sequence[CheckedSource]
) -> bool:
    """Say whether `text` is a date on which a verified source of the row was seen or published."""
    if not own or not (_ISO_DATE.fullmatch(text) or find_dates(text)):
        return False
    verified = {item["source"] for item in own}
    known = [date for s in sources if s.id in verified for date in (s.accessed_at, s.date) if date]
    return any(date[:10].startswith(text[:10]) for date in known) or _is_covered(text, own)


def _names(row: Mapping[str, Any]) -> list[str]:
    value = row.get("evidence_sources")
    values = value if isinstance(value, (list, tuple)) else [value] if value else []
    return list(dict.fromkeys(str(name).strip() for name in values))


def _named_sources(row: Mapping[str, Any], by_id: Mapping[str, CheckedSource]) -> list[str]:
    """Return the ids of the row's known sources; an address stands for its source."""
    by_key = {source.key: source.id for source in by_id.values()}
    found = [name if name in by_id else by_key.get(work_key(name), "") for name in _names(row)]
    return [name for name in dict.fromkeys(found) if name]
